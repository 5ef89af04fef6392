"""Solves with systems whose inverse is known in closed form."""

from semikpca._typing import FloatArray, IntArray
from semikpca.operators import KnownInverse
from semikpca.solvers._base import LinearSolver, Solution, Status


class ClosedForm(LinearSolver):
    """No factorization and no steps: the operator knows its inverse (``KernelOperator.inverse``)."""

    def __init__(self, inverse: KnownInverse) -> None:
        self.inverse = inverse

    def solve(self, targets: FloatArray) -> Solution:
        """Multiply with the inverse."""
        values, product = self.inverse.solve(targets)
        return Solution(values, Status.SOLVED, n_iter=1, residual=0.0, product=product)

    def inverse_diagonal(self, rows: IntArray) -> FloatArray:
        """Return the diagonal of the inverse at ``rows``, in float64."""
        return self.inverse.diagonal(rows)
