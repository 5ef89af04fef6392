"""Kernels that the user brings: a matrix, or any function of two objects."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from semikpca._typing import FloatArray, Rows
from semikpca.arrays import length
from semikpca.kernels._base import InputKind, Kernel
from semikpca.kernels._vectors import as_float, dense


class Precomputed(Kernel):
    """A given kernel matrix: ``fit`` takes K (n × n), ``predict`` takes k(new rows, training rows) (m × n)."""

    shorthand = "precomputed"
    input_kind: InputKind = "matrix"
    accepts_sparse = False
    is_definite = False  # nothing is known of a given matrix, so it is checked

    def fit(self, rows: Rows) -> Self:
        """Check that the matrix is square and symmetric."""
        K = as_float(np.asarray(rows))
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix must be square, got shape {K.shape}. Pass k(x_i, x_j) for all pairs "
                "of training rows."
            )
        require_symmetric(K, "A precomputed kernel matrix")
        return self

    def pairwise(self, A: Rows, B: Rows) -> FloatArray:
        """Return A, whose rows already are kernel values against the training rows B."""
        K = np.asarray(dense(A))
        if K.ndim != 2 or K.shape[1] != len(B):
            raise ValueError(
                f"With a precomputed kernel, rows must hold one kernel value for each of the {len(B)} training "
                f"rows; got shape {K.shape}."
            )
        return np.array(K, dtype=K.dtype if K.dtype.kind == "f" else np.float64)

    def diag(self, A: Rows) -> FloatArray:
        """Return the diagonal of the training matrix."""
        return np.diagonal(np.asarray(A)).copy()


class CallableKernel(Kernel):
    """A kernel from a function, on objects of any type: strings, trees, images, rows.

    Parameters
    ----------
    function : callable
        Either ``function(A, B)`` on two collections, which returns the matrix of shape (len(A), len(B)), or
        ``function(a, b)`` on two objects, which returns a number. ``fit`` finds out which by asking it for one
        object against two.

    Examples
    --------
    >>> def shared_letters(a, b):
    ...     return float(len(set(a) & set(b)))
    >>> CallableKernel(shared_letters).fit(["abc", "bcd", "xyz"])(["abc", "bcd"]).tolist()
    [[3.0, 2.0], [2.0, 3.0]]
    """

    input_kind: InputKind = "objects"
    is_definite = False  # nothing is known of a function, so its matrix is checked

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def fit(self, rows: Rows) -> Self:
        """Find out whether the function takes collections or single objects."""
        if not callable(self.function):
            raise TypeError(f"function must be callable, got {self.function!r}.")
        cause: Exception | None = None
        try:
            shape = np.asarray(self.function(rows[:1], rows[:2])).shape
            if shape == (1, 2):
                self.takes_pairs_ = False
                return self
            said = f"for one against two objects it returned shape {shape} instead of (1, 2)"
        except Exception as error:  # a function of two objects may do anything when handed collections
            said, cause = f"{type(error).__name__}: {error}", error
        try:
            number = np.asarray(self.function(rows[0], rows[1]))
        except Exception as error:
            raise ValueError(
                f"The kernel function works neither on two collections ({said}) nor on two objects "
                f"({type(error).__name__}: {error})."
            ) from (cause or error)
        if number.ndim != 0 or number.dtype.kind not in "iufb":
            raise ValueError(
                f"The kernel function must return a matrix of shape (len(A), len(B)) for two collections ({said}) or a "
                f"number for two objects (it returned shape {number.shape}, type {number.dtype})."
            )
        self.takes_pairs_ = True
        return self

    def pairwise(self, A: Rows, B: Rows) -> FloatArray:
        """Return the matrix of function values, shape (len(A), len(B))."""
        if not hasattr(self, "takes_pairs_"):
            raise NotFittedError(f"{self!r}: call fit(objects) first.")
        values = self._by_pairs(A, B) if self.takes_pairs_ else np.asarray(self.function(A, B))
        n_rows, n_columns = length(A), length(B)
        if values.shape != (n_rows, n_columns):
            raise ValueError(
                f"The kernel function returned shape {values.shape} for {n_rows} and {n_columns} objects; it must "
                f"return ({n_rows}, {n_columns})."
            )
        if values.dtype.kind not in "iufb":
            raise ValueError(
                f"The kernel function returned values of type {values.dtype} (such as {values.flat[0]!r}); it must "
                "return numbers."
            )
        values = np.array(values, dtype=values.dtype if values.dtype == np.float32 else np.float64)
        if not np.isfinite(values).all():
            i, j = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(
                f"The kernel function returned {values[i, j]} for objects {i} and {j}; kernel values must be finite."
            )
        if A is B and not self.takes_pairs_:
            require_symmetric(values, "The matrix of the kernel function")
        return values

    def diag(self, A: Rows) -> FloatArray:
        """Return the function's value of each object with itself."""
        return np.array([self.pairwise(A[i : i + 1], A[i : i + 1])[0, 0] for i in range(length(A))])

    def _by_pairs(self, A: Rows, B: Rows) -> FloatArray:
        values = np.empty((length(A), length(B)))
        for i in range(values.shape[0]):
            # The training matrix is symmetric: half of the calls are enough.
            start = i if A is B else 0
            answers = [self.function(A[i], B[j]) for j in range(start, values.shape[1])]
            try:
                values[i, start:] = answers
            except (ValueError, TypeError) as error:
                raise ValueError(
                    f"The kernel function must return a number for two objects; for object {i} against others it did "
                    f"not ({error})."
                ) from error
            if A is B:
                values[i:, i] = values[i, i:]
        return values


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
