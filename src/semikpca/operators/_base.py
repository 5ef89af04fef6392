"""The contract of an operator: a symmetric matrix known by its products."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray


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


class KernelOperator(ABC):
    """A symmetric n × n matrix that can be multiplied from the left; SciPy's names where SciPy has one."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]

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
        return KnownSpectrum(np.empty(0, self.dtype), np.empty((self.n, 0), self.dtype))

    @property
    def n(self) -> int:
        """Number of rows and columns."""
        return self.shape[0]
