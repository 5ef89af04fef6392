"""Eigenpairs and what is known of their error."""

from dataclasses import dataclass

import numpy as np

from semikpca._typing import FloatArray
from semikpca.operators import KernelOperator


def rounding_of(operator: KernelOperator, largest: float) -> float:
    """Return how far an eigenvalue may be off through rounding alone.

    Rounding errors of n² entries add up like a random matrix, whose norm grows with sqrt(n); ten times that
    leaves room for the eigensolver's own steps. LAPACK's worst case, n · eps, would call half of a float32
    spectrum noise.
    """
    scale = max(abs(float(largest)), operator.rounding_scale)
    return float(10 * np.sqrt(operator.n) * np.finfo(operator.dtype).eps * scale)


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenpairs of a symmetric operator, largest first.

    Attributes
    ----------
    eigenvalues : ndarray of shape (m,)
    eigenvectors : ndarray of shape (n, m)
        Orthonormal columns.
    uncertainty : ndarray of shape (m,)
        An eigenvalue of the matrix lies within this distance of each computed one: rounding plus residual norm.
    """

    eigenvalues: FloatArray
    eigenvectors: FloatArray
    uncertainty: FloatArray

    @property
    def n(self) -> int:
        """Number of rows of the matrix."""
        return int(self.eigenvectors.shape[0])

    def __len__(self) -> int:
        return len(self.eigenvalues)

    @property
    def rank(self) -> int:
        """Number of computed eigenvalues that are not zero within their uncertainty."""
        return int(np.count_nonzero(self.eigenvalues > self.uncertainty))

    def is_cut_at(self, k: int) -> bool:
        """Whether eigenvalues k and k + 1 (counted from 1) can be told apart."""
        if k == 0:
            return True
        gap = self.eigenvalues[k - 1] - self.eigenvalues[k]
        return bool(gap > self.uncertainty[k - 1] + self.uncertainty[k])

    def head(self, m: int) -> "Spectrum":
        """Return the first m eigenpairs."""
        return Spectrum(self.eigenvalues[:m], self.eigenvectors[:, :m], self.uncertainty[:m])
