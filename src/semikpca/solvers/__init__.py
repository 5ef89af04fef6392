"""Solve symmetric positive definite systems: prepare once, solve often."""

from semikpca.solvers._base import LinearSolver, Solution, Status
from semikpca.solvers._choice import COLUMNS_A_GROUP, AdaptiveSolver
from semikpca.solvers._conjugate_gradients import ConjugateGradients
from semikpca.solvers._direct import Cholesky, ClosedForm

__all__ = [
    "COLUMNS_A_GROUP",
    "AdaptiveSolver",
    "Cholesky",
    "ClosedForm",
    "ConjugateGradients",
    "LinearSolver",
    "Solution",
    "Status",
]
