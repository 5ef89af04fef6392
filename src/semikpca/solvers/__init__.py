"""Solve symmetric positive definite systems: prepare once, solve often."""

from semikpca.solvers._base import LinearSolver, Solution, Status
from semikpca.solvers._choice import COLUMNS_A_GROUP, AdaptiveSolver, expected_iterations
from semikpca.solvers._conjugate_gradients import ConjugateGradients
from semikpca.solvers._direct import Cholesky, ClosedForm
from semikpca.solvers._landmarks import NystroemPreconditioner, choose_landmarks
from semikpca.solvers._preconditioned import PreconditionedGradients

__all__ = [
    "COLUMNS_A_GROUP",
    "AdaptiveSolver",
    "Cholesky",
    "ClosedForm",
    "ConjugateGradients",
    "LinearSolver",
    "NystroemPreconditioner",
    "PreconditionedGradients",
    "Solution",
    "Status",
    "choose_landmarks",
    "expected_iterations",
]
