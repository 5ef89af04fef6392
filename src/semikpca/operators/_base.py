"""The contract of an operator: a symmetric matrix known by its products."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from semikpca._typing import FloatArray


class KernelOperator(ABC):
    """A symmetric n × n matrix that can be multiplied from the left; SciPy's names where SciPy has one."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @abstractmethod
    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``, shape (n, n_columns), as a new array."""

    @abstractmethod
    def diag(self) -> FloatArray:
        """Return the diagonal."""

    @abstractmethod
    def to_dense(self) -> FloatArray:
        """Return the whole matrix as a new array that the caller may overwrite."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that the operator keeps in memory."""

    @property
    def rounding_scale(self) -> float:
        """A bound on the eigenvalues before anything was subtracted; rounding is relative to it if it is larger."""
        return 0.0

    @property
    def n(self) -> int:
        """Number of rows and columns."""
        return self.shape[0]
