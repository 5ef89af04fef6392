"""The contract that every kernel keeps."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from semikpca._typing import Array, BoolArray, FloatArray, IntArray, Rows
from semikpca.arrays import is_remote, is_tensor, namespace
from semikpca.kernels._blocked import FactorTiles, PairwiseTiles, Tiles, rectangular_product, symmetric_product
from semikpca.kernels._finite import finite_pairwise, require_finite
from semikpca.kernels._low_rank import FeatureExpansion, LowRankFactor

InputKind = Literal["vectors", "matrix", "objects"]


@dataclass(frozen=True)
class SparseFactor:
    """A kernel matrix K = damping · S² + (1 − damping) v vᵀ, without its n² numbers.

    Attributes
    ----------
    matrix : CSR array of shape (n, n)
        S: symmetric, no eigenvalue outside [−1, 1], and S v = v.
    vector : ndarray of shape (n,)
        v, of unit length: the eigenvector of K for its largest eigenvalue, 1.
    damping : float
        In (0, 1]: every other eigenvalue of K is at most this.
    """

    matrix: Any
    vector: FloatArray
    damping: float


class Kernel(BaseEstimator, ABC):
    """A positive semi-definite function of two rows.

    ``fit`` learns what depends on the data (a bandwidth, degrees) and stores it in attributes that end in an
    underscore; ``pairwise`` evaluates. A kernel whose parameters are all numbers needs no ``fit``.
    """

    @property
    def input_kind(self) -> InputKind:
        """What the rows are: vectors, rows of a given kernel matrix, or any objects."""
        return "vectors"

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may be a CSR matrix."""
        return True

    @property
    def is_definite(self) -> bool:
        """Whether the matrix is positive semi-definite by construction; otherwise it is checked."""
        return True

    @property
    def is_sparse(self) -> bool:
        """Whether ``sparse_factor`` can say the matrix of the training rows without its n² numbers."""
        return False

    def fit(self, rows: Rows) -> Self:
        """Learn what depends on the training rows; return the kernel itself."""
        return self

    @abstractmethod
    def pairwise(self, A: Rows, B: Rows) -> FloatArray:
        """Return the matrix of k(a, b), shape (len(A), len(B)), as a new array."""

    @abstractmethod
    def diag(self, A: Rows) -> FloatArray:
        """Return k(a, a) for each row a of A."""

    def tiles(self, A: Rows, B: Rows, dtype: Any) -> Tiles:
        """Return blocks of ``pairwise(A, B)`` in this type, for products that never hold the whole of it."""
        return PairwiseTiles(self.pairwise, A, B, dtype)

    def cross_product(self, A: Rows, B: Rows, coefficients: Array) -> Array:
        """Return ``pairwise(A, B) @ coefficients``; a kernel on vectors does it in blocks."""
        if self.input_kind != "vectors":
            return np.asarray(finite_pairwise(self, A, B) @ coefficients)
        if is_remote(B):
            return require_finite(self, B.cross_product(self, A, coefficients))
        if is_tensor(A):
            from semikpca.kernels._torch_product import torch_cross_product

            return torch_cross_product(self, A, B, coefficients, "float32")
        dtype = np.result_type(A.dtype, B.dtype)
        tiles = self.tiles(A, B, dtype)
        if A is B:
            return require_finite(self, symmetric_product(tiles, A.shape[0], coefficients, dtype))
        return require_finite(self, rectangular_product(tiles, (A.shape[0], B.shape[0]), coefficients, dtype))

    def sparse_factor(self) -> SparseFactor:
        """Return the matrix of the training rows as a sparse factor, where ``is_sparse``."""
        raise NotImplementedError(f"The matrix of {self!r} is not sparse.")

    @property
    def is_approximate(self) -> bool:
        """Whether the kernel stands for another one, whose eigenvalues may be larger."""
        return False

    def is_low_rank_on(self, rows: Rows) -> bool:
        """Whether ``features`` is the way to the matrix of these rows: a few numbers a row instead of n."""
        return False

    def low_rank_factor(self) -> LowRankFactor:
        """Return what makes the features of rows, for a kernel that may have ``is_low_rank_on``."""
        raise NotImplementedError(f"The matrix of {self!r} has no low rank.")

    def features(self, rows: Rows) -> FloatArray:
        """Return features whose inner products are the kernel, shape (n_rows, n_features)."""
        return self.low_rank_factor().features(rows)

    def weighted_features(self, weights: FloatArray) -> Callable[[Rows], FloatArray]:
        """Return the function x ↦ features(x) @ weights, with as little of the kernel as that takes."""
        return FeatureExpansion(self, weights)

    def expansion(self, rows: Rows, coefficients: FloatArray) -> Callable[[Rows], FloatArray]:
        """Return the function x ↦ Σ c_i k(x, x_i) over ``rows``, prepared for being called often."""
        return partial(self.cross_product, B=rows, coefficients=coefficients)

    def components(self) -> IntArray | None:
        """Return the connected component of each training row; None where the kernel connects all of them."""
        return None

    def touches(self, A: Rows, marked: BoolArray) -> BoolArray:
        """Return whether each row of A is connected with a marked training row; only asked with ``components``."""
        return np.ones(A.shape[0] if hasattr(A, "shape") else len(A), dtype=bool)

    def __call__(self, A: Rows, B: Rows | None = None) -> FloatArray:
        """Return ``pairwise(A, B)``, or ``pairwise(A, A)`` without B."""
        return self.pairwise(A, A if B is None else B)


class ProductKernel(Kernel):
    """A kernel that is one matrix product and a function of its entries: k(A, B) = profile(L Rᵀ).

    Stating a formula this way is what lets every back end share it: a block of the kernel matrix is a block of
    the product with ``profile`` applied in place.
    """

    @abstractmethod
    def factors(self, A: Rows, B: Rows) -> tuple[Rows, Rows]:
        """Return L (a row for each row of A) and R (a row for each row of B)."""

    @abstractmethod
    def profile(self, products: FloatArray) -> FloatArray:
        """Turn products into kernel values, in place, and return them."""

    def products_keep_digits(self, left: Rows, right: Rows) -> bool:
        """Return whether ``profile`` of products of these factors is as accurate as ``pairwise``."""
        return True

    def tiles(self, A: Rows, B: Rows, dtype: Any) -> Tiles:
        """Return blocks of profile(L Rᵀ), where that has all digits."""
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = self.factors(A, B)
            if not self.products_keep_digits(left, right):
                return super().tiles(A, B, dtype)
        # Rounded only now: what was taken off the rows was taken off with all their digits.
        left, columns = left.astype(dtype, copy=False), right.T.astype(dtype)
        return FactorTiles(self.profile, left, columns.tocsc() if sparse.issparse(columns) else columns.copy("C"))

    def pairwise(self, A: Rows, B: Rows) -> FloatArray:
        """Return the matrix of k(a, b), shape (len(A), len(B))."""
        left, right = self.factors(A, B)
        products = left @ right.T
        return self.profile(products.toarray() if sparse.issparse(products) else products)

    def diag(self, A: Rows) -> FloatArray:
        """Return k(a, a) for each row a of A."""
        left, right = self.factors(A, A)
        if sparse.issparse(left):
            return self.profile(np.asarray(left.multiply(right).sum(axis=1)).reshape(-1))
        return self.profile(namespace(left).einsum("ij,ij->i", left, right))
