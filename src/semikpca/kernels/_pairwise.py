"""Kernels on vectors; each formula is written here once, for NumPy arrays, CSR matrices and torch tensors."""

from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import manhattan_distances

from semikpca._numbers import is_whole_number
from semikpca._typing import Array, FloatArray, Rows
from semikpca.arrays import is_remote, is_tensor, namespace
from semikpca.kernels._bandwidth import Gamma, fitted_gamma, resolve_gamma, short_indices
from semikpca.kernels._base import Kernel, ProductKernel
from semikpca.kernels._low_rank import FeatureExpansion, LowRankFactor

# −gamma ‖·‖² up to which the exponent may come from products: its rounding error is then below a few dozen eps.
_LARGEST_EXPONENT = 16.0
# Rows from which on a linear kernel is multiplied by way of its features; for fewer its matrix is small.
_MANY_ROWS = 5_000


class RBF(ProductKernel):
    """The Gaussian kernel exp(−gamma ‖a − b‖²).

    Parameters
    ----------
    gamma : {"median", "scale"} or float, default="median"
        "median" is the paper's rule, 1 / (2 median²) over the pairwise distances; "scale" is scikit-learn's
        1 / (n_features · variance of X).

    Examples
    --------
    >>> RBF(gamma=0.5)([[0.0], [2.0]]).round(3).tolist()
    [[1.0, 0.135], [0.135, 1.0]]
    """

    def __init__(self, gamma: Gamma = "median") -> None:
        self.gamma = gamma

    def fit(self, rows: Rows) -> Self:
        """Choose ``gamma_`` from the rows."""
        self.gamma_ = resolve_gamma(self.gamma, rows, lambda median: 0.5 / median**2, "euclidean")
        return self

    def factors(self, A: Rows, B: Rows) -> tuple[Rows, Rows]:
        """Return L and R with L Rᵀ = −gamma ‖a − b‖²: the squared norms ride along as two more columns."""
        gamma = fitted_gamma(self)
        A, B = _as_float(A), _as_float(B)
        if not sparse.issparse(A) and not sparse.issparse(B):
            # Distances do not change under a shift, but rounding does: far from the origin ‖a‖² would swamp them.
            origin = (B if B.shape[0] else A).mean(axis=0)
            A, B = A - origin, B - origin
        norms_a, norms_b = -gamma * _squared_norms(A), -gamma * _squared_norms(B)
        xp = namespace(A)
        left = _beside(2 * gamma * A, norms_a, xp.ones_like(norms_a))
        right = _beside(B, xp.ones_like(norms_b), norms_b)
        return left, right

    def products_keep_digits(self, left: Rows, right: Rows) -> bool:
        """Return whether the rows are close enough to each other for the exponent to come from products of factors."""
        # The last columns hold −gamma ‖·‖². Where they are large, distances are small differences of large numbers.
        largest = [abs(_last_two_columns(rows)[:, place]) for place, rows in enumerate((left, right))]
        far = max((float(norms.max()) for norms in largest if len(norms)), default=0.0)
        return bool(far < _LARGEST_EXPONENT)

    def pairwise(self, A: Rows, B: Rows) -> Array:
        """Return the matrix of k(a, b), shape (len(A), len(B))."""
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = self.factors(A, B)
            if not self.products_keep_digits(left, right):
                return self._from_differences(_as_float(A), _as_float(B))
        products = left @ right.T
        products = products.toarray() if sparse.issparse(products) else products
        namespace(products).clip(products, None, 0, out=products)  # rounding between equal rows
        return self.profile(products)

    def _from_differences(self, A: Rows, B: Rows) -> Array:
        """Return the matrix from differences of rows: slower, and exact wherever the rows are."""
        scale = np.sqrt(fitted_gamma(self))
        if is_tensor(A):
            xp = namespace(A)
            A, B, dtype = scale * A.double(), scale * B.double(), xp.result_type(A, B)
            distances = xp.cdist(A, B, compute_mode="donot_use_mm_for_euclid_dist")
            return self.profile(-distances.square_()).to(dtype)
        dtype = np.result_type(A.dtype, B.dtype)
        A, B = (scale * (rows.toarray() if sparse.issparse(rows) else rows).astype(np.float64) for rows in (A, B))
        return self.profile(-cdist(A, B, "sqeuclidean")).astype(dtype, copy=False)

    def profile(self, products: Array) -> Array:
        """Exponentiate."""
        return namespace(products).exp(products, out=products)

    def diag(self, A: Rows) -> Array:
        """Return ones."""
        return _ones(A)


class Laplacian(Kernel):
    """The Laplacian kernel exp(−gamma ‖a − b‖₁).

    Parameters
    ----------
    gamma : {"median", "scale"} or float, default="median"
        "median" is 1 / median over the pairwise L1 distances, so that the kernel does not depend on the units of X
        (the squared rule of :class:`RBF` would); "scale" is scikit-learn's 1 / (n_features · variance of X).
    """

    def __init__(self, gamma: Gamma = "median") -> None:
        self.gamma = gamma

    def fit(self, rows: Rows) -> Self:
        """Choose ``gamma_`` from the rows."""
        self.gamma_ = resolve_gamma(self.gamma, rows, lambda median: 1.0 / median, "manhattan")
        return self

    def pairwise(self, A: Rows, B: Rows) -> Array:
        """Return the matrix of k(a, b), shape (len(A), len(B))."""
        A, B = _as_float(A), _as_float(B)
        xp = namespace(A)
        if is_tensor(A):
            exponents = xp.cdist(A, B, p=1.0)
        else:
            # manhattan_distances answers sparse rows in float64, whatever they were.
            distances = manhattan_distances(short_indices(A), short_indices(B))
            exponents = distances.astype(np.result_type(A.dtype, B.dtype), copy=False)
        exponents *= -fitted_gamma(self)
        return xp.exp(exponents, out=exponents)

    def diag(self, A: Rows) -> Array:
        """Return ones."""
        return _ones(A)


class Linear(ProductKernel):
    """The linear kernel a·b.

    Parameters
    ----------
    center : bool, default=False
        Whether the mean of the training rows is taken off first: (a − mean)·(b − mean). Needs dense rows, since sparse
        ones would be sparse no more.
    """

    def __init__(self, center: bool = False) -> None:
        self.center = center

    def fit(self, rows: Rows) -> Self:
        """Learn the mean, if it is taken off."""
        if self.center:
            self.mean_: Array = self._dense(rows).mean(axis=0)
        return self

    def factors(self, A: Rows, B: Rows) -> tuple[Rows, Rows]:
        """Return the rows, centered or as they are."""
        if not self.center:
            return _as_float(A), _as_float(B)
        if not hasattr(self, "mean_"):
            raise NotFittedError(f"{self!r} needs the mean of the training rows: call fit(rows) first.")
        A, B, mean = self._dense(A), self._dense(B), self.mean_
        if is_tensor(A):
            mean = namespace(A).as_tensor(mean, dtype=A.dtype, device=A.device)  # rows of fit may have been an array
        return A - mean, B - mean

    def _dense(self, rows: Rows) -> Array:
        if sparse.issparse(rows):
            raise ValueError("Linear(center=True) needs dense rows. Use center=False, or rows.toarray().")
        return _as_float(rows)

    def profile(self, products: Array) -> Array:
        """Return the products as they are."""
        return products

    def is_low_rank_on(self, rows: Rows) -> bool:
        """Return whether there are many rows, dense ones, and far more than features."""
        is_dense = isinstance(rows, np.ndarray) or is_remote(rows)
        return is_dense and len(rows) >= max(_MANY_ROWS, 4 * rows.shape[1])

    def low_rank_factor(self) -> LowRankFactor:
        """Return the rows themselves, centered or as they are, as features."""
        return LowRankFactor(self._columns)

    def _columns(self, rows: Rows) -> FloatArray:
        return np.asarray(self.factors(rows, rows[:0])[0])

    def expansion(self, rows: Rows, coefficients: FloatArray) -> Callable[[Rows], FloatArray]:
        """Return the function x ↦ Σ c_i k(x, x_i); where there are many rows it keeps a weight for each feature."""
        if not self.is_low_rank_on(rows):
            return super().expansion(rows, coefficients)
        return FeatureExpansion.of(self, rows, coefficients)


class Polynomial(ProductKernel):
    """The polynomial kernel (gamma a·b + coef0)^degree.

    Parameters
    ----------
    degree : int, default=3
    gamma : {"median", "scale"} or float, default="scale"
        As in :class:`RBF`.
    coef0 : float, default=1.0
        Negative values make the kernel indefinite in general; the matrix is then checked.
    """

    def __init__(self, degree: int = 3, gamma: Gamma = "scale", coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    @property
    def is_definite(self) -> bool:
        """True for coef0 ≥ 0, where the expansion has no negative term."""
        return self.coef0 >= 0

    def fit(self, rows: Rows) -> Self:
        """Choose ``gamma_`` from the rows."""
        self.gamma_ = resolve_gamma(self.gamma, rows, lambda median: 0.5 / median**2, "euclidean")
        return self

    def factors(self, A: Rows, B: Rows) -> tuple[Rows, Rows]:
        """Return the rows themselves."""
        return _as_float(A), _as_float(B)

    def profile(self, products: Array) -> Array:
        """Scale, shift and raise to the power."""
        if not is_whole_number(self.degree, minimum=1):
            raise ValueError(f"degree must be a whole number, 1 or more, got {self.degree!r}.")
        if not isinstance(self.coef0, Real) or not np.isfinite(self.coef0):
            raise ValueError(f"coef0 must be a finite number, got {self.coef0!r}.")
        products *= fitted_gamma(self)
        products += self.coef0
        if is_tensor(products):
            return products.pow_(self.degree)
        return np.power(products, self.degree, out=products)


class Cosine(ProductKernel):
    """The cosine of the angle between two rows; 0 where a row is zero."""

    def factors(self, A: Rows, B: Rows) -> tuple[Rows, Rows]:
        """Return the rows scaled to unit length."""
        return _unit_rows(_as_float(A)), _unit_rows(_as_float(B))

    def profile(self, products: Array) -> Array:
        """Return the products as they are."""
        return products


def _as_float(rows: Rows) -> Rows:
    if is_remote(rows):
        return rows
    if is_tensor(rows):
        xp = namespace(rows)
        return rows if rows.dtype in (xp.float64, xp.float32) else rows.to(xp.float64)
    rows = rows if sparse.issparse(rows) else np.asarray(rows)
    return rows if rows.dtype in (np.float64, np.float32) else rows.astype(np.float64)


def _last_two_columns(rows: Rows) -> Array:
    last = rows[:, -2:]
    return last.toarray() if sparse.issparse(last) else last


def _unit_rows(rows: Rows) -> Rows:
    """Scale rows to unit length; by their largest entries first, so that no square leaves the range of numbers."""
    return _divided_by(_divided_by(rows, _largest_entries), lambda scaled: _squared_norms(scaled) ** 0.5)


def _divided_by(rows: Rows, size: Callable[[Rows], Array]) -> Rows:
    if not sparse.issparse(rows):
        sizes = size(rows)
        return rows / namespace(rows).where(sizes > 0, sizes, 1)[:, None]
    rows = sparse.csr_array(rows, copy=True)
    rows.sum_duplicates()
    sizes = size(rows)
    rows.data /= np.repeat(np.where(sizes > 0, sizes, 1), np.diff(rows.indptr)).astype(rows.dtype)
    return rows


def _largest_entries(rows: Rows) -> Array:
    if is_tensor(rows):
        return abs(rows).amax(axis=1)
    largest = abs(rows).max(axis=1)
    return np.asarray(largest.toarray() if sparse.issparse(largest) else largest).reshape(-1)


def _squared_norms(rows: Rows) -> Array:
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1)
    return namespace(rows).einsum("ij,ij->i", rows, rows)


def _beside(rows: Rows, *columns: Any) -> Rows:
    if is_tensor(rows):
        return namespace(rows).column_stack([rows, *columns])
    added = np.column_stack(columns).astype(rows.dtype, copy=False)
    if sparse.issparse(rows):
        return sparse.hstack([rows, sparse.csr_array(added)], format="csr")
    return np.hstack([rows, added])


def _ones(rows: Rows) -> Array:
    rows = _as_float(rows)
    if is_tensor(rows):
        return rows.new_ones(rows.shape[0])
    return np.ones(rows.shape[0], dtype=rows.dtype)
