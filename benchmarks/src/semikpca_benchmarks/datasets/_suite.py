"""The sets that come with the benchmark, by name and in groups."""

from functools import partial
from types import MappingProxyType

import numpy as np
from sklearn.datasets import load_digits

from semikpca.datasets import PAPER_DATASETS, Dataset, load_paper_dataset
from semikpca.exceptions import DatasetError
from semikpca_benchmarks.datasets._further import FURTHER_SETS
from semikpca_benchmarks.datasets._info import SetInfo, SuiteSet
from semikpca_benchmarks.datasets._rare import RARE_SETS

_PAPER_SIZES = {
    "australian": (383, 307),
    "breastcancer": (444, 239),
    "diabetes": (500, 268),
    "heart": (150, 120),
    "iris": (50, 100),
    "monk-2": (204, 228),
    "pima": (500, 268),
    "sonar": (111, 97),
    "synth": (200, 200),
}
_DIGITS_SIZES = (178, 182, 177, 183, 181, 182, 181, 179, 174, 180)


def _digits() -> Dataset:
    X, y = load_digits(return_X_y=True)
    return Dataset("digits", X, y.astype(np.intp), tuple(map(str, range(10))), "UCI, scikit-learn")


_SUITE = (
    *(
        SuiteSet(
            SetInfo(name, ("paper",), _PAPER_SIZES[name], "in all", "standardize"), partial(load_paper_dataset, name)
        )
        for name in PAPER_DATASETS
    ),
    SuiteSet(SetInfo("digits", ("digits",), _DIGITS_SIZES, "each class", "pixels"), _digits),
    *FURTHER_SETS,
    *RARE_SETS,
)
_BY_NAME = {one.info.name: one for one in _SUITE}

BENCHMARK_DATASETS: tuple[str, ...] = tuple(_BY_NAME)
"""Names of all 50 data sets, group by group."""

BENCHMARK_GROUPS: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        group: tuple(one.info.name for one in _SUITE if group in one.info.groups)
        for group in dict.fromkeys(group for one in _SUITE for group in one.info.groups)
    }
)
"""The groups of the suite and the names in each.

"tuning" and "aside" are the halves of the 24 further sets, "rare-tuning" and "rare-aside" those of the group "rare".
"""


def load_benchmark_dataset(name: str) -> Dataset:
    """Return one data set of the accuracy benchmark.

    Features are not scaled. Numbers stay as they are, columns that hold anything else are one-hot encoded, and rows
    with missing values are left out. A set of more than 1,000 rows is cut to a uniform random sample of 1,000, always
    the same; digits is whole.

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
    return _found(name).load()


def benchmark_info(name: str) -> SetInfo:
    """Return what is known of a data set of the benchmark without reading it.

    Parameters
    ----------
    name : str
        One of ``BENCHMARK_DATASETS``.

    Examples
    --------
    >>> info = benchmark_info("digits")
    >>> info.n_samples, info.n_classes, info.groups
    (1797, 10, ('digits',))
    """
    return _found(name).info


def _found(name: str) -> SuiteSet:
    if name not in _BY_NAME:
        raise DatasetError(f"There is no data set {name!r}; the benchmark has {', '.join(BENCHMARK_DATASETS)}.")
    return _BY_NAME[name]
