"""A kernel matrix that the user brings."""

from typing import Self

import numpy as np
from scipy import sparse

from semikpca._typing import FloatArray, Rows
from semikpca.kernels._base import InputKind, Kernel


def require_symmetric(K: FloatArray, what: str) -> None:
    """Refuse a matrix whose two halves differ.

    Half of the digits must agree: more than rounding in how K was computed can spoil, less than any kernel that is
    really not symmetric would differ by.
    """
    difference = np.abs(K - K.T)
    if difference.max() > np.sqrt(np.finfo(K.dtype).eps) * np.abs(K).max():
        i, j = np.unravel_index(difference.argmax(), K.shape)
        raise ValueError(
            f"{what} must be symmetric, but K[{i}, {j}] = {K[i, j]:.6g} and "
            f"K[{j}, {i}] = {K[j, i]:.6g}. Pass (K + K.T) / 2 if the difference means nothing."
        )


class Precomputed(Kernel):
    """A given kernel matrix: ``fit`` takes K (n × n), ``predict`` takes k(new rows, training rows) (m × n)."""

    shorthand = "precomputed"

    @property
    def input_kind(self) -> InputKind:
        """Rows of a kernel matrix."""
        return "matrix"

    @property
    def accepts_sparse(self) -> bool:
        """Dense matrices only."""
        return False

    @property
    def is_definite(self) -> bool:
        """Nothing is known of a given matrix, so it is checked."""
        return False

    def fit(self, rows: Rows) -> Self:
        """Check that the matrix is square and symmetric."""
        K = np.asarray(rows)
        K = K if K.dtype in (np.float64, np.float32) else K.astype(np.float64)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix must be square, got shape {K.shape}. Pass k(x_i, x_j) for all pairs "
                "of training rows."
            )
        require_symmetric(K, "A precomputed kernel matrix")
        return self

    def pairwise(self, A: Rows, B: Rows) -> FloatArray:
        """Return A, whose rows already are kernel values against the training rows B."""
        K = A.toarray() if sparse.issparse(A) else np.asarray(A)
        if K.ndim != 2 or K.shape[1] != len(B):
            raise ValueError(
                f"With a precomputed kernel, rows must hold one kernel value for each of the {len(B)} training "
                f"rows; got shape {K.shape}."
            )
        return np.array(K, dtype=K.dtype if K.dtype.kind == "f" else np.float64)

    def diag(self, A: Rows) -> FloatArray:
        """Return the diagonal of the training matrix."""
        return np.diagonal(np.asarray(A)).copy()
