"""Least-squares support vector machines (Problem 1)."""

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import to_numpy
from semikpca.operators import KernelOperator, ShiftedOperator
from semikpca.problem._response import DualSolution, LabelResponse
from semikpca.solvers import AdaptiveSolver


class LSSVMResponse(LabelResponse):
    """Problem 1: (I/γ + K) α = y − b with 1ᵀα = 0, or without the bias b.

    Parameters
    ----------
    operator : KernelOperator
        The kernel matrix K.
    error_weight : float
        γ, any positive number.
    fit_intercept : bool
        Whether there is a bias b.
    rtol, max_iter : see :class:`semikpca.solvers.AdaptiveSolver`
    """

    def __init__(
        self,
        operator: KernelOperator,
        error_weight: float,
        *,
        fit_intercept: bool,
        rtol: float,
        max_iter: int | None = None,
    ) -> None:
        self.operator = operator
        self.fit_intercept = fit_intercept
        system = ShiftedOperator(operator, 1.0 / error_weight, sign=1)
        # The trace bounds the largest eigenvalue, hence the condition number.
        condition_number = 1.0 + error_weight * float(to_numpy(operator.diag()).sum(dtype=np.float64))
        self.error_weight = error_weight
        self.solver = AdaptiveSolver(system, condition_number, rtol, max_iter)

    def _known_own_alpha(self, rows: IntArray) -> FloatArray | None:
        own = self.solver.inverse_diagonal(rows)
        if own is None or not self.fit_intercept:
            return own
        # A unit target at row i has ν = C⁻¹e_i and 1ᵀν = η_i: its α_i is ν_i − η_i² / 1ᵀη.
        eta = self.solver.solve(np.ones((self.operator.n, 1), dtype=self.operator.dtype)).values[:, 0]
        return np.asarray(own - eta[rows].astype(np.float64) ** 2 / eta.sum(dtype=np.float64))

    def own_response(self, own_alpha: FloatArray) -> FloatArray:
        """Return H[i, i]: Kα + b = y − α/γ."""
        return 1 - own_alpha / self.error_weight

    def solve(self, targets: FloatArray, rtol: float | None = None) -> DualSolution:
        """Solve Problem 1 for each column of ``targets``."""
        n_columns = targets.shape[1]
        intercept = self.operator.block(np.zeros(n_columns))
        if not self.fit_intercept:
            solution = self.solver.solve(targets, rtol)
            alpha, product = solution.values, solution.product
        else:
            # Eliminate b: with η = C⁻¹1 and ν = C⁻¹y, 1ᵀα = 0 gives b = 1ᵀν / 1ᵀη and α = ν − b η.
            ones = self.operator.block(np.ones((self.operator.n, 1)))
            solution = self.solver.solve(self.operator.xp.hstack([targets, ones]), rtol)
            nu, eta = solution.values[:, :-1], solution.values[:, -1:]
            intercept = nu.sum(axis=0) / eta.sum()
            alpha = nu - eta * intercept
            product = solution.product
            if product is not None:
                product = product[:, :-1] - product[:, -1:] * intercept
        return DualSolution(
            alpha=alpha,
            dual_coef=alpha,
            intercept=intercept,
            decision=(self.operator.matmat(alpha) if product is None else product) + intercept,
            status=solution.status,
            n_iter=solution.n_iter,
            residual=solution.residual,
        )
