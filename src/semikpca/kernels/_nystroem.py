"""Another kernel, seen through landmarks: a matrix of low rank. And the rules that choose landmarks."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy import linalg, optimize, sparse
from sklearn.base import clone
from sklearn.cluster import kmeans_plusplus
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement
from threadpoolctl import threadpool_limits

from semikpca._numbers import is_whole_number
from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import is_tensor, length, taken
from semikpca.exceptions import IndefiniteKernelError
from semikpca.kernels._base import Kernel
from semikpca.kernels._finite import finite_pairwise
from semikpca.kernels._low_rank import LowRankFactor, above_rounding
from semikpca.kernels._normalized import Normalized
from semikpca.kernels._vectors import dense
from semikpca.kernels._wrapped import KernelLike, WrappedKernel, as_kernel

# Rows among which k-means++ chooses, for each landmark: its time grows with their product.
_ROWS_PER_SEED = 20
# Up to so many row numbers are shuffled to draw some of them, 8 bytes each; rows on a cluster may be far more.
_MOST_SHUFFLED_ROWS = 20_000_000
# The ridge is chosen so that the leverage scores of the pilot sum to this share of its size: with half of it little but
# rounding is left of a smooth kernel, see docs/decisions/0012-landmarks.md.
_EFFECTIVE_SHARE = 0.25


class Nystroem(WrappedKernel):
    """k(a, Z) k(Z, Z)⁺ k(Z, b) over landmark rows Z: a kernel of low rank in the place of k.

    Another matrix than that of k, hence a kernel and no back end: it has at most as many eigenvalues as there are
    landmarks, none of them larger than those of k, and equals k(a, b) where a or b is a landmark. Time and memory are
    linear in the number of rows. With all rows as landmarks it is k itself.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="rbf"
        k: any kernel on vectors, or a function on objects. No :class:`Normalized` kernel, whose degrees take all pairs
        of rows (``Normalized(Nystroem(...))`` has the degrees of the approximation), no neighbor graph, which is sparse
        already, and no precomputed matrix.
    n_landmarks : int, default=1000
        Landmarks to draw; where there are no more rows than that, all rows are landmarks.
    landmarks : {"uniform", "k-means++", "leverage"} or rows, default="uniform"
        "uniform" draws training rows at random. "k-means++" draws rows far from each other, out of a random subset
        where there are many: a second or two for a thousand landmarks, and the closest to k in nine of ten comparisons
        (docs/decisions/0012-landmarks.md). "leverage" draws rows by how badly others stand in for them: ridge leverage
        scores, from a uniform draw of half as many landmarks; see the notes. Rows given are the landmarks.
    random_state : int, RandomState or None, default=None
        For the draw; give a number for the same landmarks each time.

    Attributes
    ----------
    landmarks_ : rows
        Z.
    landmark_numbers_ : ndarray of int, or None
        Which training rows they are, ascending; None where they were given.
    mixing_ : ndarray of shape (n_landmarks, rank)
        R, with k(Z, Z)⁺ = R Rᵀ.
    rank_ : int
        Rank of k(Z, Z), and number of features: its eigenvalues above n_landmarks · 2.2e-16 of the largest, and for
        rows in float32 above 1.2e-7 of it. The pseudo-inverse is that of what is left; smaller ones would be noise.
    kernel_ : Kernel
        k, fitted.

    Notes
    -----
    Values come from features, k(a, Z) R · k(b, Z) R, which keep about half of the digits where k(Z, Z) is close to
    singular.

    Ridge leverage scores are the diagonal of K (K + μ I)⁻¹. With a uniform pilot S of p of the n rows they are about
    (k(x, x) − k(x, S) (k(S, S) + (p/n) μ I)⁻¹ k(S, x)) / μ (Musco and Musco, 2017); μ is chosen so that the pilot's own
    scores sum to p/4.

    Examples
    --------
    >>> X = [[0.0], [0.1], [1.0], [1.1]]
    >>> Nystroem("linear", n_landmarks=1, random_state=0).fit(X)([[2.0]], [[3.0]]).round(6).tolist()
    [[6.0]]
    """

    def __init__(
        self,
        kernel: KernelLike = "rbf",
        n_landmarks: int = 1000,
        *,
        landmarks: Any = "uniform",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.random_state = random_state

    @property
    def is_approximate(self) -> bool:
        """True, unless all training rows are landmarks."""
        return not getattr(self, "_is_whole", False)

    def is_low_rank_on(self, rows: Rows) -> bool:
        """Return True: that is what it is for."""
        return True

    def fit(self, rows: Rows) -> Self:
        """Fit the kernel inside, choose landmarks, and factor the pseudo-inverse of their matrix."""
        self._check_params()
        if is_tensor(rows):
            raise ValueError(
                "Nystroem takes NumPy arrays and CSR matrices, got a torch tensor. Use rows.cpu().numpy()."
            )
        if self.input_kind == "vectors" and not hasattr(rows, "shape"):
            rows = np.asarray(rows, dtype=np.float64)
        kernel: Kernel = clone(as_kernel(self.kernel)).fit(rows)
        numbers = self._drawn(kernel, rows) if isinstance(self.landmarks, str) else None
        landmarks = self._given(rows) if numbers is None else taken(rows, numbers)
        self.mixing_ = pseudo_inverse_root(kernel, landmarks)
        self.rank_ = self.mixing_.shape[1]
        self.kernel_, self.landmarks_, self.landmark_numbers_ = kernel, landmarks, numbers
        self._is_whole = numbers is not None and len(numbers) == length(rows)
        return self

    def low_rank_factor(self) -> LowRankFactor:
        """Return the features k(rows, Z) R in two steps."""
        if not hasattr(self, "mixing_"):
            raise NotFittedError(f"{self!r} has no landmarks yet: call fit(rows) first.")
        return LowRankFactor(self._columns, self.mixing_, parallel=self.input_kind == "vectors")

    def pairwise(self, A: Rows, B: Rows) -> FloatArray:
        """Return the matrix of values, shape (len(A), len(B))."""
        if A is B:
            features = self.features(A)
            return np.asarray(features @ features.T)
        if length(A) < length(B):
            return self.pairwise(B, A).T
        return self.low_rank_factor().combine(A, self.features(B).T)

    def diag(self, A: Rows) -> FloatArray:
        """Return the squared lengths of the features."""
        return self.low_rank_factor().squares(A)

    def over_landmarks(self, weights: FloatArray) -> tuple[Kernel, Rows, FloatArray]:
        """Return k, Z and R @ weights: features are never made for it."""
        return self.kernel_, self.landmarks_, self.mixing_ @ weights

    def _columns(self, rows: Rows) -> FloatArray:
        return self.kernel_.pairwise(rows, self.landmarks_)

    def _check_params(self) -> None:
        inside = as_kernel(self.kernel)
        if isinstance(inside, Normalized):
            raise ValueError(
                f"Nystroem({inside!r}) would need the degrees of all rows, which take all pairs of them. Use "
                "Normalized(Nystroem(...)), with the degrees of the approximation."
            )
        if inside.is_sparse or inside.input_kind == "matrix" or isinstance(inside, Nystroem):
            raise ValueError(
                f"Nystroem needs a kernel that compares a row with a few landmarks, such as RBF(), got {inside!r}."
            )
        if isinstance(self.landmarks, str):
            if self.landmarks not in RULES:
                raise ValueError(f"landmarks must be one of {sorted(RULES)} or rows, got {self.landmarks!r}.")
            if not is_whole_number(self.n_landmarks, minimum=1):
                raise ValueError(f"n_landmarks must be a whole number, 1 or more, got {self.n_landmarks!r}.")

    def _drawn(self, kernel: Kernel, rows: Rows) -> IntArray:
        if self.n_landmarks >= length(rows):
            return np.arange(length(rows))
        rule, generator = RULES[self.landmarks], check_random_state(self.random_state)
        return np.sort(rule(kernel, rows, int(self.n_landmarks), generator))

    def _given(self, rows: Rows) -> Rows:
        if self.input_kind == "objects":
            return list(self.landmarks)
        landmarks = self.landmarks if sparse.issparse(self.landmarks) else np.asarray(self.landmarks)
        n_features = np.shape(rows)[1]
        if landmarks.ndim != 2 or landmarks.shape[1] != n_features or not landmarks.shape[0]:
            raise ValueError(
                f"landmarks must be rows with {n_features} features each, as the training rows have, got shape "
                f"{landmarks.shape}."
            )
        dtype = getattr(rows, "dtype", np.dtype(np.float64))
        landmarks = landmarks.astype(dtype if dtype.kind == "f" else np.float64)
        if not np.isfinite(landmarks.data if sparse.issparse(landmarks) else landmarks).all():
            raise ValueError("landmarks must be finite, got NaN or infinity.")
        return sparse.csr_array(landmarks) if sparse.issparse(rows) else np.asarray(dense(landmarks))


def pseudo_inverse_root(kernel: Kernel, landmarks: Rows) -> FloatArray:
    """Return R in float64 with R Rᵀ the pseudo-inverse of the kernel matrix of the landmarks."""
    matrix = finite_pairwise(kernel, landmarks, landmarks)
    dtype = matrix.dtype
    if dtype == np.float32 and hasattr(landmarks, "astype"):
        # What is inverted should be no less than exact; the type of the rows only says how much of it they can carry.
        matrix = kernel.pairwise(landmarks.astype(np.float64), landmarks.astype(np.float64))
    # The threads of BLAS gain nothing at this size, and on a busy computer they wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        values, vectors = np.linalg.eigh(matrix.astype(np.float64))
    if not kernel.is_definite and values[0] < -np.sqrt(np.finfo(dtype).eps) * max(values[-1], -values[0]):
        raise IndefiniteKernelError(float(values[0]), float(values[-1]))
    kept = above_rounding(values, dtype)
    if not kept.any():
        raise ValueError(
            f"The kernel matrix of the {length(landmarks)} landmarks is zero: {kernel!r} says nothing about them. Give "
            "more landmarks, or another kernel."
        )
    root = vectors[:, kept] / np.sqrt(values[kept])
    # Any rotation of the features does as well; one that makes R a triangle halves the work of applying it.
    return np.asarray(np.linalg.qr(root.T)[1].T)


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
