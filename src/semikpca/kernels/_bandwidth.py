"""Rules that choose a kernel coefficient from the data."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from semikpca._numbers import is_positive_number
from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import allowed_threads, in_threads, is_remote, is_tensor, slices
from semikpca.kernels._distance_matrix import DistanceMatrix
from semikpca.kernels._distances import pair_starts, squared_distances
from semikpca.kernels._product_distances import ProductDistances
from semikpca.kernels._vectors import as_float, short_indices

Gamma: TypeAlias = float | Literal["median", "scale"]
Metric: TypeAlias = Literal["euclidean", "manhattan"]

EXACT_MEDIAN_ROWS = 4_000
SAMPLED_PAIRS = 4_000_000
# Differences of numbers up to which city-block distances are all taken, and how many the sample of pairs has above.
CITY_BLOCK_DIFFERENCES = 500_000_000
CITY_BLOCK_SAMPLED = 100_000_000
_SAMPLE_SEED = 0
# Products take less time than differences from so many features on; pairs that differences decide in the end are at
# most this share of all.
_MANY_FEATURES = 64
_REFINED_SHARE = 4
_FEW_ROWS = 2_000  # no second thread for them
_ROWS_AT_ONCE = 64
_NUMBERS_AT_ONCE = 2**16


def median_distance(X: Rows, metric: Metric = "euclidean", known: DistanceMatrix | None = None) -> float:
    """Return the median distance over all pairs of distinct rows of X, by a metric, "euclidean" or "manhattan".

    Exact up to ``EXACT_MEDIAN_ROWS`` rows; above, the median over a fixed, seeded sample of rows that has about as
    many pairs, so that the same data always give the same kernel. City-block distances of wide rows are costly: where
    they would take more than ``CITY_BLOCK_DIFFERENCES`` differences between two numbers, the median is that of a
    seeded sample of pairs with fewer of them, in which every row counts as often as every other.

    ``known`` are the Euclidean distances between all rows, where somebody has them.
    """
    rows: IntArray | None = None
    if X.shape[0] > EXACT_MEDIAN_ROWS:
        n_sampled = int(np.sqrt(2 * SAMPLED_PAIRS))
        rows = np.sort(np.random.default_rng(_SAMPLE_SEED).choice(X.shape[0], size=n_sampled, replace=False))
        X = X[rows]
    elif is_remote(X):
        X = X[:]
    if is_tensor(X):
        X = X.cpu().numpy()
    if sparse.issparse(X):
        return _middle(_sparse_pair_distances(X, metric))
    X = as_float(X)
    n_differences = X.shape[1] * X.shape[0] * (X.shape[0] - 1) // 2
    if metric == "manhattan" and n_differences > CITY_BLOCK_DIFFERENCES:
        return _middle(_sampled_city_block(X))
    if metric == "euclidean" and X.shape[1] >= _MANY_FEATURES:
        median = _median_by_products(X, None if known is None else (known.pairs(rows), known.largest_error))
        if median is not None:
            return median
    return _middle(_pair_distances(X, "cityblock" if metric == "manhattan" else metric))


def resolve_gamma(gamma: Gamma, X: Rows, median_rule: Callable[[float], float], metric: Metric) -> float:
    """Return the kernel coefficient as a number, from a number or the name of a rule."""
    if not isinstance(gamma, str) or gamma not in ("median", "scale"):
        return check_gamma(gamma)
    X = X if sparse.issparse(X) or is_tensor(X) or is_remote(X) else np.asarray(X)
    if gamma == "scale":
        variance = _variance(X)
        if not np.isfinite(variance):
            raise ValueError(
                f"gamma='scale' has no value: the variance of X leaves the range of {X.dtype}. Scale the features."
            )
        if variance == 0:
            raise ValueError(
                "gamma='scale' has no value: the variance of X is 0, all its entries are equal. Give gamma a "
                "number, or use rows that differ."
            )
        return float(1.0 / (X.shape[1] * variance))
    if X.shape[0] < 2:
        raise ValueError("gamma='median' has no value: one row has no pairs. Give gamma a number, or more rows.")
    median = median_distance(X, metric)
    if median == 0:
        raise ValueError(
            "gamma='median' has no value: the median distance between the rows of X is 0, so at least half of the "
            "pairs of rows are equal. Give gamma a number, or drop duplicate rows."
        )
    coefficient = median_rule(median) if np.isfinite(median) else 0.0
    if not is_positive_number(coefficient):
        raise ValueError(
            f"gamma='median' has no value: with a median distance of {median:.3g} it leaves the range of numbers. "
            "Scale the features, for example with StandardScaler."
        )
    return coefficient


def check_gamma(gamma: object) -> float:
    """Return gamma if it is a positive number; otherwise say what it may be."""
    if is_positive_number(gamma):
        return float(gamma)
    raise ValueError(f"gamma must be 'median', 'scale' or a positive number, got {gamma!r}.")


def fitted_gamma(kernel: object) -> float:
    """Return the coefficient that a kernel evaluates with: the fitted one, or a given number."""
    if hasattr(kernel, "gamma_"):
        return float(kernel.gamma_)
    gamma = kernel.gamma  # type: ignore[attr-defined]  # every caller has the parameter
    if isinstance(gamma, str) and gamma in ("median", "scale"):
        raise NotFittedError(f"{kernel!r} chooses gamma from the data: call fit(X) first, or give gamma a number.")
    return check_gamma(gamma)


def _middle(distances: FloatArray) -> float:
    """Return the median of distances, which are put into another order."""
    # One partition in place: np.median copies, looks for NaN, and partitions at two places, three times the cost.
    lower, upper = _middle_two(distances)
    return float((lower + upper) / 2)


def _middle_two(values: FloatArray) -> tuple[Any, Any]:
    middle = len(values) // 2
    values.partition(middle)
    upper = values[middle]
    return (upper if len(values) % 2 else values[:middle].max()), upper


def _pair_distances(X: FloatArray, metric: str) -> FloatArray:
    """Return the distances of all pairs of rows by differences, as SciPy's pdist does and with all cores."""
    n_threads = allowed_threads()
    if n_threads == 1 or len(X) <= _FEW_ROWS:
        return np.asarray(pdist(X, metric))
    starts = pair_starts(len(X))
    flat = np.empty(starts[-1])

    def fill(strip: slice, thread: int) -> None:
        block = cdist(X[strip], X[strip.start :], metric)
        for place, row in enumerate(range(strip.start, strip.stop)):
            flat[starts[row] : starts[row + 1]] = block[place, place + 1 :]

    in_threads(fill, slices(0, len(X), _ROWS_AT_ONCE), n_threads)
    return flat


def _median_by_products(X: FloatArray, known: tuple[FloatArray, float] | None) -> float | None:
    """Return the median Euclidean distance as differences give it; None where it takes the differences of most pairs.

    Products of matrices give all distances up to an error that is known. The median is at most that far from theirs, so
    that only pairs that close to it need differences. Where these are many in float32, there may be fewer in float64.
    """
    for dtype in (np.float32, np.float64):
        if known is None:
            with np.errstate(over="ignore", invalid="ignore"):
                products = ProductDistances(X, dtype)
            if not products.is_in_range:
                continue
            known = products.pairs(), products.largest_error
        median = _refined_median(X, *known)
        if median is not None:
            return median
        known = None
    return None


def _refined_median(X: FloatArray, rough: FloatArray, error: float) -> float | None:
    """Return the median distance from squared ones that are off by ``error``; None if many pairs are close to it."""
    lower, upper = (float(value) for value in _middle_two(rough.copy()))
    lower, upper = lower - 2 * error, upper + 2 * error
    close = np.flatnonzero((rough >= lower) & (rough <= upper))
    if len(close) > len(rough) // _REFINED_SHARE:
        return None
    starts = pair_starts(len(X))
    first = np.searchsorted(starts, close, side="right") - 1
    exact = np.sqrt(np.sort(squared_distances(X, first, X, close - starts[first] + first + 1)))
    place = len(rough) // 2 - int(np.count_nonzero(rough < lower))
    return float((exact[place if len(rough) % 2 else place - 1] + exact[place]) / 2)


def _sampled_city_block(X: FloatArray) -> FloatArray:
    """Return the city-block distances of a sample of pairs: of rows in a random order, each with the next few."""
    n, n_features = X.shape
    order = np.random.default_rng(_SAMPLE_SEED).permutation(n)
    turn, place = np.divmod(np.arange(max(1, CITY_BLOCK_SAMPLED // n_features)), n)
    first, second = order[place], order[(place + turn + 1) % n]
    distances = np.empty(len(first))

    def fill(pairs: slice, thread: int) -> None:
        differences = np.subtract(X[first[pairs]], X[second[pairs]])
        distances[pairs] = np.abs(differences, out=differences).sum(axis=1)

    parts = slices(0, len(first), max(1, _NUMBERS_AT_ONCE // n_features))
    in_threads(fill, parts, min(allowed_threads(), len(parts)))
    return distances


def _sparse_pair_distances(X: Rows, metric: Metric) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):  # what leaves the range of numbers is refused with a message
        distances = euclidean_distances(X) if metric == "euclidean" else manhattan_distances(short_indices(X))
    return np.asarray(distances[np.triu_indices(X.shape[0], k=1)])


def _variance(X: Rows) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(X):
            return float(X.multiply(X).mean() - X.mean() ** 2)
        if is_tensor(X):
            return float(X.var(correction=0))
        return float(X.var())
