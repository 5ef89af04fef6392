"""Conjugate gradients behind a preconditioner, with residuals that are true.

Three things are added to :class:`ConjugateGradients`, for systems whose condition number is large. Steps are
preconditioned. Products have all digits in the first steps, which are long, and fewer as soon as their rounding adds
next to nothing to the residual, so that the tolerance holds for the true one. And where the answer must have the sum
zero, as the multipliers of LS-SVM with a bias, every step stays there, so that the bias takes no column of its own.
"""

from typing import Protocol

import numpy as np

from semikpca._typing import FloatArray
from semikpca.arrays import like, namespace, to_numpy
from semikpca.operators import ShiftedOperator
from semikpca.solvers._base import LinearSolver, Solution, Status

_SEED = 0
_SAMPLE_ROWS = 128  # rows at which the rounding of fast products is looked at
# What rounding of fast products may add to the residual, of the goal: in one step, and in all of them.
_ROUNDING_OF_A_STEP, _ROUNDING_OF_ALL = 0.25, 0.5
# Steps in a row that do not lower the residual, after which a solve gives up.
_MOST_VAIN_STEPS = 100
# Where all digits are used up, a residual within this factor of the tolerance counts as solved.
_STALL_FACTOR = 30


class Preconditioner(Protocol):
    """A symmetric positive definite matrix that is close to the inverse of a system, known by its products."""

    def solve(self, residual: FloatArray) -> FloatArray:
        """Return the product with ``residual``, shape (n, n_columns)."""


class PreconditionedGradients(LinearSolver):
    """Conjugate gradients on all columns at once, with a preconditioner if there is one, and with true residuals.

    With ``centered`` the answer x has the sum zero and solves the system up to a constant in each column, the bias:
    targets − system @ x is constant within the tolerance. ``condition_number`` may be a bound; rounding of products is
    looked at where it could count for more than the tolerance by that bound.
    """

    def __init__(
        self,
        system: ShiftedOperator,
        rtol: float,
        max_iter: int,
        condition_number: float,
        preconditioner: Preconditioner | None = None,
        *,
        centered: bool = False,
    ) -> None:
        self.system, self.max_iter, self.preconditioner, self.centered = system, max_iter, preconditioner, centered
        facts = system.facts
        self.rtol = max(rtol, facts.product_error if facts.accepted_error else 0.0)
        self._counts_rounding = not facts.accepted_error and facts.product_error * condition_number > self.rtol
        self.sharp = _sharper(system) if self._counts_rounding else system

    def solve(self, targets: FloatArray, rtol: float | None = None) -> Solution:
        """Solve from zero; a larger ``rtol`` than the solver's own is cheaper."""
        rtol = self.rtol if rtol is None else max(rtol, self.rtol)
        with self.system.between_products():
            return self._solved(targets, rtol)

    def _solved(self, targets: FloatArray, rtol: float) -> Solution:
        norms = _norms(targets)
        goals = rtol * norms
        values, residual = targets * 0, targets + 0
        sizes = _norms(self._inside(targets))
        added = np.zeros_like(sizes)  # to the residuals, by rounding of fast products
        active = np.flatnonzero(sizes > goals)
        block, r = values[:, active], residual[:, active]
        inside = self._inside(r)
        direction = self._preconditioned(inside)
        rho, step = _products(inside, direction), like(np.ones(len(active)), block)
        best, n_iter, n_vain = np.inf, 0, 0
        while active.size and n_iter < self.max_iter and n_vain < _MOST_VAIN_STEPS:
            allowed = np.minimum(_ROUNDING_OF_A_STEP * goals, _ROUNDING_OF_ALL * goals - added)[active]
            image, rounding = self._image(direction, to_numpy(step), allowed)
            n_iter += 1
            curvature = _products(direction, image)
            if not ((curvature > 0) & (rho > 0)).all():
                break  # rounding is all that is left
            step = like(rho / curvature, block)
            block = block + step * direction
            image *= step
            r = r - image
            inside = self._inside(r)
            added[active] += np.abs(rho / curvature) * rounding
            sizes[active] = _norms(inside) + added[active]
            worst = _largest(sizes, norms)
            self.system.log.report("solve", worst, rtol)
            n_vain = n_vain + 1 if worst >= best else 0
            best = min(best, worst)
            going = np.flatnonzero(sizes[active] > goals[active])
            if len(going) < len(active):
                values[:, active], residual[:, active] = block, r
                active, rho, step = active[going], rho[going], step[going]
                block, r, inside = block[:, going], r[:, going], inside[:, going]
                direction, image = direction[:, going], image[:, going]
            if active.size:
                onward = self._preconditioned(inside)
                # The form of Polak and Ribière: it forgives a preconditioner that rounding makes a little different
                # each time.
                turn = like(-_products(onward, image) / rho, block)
                rho = _products(onward, inside)
                direction = onward + turn * direction
        values[:, active], residual[:, active] = block, r
        if self._counts_rounding and self.sharp is self.system:
            # There are no more digits to ask: one product more says what these have left.
            residual = targets - self.sharp.matmat(values)
            sizes = _norms(self._inside(residual))
        return self._solution(targets, values, residual, sizes, norms, rtol, n_iter)

    def _image(self, direction: FloatArray, step: FloatArray, allowed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the product with a direction, and the size of its rounding.

        It is made with fast products where a sample of rows shows that they are good enough for a step like the last
        one: the first steps are long and need all digits, the last ones few.
        """
        if self.sharp is self.system:
            return self.system.matmat(direction), np.zeros(len(allowed))
        rows = np.random.default_rng(_SEED).choice(self.system.n, min(self.system.n, _SAMPLE_ROWS), replace=False)
        fast, sharp = self.system.product_at(rows, direction), self.sharp.product_at(rows, direction)
        if fast is not None and sharp is not None:
            rounding = _norms(fast - sharp) * np.sqrt(self.system.n / len(rows))
            if (np.abs(step) * rounding <= allowed).all():
                return self.system.matmat(direction), rounding
        return self.sharp.matmat(direction), np.zeros(len(allowed))

    def _solution(
        self,
        targets: FloatArray,
        values: FloatArray,
        residual: FloatArray,
        sizes: FloatArray,
        norms: FloatArray,
        rtol: float,
        n_iter: int,
    ) -> Solution:
        worst, status = _largest(sizes, norms), Status.SOLVED
        if n_iter >= self.max_iter and worst > rtol:
            status = Status.NOT_CONVERGED
        elif worst > _STALL_FACTOR * rtol:
            status = Status.ROUNDED
        product = self.system.sign * (targets - residual - self.system.shift * values)
        return Solution(values, status, max(n_iter, 1), worst, product)

    def _inside(self, residual: FloatArray) -> FloatArray:
        """Return the residual without what the bias takes up."""
        return residual - residual.mean(axis=0) if self.centered else residual

    def _preconditioned(self, residual: FloatArray) -> FloatArray:
        return residual + 0 if self.preconditioner is None else self._inside(self.preconditioner.solve(residual))


def _sharper(system: ShiftedOperator) -> ShiftedOperator:
    """Return the system with more digits in its products; itself where there are no more."""
    base = system.base.sharper()
    return system if base is system.base else ShiftedOperator(base, system.shift, system.sign)


def _products(A: FloatArray, B: FloatArray) -> FloatArray:
    return np.asarray(to_numpy(namespace(A).einsum("ij,ij->j", A, B))).astype(np.float64)


def _norms(A: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(_products(A, A)))


def _largest(sizes: FloatArray, norms: FloatArray) -> float:
    return float((sizes / np.where(norms > 0, norms, 1)).max(initial=0.0))
