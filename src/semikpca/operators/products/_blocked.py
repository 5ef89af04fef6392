"""Products with kernel matrices that are never stored: made block by block in the cache of a core, and used at once.

Between equal rows the matrix is symmetric, and a block serves on both sides of the diagonal.
"""

from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import allowed_threads, in_threads, slices
from semikpca.kernels import BLOCK_COLUMNS, BLOCK_ROWS, Tiles
from semikpca.operators.products._compiled import (
    compiled_rectangular,
    compiled_symmetric,
    compiled_two_sided,
    is_multiplied_by_program,
)

# Blocks that are only read are wide: the fewer there are, the less is to be done between the products with them.
_KEPT_COLUMNS = 4096
# With more columns than this, a program makes a product from nothing faster than BLAS does from blocks that are kept.
_COLUMNS_FOR_KEPT = 4
# Products with blocks are np.dot: with an answer of 500 numbers or fewer, matmul keeps all other threads waiting.
# With more columns than this at a time, sums would leave the cache before the block does.
_COLUMNS_AT_ONCE = 64


class KeptTiles:
    """Blocks of a symmetric product that stay in memory once they are made: about half of the matrix.

    Where a compiled program makes them, products with many columns are left to it and keep none.
    """

    def __init__(self, tiles: Tiles, n: int, dtype: Any) -> None:
        self.tiles, self.n, self.dtype = tiles, n, np.dtype(dtype)
        self._strips: dict[int, FloatArray] = {}  # memory of the blocks right of the diagonal, by their first row
        self._made: dict[tuple[int, int], FloatArray] = {}

    def __call__(self, rows: slice | IntArray, columns: slice) -> FloatArray:
        """Return the block of some rows and of columns that do not lie before them; of scattered rows, a new one."""
        if not isinstance(rows, slice):
            return self.tiles(rows, columns)
        block = self._made.get((rows.start, columns.start))
        if block is None:
            block = self._memory(rows, columns)
            for some in slices(columns.start, columns.stop, BLOCK_COLUMNS):
                block[:, some.start - columns.start : some.stop - columns.start] = self.tiles(rows, some)
            self._made[rows.start, columns.start] = block
        return block

    def _memory(self, rows: slice, columns: slice) -> FloatArray:
        """Return memory for a block; that of a whole strip at a time, which the system gives in large pages."""
        height = rows.stop - rows.start
        strip = self._strips.get(rows.start)
        if strip is None:
            strip = self._strips[rows.start] = np.empty(height * (self.n - rows.start), self.dtype)
        first, last = columns.start - rows.start, columns.stop - rows.start
        return strip[height * first : height * last].reshape(height, last - first)

    @property
    def nbytes(self) -> int:
        """What was kept so far, and what blocks are made of."""
        return self.tiles.nbytes + sum(strip.nbytes for strip in self._strips.values())


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
    maker = tiles.tiles if isinstance(tiles, KeptTiles) and block.shape[1] > _COLUMNS_FOR_KEPT else tiles
    if is_multiplied_by_program(maker, block):
        return compiled_symmetric(maker, n, block)
    V = np.ascontiguousarray(block, dtype=dtype)
    strips = slices(0, n, BLOCK_ROWS)
    width = _KEPT_COLUMNS if isinstance(tiles, KeptTiles) else BLOCK_COLUMNS
    n_threads = min(allowed_threads(), len(strips))
    # Each thread has its own sums, since a block adds to rows of both of its sides.
    sums: list[FloatArray] = [np.zeros(block.shape, np.result_type(block, dtype)) for _ in range(n_threads)]

    def add(strip: slice, thread: int) -> None:
        here = np.dot(tiles(strip, strip), V[strip]).astype(sums[thread].dtype, copy=False)
        for columns in slices(strip.stop, n, width):
            tile = tiles(strip, columns)
            here += np.dot(tile, V[columns])
            sums[thread][columns] += np.dot(tile.T, V[strip])
        sums[thread][strip] += here

    in_threads(add, strips, n_threads)
    return _total(sums)


def product_at(tiles: Tiles, rows: IntArray, n: int, block: FloatArray, dtype: Any) -> FloatArray:
    """Return K[rows] @ block for the n × n matrix of these tiles, as a new array of shape (len(rows), n_columns)."""
    V = np.ascontiguousarray(block, dtype=dtype)
    columns = slices(0, n, max(1, BLOCK_ROWS * BLOCK_COLUMNS // max(1, len(rows))))
    n_threads = min(allowed_threads(), len(columns))
    sums: list[FloatArray] = [np.zeros((len(rows), V.shape[1]), np.result_type(block, dtype)) for _ in range(n_threads)]

    def add(some: slice, thread: int) -> None:
        sums[thread] += np.dot(tiles(rows, some), V[some])

    in_threads(add, columns, n_threads)
    return _total(sums)


def two_sided_product(
    tiles: Tiles, shape: tuple[int, int], right: FloatArray, left: FloatArray, dtype: Any
) -> tuple[FloatArray, FloatArray]:
    """Return K @ right and Kᵀ @ left for the matrix of these tiles from one pass over them, as new arrays.

    ``right`` has shape (shape[1], n_columns) and ``left`` (shape[0], n_columns); types as in ``symmetric_product``.
    """
    groups = slices(0, max(1, right.shape[1]), _COLUMNS_AT_ONCE)
    parts = [_two_sided_few(tiles, shape, right[:, some], left[:, some], dtype) for some in groups]
    if len(parts) == 1:
        return parts[0]
    return np.hstack([first for first, _ in parts]), np.hstack([second for _, second in parts])


def _two_sided_few(
    tiles: Tiles, shape: tuple[int, int], right: FloatArray, left: FloatArray, dtype: Any
) -> tuple[FloatArray, FloatArray]:
    if is_multiplied_by_program(tiles, right):
        return compiled_two_sided(tiles, shape, right, left)
    V, U = np.ascontiguousarray(right, dtype=dtype), np.ascontiguousarray(left, dtype=dtype)
    wide = np.result_type(right, left, dtype)
    product: FloatArray = np.zeros((shape[0], V.shape[1]), wide)
    strips = slices(0, shape[0], BLOCK_ROWS)
    n_threads = max(1, min(allowed_threads(), len(strips)))
    sums: list[FloatArray] = [np.zeros((shape[1], V.shape[1]), wide) for _ in range(n_threads)]

    def add(strip: slice, thread: int) -> None:
        for columns in slices(0, shape[1], BLOCK_COLUMNS):
            tile = tiles(strip, columns)
            product[strip] += np.dot(tile, V[columns])
            sums[thread][columns] += np.dot(tile.T, U[strip])

    in_threads(add, strips, n_threads)
    return product, _total(sums)


def _total(sums: list[FloatArray]) -> FloatArray:
    for other in sums[1:]:
        sums[0] += other
    return sums[0]


def rectangular_product(tiles: Tiles, shape: tuple[int, int], coefficients: FloatArray, dtype: Any) -> FloatArray:
    """Return K @ coefficients for the matrix of these tiles, as a new array; coefficients keep their digits."""
    if is_multiplied_by_program(tiles, coefficients) and coefficients.dtype == dtype:
        return compiled_rectangular(tiles, shape, coefficients)
    V = np.ascontiguousarray(coefficients)
    product: FloatArray = np.zeros((shape[0], *coefficients.shape[1:]), np.result_type(coefficients, dtype))
    strips = slices(0, shape[0], BLOCK_ROWS)

    def add(strip: slice, thread: int) -> None:
        for columns in slices(0, shape[1], BLOCK_COLUMNS):
            product[strip] += np.dot(tiles(strip, columns), V[columns])

    in_threads(add, strips, min(allowed_threads(), len(strips)))
    return product


def rectangular_values(tiles: Tiles, shape: tuple[int, int], dtype: Any) -> FloatArray:
    """Return the matrix of these tiles, as a new array in ``dtype``; each is made in the cache of a core."""
    values: FloatArray = np.empty(shape, dtype)
    strips = slices(0, shape[0], BLOCK_ROWS)

    def fill(strip: slice, thread: int) -> None:
        for columns in slices(0, shape[1], BLOCK_COLUMNS):
            values[strip, columns] = tiles(strip, columns)

    in_threads(fill, strips, min(allowed_threads(), len(strips)))
    return values
