"""The contract that every kernel keeps."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from semikpca._typing import BoolArray, FloatArray, IntArray, Rows
from semikpca.kernels._finite import finite_pairwise
from semikpca.kernels._namespace import namespace

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

    def cross_product(self, A: Rows, B: Rows, coefficients: FloatArray) -> FloatArray:
        """Return ``pairwise(A, B) @ coefficients``; a kernel that needs no dense block for it has its own way."""
        return np.asarray(finite_pairwise(self, A, B) @ coefficients)

    def sparse_factor(self) -> SparseFactor:
        """Return the matrix of the training rows as a sparse factor, where ``is_sparse``."""
        raise NotImplementedError(f"The matrix of {self!r} is not sparse.")

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
