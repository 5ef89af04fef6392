"""Products with kernel matrices that are never stored: made block by block in the cache of a core, and used at once.

Between equal rows the matrix is symmetric, and a block serves on both sides of the diagonal.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import local
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from semikpca._typing import FloatArray, Rows
from semikpca.kernels._threads import allowed_threads, in_threads, slices

# A block of 256 × 512 numbers, 512 kB or 1 MB, stays in the second-level cache with what it is multiplied by.
_BLOCK_ROWS = 256
_BLOCK_COLUMNS = 512
# With more columns than this at a time, sums would leave the cache before the block does.
_COLUMNS_AT_ONCE = 64


class Tiles(Protocol):
    """Blocks of a kernel matrix, made when they are asked for."""

    def __call__(self, rows: slice, columns: slice) -> FloatArray:
        """Return the block as an array that lasts until the same thread asks for the next one."""

    @property
    def nbytes(self) -> int:
        """Bytes kept beside the rows."""


@dataclass(frozen=True)
class FactorTiles:
    """Blocks of profile(L Rᵀ); R is kept as columns, so that a block is one plain matrix product."""

    profile: Callable[[FloatArray], FloatArray]
    left: Rows
    right_columns: Rows
    _own: local = field(default_factory=local, repr=False, compare=False)  # memory that each thread uses again

    def __call__(self, rows: slice, columns: slice) -> FloatArray:
        """Return the block of some rows and columns."""
        left, right = self.left[rows], self.right_columns[:, columns]
        if sparse.issparse(left) or sparse.issparse(right):
            return self.profile(left @ (right.toarray() if sparse.issparse(right) else right))
        return self.profile(np.matmul(left, right, out=self._block((left.shape[0], right.shape[1]))))

    def _block(self, shape: tuple[int, int]) -> FloatArray:
        """Return memory for a block; to get it anew each time takes a tenth of a product."""
        size = shape[0] * shape[1]
        memory: FloatArray | None = getattr(self._own, "memory", None)
        if memory is None or memory.size < size:
            memory = self._own.memory = np.empty(size, np.result_type(self.left, self.right_columns))
        return memory[:size].reshape(shape)

    @property
    def nbytes(self) -> int:
        """Both factors."""
        return _nbytes(self.left) + _nbytes(self.right_columns)


@dataclass(frozen=True)
class PairwiseTiles:
    """Blocks of a function of two collections of rows."""

    pairwise: Callable[[Rows, Rows], FloatArray]
    A: Rows
    B: Rows
    dtype: Any

    def __call__(self, rows: slice, columns: slice) -> FloatArray:
        """Return the block of some rows and columns."""
        return self.pairwise(self.A[rows], self.B[columns]).astype(self.dtype, copy=False)

    @property
    def nbytes(self) -> int:
        """Nothing."""
        return 0


def symmetric_product(tiles: Tiles, n: int, block: FloatArray, dtype: Any) -> FloatArray:
    """Return K @ block for the symmetric n × n matrix of these tiles, as a new array of shape (n, n_columns).

    ``dtype`` is what tiles are computed in; sums over blocks are kept in the type of ``block`` if that is wider.
    """
    if block.ndim == 1:
        return symmetric_product(tiles, n, block[:, np.newaxis], dtype)[:, 0]
    groups = slices(0, max(1, block.shape[1]), _COLUMNS_AT_ONCE)
    parts = [_symmetric_few(tiles, n, block[:, some], dtype) for some in groups]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def _symmetric_few(tiles: Tiles, n: int, block: FloatArray, dtype: Any) -> FloatArray:
    V = np.ascontiguousarray(block, dtype=dtype)
    strips = slices(0, n, _BLOCK_ROWS)
    n_threads = min(allowed_threads(), len(strips))
    # Each thread has its own sums, since a block adds to rows of both of its sides.
    sums: list[FloatArray] = [np.zeros(block.shape, np.result_type(block, dtype)) for _ in range(n_threads)]

    def add(strip: slice, thread: int) -> None:
        total, own = sums[thread], V[strip]
        here = np.zeros((strip.stop - strip.start, V.shape[1]), total.dtype)
        for columns in [strip, *slices(strip.stop, n, _BLOCK_COLUMNS)]:
            tile = tiles(strip, columns)
            here += tile @ V[columns]
            if columns is not strip:
                total[columns] += tile.T @ own
        total[strip] += here

    in_threads(add, strips, n_threads)
    for other in sums[1:]:
        sums[0] += other
    return sums[0]


def rectangular_product(tiles: Tiles, shape: tuple[int, int], coefficients: FloatArray, dtype: Any) -> FloatArray:
    """Return K @ coefficients for the matrix of these tiles, as a new array; coefficients keep their digits."""
    V = np.ascontiguousarray(coefficients)
    product: FloatArray = np.zeros((shape[0], *coefficients.shape[1:]), np.result_type(coefficients, dtype))
    strips = slices(0, shape[0], _BLOCK_ROWS)

    def add(strip: slice, thread: int) -> None:
        for columns in slices(0, shape[1], _BLOCK_COLUMNS):
            product[strip] += tiles(strip, columns) @ V[columns]

    in_threads(add, strips, min(allowed_threads(), len(strips)))
    return product


def _nbytes(rows: Rows) -> int:
    if sparse.issparse(rows):
        return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)
    return int(rows.nbytes)
