"""Least-squares support vector machines (Problem 1), from a kernel matrix to the label response."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from semikpca._typing import Array, FloatArray, IntArray, Rows
from semikpca.arrays import to_numpy
from semikpca.kernels import Kernel
from semikpca.operators import KernelOperator, ShiftedOperator
from semikpca.problem._response import DualSolution, LabelResponse
from semikpca.problem._semi_kpca_problem import STORED_MATRIX_RTOL
from semikpca.solvers import (
    AdaptiveSolver,
    NystroemPreconditioner,
    PreconditionedGradients,
    choose_landmarks,
    expected_iterations,
)


class LSSVMResponse(LabelResponse):
    """Problem 1: (I/γ + K) α = y − b with 1ᵀα = 0, or without the bias b."""

    def __init__(
        self, operator: KernelOperator, error_weight: float, *, fit_intercept: bool, rtol: float, max_iter: int | None
    ) -> None:
        self.operator, self.error_weight, self.fit_intercept = operator, error_weight, fit_intercept
        system = ShiftedOperator(operator, 1.0 / error_weight, sign=1)
        # The trace bounds the largest eigenvalue, hence the condition number.
        condition_number = 1.0 + error_weight * float(to_numpy(operator.diag()).sum(dtype=np.float64))
        self.solver = AdaptiveSolver(system, condition_number, rtol, max_iter)
        self._system = system

    @cached_property
    def _steps(self) -> PreconditionedGradients:
        """What solves where products are all that there is; landmarks are prepared once, for all solves."""
        solver, system = self.solver, self._system
        steps = expected_iterations(solver.condition_number, solver.rtol)
        itemsize = self.operator.xp.finfo(self.operator.dtype).bits // 8
        n_landmarks = choose_landmarks(self.operator.facts, self.operator.n, steps, itemsize)
        landmarks = None
        if n_landmarks:
            found = NystroemPreconditioner(self.operator, system.shift, n_landmarks, centered=self.fit_intercept)
            landmarks = found.prepare() if found.pays else None
        sizes = solver.rtol, solver.max_iter, solver.condition_number
        return PreconditionedGradients(system, *sizes, landmarks, centered=self.fit_intercept)

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
        if not self.operator.facts.is_stored:
            return self._solve_in_steps(targets, rtol)
        if not self.fit_intercept:
            solution = self.solver.solve(targets, rtol)
            alpha, product = solution.values, solution.product
            intercept = self.operator.block(np.zeros(targets.shape[1]))
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
        decision = (self.operator.matmat(alpha) if product is None else product) + intercept
        return DualSolution.of(solution, alpha=alpha, dual_coef=alpha, intercept=intercept, decision=decision)

    def _solve_in_steps(self, targets: FloatArray, rtol: float | None) -> DualSolution:
        """Solve by products alone. Steps keep 1ᵀα = 0, and what they leave of y is the constant b."""
        solution = self._steps.solve(targets, rtol)
        alpha, product = solution.values, solution.product
        assert product is not None, "steps know what they leave"
        if self.fit_intercept:
            intercept = (targets - product).mean(axis=0)
        else:
            intercept = self.operator.block(np.zeros(targets.shape[1]))
        decision = product + intercept
        return DualSolution.of(solution, alpha=alpha, dual_coef=alpha, intercept=intercept, decision=decision)


@dataclass(frozen=True)
class LSSVMFacts:
    """What a fit has learned of a kernel matrix: nothing; the error weight is the one that was asked for."""

    error_weight: float


@dataclass(frozen=True)
class LSSVMProblem:
    """Problem 1 as it is asked."""

    error_weight: float  # γ, any positive number
    fit_intercept: bool  # whether there is a bias b
    tol: float  # relative tolerance of solves where the matrix is not stored
    max_iter: int | None
    row_stays: bool  # whether a row without a label is part of the problem, with target 0; or only labeled rows are

    alpha_sign = -1  # a row without a target has α = −γ f
    many_products = True
    is_linear = True  # the answer, in the labels

    @property
    def matrix_tol(self) -> float:
        """The tolerance that decides in which digits kernel values are computed."""
        return self.tol

    def refuse_on_cluster(self, kernel: Kernel, rows: Rows) -> None:
        """Refuse what a summary of the rows on a cluster does not tell."""
        if not self.row_stays:
            raise ValueError(
                f"LS-SVM learns from labeled rows only, and with {kernel!r} on a cluster labeled rows are taken to be "
                "few. Fit it on the client with the labeled rows, X[rows].compute()."
            )
        if self.fit_intercept:
            raise ValueError(
                f"fit_intercept=True needs all {rows.shape[0]:,} rows one by one, and with {kernel!r} they stay on the "
                "cluster. Use fit_intercept=False, as the paper does, or SemiKPCAClassifier."
            )

    def set_up(self, operator: KernelOperator, targets: Array | None = None) -> tuple[LSSVMFacts, LSSVMResponse]:
        """Return what is learned of the kernel matrix, and the label response."""
        facts = LSSVMFacts(self.error_weight)
        return facts, self.restored(operator, facts)

    def restored(self, operator: KernelOperator, facts: LSSVMFacts) -> LSSVMResponse:
        """Return the label response again."""
        return LSSVMResponse(
            operator,
            facts.error_weight,
            fit_intercept=self.fit_intercept,
            rtol=min(self.tol, STORED_MATRIX_RTOL) if operator.facts.is_stored else self.tol,
            max_iter=self.max_iter,
        )
