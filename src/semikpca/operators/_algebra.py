"""Operators made of other operators; nothing is stored twice."""

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from semikpca._typing import Array, FloatArray, IntArray
from semikpca.arrays import like, to_numpy
from semikpca.operators._base import KernelOperator, KnownSpectrum
from semikpca.operators._low_rank import LowRankInverse


class DerivedOperator(KernelOperator):
    """An operator made of another one, its base, whose record and log it takes over."""

    def __init__(self, base: KernelOperator) -> None:
        self.base = base
        self.shape = base.shape
        self.dtype = base.dtype
        self.xp = base.xp
        self.facts = base.facts
        self.log = base.log

    def block(self, values: Any) -> FloatArray:
        """As the base."""
        return self.base.block(values)

    def between_products(self) -> AbstractContextManager[None]:
        """As the base."""
        return self.base.between_products()

    @property
    def nbytes(self) -> int:
        """As the base."""
        return self.base.nbytes


class DeflatedOperator(DerivedOperator):
    """K′ = K − V diag(λ) Vᵀ: a kernel without its first components (line 6 of Algorithm 1)."""

    def __init__(self, base: KernelOperator, eigenvalues: FloatArray, eigenvectors: FloatArray) -> None:
        super().__init__(base)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors
        self._values = like(eigenvalues, eigenvectors)
        facts = base.facts
        self.facts = replace(
            facts,
            # Each product takes two more with the eigenvectors.
            product_cost=facts.product_cost + 2 * self.n * len(eigenvalues),
            # Rounding in a product with the base is as large as before anything was removed.
            rounding_scale=max([facts.rounding_scale, *map(float, eigenvalues[:1])]),
        )

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return K′ @ block."""
        return self.applied(block, self.base.matmat(block))

    def applied(self, block: FloatArray, product: FloatArray) -> FloatArray:
        """Return K′ @ block, given K @ block, which may be overwritten."""
        if self.eigenvectors.shape[1]:
            V = self.eigenvectors
            parts = self._values[:, None] * (V.T @ block)
            product -= V * parts if len(parts) == 1 else V @ parts  # BLAS is slow for a single one
        return product

    def product_at(self, rows: IntArray, block: FloatArray) -> FloatArray | None:
        """Return K′ @ block at ``rows``."""
        product = self.base.product_at(rows, block)
        V = self.eigenvectors
        return None if product is None else product - V[rows] @ (self._values[:, None] * (V.T @ block))

    def columns(self, rows: IntArray) -> FloatArray:
        """Return the columns of K′ at ``rows``."""
        columns, V = self.base.columns(rows), self.eigenvectors
        columns -= V @ (self._values[:, None] * V[rows].T)
        return columns

    def diag(self) -> FloatArray:
        """Return the diagonal of K′."""
        removed: FloatArray = self.eigenvectors**2 @ self._values
        return self.base.diag() - removed

    def to_dense(self) -> FloatArray:
        """Return K′ as a matrix."""
        matrix = self.base.to_dense()
        if self.eigenvectors.shape[1]:
            matrix -= (self.eigenvectors * self._values) @ self.eigenvectors.T
        return matrix

    @property
    def nbytes(self) -> int:
        """The base and the removed eigenvectors."""
        return self.base.nbytes + int(self.eigenvectors.nbytes)

    def shifted_inverse(self, shift: float, sign: Literal[-1, 1], n_removed: int = 0) -> LowRankInverse | None:
        """Return that of the base without the components that are removed here."""
        return self.base.shifted_inverse(shift, sign, len(self.eigenvalues) + n_removed)


class ShiftedOperator(DerivedOperator):
    """shift · I + sign · base: the system of Semi-KPCA (sign −1) and of LS-SVM (sign +1)."""

    def __init__(self, base: KernelOperator, shift: float, sign: Literal[-1, 1]) -> None:
        super().__init__(base)
        self.shift = float(shift)
        self.sign: Literal[-1, 1] = sign
        # An error in a product is relative to the kernel, a residual to the shift: the error counts for more where the
        # kernel is larger.
        amplified = max(1.0, base.facts.rounding_scale / self.shift) if self.shift else 1.0
        self.facts = replace(base.facts, product_error=base.facts.product_error * amplified)

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return (shift · I + sign · base) @ block."""
        return self.applied(block, self.base.matmat(block))

    def applied(self, block: FloatArray, product: FloatArray) -> FloatArray:
        """Return (shift · I + sign · base) @ block, given base @ block, which may be overwritten."""
        if self.sign < 0:
            self.xp.negative(product, out=product)
        product += self.shift * block
        return product

    def product_at(self, rows: IntArray, block: FloatArray) -> FloatArray | None:
        """Return (shift · I + sign · base) @ block at ``rows``."""
        product = self.base.product_at(rows, block)
        return None if product is None else self.shift * block[rows] + self.sign * product

    def inverse(self) -> LowRankInverse | None:
        """Return the inverse in closed form, where the base has one for every shift."""
        return self.base.shifted_inverse(self.shift, self.sign)

    def diag(self) -> FloatArray:
        """Return the diagonal."""
        return self.shift + self.sign * self.base.diag()

    def to_dense(self) -> FloatArray:
        """Return the system as a matrix."""
        matrix = self.base.to_dense()
        if self.sign < 0:
            self.xp.negative(matrix, out=matrix)
        matrix.reshape(-1)[:: matrix.shape[0] + 1] += self.shift
        return matrix


class CenteredOperator(DerivedOperator):
    """(I − 11ᵀ/n) K (I − 11ᵀ/n): the kernel of rows whose mean in feature space is zero."""

    def __init__(self, base: KernelOperator) -> None:
        super().__init__(base)
        # The trace bounds the eigenvalues of the base. What is left after centering may be far smaller.
        trace = float(to_numpy(base.diag()).sum(dtype=np.float64))
        self.facts = replace(base.facts, rounding_scale=trace)

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the centered product with ``block``."""
        product = self.base.matmat(block - block.mean(axis=0))
        product -= product.mean(axis=0)
        return product

    def diag(self) -> Array:
        """Return the diagonal of the centered matrix."""
        means = self.row_means()
        return self.base.diag() - 2 * means + means.mean()

    def to_dense(self) -> FloatArray:
        """Return the centered matrix."""
        matrix = self.base.to_dense()
        means = self.row_means()
        matrix -= means
        matrix -= means[:, None] - means.mean()
        return matrix

    def rough_eigenvectors(self, m: int) -> FloatArray:
        """Return those of the base, centered."""
        columns = self.base.rough_eigenvectors(m)
        columns -= columns.mean(axis=0)
        return columns

    def known_spectrum(self, m: int) -> KnownSpectrum:
        """Return what the base knows of its centered form."""
        return self.base.centered_spectrum(m)

    def row_means(self) -> FloatArray:
        """Return the mean of each row of the base, which centers new rows too."""
        return self.base.matmat(self.block(np.full((self.n, 1), 1.0 / self.n))).reshape(-1)


class ScaledOperator(DerivedOperator):
    """D K D with a diagonal matrix D: a normalized kernel, by products with the kernel inside."""

    def __init__(self, base: KernelOperator, scales: FloatArray) -> None:
        super().__init__(base)
        self.scales = scales

    def sharper(self) -> KernelOperator:
        """Return the same with a sharper base."""
        base = self.base.sharper()
        return self if base is self.base else ScaledOperator(base, self.scales)

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return D K D @ block."""
        product = self.base.matmat(self.scales[:, None] * block)
        product *= self.scales[:, None]
        return product

    def product_at(self, rows: IntArray, block: FloatArray) -> FloatArray | None:
        """Return D K D @ block at ``rows``."""
        product = self.base.product_at(rows, self.scales[:, None] * block)
        return None if product is None else self.scales[rows, None] * product

    def rough_eigenvectors(self, m: int) -> FloatArray:
        """Return those of the base, scaled: eigenvectors of D K D lie in D times the range of K."""
        return self.scales[:, None] * self.base.rough_eigenvectors(m)

    def columns(self, rows: IntArray) -> FloatArray:
        """Return columns of D K D."""
        columns = self.base.columns(rows)
        columns *= self.scales[:, None]
        columns *= self.scales[rows]
        return columns

    def landmark_columns(self, rows: IntArray) -> FloatArray:
        """Return many columns of D K D."""
        columns = self.base.landmark_columns(rows)
        columns *= self.scales[:, None]
        columns *= self.scales[rows]
        return columns

    def diag(self) -> FloatArray:
        """Return the diagonal."""
        return self.scales**2 * self.base.diag()

    def to_dense(self) -> FloatArray:
        """Return the scaled matrix."""
        matrix = self.base.to_dense()
        matrix *= self.scales[:, None]
        matrix *= self.scales
        return matrix

    @property
    def nbytes(self) -> int:
        """The base and the scales."""
        return self.base.nbytes + int(self.scales.nbytes)


class StackedOperator(DerivedOperator):
    """A matrix that acts on the columns of a block, as one matrix that acts on all of them below each other.

    A block of c columns, read row by row, is a vector of n·c numbers. So systems that differ from column to column, by
    a :class:`ScaledOperator` around this one, are one system to a solver, and share each product with the base.
    """

    def __init__(self, base: KernelOperator, n_columns: int) -> None:
        super().__init__(base)
        self.n_columns = n_columns
        self.shape = (base.n * n_columns, base.n * n_columns)
        self.facts = replace(
            base.facts,
            product_cost=base.facts.product_cost * n_columns,
            can_be_dense=base.facts.can_be_dense and n_columns == 1,
        )

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``, shape (n·c, n_blocks)."""
        product = self.base.matmat(block.reshape(self.base.n, -1))
        return product.reshape(self.n, -1)

    def diag(self) -> FloatArray:
        """Return the diagonal of the base, each entry once for each column."""
        repeated: FloatArray = self.xp.kron(self.base.diag(), self.block(np.ones(self.n_columns)))
        return repeated

    def to_dense(self) -> FloatArray:
        """Return the matrix K ⊗ I."""
        if not self.base.facts.can_be_dense:
            return self.base.to_dense()  # which says why it cannot be had
        matrix: FloatArray = self.xp.kron(self.base.to_dense(), self.block(np.eye(self.n_columns)))
        return matrix
