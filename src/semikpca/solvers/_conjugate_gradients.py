"""Iterative solves that need nothing but products."""

import numpy as np

from semikpca._typing import FloatArray
from semikpca.operators import KernelOperator
from semikpca.solvers._base import LinearSolver, Solution, Status


class ConjugateGradients(LinearSolver):
    """Conjugate gradients on all columns at once: one product with a block in each step.

    Parameters
    ----------
    system : KernelOperator
        Symmetric positive definite.
    rtol : float
        Each column stops when its residual norm is below ``rtol`` times the norm of its right-hand side.
    max_iter : int
    """

    def __init__(self, system: KernelOperator, rtol: float, max_iter: int) -> None:
        self.system = system
        self.rtol = max(rtol, 10 * float(np.finfo(system.dtype).eps))
        self.max_iter = max_iter

    def solve(self, targets: FloatArray) -> Solution:
        """Solve from zero; columns that are done leave the block."""
        norms = np.linalg.norm(targets, axis=0)
        values = np.zeros_like(targets)
        squared_residuals = norms**2
        goals = (self.rtol * norms) ** 2
        active = np.flatnonzero(squared_residuals > goals)
        block, residual = values[:, active], targets[:, active]
        direction, rho = residual.copy(), squared_residuals[active]
        n_iter = 0
        while active.size and n_iter < self.max_iter:
            n_iter += 1
            image = self.system.matmat(direction)
            step = rho / np.einsum("ij,ij->j", direction, image)
            block += step * direction
            image *= step
            residual -= image
            rho_next = np.einsum("ij,ij->j", residual, residual)
            direction *= rho_next / rho
            direction += residual
            rho = rho_next
            squared_residuals[active] = rho
            going = rho > goals[active]
            if not going.all():
                values[:, active] = block
                active, rho = active[going], rho[going]
                block, residual, direction = block[:, going], residual[:, going], direction[:, going]
        values[:, active] = block
        relative = np.sqrt(squared_residuals) / np.where(norms > 0, norms, 1)
        status = Status.NOT_CONVERGED if active.size else Status.SOLVED
        return Solution(values, status, max(n_iter, 1), float(relative.max(initial=0.0)))
