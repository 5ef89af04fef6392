"""Iterative solves that need nothing but products."""

from copy import copy

import numpy as np

from semikpca._typing import FloatArray
from semikpca.arrays import like, namespace, to_numpy
from semikpca.operators import KernelOperator, Subspace
from semikpca.solvers._base import LinearSolver, Solution, Status
from semikpca.solvers._sampled_step import sampled_step

# Steps in a row that do not lower the residual, after which a solve with costly products gives up.
_MOST_VAIN_STEPS = 10
# A costly step that does not lower the residual ends the solve at once where the best residual is within this factor of
# the tolerance: rounding of the products is then the limit.
_STALL_FACTOR = 30


class ConjugateGradients(LinearSolver):
    """Conjugate gradients on all columns at once: one product with a block in each step.

    Each column stops when its residual norm is below ``rtol`` times the norm of its right-hand side. Where products of
    the system with a ``subspace`` are known, the part of the answer inside of it comes first and without a product, and
    every direction of the search is kept conjugate to it (deflation), so that steps are needed for the rest only.
    """

    def __init__(self, system: KernelOperator, rtol: float, max_iter: int, subspace: Subspace | None = None) -> None:
        self.system = system
        self.rtol = max(rtol, system.facts.product_error)
        self.max_iter = max_iter
        self._known = None if subspace is None else _KnownPart(subspace)

    def to(self, rtol: float) -> "ConjugateGradients":
        """Return the same prepared solver with another tolerance."""
        other = copy(self)
        other.rtol = max(rtol, self.system.facts.product_error)
        return other

    def solve(self, targets: FloatArray) -> Solution:
        """Solve from zero; columns that are done leave the block."""
        squared_norms = _column_squares(targets)
        norms = np.sqrt(squared_norms)
        goals = (self.rtol * norms) ** 2
        values, residual = targets * 0, targets
        squared_residuals = squared_norms.copy()
        if self._known is not None:
            values, residual = self._known.start(targets)
            squared_residuals = _column_squares(residual)
        active = np.flatnonzero(squared_residuals > goals)
        block, residual = values[:, active], residual[:, active]
        direction, rho = self._conjugate(residual) + 0, squared_residuals[active]
        n_iter = n_vain = 0
        is_costly = not self.system.facts.is_stored
        best, best_values = np.inf, values
        while active.size and n_iter < self.max_iter and n_vain < _MOST_VAIN_STEPS:
            n_iter += 1
            image = self.system.matmat(direction)
            step = like(rho / _column_products(direction, image), block)
            block += step * direction
            image *= step
            residual = residual - image
            if self._known is not None:
                # Rounding leads back into the subspace, and what it brings there would grow with every step.
                inside, residual = self._known.start(residual)
                block += inside
            onward = self._conjugate(residual)
            rho_before, rho = rho, _column_squares(residual)
            direction *= like(rho / rho_before, block)
            direction += onward
            squared_residuals[active] = rho
            worst = _largest_ratio(squared_residuals, norms)
            self.system.log.report("solve", worst, self.rtol)
            if is_costly and worst >= best:
                n_vain += 1
                if best <= _STALL_FACTOR * self.rtol:
                    return Solution(best_values, Status.SOLVED, n_iter, best)
            elif is_costly:
                best, n_vain, best_values = worst, 0, values + 0
                best_values[:, active] = block
            going = rho > goals[active]
            # If a step like the last one would be the last, its costly product may be saved.
            if is_costly and going.any() and bool((rho**2 <= goals[active] * rho_before).all()):
                seen = sampled_step(self.system, residual, onward, step, goals[active])
                if seen is not None:
                    values[:, active], squared_residuals[active] = block + step * onward, seen
                    return Solution(values, Status.SOLVED, n_iter, _largest_ratio(squared_residuals, norms))
            if not going.all():
                values[:, active] = block
                active, rho = active[going], rho[going]
                kept = np.flatnonzero(going)
                block, residual, direction = block[:, kept], residual[:, kept], direction[:, kept]
        values[:, active] = block
        status = Status.NOT_CONVERGED if active.size else Status.SOLVED
        return Solution(values, status, max(n_iter, 1), _largest_ratio(squared_residuals, norms))

    def _conjugate(self, residual: FloatArray) -> FloatArray:
        return residual if self._known is None else self._known.outside(residual)


class _KnownPart:
    """The system inside a subspace W: WᵀAW, small enough to be inverted."""

    def __init__(self, subspace: Subspace) -> None:
        self.W, self.AW = subspace.basis, subspace.images
        inner = to_numpy(self.W.T @ self.AW).astype(np.float64)
        self._inverse = like(np.linalg.inv((inner + inner.T) / 2), self.W)

    def start(self, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the answer inside W, and the residual that it leaves."""
        coordinates = self._inverse @ (self.W.T @ targets)
        return self.W @ coordinates, targets - self.AW @ coordinates

    def outside(self, residual: FloatArray) -> FloatArray:
        """Return the residual without what is not conjugate to W."""
        inside: FloatArray = self.W @ (self._inverse @ (self.AW.T @ residual))
        return residual - inside


def _column_products(A: FloatArray, B: FloatArray) -> FloatArray:
    return np.asarray(to_numpy(namespace(A).einsum("ij,ij->j", A, B)))


def _column_squares(A: FloatArray) -> FloatArray:
    return _column_products(A, A)


def _largest_ratio(squared_residuals: FloatArray, norms: FloatArray) -> float:
    return float((np.sqrt(squared_residuals) / np.where(norms > 0, norms, 1)).max(initial=0.0))
