"""Which solver? One table, from the record of the operator, the sizes and the condition number alone."""

import math
from enum import Enum
from functools import cached_property

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import allowed_threads, in_threads, one_blas_thread, slices
from semikpca.operators import KernelOperator, OperatorFacts, Subspace
from semikpca.solvers._base import LinearSolver, Solution, Status
from semikpca.solvers._conjugate_gradients import ConjugateGradients
from semikpca.solvers._direct import Cholesky, ClosedForm

# A product with few columns waits for memory, not for arithmetic: it takes as long as one with about this many.
_FREE_COLUMNS = 5
COLUMNS_A_GROUP = 16
_BOUND_OVER_STEPS = 8


class Method(Enum):
    """How a system is solved."""

    CLOSED_FORM = "the operator knows the inverse"
    CHOLESKY = "a factor of the dense matrix, which is kept for all later solves"
    GROUPS = "conjugate gradients, a few columns at a time on each core"
    BLOCK = "conjugate gradients on all columns at once"


def choose_method(
    facts: OperatorFacts, n: int, n_columns: int, condition_number: float, rtol: float, *, has_inverse: bool = False
) -> Method:
    """Return the method for an n × n system with so many columns: that of the first rule that applies.

    The condition number may be a bound on it, and ``rtol`` is that of the residuals; ``has_inverse`` says that the
    operator knows the inverse in closed form.
    """
    if has_inverse:
        return Method.CLOSED_FORM
    sizes = n, n_columns, condition_number, rtol, facts.product_cost
    if facts.is_stored and facts.can_be_dense and direct_is_cheaper(*sizes):
        return Method.CHOLESKY
    if facts.uses_one_core and n_columns > COLUMNS_A_GROUP:
        return Method.GROUPS
    return Method.BLOCK


def expected_iterations(condition_number: float, rtol: float) -> float:
    """Return the classical bound on the steps of conjugate gradients."""
    return 0.5 * math.sqrt(condition_number) * math.log(2.0 / rtol)


def direct_is_cheaper(n: int, n_columns: int, condition_number: float, rtol: float, product_cost: float) -> bool:
    """Whether one factorization costs less than the products that conjugate gradients would need.

    ``product_cost`` is that of a product with one column: n² of a stored matrix.
    """
    direct = n**3 / 3 + 2 * n**2 * n_columns
    iterative = 2 * product_cost * max(n_columns, _FREE_COLUMNS) * expected_iterations(condition_number, rtol)
    return direct <= iterative


def solved_in_groups(solver: LinearSolver, targets: FloatArray) -> Solution:
    """Solve for a few columns at a time, with a group on each core; the solves are independent of each other.

    A group fits in the cache of a core, which all columns together may not.
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
    """Solves each time by the method that ``choose_method`` names; a Cholesky factor is kept for all later solves.

    Without ``max_iter``, ten times as many steps as theory expects are allowed. For the subspace see
    :class:`ConjugateGradients`.
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
        inverse = system.inverse()
        self._closed_form = None if inverse is None else ClosedForm(inverse)
        self._factored: Cholesky | None = None

    def expect(self, n_columns: int) -> None:
        """Be told that so many columns are to be solved for, a few at a time: a factor may pay for all of them.

        It is made where it pays even if steps are far fewer than their bound, as they are on neighbor graphs.
        """
        sizes = self.system.n, n_columns // _BOUND_OVER_STEPS, self.condition_number, self.rtol
        method = choose_method(self.system.facts, *sizes, has_inverse=self._closed_form is not None)
        if self._factored is None and method is Method.CHOLESKY:
            self._factored = Cholesky(self.system)

    def solve(self, targets: FloatArray, rtol: float | None = None) -> Solution:
        """Solve for each column of ``targets``; a larger ``rtol`` than the solver's own is cheaper."""
        rtol = self.rtol if rtol is None else max(rtol, self.rtol)
        if self._factored is not None:
            return self._factored.solve(targets)
        facts, sizes = self.system.facts, (self.system.n, targets.shape[1], self.condition_number, rtol)
        method = choose_method(facts, *sizes, has_inverse=self._closed_form is not None)
        if method is Method.CLOSED_FORM and self._closed_form is not None:
            return self._closed_form.solve(targets)
        if method is Method.CHOLESKY:
            self._factored = Cholesky(self.system)
            return self._factored.solve(targets)
        iterative = self._iterative.to(rtol)
        if method is Method.GROUPS:
            return solved_in_groups(iterative, targets)
        # With products on one core BLAS has only vectors left to work on, for which a second thread would just wait.
        with one_blas_thread() if facts.uses_one_core else self.system.between_products():
            return iterative.solve(targets)

    @cached_property
    def _iterative(self) -> ConjugateGradients:
        return ConjugateGradients(self.system, self.rtol, self.max_iter, self.subspace)

    def inverse_diagonal(self, rows: IntArray) -> FloatArray | None:
        """Return the diagonal of the inverse at ``rows`` where it comes without a solve for each, otherwise None."""
        return None if self._closed_form is None else self._closed_form.inverse_diagonal(rows)
