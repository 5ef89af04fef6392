"""The label response H: the linear map from targets to decisions, and the answer to one set of targets."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import to_numpy
from semikpca.exceptions import warn_user
from semikpca.operators import KernelOperator
from semikpca.solvers import Solution, Status

_COLUMNS_AT_ONCE = 32


@dataclass(frozen=True)
class DualSolution:
    """The answer to one set of targets; every array has a column for each right-hand side."""

    alpha: FloatArray  # the multipliers of the paper
    dual_coef: FloatArray  # coefficients of w over the training rows: f(x) = k(x, rows) @ dual_coef + intercept
    intercept: FloatArray
    decision: FloatArray  # f on the training rows
    status: Status
    n_iter: int
    residual: float

    @classmethod
    def of(
        cls, solve: Solution, *, alpha: FloatArray, dual_coef: FloatArray, intercept: FloatArray, decision: FloatArray
    ) -> "DualSolution":
        """Return the answer that was made from a solve."""
        return cls(alpha, dual_coef, intercept, decision, solve.status, solve.n_iter, solve.residual)

    def without_arrays(self) -> "DualSolution":
        """Return how the solve went, and nothing of its answer."""
        nothing = np.empty(0)
        return replace(self, alpha=nothing, dual_coef=nothing, intercept=nothing, decision=nothing)

    def moved(self, columns: "DualSolution", change: FloatArray) -> "DualSolution":
        """Return the solution after a change of targets at some rows; everything in it is linear in them.

        ``columns`` are the solutions for unit targets at these rows, and ``change`` has a row for each of them.
        """
        return DualSolution(
            alpha=self.alpha + columns.alpha @ change,
            dual_coef=self.dual_coef + columns.dual_coef @ change,
            intercept=self.intercept + columns.intercept @ change,
            decision=self.decision + columns.decision @ change,
            status=columns.status,
            n_iter=columns.n_iter,
            residual=max(self.residual, columns.residual),
        )

    def on_host(self) -> "DualSolution":
        """Return the solution with NumPy arrays, wherever it was computed."""
        names = ("alpha", "dual_coef", "intercept", "decision")
        return replace(self, **{name: to_numpy(getattr(self, name)) for name in names})


def warn_unless_solved(solution: DualSolution) -> None:
    """Warn of a solve that stopped early."""
    if solution.status is not Status.SOLVED:
        how = f"relative residual {solution.residual:.1e} after {solution.n_iter} steps"
        warn_user(ConvergenceWarning(f"The solve was {solution.status.value} ({how})."))


class LabelResponse(ABC):
    """The linear map H from targets to decisions, as a problem that is set up before any label is known."""

    operator: KernelOperator

    @abstractmethod
    def solve(self, targets: FloatArray, rtol: float | None = None) -> DualSolution:
        """Solve for each column of ``targets``, shape (n, n_columns); ``rtol`` may ask for fewer digits."""

    def columns(self, rows: IntArray, rtol: float | None = None) -> DualSolution:
        """Solve for unit targets at ``rows``: its ``decision`` holds those columns of H."""
        return self.solve(self.operator.units(rows), rtol)

    def own_alpha(self, rows: IntArray, rtol: float | None = None) -> FloatArray:
        """Return the multiplier of each of ``rows`` for a unit target at that row alone.

        With conjugate gradients its error is the square of ``rtol``: it is a quadratic form of the system's inverse.
        """
        known = self._known_own_alpha(rows)
        if known is not None:
            return known
        # A few columns at a time where memory is what counts: each takes several arrays of n numbers.
        step = max(1, len(rows) if self.operator.facts.can_be_dense else _COLUMNS_AT_ONCE)
        own = []
        for block in (rows[start : start + step] for start in range(0, len(rows), step)):
            answers = self.solve(self.operator.units(block), rtol)
            warn_unless_solved(answers)
            own.append(to_numpy(answers.alpha[block, np.arange(len(block))]))
        return np.concatenate(own) if own else np.empty(0)

    @abstractmethod
    def _known_own_alpha(self, rows: IntArray) -> FloatArray | None:
        """Return ``own_alpha`` where it is to be had without a solve for each row."""

    @abstractmethod
    def own_response(self, own_alpha: FloatArray) -> FloatArray:
        """Return H[i, i], how much each decision owes to its own target, from ``own_alpha``."""
