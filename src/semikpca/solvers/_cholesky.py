"""Direct solves on a stored matrix."""

import numpy as np
from scipy import linalg

from semikpca._typing import FloatArray
from semikpca.operators import KernelOperator
from semikpca.solvers._base import LinearSolver, Solution, Status


class Cholesky(LinearSolver):
    """One factorization of the dense matrix, n³/3 operations; every solve after it costs 2n² a column."""

    def __init__(self, system: KernelOperator) -> None:
        self.system = system
        try:
            self.factor = linalg.cho_factor(system.to_dense(), lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError as error:
            raise ValueError(
                "The linear system is singular within rounding: 1/error_weight is lost beside the kernel values. Lower "
                "error_weight, or standardize the features."
            ) from error

    def solve(self, targets: FloatArray) -> Solution:
        """Solve by two triangular systems."""
        values = linalg.cho_solve(self.factor, targets, check_finite=False)
        return Solution(np.asarray(values), Status.SOLVED, n_iter=1, residual=0.0)
