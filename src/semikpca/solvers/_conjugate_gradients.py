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
        """Solve from zero; columns that are done stand still."""
        norms = np.linalg.norm(targets, axis=0)
        values = np.zeros_like(targets)
        residual = targets.copy()
        direction = residual.copy()
        rho = np.einsum("ij,ij->j", residual, residual)
        goal = (self.rtol * norms) ** 2
        n_iter = 0
        while (active := rho > goal).any() and n_iter < self.max_iter:
            n_iter += 1
            image = self.system.matmat(direction)
            curvature = np.einsum("ij,ij->j", direction, image)
            step = np.divide(rho, curvature, out=np.zeros_like(rho), where=active)
            values += step * direction
            residual -= step * image
            rho_next = np.einsum("ij,ij->j", residual, residual)
            momentum = np.divide(rho_next, rho, out=np.zeros_like(rho), where=active)
            direction = residual + momentum * direction
            rho = rho_next
        status = Status.NOT_CONVERGED if (rho > goal).any() else Status.SOLVED
        relative = np.sqrt(rho) / np.where(norms > 0, norms, 1)
        return Solution(values, status, max(n_iter, 1), float(relative.max(initial=0.0)))
