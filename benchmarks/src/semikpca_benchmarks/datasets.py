"""The data sets of the accuracy benchmark: the paper's nine, scikit-learn's digits, and 24 further ones from KEEL.

The further sets were split into two halves before any of them was looked at, by a hash of their names. Defaults may be
tuned on one half; the other is kept aside for the last check.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from sklearn.datasets import load_digits

from semikpca.datasets import PAPER_DATASETS, Dataset, PackagedFile, keel_file, load_paper_dataset
from semikpca.exceptions import DatasetError
from semikpca_benchmarks._typing import FloatArray

MOST_ROWS = 1_000
"""Rows that a further set is cut to, so that all methods get through the suite."""

_SAMPLE_SEED = 0
_MISSING = frozenset({"", "?", "<null>"})  # how KEEL's files mark a value that is not known


_IMBALANCED = frozenset({"new-thyroid1", "yeast3", "haberman", "page-blocks0"})  # the folder that KEEL keeps them in


@dataclass(frozen=True)
class _KeelSet:
    """A further set: how many rows and classes it has once loaded, and the checksum of its file."""

    name: str
    half: Literal["tuning", "aside"]
    n_samples: int
    n_classes: int
    sha256: str

    @property
    def file(self) -> PackagedFile:
        """The raw file."""
        return keel_file(self.name, self.sha256, "imbalanced" if self.name in _IMBALANCED else "balanced")


_FURTHER_SETS = (
    _KeelSet("segment", "tuning", 1000, 7, "dad9654e008437e80abecea27d6293d79a20e1fdbbb7cc30c7dc370e9dbb6034"),
    _KeelSet("satimage", "tuning", 1000, 6, "8e7d5263e37bb14dbe49e1a7da24e38fbd0a91b3e9817d59af36852455202110"),
    _KeelSet("led7digit", "tuning", 500, 10, "826599d0c5926832c5df27df4412264ba9af17da644fbc854e3e3f6cd84eb684"),
    _KeelSet("optdigits", "tuning", 1000, 10, "ff5bdca1a597fde4361854eeec741dc671a97633a1de46f1ac23fc173f95306b"),
    _KeelSet("wine", "tuning", 178, 3, "33ff747cf181064ecc0933228c29cad7194d68d09a71355b3072072bbf4e0878"),
    _KeelSet("texture", "tuning", 1000, 11, "6e2e06ccf0da12bebed463df55bafddd3ae1d37ccbd23c4bbbe597d5d5445ae3"),
    _KeelSet("twonorm", "tuning", 1000, 2, "4e1a341d055572eb72be548e438b575e299b7e720fc1776f3cddb39a69eba2f3"),
    _KeelSet("ring", "tuning", 1000, 2, "de928e7c10817785fe37825fac2d5b515fe7b1c9593645dd9975c4a02f86dfd9"),
    _KeelSet("german", "tuning", 1000, 2, "ec6cec3501e2deaacbc0c3ea341b0f5ef42483746a4a60b9d70c9cff83412229"),
    _KeelSet("phoneme", "tuning", 1000, 2, "c0eebb5b33f68008d6030ed36148b79d3d370f060902fa0f23b9d801e213be58"),
    _KeelSet("new-thyroid1", "tuning", 215, 2, "ef61443c6cc564f1d918a30c726e5ff9bf45a48444667a68380d5fb6ebb65c78"),
    _KeelSet("yeast3", "tuning", 1000, 2, "39ac298ffd80f6956241d4b731f767c261e9e87f26cf1f0fcd58a5d39fc453ef"),
    _KeelSet("vowel", "aside", 990, 11, "f2fb56d217deb2f73f14555fd56c699a8c4689e57cfc15f3117656c19de4b283"),
    _KeelSet("contraceptive", "aside", 1000, 3, "ad2a49da55df24b061a994ecc4d90c856aba35acd05138851aa251c4f06303c9"),
    _KeelSet("penbased", "aside", 1000, 10, "89641315452220aac9bcdc5a99476323fdb6fcb69ac45973fa6cc3e13e4ab663"),
    _KeelSet("splice", "aside", 1000, 3, "385c6c37b2120b89d5c4922a7947dc1db925b245e9f33eaf08619cc92e4b011a"),
    _KeelSet("vehicle", "aside", 846, 4, "0b3d1659ded56bdacc90a49fe8d58a90db156532cc3a80e260803df83f29aaa9"),
    _KeelSet("movement_libras", "aside", 360, 15, "9177ab9c7304096022952729e4246028283d9c0fb899eb0f6f85ca3423f6f6ce"),
    _KeelSet("spambase", "aside", 1000, 2, "4000f307ace66d6e24ab4a017cd5617887ef81a243155a677eafcc1c759d2f32"),
    _KeelSet("ionosphere", "aside", 351, 2, "3364c4a0d45072f195b7eab510f3ed27882e0c7a14fe15fd4bf982a4bd8143e4"),
    _KeelSet("wdbc", "aside", 569, 2, "f47612e4ffcd253ddf456474c584eb1f39d07e998b96fc7193a23e7b7d26b611"),
    _KeelSet("banana", "aside", 1000, 2, "5bd625660e17b219ffb44019e973db014dd1726ffde309e881d3942436508b80"),
    _KeelSet("haberman", "aside", 306, 2, "23219e90446ee7604f386c400f666f9871ef74a044294c517e778343cada952d"),
    _KeelSet("page-blocks0", "aside", 1000, 2, "c404bc3d7898e9f3cb4909860621015ef6454ca86863e184f8c1d28ca0e2ca23"),
)
_FURTHER = {one.name: one for one in _FURTHER_SETS}
_DIGITS_SHAPE = (1797, 10)
_PAPER_ROWS = {
    "australian": 690,
    "breastcancer": 683,
    "diabetes": 768,
    "heart": 270,
    "iris": 150,
    "monk-2": 432,
    "pima": 768,
    "sonar": 208,
    "synth": 400,
}

BENCHMARK_GROUPS: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "paper": PAPER_DATASETS,
        "digits": ("digits",),
        "tuning": tuple(one.name for one in _FURTHER_SETS if one.half == "tuning"),
        "aside": tuple(one.name for one in _FURTHER_SETS if one.half == "aside"),
    }
)
"""The groups of the suite and the names in each; "tuning" and "aside" are the halves of the 24 further sets."""

BENCHMARK_DATASETS: tuple[str, ...] = tuple(name for names in BENCHMARK_GROUPS.values() for name in names)
"""Names of all 34 data sets, group by group."""


def load_benchmark_dataset(name: str) -> Dataset:
    """Return one data set of the accuracy benchmark.

    Features are not scaled. Numbers stay as they are, columns that hold anything else are one-hot encoded, and rows
    with missing values are left out. A further set of more than 1,000 rows is cut to a uniform random sample of 1,000,
    always the same; digits is whole.

    Parameters
    ----------
    name : str
        One of ``BENCHMARK_DATASETS``; other names, and files that are missing, are refused as by
        :func:`load_paper_dataset`.

    Examples
    --------
    >>> data = load_benchmark_dataset("digits")
    >>> data.X.shape, data.n_classes
    ((1797, 64), 10)
    """
    _check_name(name)
    if name in PAPER_DATASETS:
        return load_paper_dataset(name)
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return Dataset(name, X, y.astype(np.intp), tuple(map(str, range(10))), "UCI, scikit-learn")
    return _from_keel(_FURTHER[name])


def benchmark_shape(name: str) -> tuple[int, int]:
    """Return rows and classes of a data set of the benchmark, without reading it.

    Parameters
    ----------
    name : str
        One of ``BENCHMARK_DATASETS``.

    Examples
    --------
    >>> benchmark_shape("digits")
    (1797, 10)
    """
    _check_name(name)
    if name in PAPER_DATASETS:
        return _PAPER_ROWS[name], 2
    if name == "digits":
        return _DIGITS_SHAPE
    return _FURTHER[name].n_samples, _FURTHER[name].n_classes


def _check_name(name: str) -> None:
    if name not in BENCHMARK_DATASETS:
        raise DatasetError(f"There is no data set {name!r}; the benchmark has {', '.join(BENCHMARK_DATASETS)}.")


def _from_keel(wanted: _KeelSet) -> Dataset:
    rows = [row for row in wanted.file.read_rows() if not _MISSING.intersection(row)]
    source = f"KEEL, {wanted.file.requirement}"
    if len(rows) > MOST_ROWS:
        source = f"{source}, {MOST_ROWS:,} of {len(rows):,} rows"
        chosen = np.random.default_rng(_SAMPLE_SEED).choice(len(rows), MOST_ROWS, replace=False)
        rows = [rows[i] for i in np.sort(chosen)]
    *columns, labels = zip(*rows, strict=True)
    class_names = _ordered(labels)
    numbers = {label: number for number, label in enumerate(class_names)}
    X = np.hstack([_encoded(column) for column in columns])
    y = np.array([numbers[label] for label in labels], dtype=np.intp)
    return Dataset(wanted.name, X, y, class_names, source)


def _encoded(column: tuple[str, ...]) -> FloatArray:
    """Return a column of numbers as it is, and any other one-hot encoded, shape (n_rows, n_columns)."""
    try:
        return np.array(column, dtype=np.float64)[:, np.newaxis]
    except ValueError:
        return np.asarray(np.array(column)[:, np.newaxis] == np.array(_ordered(column)), dtype=np.float64)


def _ordered(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the different values in order: as numbers where all are, so that 10 comes after 9."""
    try:
        return tuple(sorted(set(values), key=float))
    except ValueError:
        return tuple(sorted(set(values)))
