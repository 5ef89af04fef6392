"""Sums of kernel values over rows: the one product that a kernel itself needs, for the degrees of its rows."""

import numpy as np

from semikpca._typing import Array, FloatArray, Rows
from semikpca.arrays import allowed_threads, in_threads, is_tensor, length, namespace, slices
from semikpca.kernels._base import Kernel
from semikpca.kernels._finite import require_finite
from semikpca.kernels._tiles import BLOCK_COLUMNS, BLOCK_ROWS, tiles_of
from semikpca.kernels._vectors import as_float

# Products with blocks are np.dot: with an answer of 500 numbers or fewer, matmul keeps all other threads waiting.


def row_sums(kernel: Kernel, A: Rows, B: Rows) -> Array:
    """Return Σ k(a, b) of a kernel over the rows b of B for each row a of A, from blocks that are not kept.

    Whoever can multiply with the whole matrix faster, on a GPU or on a cluster, hands over what this would return.
    """
    if kernel.input_kind != "vectors" or is_tensor(B):
        parts = [kernel.pairwise(A[strip], B).sum(axis=1) for strip in slices(0, max(1, length(A)), BLOCK_ROWS)]
        return namespace(parts[0]).concatenate(parts)
    is_same = A is B
    B = as_float(B)
    A = B if is_same else as_float(A)
    dtype = np.result_type(A.dtype, B.dtype)
    tiles, n = tiles_of(kernel, A, B, dtype), length(B)
    strips = slices(0, length(A), BLOCK_ROWS)
    n_threads = max(1, min(allowed_threads(), len(strips)))
    ones: FloatArray = np.ones(BLOCK_COLUMNS, dtype)
    sums: FloatArray = np.zeros((n_threads, length(A)))  # each thread has its own: see below

    def add(strip: slice, thread: int) -> None:
        for columns in [strip, *slices(strip.stop, n, BLOCK_COLUMNS)] if is_same else slices(0, n, BLOCK_COLUMNS):
            tile = tiles(strip, columns)
            sums[thread, strip] += np.dot(tile, ones[: tile.shape[1]])
            if is_same and columns is not strip:  # of a symmetric matrix a block serves on both sides of the diagonal
                sums[thread, columns] += np.dot(ones[: tile.shape[0]], tile)

    in_threads(add, strips, n_threads)
    return require_finite(kernel, np.asarray(sums.sum(axis=0)).astype(dtype, copy=False))
