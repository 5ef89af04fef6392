"""A kernel matrix held in memory."""

from dataclasses import replace

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.operators._base import KernelOperator, Storage


class DenseOperator(KernelOperator):
    """A symmetric matrix stored whole: n² numbers, the fastest products. For ``is_estimate`` see OperatorFacts."""

    def __init__(self, matrix: FloatArray, is_estimate: bool = False) -> None:
        super().__init__(matrix.shape[0], matrix.dtype)
        self.matrix = matrix
        self.facts = replace(self.facts, storage=Storage.ENTRIES, is_estimate=is_estimate)

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``."""
        self.log.n_products += 1
        # The matrix is symmetric, and BLAS is faster with the few columns as rows on the left.
        return np.asarray((block.T @ self.matrix).T)

    def columns(self, rows: IntArray) -> FloatArray:
        """Return a copy of some columns."""
        return np.asarray(self.matrix[:, rows])

    def diag(self) -> FloatArray:
        """Return the diagonal."""
        return np.diagonal(self.matrix).copy()

    def to_dense(self) -> FloatArray:
        """Return a copy of the matrix."""
        return self.matrix.copy()

    @property
    def nbytes(self) -> int:
        """Size of the matrix."""
        return self.matrix.nbytes
