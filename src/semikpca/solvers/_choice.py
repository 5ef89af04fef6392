"""Which solver? The one whose cost is lower, from sizes and the condition number alone."""

import math
from functools import cached_property

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import allowed_threads, in_threads, one_blas_thread, slices
from semikpca.operators import KernelOperator, Subspace
from semikpca.solvers._base import LinearSolver, Solution, Status
from semikpca.solvers._cholesky import Cholesky
from semikpca.solvers._conjugate_gradients import ConjugateGradients
from semikpca.solvers._low_rank import LowRankSolver

# A product with few columns waits for memory, not for arithmetic: it takes as long as one with about this many.
_FREE_COLUMNS = 5
COLUMNS_A_GROUP = 16


def expected_iterations(condition_number: float, rtol: float) -> float:
    """Return the classical bound on the steps of conjugate gradients."""
    return 0.5 * math.sqrt(condition_number) * math.log(2.0 / rtol)


def direct_is_cheaper(
    n: int, n_columns: int, condition_number: float, rtol: float, product_cost: float | None = None
) -> bool:
    """Whether one factorization costs less than the products that conjugate gradients would need.

    ``product_cost`` is that of a product with one column, n² if it is not given.
    """
    product_cost = float(n) ** 2 if product_cost is None else product_cost
    direct = n**3 / 3 + 2 * n**2 * n_columns
    iterative = 2 * product_cost * max(n_columns, _FREE_COLUMNS) * expected_iterations(condition_number, rtol)
    return direct <= iterative


def solved_in_groups(solver: LinearSolver, targets: FloatArray) -> Solution:
    """Solve for a few columns at a time, with a group on each core; columns know nothing of each other.

    A group stays in the cache where all columns together would not.
    """
    groups = slices(0, targets.shape[1], COLUMNS_A_GROUP)
    solutions: dict[int, Solution] = {}

    def solve(number: int, thread: int) -> None:
        solutions[number] = solver.solve(np.ascontiguousarray(targets[:, groups[number]]))

    in_threads(solve, range(len(groups)), min(allowed_threads(), len(groups)))
    parts = [solutions[number] for number in range(len(groups))]
    return Solution(
        values=np.hstack([part.values for part in parts]),
        status=next((part.status for part in parts if part.status is not Status.SOLVED), Status.SOLVED),
        n_iter=max(part.n_iter for part in parts),
        residual=max(part.residual for part in parts),
    )


class AdaptiveSolver(LinearSolver):
    """Conjugate gradients while they are cheaper, then a Cholesky factor that is kept for all later solves.

    Parameters
    ----------
    system : KernelOperator
    condition_number : float
        Of the system, or a bound on it.
    rtol : float
    max_iter : int or None
        None allows ten times what theory expects.
    subspace : Subspace, optional
        See :class:`ConjugateGradients`.
    """

    def __init__(
        self,
        system: KernelOperator,
        condition_number: float,
        rtol: float,
        max_iter: int | None = None,
        subspace: Subspace | None = None,
    ) -> None:
        self.system = system
        self.condition_number = condition_number
        self.rtol = rtol
        self.max_iter = max_iter or max(100, math.ceil(10 * expected_iterations(condition_number, rtol)))
        self.subspace = subspace
        self._direct: Cholesky | LowRankSolver | None = LowRankSolver.of(system)

    def solve(self, targets: FloatArray, rtol: float | None = None) -> Solution:
        """Solve for each column of ``targets``; a larger ``rtol`` than the solver's own is cheaper."""
        rtol = self.rtol if rtol is None else max(rtol, self.rtol)
        n_columns = targets.shape[1]
        if self._direct is None and self.system.can_be_dense and self.system.is_stored:
            sizes = self.system.n, n_columns, self.condition_number, rtol, self.system.product_cost
            if direct_is_cheaper(*sizes):
                self._direct = Cholesky(self.system)
        if self._direct is not None:
            return self._direct.solve(targets)
        iterative = self._iterative.to(rtol)
        if not self.system.uses_one_core:
            with self.system.between_products():
                return iterative.solve(targets)
        if n_columns > COLUMNS_A_GROUP:
            return solved_in_groups(iterative, targets)
        with one_blas_thread():  # what is left for BLAS are vectors, over which a second thread would only wait
            return iterative.solve(targets)

    @cached_property
    def _iterative(self) -> ConjugateGradients:
        return ConjugateGradients(self.system, self.rtol, self.max_iter, self.subspace)

    def inverse_diagonal(self, rows: IntArray) -> FloatArray | None:
        """Return the diagonal of the inverse at ``rows`` where it comes without a solve for each, otherwise None."""
        return self._direct.inverse_diagonal(rows) if isinstance(self._direct, LowRankSolver) else None
