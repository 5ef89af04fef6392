"""Eigenpairs and what is known of their error."""

import math
from dataclasses import dataclass, replace

import numpy as np

from semikpca._typing import FloatArray
from semikpca.arrays import on_host
from semikpca.operators import KernelOperator, Subspace


def rounding_of(operator: KernelOperator, largest: float) -> float:
    """Return how far an eigenvalue may be off through rounding alone."""
    return operator.facts.precision * max(abs(float(largest)), operator.facts.rounding_scale)


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenpairs of a symmetric operator, largest first; eigenvectors are orthonormal columns."""

    eigenvalues: FloatArray  # shape (m,)
    eigenvectors: FloatArray  # shape (n, m)
    uncertainty: FloatArray  # an eigenvalue of the matrix is within this of each computed one: rounding plus residual
    is_estimate: bool = False  # whether the matrix stands for another one, whose eigenvalues may be larger
    subspace: Subspace | None = None  # the space in which the eigenpairs were found, and the products with it

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

    def on_host(self) -> "Spectrum":
        """Return the eigenpairs as NumPy arrays, wherever they were computed."""
        return replace(self, eigenvectors=on_host(self.eigenvectors), subspace=None)

    def head(self, m: int) -> "Spectrum":
        """Return the first m eigenpairs."""
        leading = self.eigenvalues[:m], self.eigenvectors[:, :m], self.uncertainty[:m]
        return Spectrum(*leading, self.is_estimate, self.subspace)


def value_errors(values: FloatArray, residuals: FloatArray, bound: float = math.inf, n_known: int = 0) -> FloatArray:
    """Return how far each Ritz value may be from an eigenvalue.

    Never more than its residual; never above the bound; and, where a gap η after the first j Ritz values keeps them
    apart from the rest, at most ‖R‖²/η with the residuals R of those j (Kato and Temple).
    """
    errors = residuals.copy()
    for i in range(n_known, len(values)):
        errors[i] = min(errors[i], max(bound - float(values[i]), 0.0))
        for j in range(i + 1, len(values)):
            gap = float(values[i] - values[j] - residuals[j])
            if gap > 0:
                errors[i] = min(errors[i], float(residuals[:j] @ residuals[:j]) / gap)
    return errors
