"""What is known of a matrix before, or beside, what is computed with its products."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

from semikpca._typing import FloatArray, IntArray


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
    """A subspace, and the products of an operator with it.

    Attributes
    ----------
    basis : array of shape (n, m)
        Orthonormal columns.
    images : array of shape (n, m)
        The operator times the basis.
    n_last : int
        Only the images of the last ``n_last`` columns lead out of the subspace (as in a Krylov space).
    """

    basis: FloatArray
    images: FloatArray
    n_last: int


class KnownInverse(ABC):
    """The inverse of a system shift · I + sign · K in closed form, so that a solve needs no steps."""

    @abstractmethod
    def solve(self, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the solution for each column of ``targets``, and K times the solution."""

    @abstractmethod
    def diagonal(self, rows: IntArray) -> FloatArray:
        """Return the diagonal of the inverse at ``rows``, in float64."""
