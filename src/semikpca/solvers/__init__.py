"""Solve symmetric positive definite systems: prepare once, solve often."""

from semikpca.solvers._base import LinearSolver, Solution, Status
from semikpca.solvers._choice import AdaptiveSolver
from semikpca.solvers._cholesky import Cholesky
from semikpca.solvers._conjugate_gradients import ConjugateGradients

__all__ = ["AdaptiveSolver", "Cholesky", "ConjugateGradients", "LinearSolver", "Solution", "Status"]
