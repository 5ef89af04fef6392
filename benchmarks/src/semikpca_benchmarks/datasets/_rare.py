"""Sixteen sets with a class of 3 to 15% of the rows, chosen by rules that were fixed before any result was seen.

Ten are imbalanced sets of KEEL's. A family of them (abalone, car, ...) is one table with its classes put together in
different ways, so only families that no other set of the benchmark comes from are taken, and one set of each: among
those with at least 200 rows and a rare class of at least 20 rows and 3 to 15%, the one whose name has the smallest
SHA-256. The ten are sorted by that number; the first five are for tuning, the others are kept aside.

Six are made of other sets of the benchmark: of each half of the further sets the first multi-class set and the first
one of two classes, wdbc, and the digit 3 against all others. Each is of the half that its rows are known from; digits
is for tuning. The smallest class (of equals the last one) is cut to a uniform sample, so that it has 8% of the rows
where there are two classes and 4% where there are more.
"""

from functools import partial

import numpy as np
from sklearn.datasets import load_digits

from semikpca.datasets import Dataset, keel_file
from semikpca_benchmarks.datasets._further import FURTHER_SETS, Half
from semikpca_benchmarks.datasets._info import Scaling, SetInfo, SuiteSet
from semikpca_benchmarks.datasets._keel import MOST_ROWS, from_keel

_SAMPLE_SEED = 0
_SHARE_OF_TWO, _SHARE_OF_MORE = 0.08, 0.04
_DIGIT = 3


def _info(name: str, half: Half, class_sizes: tuple[int, ...], scaling: Scaling = "standardize") -> SetInfo:
    return SetInfo(name, ("rare", f"rare-{half}"), class_sizes, "each class", scaling)


def _keel(name: str, half: Half, class_sizes: tuple[int, ...], sha256: str) -> SuiteSet:
    return SuiteSet(_info(name, half, class_sizes), partial(from_keel, name, keel_file(name, sha256, "imbalanced")))


def _made_of(source: str, half: Half, class_sizes: tuple[int, ...]) -> SuiteSet:
    whole = next(one for one in FURTHER_SETS if one.info.name == source)
    return SuiteSet(_info(f"{source}-rare", half, class_sizes), lambda: _with_rare_class(whole.load()))


def _one_digit() -> Dataset:
    X, digits = load_digits(return_X_y=True)
    chosen = np.sort(np.random.default_rng(_SAMPLE_SEED).choice(len(X), MOST_ROWS, replace=False))
    y = np.asarray(digits[chosen] == _DIGIT, dtype=np.intp)
    source = f"UCI, scikit-learn, {MOST_ROWS:,} of {len(X):,} rows"
    return _with_rare_class(Dataset("digits", X[chosen], y, ("another digit", str(_DIGIT)), source))


def _with_rare_class(data: Dataset) -> Dataset:
    """Return the set with its smallest class cut to a few percent of the rows, always the same ones."""
    sizes = np.bincount(data.y)
    rare = int(np.flatnonzero(sizes == sizes.min())[-1])
    share = _SHARE_OF_TWO if data.n_classes == 2 else _SHARE_OF_MORE
    n_others = len(data.y) - sizes[rare]
    n_kept = round(n_others * share / (1 - share))
    kept = np.random.default_rng(_SAMPLE_SEED).choice(np.flatnonzero(data.y == rare), n_kept, replace=False)
    rows = np.sort(np.append(np.flatnonzero(data.y != rare), kept))
    source = f"{data.source}; {n_kept} of the {sizes[rare]} rows of class {data.class_names[rare]}"
    return Dataset(f"{data.name}-rare", data.X[rows], data.y[rows], data.class_names, source)


RARE_SETS = (
    _keel("shuttle-c0-vs-c4", "tuning", (929, 71), "753a5fb8c9dc731e85c30ae7d189095a29b333bf7d73ac0406477878a9a33562"),
    _keel("ecoli-0-4-6_vs_5", "tuning", (183, 20), "b3d8d5ad5ba8e8a2f3d354426d576edf762c290e2032ed2024d8f232065f0ad1"),
    _keel("abalone9-18", "tuning", (689, 42), "645f287ff9eb4ba78e1a878c11fbf42bb6e30f189ceb22ba7120d7b5f5fccbb6"),
    _keel("car-good", "tuning", (962, 38), "cc2d56201fb475aafa2f986807cdf1aa09ac7573c455d40e06ce06a8c426f20d"),
    _keel("kr-vs-k-one_vs_fifteen", "tuning", (966, 34),
          "3939d55394edf2f0301bc61361d6bde7d0f8cf94d964f7637673dc80cba41588"),
    _made_of("segment", "tuning", (127, 157, 151, 153, 36, 132, 156)),
    _made_of("twonorm", "tuning", (502, 44)),
    SuiteSet(_info("digits-rare", "tuning", (892, 78), "pixels"), _one_digit),
    _keel("flare-F", "aside", (958, 42), "002d903f9cd9b70a757ef78626bc687b94ed1a871555aaa1886a6e6b3aa93eb3"),
    _keel("dermatology-6", "aside", (338, 20), "d9f86d0edf4cb37f96bc7e7641c17bd914c97e8ac45094ef30a6b92721606eb0"),
    _keel("winequality-red-4", "aside", (968, 32), "dc566e436bcf29f310f071e80a20274edc243d47fd3e9dec2d34976acfc57d83"),
    _keel("kddcup-guess_passwd_vs_satan", "aside", (966, 34),
          "ee62975e5aa64a279354c60fb065f447535141bd482f890f8c2cd3065b4720fb"),
    _keel("glass6", "aside", (185, 29), "5886e6c81253b47a64da3e60a429cebc6ebc18c9dcef073477a401bdffef0da3"),
    _made_of("vowel", "aside", (*(90,) * 10, 38)),
    _made_of("spambase", "aside", (620, 54)),
    _made_of("wdbc", "aside", (357, 31)),
)  # fmt: skip
"""The sets of KEEL's, then those that are made of others, in each half."""
