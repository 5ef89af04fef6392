"""Direct solves: by a factor of the stored matrix, or by an inverse that is known in closed form."""

import numpy as np
from scipy import linalg

from semikpca._typing import FloatArray, IntArray
from semikpca.operators import KernelOperator, LowRankInverse
from semikpca.solvers._base import LinearSolver, Solution, Status


class Cholesky(LinearSolver):
    """One factorization of the dense matrix, n³/3 operations; every solve after it costs 2n² a column."""

    def __init__(self, system: KernelOperator) -> None:
        matrix = system.to_dense().T  # the same matrix, with its columns in one piece, as LAPACK would copy it
        try:
            self.factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError as error:
            raise ValueError(
                "The linear system is singular within rounding: 1/error_weight is lost beside the kernel values. Lower "
                "error_weight, or standardize the features."
            ) from error

    def solve(self, targets: FloatArray) -> Solution:
        """Solve by two triangular systems."""
        values = linalg.cho_solve(self.factor, targets, check_finite=False)
        return Solution(np.asarray(values), Status.SOLVED, n_iter=1, residual=0.0)


class ClosedForm(LinearSolver):
    """No factorization and no steps: the operator knows its inverse (``KernelOperator.inverse``)."""

    def __init__(self, inverse: LowRankInverse) -> None:
        self.inverse = inverse

    def solve(self, targets: FloatArray) -> Solution:
        """Multiply with the inverse."""
        values, product = self.inverse.solve(targets)
        return Solution(values, Status.SOLVED, n_iter=1, residual=0.0, product=product)

    def inverse_diagonal(self, rows: IntArray) -> FloatArray:
        """Return the diagonal of the inverse at ``rows``, in float64."""
        return self.inverse.diagonal(rows)
