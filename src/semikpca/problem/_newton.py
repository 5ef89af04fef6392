"""Problem 4 with any loss: Newton steps, each of them the paper's system with its rows rescaled.

With slopes β = ρ′(e) and errors e = y + f the solution is where f = γ K′ β. For any β let f be γ K′ β and
s = ρ′(y + f) − β what is missing. Then

    fixed-point step   β + s                       which comes closer by the factor γλ(k+1) or better
    Newton step        β + s + D^½ u               with D = diag ρ″(e) and (I/γ − D^½ K′ D^½) u = D^½ K′ s

The system of the second is positive definite, and its condition number is at most 1/(1 − γλ(k+1)), because 0 ≤ D ≤ 1.
All columns share each product: K′ s, those of the solve, and f of the new β. What lies between the two steps is linear
in u, so that a step can be shortened without another product. Proofs are in docs/losses.md.
"""

from dataclasses import dataclass

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import like, namespace, to_numpy
from semikpca.convexity import ConvexityCertificate
from semikpca.losses import Loss
from semikpca.operators import DeflatedOperator, KernelOperator, ScaledOperator, ShiftedOperator, StackedOperator
from semikpca.solvers import AdaptiveSolver, Status

# Newton steps without max_iter; seen are 2 to 5, on digits also at 0.999 of the bound.
_MOST_STEPS = 100
# The systems of early steps are solved to this much only: where they lead is not the solution yet.
_LOOSEST = 0.1
# A Newton step that leaves more than this of what is missing is compared with shorter ones.
_CLEAR_STEP = 0.5
_SHORTER = (0.5, 0.25, 0.125, 0.0)  # the last is the fixed-point step
# Steps in a row that leave more than this of the smallest residual, after which rounding is taken for the reason.
_VAIN_STEP, _MOST_VAIN_STEPS = 0.9, 5
# A residual within this factor of the tolerance counts as solved then, as in conjugate gradients.
_STALL_FACTOR = 30


@dataclass(frozen=True)
class NewtonSolution:
    """Where Newton steps ended; every array has a column for each set of targets."""

    slopes: FloatArray  # β = ρ′(y + f), the multipliers over γ
    decision: FloatArray  # f = γ K′ β
    status: Status
    n_iter: int  # Newton steps
    residual: float  # the largest ‖γ K′ ρ′(y + f) − f‖ over the columns, relative to ‖γ K′ ρ′(y)‖


def newton(
    deflated: DeflatedOperator,
    loss: Loss,
    certificate: ConvexityCertificate,
    targets: FloatArray,
    pushed: FloatArray,
    *,
    rtol: float,
    max_iter: int | None = None,
    start: FloatArray | None = None,
) -> NewtonSolution:
    """Solve f = γ K′ ρ′(y + f) for each column of ``targets``.

    ``pushed`` is K′ ρ′(y): with it the steps begin, unless slopes ``start`` from a similar problem are known, and the
    residuals are measured by it. The certificate has an error weight inside the interval.
    """
    steps = _Steps(deflated, loss, certificate, rtol, max_iter)
    gamma = steps.error_weight
    references = gamma * _norms(pushed)
    state = _State(targets, loss.derivative(targets), gamma * pushed)
    if start is not None:
        state = _State(targets, start, gamma * deflated.matmat(start))
    slopes, decision = state.slopes + 0, state.decision + 0
    # Without any target the answer is 0, and so are those numbers: no share of them can be reached by steps.
    silent = np.flatnonzero(references == 0)
    slopes[:, silent], decision[:, silent] = 0, 0
    active = np.flatnonzero(references > 0)
    state, goals = state.at(active), steps.rtol * references[active]
    residuals = np.zeros(len(references))
    best, n_vain, n_iter, is_stuck = np.inf, 0, 0, False
    while active.size:
        missing = loss.derivative(targets[:, active] + state.decision) - state.slopes
        image = deflated.matmat(missing)
        sizes = gamma * _norms(image)
        residuals[active] = sizes
        worst = float((sizes / goals).max())
        deflated.log.report("Newton steps", worst * steps.rtol, steps.rtol)
        n_vain = 0 if worst <= _VAIN_STEP * best else n_vain + 1
        best = min(best, worst)
        is_stuck = n_iter >= steps.most or n_vain >= _MOST_VAIN_STEPS
        # The fixed-point step costs nothing here, and whoever leaves takes it along.
        slopes[:, active] = state.slopes + missing
        decision[:, active] = state.decision + gamma * image
        going = np.flatnonzero(sizes > goals)
        if is_stuck or not going.size:
            break
        active, goals = active[going], goals[going]
        tightness = np.minimum(sizes[going] / references[active], _LOOSEST)
        inner = max(float(tightness.max()), 0.5 * float((goals / sizes[going]).min()))
        state = steps.after(state.at(going), missing[:, going], image[:, going], min(inner, _LOOSEST))
        n_iter += 1
    shares = residuals / np.where(references > 0, references, 1)
    unsolved = is_stuck and float(shares.max(initial=0.0)) > _STALL_FACTOR * steps.rtol
    status = Status.NOT_CONVERGED if unsolved else Status.SOLVED
    return NewtonSolution(slopes, decision, status, max(n_iter, 1), float(shares.max(initial=0.0)))


@dataclass(frozen=True)
class _State:
    """Slopes β of some columns with the decisions f = γ K′ β that belong to them."""

    targets: FloatArray
    slopes: FloatArray
    decision: FloatArray

    def at(self, columns: IntArray) -> "_State":
        return _State(self.targets[:, columns], self.slopes[:, columns], self.decision[:, columns])


@dataclass(frozen=True)
class _Steps:
    """What all Newton steps share."""

    deflated: DeflatedOperator
    loss: Loss
    certificate: ConvexityCertificate
    asked_rtol: float
    max_iter: int | None

    @property
    def error_weight(self) -> float:
        assert self.certificate.error_weight is not None, "the weight is resolved before"
        return self.certificate.error_weight

    @property
    def most(self) -> int:
        return self.max_iter or _MOST_STEPS

    @property
    def rtol(self) -> float:
        """The relative residual that is asked for, or that rounding of products allows."""
        return max(self.asked_rtol, self._system(self.deflated).facts.product_error)

    def _system(self, scaled: KernelOperator) -> ShiftedOperator:
        return ShiftedOperator(scaled, 1.0 / self.error_weight, sign=-1)

    def after(self, state: _State, missing: FloatArray, image: FloatArray, inner_rtol: float) -> _State:
        """Return the state after a Newton step, a shorter one, or the fixed-point step, whichever leads farthest.

        ``missing`` is s, ``image`` K′ s, and ``inner_rtol`` the tolerance of the linear system.
        """
        loss, gamma = self.loss, self.error_weight
        curvatures = loss.second_derivative(state.targets + state.decision)
        roots = namespace(curvatures).sqrt(curvatures)
        # Columns of one length, so that the tolerance, which is for all of them together, is for each.
        right = roots * image
        lengths = _norms(right)
        lengths = like(np.where(lengths > 0, lengths, 1), right)
        n_columns = right.shape[1]
        stacked = self.deflated if n_columns == 1 else StackedOperator(self.deflated, n_columns)
        system = self._system(ScaledOperator(stacked, roots.reshape(-1)))
        solver = AdaptiveSolver(system, self.certificate.condition_number, inner_rtol, self.max_iter)
        solved = solver.solve((right / lengths).reshape(-1, 1)).values
        toward = roots * (solved.reshape(right.shape) * lengths)

        fixed = _State(state.targets, state.slopes + missing, state.decision + gamma * image)
        slopes = fixed.slopes + toward
        newton_step = _State(state.targets, slopes, gamma * self.deflated.matmat(slopes))
        before, left = _norms(missing), self._missing(newton_step)
        short = np.flatnonzero(~(left <= _CLEAR_STEP * before))
        if not short.size:
            return newton_step
        shares = np.ones(len(left))
        for share in _SHORTER:
            tried = self._missing(_between(fixed.at(short), newton_step.at(short), np.full(len(short), share)))
            better = tried < np.where(np.isnan(left[short]), np.inf, left[short])
            shares[short[better]], left[short[better]] = share, tried[better]
        return _between(fixed, newton_step, shares)

    def _missing(self, state: _State) -> FloatArray:
        """Return ‖s‖ of each column."""
        return _norms(self.loss.derivative(state.targets + state.decision) - state.slopes)


def _between(one: _State, other: _State, shares: FloatArray) -> _State:
    """Return the state that has gone these shares of the way from one to the other, column by column."""
    far = like(shares, one.slopes)
    slopes = one.slopes + far * (other.slopes - one.slopes)
    return _State(one.targets, slopes, one.decision + far * (other.decision - one.decision))


def _norms(columns: FloatArray) -> FloatArray:
    """Return the length of each column."""
    squares = to_numpy(namespace(columns).einsum("ij,ij->j", columns, columns))
    return np.asarray(np.sqrt(squares.astype(np.float64)))
