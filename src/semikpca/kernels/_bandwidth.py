"""Rules that choose a kernel coefficient from the data."""

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import euclidean_distances, manhattan_distances

from semikpca._numbers import is_positive_number
from semikpca._typing import FloatArray, Rows
from semikpca.arrays import is_remote, is_tensor
from semikpca.kernels._vectors import short_indices

Gamma: TypeAlias = float | Literal["median", "scale"]
Metric: TypeAlias = Literal["euclidean", "manhattan"]

EXACT_MEDIAN_ROWS = 4_000
SAMPLED_PAIRS = 4_000_000
_SAMPLE_SEED = 0


def median_distance(X: Rows, metric: Metric = "euclidean") -> float:
    """Return the median distance over all pairs of distinct rows of X, by a metric, "euclidean" or "manhattan".

    Exact up to ``EXACT_MEDIAN_ROWS`` rows; above, the median over a fixed, seeded sample of rows that has about as
    many pairs, so that the same data always give the same kernel.
    """
    if X.shape[0] > EXACT_MEDIAN_ROWS:
        n_sampled = int(np.sqrt(2 * SAMPLED_PAIRS))
        chosen = np.random.default_rng(_SAMPLE_SEED).choice(X.shape[0], size=n_sampled, replace=False)
        X = X[np.sort(chosen)]
    elif is_remote(X):
        X = X[:]
    if is_tensor(X):
        X = X.cpu().numpy()
    distances = _pair_distances(X, metric)
    # One partition in place: np.median copies, looks for NaN, and partitions at two places, three times the cost.
    middle = len(distances) // 2
    distances.partition(middle)
    upper = distances[middle]
    lower = upper if len(distances) % 2 else distances[:middle].max()
    return float((lower + upper) / 2)


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


def _pair_distances(X: Rows, metric: Metric) -> FloatArray:
    """Return the distances of all pairs of rows as one flat array."""
    if not sparse.issparse(X):
        return np.asarray(pdist(X, "cityblock" if metric == "manhattan" else metric))
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
