"""Semi-KPCA with a loss of which the answer is no longer linear in the targets."""

from typing import NoReturn

from semikpca._typing import FloatArray, IntArray
from semikpca.exceptions import NotLinearError
from semikpca.problem._newton import NewtonSolution, newton
from semikpca.problem._response import DualSolution
from semikpca.problem._semi_kpca import SemiKPCAResponse
from semikpca.solvers import Solution


class LossResponse(SemiKPCAResponse):
    """Problem 4 with any loss, set up before any label is known: f = γ K′ ρ′(y + f), by Newton steps.

    It is set up as the squared loss is, and answers to targets; what is a reading of the linear map H is refused.
    """

    def solve(self, targets: FloatArray, rtol: float | None = None, start: FloatArray | None = None) -> DualSolution:
        """Solve Problem 4 for each column of ``targets``; see :meth:`newton`."""
        found = self.newton(targets, rtol, start)
        alpha = self.error_weight * found.slopes
        solve = Solution(found.decision, found.status, found.n_iter, found.residual)
        intercept = self.operator.block([0.0] * targets.shape[1])
        return DualSolution.of(
            solve, alpha=alpha, dual_coef=self._projected(alpha), intercept=intercept, decision=found.decision
        )

    def newton(
        self,
        targets: FloatArray,
        rtol: float | None = None,
        start: FloatArray | None = None,
        error_weight: float | None = None,
    ) -> NewtonSolution:
        """Return slopes and decisions for each column of ``targets``.

        ``start`` has slopes of similar targets, and ``error_weight`` is another one than that of the fit, absolute.
        """
        certificate = self.certificate if error_weight is None else self.certificate.at(error_weight)
        rtol = self.rtol if rtol is None else max(rtol, self.rtol)
        # ρ′(0) = 0, so that ρ′(y) is at the labeled rows, as y is.
        pushed = self._pushed(self.loss.derivative(targets))
        return newton(
            self.deflated, self.loss, certificate, targets, pushed, rtol=rtol, max_iter=self.max_iter, start=start
        )

    def columns(self, rows: IntArray, rtol: float | None = None) -> NoReturn:
        """Refuse: there is no linear map whose columns these would be."""
        raise NotLinearError(
            "The label response",
            repr(self.loss),
            "Ask for what takes Newton steps instead (leave_one_label_out, add_labels, expected_change), or use "
            "loss=Squared().",
        )

    def own_alpha(self, rows: IntArray, rtol: float | None = None) -> NoReturn:
        """Refuse, as ``columns``."""
        self.columns(rows)

    def path(self, rows: IntArray, targets: FloatArray, error_weights: FloatArray, rtol: float) -> NoReturn:
        """Refuse, as ``columns``: error weights do not share a space of answers."""
        self.columns(rows)
