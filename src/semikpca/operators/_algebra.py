"""Operators made of other operators; nothing is stored twice."""

from typing import Literal

import numpy as np

from semikpca._typing import FloatArray
from semikpca.operators._base import KernelOperator


class DeflatedOperator(KernelOperator):
    """K′ = K − V diag(λ) Vᵀ: a kernel without its first components (line 6 of Algorithm 1)."""

    def __init__(self, base: KernelOperator, eigenvalues: FloatArray, eigenvectors: FloatArray) -> None:
        self.base = base
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors
        self.shape = base.shape
        self.dtype = base.dtype

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return K′ @ block."""
        product = self.base.matmat(block)
        if self.eigenvalues.size:
            V = self.eigenvectors
            product -= V @ (self.eigenvalues[:, np.newaxis] * (V.T @ block))
        return product

    def diag(self) -> FloatArray:
        """Return the diagonal of K′."""
        return self.base.diag() - self.eigenvectors**2 @ self.eigenvalues

    def to_dense(self) -> FloatArray:
        """Return K′ as a matrix."""
        matrix = self.base.to_dense()
        if self.eigenvalues.size:
            matrix -= (self.eigenvectors * self.eigenvalues) @ self.eigenvectors.T
        return matrix

    @property
    def nbytes(self) -> int:
        """The base and the removed eigenvectors."""
        return self.base.nbytes + self.eigenvectors.nbytes

    @property
    def product_cost(self) -> float:
        """The base, and two products with the eigenvectors."""
        return self.base.product_cost + 2 * self.eigenvectors.size

    @property
    def can_be_dense(self) -> bool:
        """As the base."""
        return self.base.can_be_dense


class ShiftedOperator(KernelOperator):
    """shift · I + sign · base: the system of Semi-KPCA (sign −1) and of LS-SVM (sign +1)."""

    def __init__(self, base: KernelOperator, shift: float, sign: Literal[-1, 1]) -> None:
        self.base = base
        self.shift = base.dtype.type(shift)
        self.sign = sign
        self.shape = base.shape
        self.dtype = base.dtype

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return (shift · I + sign · base) @ block."""
        product = self.base.matmat(block)
        if self.sign < 0:
            np.negative(product, out=product)
        product += self.shift * block
        return product

    def diag(self) -> FloatArray:
        """Return the diagonal."""
        return np.asarray(self.shift + self.sign * self.base.diag())

    def to_dense(self) -> FloatArray:
        """Return the system as a matrix."""
        matrix = self.base.to_dense()
        if self.sign < 0:
            np.negative(matrix, out=matrix)
        matrix.reshape(-1)[:: matrix.shape[0] + 1] += self.shift
        return matrix

    @property
    def nbytes(self) -> int:
        """The base; the shift is one number."""
        return self.base.nbytes

    @property
    def product_cost(self) -> float:
        """As the base."""
        return self.base.product_cost

    @property
    def can_be_dense(self) -> bool:
        """As the base."""
        return self.base.can_be_dense


class CenteredOperator(KernelOperator):
    """(I − 11ᵀ/n) K (I − 11ᵀ/n): the kernel of rows whose mean in feature space is zero."""

    def __init__(self, base: KernelOperator) -> None:
        self.base = base
        self.shape = base.shape
        self.dtype = base.dtype

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the centered product with ``block``."""
        product = self.base.matmat(block - block.mean(axis=0))
        product -= product.mean(axis=0)
        return product

    def diag(self) -> FloatArray:
        """Return the diagonal of the centered matrix."""
        means = self.row_means()
        return np.asarray(self.base.diag() - 2 * means + means.mean())

    def to_dense(self) -> FloatArray:
        """Return the centered matrix."""
        matrix = self.base.to_dense()
        means = self.row_means()
        matrix -= means
        matrix -= means[:, np.newaxis] - means.mean()
        return matrix

    @property
    def rounding_scale(self) -> float:
        """The trace of the base: what is left after centering may be far smaller than what was taken off."""
        return float(self.base.diag().sum(dtype=np.float64))

    def row_means(self) -> FloatArray:
        """Return the mean of each row of the base, which centers new rows too."""
        ones = np.full((self.n, 1), 1.0 / self.n, dtype=self.dtype)
        return self.base.matmat(ones).reshape(-1)

    @property
    def nbytes(self) -> int:
        """The base."""
        return self.base.nbytes

    @property
    def product_cost(self) -> float:
        """As the base."""
        return self.base.product_cost

    @property
    def can_be_dense(self) -> bool:
        """As the base."""
        return self.base.can_be_dense
