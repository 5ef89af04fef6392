"""The contract of an operator: a symmetric matrix known by its products."""

import math
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.operators._progress import Progress


@dataclass(frozen=True)
class KnownSpectrum:
    """Leading eigenpairs that are known beforehand.

    Attributes
    ----------
    eigenvalues : ndarray of shape (m,)
    eigenvectors : ndarray of shape (n, m)
    bound : float
        No other eigenvalue is larger.
    """

    eigenvalues: FloatArray
    eigenvectors: FloatArray
    bound: float = math.inf

    def __len__(self) -> int:
        return len(self.eigenvalues)


@dataclass(frozen=True)
class Subspace:
    """A subspace, and what an operator makes of it.

    Attributes
    ----------
    basis : array of shape (n, m)
        Orthonormal columns.
    images : array of shape (n, m)
        The operator times the basis.
    n_last : int
        Only the images of so many last columns lead out of the subspace (as in a Krylov space).
    """

    basis: FloatArray
    images: FloatArray
    n_last: int


class KernelOperator(ABC):
    """A symmetric n × n matrix that can be multiplied from the left; SciPy's names where SciPy has one."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    xp: Any = np  # the library of the blocks that go in and come out: NumPy or torch
    n_products: int = 0  # products made so far, where the operator itself makes them
    is_estimate: bool = False  # whether the matrix stands for another one, whose eigenvalues may be larger
    progress: Progress | None = None

    @abstractmethod
    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``, shape (n, n_columns), as a new array."""

    @abstractmethod
    def diag(self) -> FloatArray:
        """Return the diagonal."""

    @abstractmethod
    def to_dense(self) -> FloatArray:
        """Return the whole matrix as a new array that the caller may overwrite."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that the operator keeps in memory."""

    def block(self, values: Any) -> FloatArray:
        """Return values as a block that can be multiplied: of the right library, type and device."""
        return np.asarray(values, dtype=self.dtype)

    def units(self, rows: IntArray) -> FloatArray:
        """Return a block with a 1 in each column, at these rows."""
        units = self.block(np.zeros((self.n, len(rows))))
        units[rows, np.arange(len(rows))] = 1
        return units

    def columns(self, rows: IntArray) -> FloatArray:
        """Return the columns of the matrix at ``rows``, shape (n, len(rows))."""
        return self.matmat(self.units(rows))

    def product_at(self, rows: IntArray, block: FloatArray) -> FloatArray | None:
        """Return the product with ``block`` at a few rows; None where that costs as much as at all of them."""
        return None

    @property
    def is_stored(self) -> bool:
        """Whether a product is cheap beside the making of the matrix; if not, products are what a fit costs."""
        return True

    @property
    def uses_one_core(self) -> bool:
        """Whether a product keeps one core busy only, so that several may run side by side."""
        return False

    def between_products(self) -> AbstractContextManager[None]:
        """Return a context for the work between products: where these take all cores, nothing else should."""
        return nullcontext()

    @property
    def block_columns(self) -> int:
        """Columns up to which a product costs little more than with one."""
        return 8

    @property
    def precision(self) -> float:
        """How far a product may be off through rounding, relative to the largest eigenvalue.

        Rounding errors of n² entries add up like a random matrix, whose norm grows with sqrt(n); ten times that leaves
        room for an eigensolver's own steps. LAPACK's worst case, n · eps, would call half of a float32 spectrum noise.
        """
        return float(10 * np.sqrt(self.n) * np.finfo(self.dtype).eps)

    @property
    def product_error(self) -> float:
        """The relative residual below which steps that are made of products do not come."""
        return 10 * float(np.finfo(self.dtype).eps)

    @property
    def accepted_error(self) -> float:
        """The relative error of an answer that whoever chose this operator has accepted; 0 where digits are free."""
        return 0.0

    def sharper(self) -> "KernelOperator":
        """Return the same matrix with more digits in its products; itself where there are no more."""
        return self

    def report(self, stage: str, residual: float, goal: float) -> None:
        """Say how far a computation with products is, where somebody listens (``progress``)."""
        if self.progress is not None:
            self.progress.note(stage, self.n_products, residual, goal)

    @property
    def rounding_scale(self) -> float:
        """A bound on the eigenvalues before anything was subtracted; rounding is relative to it if it is larger."""
        return 0.0

    @property
    def product_cost(self) -> float:
        """Multiplications in a product with one column, in units of a dense product's."""
        return float(self.n) ** 2

    @property
    def can_be_dense(self) -> bool:
        """Whether ``to_dense`` is a way out where products alone do not lead to an answer."""
        return True

    def known_spectrum(self, m: int) -> KnownSpectrum:
        """Return those of the m leading eigenpairs that need not be computed; none by default."""
        return KnownSpectrum(np.empty(0), self.block(np.empty((self.n, 0))))

    def rough_eigenvectors(self, m: int) -> FloatArray:
        """Return at most m columns that are close to leading eigenvectors and cost little; none by default.

        Where a product is cheap, so are a few more of them.
        """
        return self.block(np.empty((self.n, 0)))

    def centered_spectrum(self, m: int) -> KnownSpectrum:
        """Return those of the m leading eigenpairs of the centered matrix that need not be computed."""
        return KernelOperator.known_spectrum(self, m)

    @property
    def n(self) -> int:
        """Number of rows and columns."""
        return self.shape[0]
