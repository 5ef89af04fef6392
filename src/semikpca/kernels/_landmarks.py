"""Rules that choose landmarks among the training rows."""

from collections.abc import Callable

import numpy as np
from scipy import linalg, optimize
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.random import sample_without_replacement

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import length, taken
from semikpca.kernels._base import Kernel
from semikpca.kernels._finite import finite_pairwise
from semikpca.kernels._low_rank import LowRankFactor

# Rows among which k-means++ chooses, for each landmark: its time grows with their product.
_ROWS_PER_SEED = 20
# Up to so many row numbers are shuffled to draw some of them, 8 bytes each; rows on a cluster may be far more.
_MOST_SHUFFLED_ROWS = 20_000_000
# The ridge is chosen so that the leverage scores of the pilot sum to this share of its size: with half of it little but
# rounding is left of a smooth kernel, see docs/decisions/0012-landmarks.md.
_EFFECTIVE_SHARE = 0.25


def _uniform(kernel: Kernel, rows: Rows, n_landmarks: int, generator: np.random.RandomState) -> IntArray:
    if length(rows) > _MOST_SHUFFLED_ROWS:
        return np.asarray(sample_without_replacement(length(rows), n_landmarks, random_state=generator))
    return np.asarray(generator.choice(length(rows), n_landmarks, replace=False))


def _k_means_plus_plus(kernel: Kernel, rows: Rows, n_landmarks: int, generator: np.random.RandomState) -> IntArray:
    if kernel.input_kind != "vectors":
        raise ValueError(
            f"landmarks='k-means++' needs rows that are vectors, and {kernel!r} compares objects. Use 'uniform' or "
            "'leverage'."
        )
    subset: IntArray = np.arange(length(rows))
    if length(rows) > _ROWS_PER_SEED * n_landmarks:
        subset = _uniform(kernel, rows, _ROWS_PER_SEED * n_landmarks, generator)
    _, chosen = kmeans_plusplus(rows[subset], n_landmarks, random_state=generator)
    # Where rows are equal one of them may be chosen twice; any other rows are as good then.
    chosen = np.unique(chosen)
    spare = np.setdiff1d(np.arange(len(subset)), chosen)[: n_landmarks - len(chosen)]
    return np.asarray(subset[np.concatenate([chosen, spare])])


def _by_leverage(kernel: Kernel, rows: Rows, n_landmarks: int, generator: np.random.RandomState) -> IntArray:
    scores = leverage_scores(kernel, rows, max(1, n_landmarks // 2), generator)
    # Without replacement, in proportion to the scores: the smallest of exponential waiting times.
    with np.errstate(divide="ignore"):
        waiting = generator.exponential(size=len(scores)) / scores
    return np.asarray(np.argpartition(waiting, n_landmarks - 1)[:n_landmarks])


def leverage_scores(kernel: Kernel, rows: Rows, n_pilot: int, generator: np.random.RandomState) -> FloatArray:
    """Return approximate ridge leverage scores of all rows, in units of their largest.

    The formula and the choice of the ridge are in the notes of :class:`semikpca.kernels.Nystroem`.
    """
    pilot = taken(rows, np.sort(_uniform(kernel, rows, n_pilot, generator)))
    matrix = finite_pairwise(kernel, pilot, pilot).astype(np.float64)
    ridge = _ridge(np.linalg.eigvalsh(matrix))
    # k(x, x) − k(x, S) (k(S, S) + ridge I)⁻¹ k(S, x): what the pilot leaves of each row.
    root = linalg.cholesky(matrix + ridge * np.eye(n_pilot), lower=True)
    mixing = linalg.solve_triangular(root, np.eye(n_pilot), lower=True).T
    factor = LowRankFactor(lambda some: kernel.pairwise(some, pilot), mixing, parallel=kernel.input_kind == "vectors")
    left = kernel.diag(rows) - factor.squares(rows)
    # No row of the data is certain to be superfluous, whatever rounding says.
    left = np.maximum(left, np.finfo(left.dtype).eps * np.abs(left).max())
    return np.asarray(left / left.max()) if left.max() > 0 else np.ones_like(left)


def _ridge(eigenvalues: FloatArray) -> float:
    """Return μ for which Σ λ / (λ + μ) is a quarter of the number of eigenvalues."""
    eigenvalues = np.maximum(eigenvalues, 0)
    largest = float(eigenvalues.max())
    if largest == 0:
        return 1.0  # of a matrix of zeros any ridge leaves the same

    def excess(logarithm: float) -> float:
        return float(np.mean(eigenvalues / (eigenvalues + np.exp(logarithm)))) - _EFFECTIVE_SHARE

    # Below this nothing but rounding is left of the matrix.
    smallest = np.log(len(eigenvalues) * np.finfo(np.float64).eps * largest)
    if excess(smallest) <= 0:
        return float(np.exp(smallest))
    # At the upper end the mean is at most 1 / (1 + e²).
    return float(np.exp(optimize.brentq(excess, smallest, np.log(largest) + 2)))


# Each returns the numbers of different rows, for a fitted kernel and fewer landmarks than rows.
RULES: dict[str, Callable[[Kernel, Rows, int, np.random.RandomState], IntArray]] = {
    "uniform": _uniform,
    "k-means++": _k_means_plus_plus,
    "leverage": _by_leverage,
}
