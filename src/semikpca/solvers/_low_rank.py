"""Direct solves with a kernel matrix of low rank."""

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.operators import DeflatedOperator, KernelOperator, LowRankOperator, ShiftedOperator
from semikpca.solvers._base import LinearSolver, Solution, Status


class LowRankSolver(LinearSolver):
    """(s I ± K′) x = y with K = Φ Φᵀ, in the dimension of the features.

    With ΦᵀΦ = E Λ Eᵀ and the first k eigenpairs removed, K′ x = Φ N Φᵀ y where N = Σ_{l>k} e_l e_lᵀ / (s ± λ_l), and
    x = (y ∓ K′ x) / s. No eigenvalue is divided by, so that small ones do no harm.

    Parameters
    ----------
    operator : LowRankOperator
        K.
    n_removed : int
        k.
    shift : float
        s.
    sign : {-1, 1}
    """

    def __init__(self, operator: LowRankOperator, n_removed: int, shift: float, sign: int) -> None:
        self.operator, self.shift, self.sign = operator, shift, sign
        values, vectors = operator.gram_spectrum
        left = vectors[:, n_removed:]
        self._inner = (left / (shift + sign * values[n_removed:])) @ left.T

    @classmethod
    def of(cls, system: KernelOperator) -> "LowRankSolver | None":
        """Return the solver of a shifted kernel matrix of low rank, deflated or not; None for any other system."""
        if not isinstance(system, ShiftedOperator):
            return None
        base, n_removed = system.base, 0
        if isinstance(base, DeflatedOperator):
            n_removed, base = len(base.eigenvalues), base.base
        if not isinstance(base, LowRankOperator):
            return None
        return cls(base, n_removed, float(system.shift), system.sign)

    def solve(self, targets: FloatArray) -> Solution:
        """Solve for each column: one pass over the rows, and one over those with a target."""
        product = self.operator.combine(self._inner @ self.operator.project(targets))
        values = (targets - self.sign * product) / self.operator.dtype.type(self.shift)
        return Solution(values, Status.SOLVED, n_iter=1, residual=0.0, product=product)

    def inverse_diagonal(self, rows: IntArray) -> FloatArray:
        """Return the diagonal of the inverse at ``rows``, in float64: what it differs in from 1/s may be tiny."""
        if not len(rows):
            return np.empty(0)
        features = self.operator.features(rows).astype(np.float64)
        own = np.einsum("ij,ij->i", features @ self._inner, features)
        return np.asarray((1 - self.sign * own) / self.shift)
