"""Distances by differences, which keep all digits."""

import numpy as np
from scipy import sparse

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import allowed_threads, in_threads, slices
from semikpca.kernels._vectors import squared_norms

# Two distances that differ by less than this, relatively, are equal: rounding must not decide who is a neighbor.
TIE = 1e-9

# Differences that are made at a time: 512 kB of float64, which stay in the second-level cache.
_DIFFERENCES_AT_ONCE = 2**16
_PARTS_A_THREAD = 4  # fewer than this are not worth a second thread
_MANY_FEATURES = 256  # from here on a difference takes longer than to see that it was made before


def squared_distances(A: Rows, rows: IntArray, B: Rows, columns: IntArray) -> FloatArray:
    """Return ‖a − b‖² for pairs of a row of A and a row of B, by differences in float64."""
    if A is B and A.shape[1] >= _MANY_FEATURES:
        # Neighbors of each other are two pairs with one distance, the same to the last digit.
        numbers, places = np.unique(
            np.minimum(rows, columns) * A.shape[0] + np.maximum(rows, columns), return_inverse=True
        )
        return _squared_distances(A, *np.divmod(numbers, A.shape[0]), B)[places]
    return _squared_distances(A, rows, columns, B)


def _squared_distances(A: Rows, rows: IntArray, columns: IntArray, B: Rows) -> FloatArray:
    squared = np.empty(len(rows))

    def difference(pairs: slice, thread: int) -> None:
        left, right = A[rows[pairs]], B[columns[pairs]]
        is_sparse = sparse.issparse(left)
        squared[pairs] = squared_norms(
            left.astype(np.float64) - right if is_sparse else np.subtract(left, right, dtype=np.float64)
        )

    parts = slices(0, len(rows), max(1, _DIFFERENCES_AT_ONCE // max(1, A.shape[1])))
    in_threads(difference, parts, min(allowed_threads(), len(parts) // _PARTS_A_THREAD))
    return squared


def pair_starts(n: int) -> IntArray:
    """Return where in the order of SciPy's pdist the pairs of each row with the rows after it begin, and the end."""
    return np.concatenate([[0], np.cumsum(np.arange(n - 1, -1, -1))])
