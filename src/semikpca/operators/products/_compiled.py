"""The products of ``_blocked.py`` where a compiled program makes blocks and multiplies them in one pass."""

from typing import TypeGuard

import numpy as np

from semikpca._typing import FloatArray
from semikpca.arrays import allowed_threads, in_threads, slices
from semikpca.kernels import BLOCK_ROWS, CompiledTiles, Tiles


def is_multiplied_by_program(tiles: Tiles, columns: FloatArray) -> TypeGuard[CompiledTiles]:
    """Return whether the product with these columns is left to the program that makes the tiles."""
    return isinstance(tiles, CompiledTiles) and columns.ndim == 2 and 0 < columns.shape[1] <= tiles.most_columns


def compiled_symmetric(tiles: CompiledTiles, n: int, block: FloatArray) -> FloatArray:
    """Return K @ block for a symmetric n × n matrix, as a new array: each entry is computed once and used twice."""
    n_padded = tiles.padded_shape[0]
    V = _padded(tiles, block, n_padded)
    strips = slices(0, n, BLOCK_ROWS)
    n_threads = min(allowed_threads(), len(strips))
    sums: list[FloatArray] = [np.zeros(V.shape) for _ in range(n_threads)]

    def add(strip: slice, thread: int) -> None:
        mine = sums[thread]
        tiles.add_ahead(strip, strip, V, mine)
        if strip.stop < n:
            tiles.add_both_sides(strip, slice(strip.stop, n), V, mine, V, mine)

    in_threads(add, strips, n_threads)
    return _as_asked(sums, n, block.shape[1], np.result_type(block, tiles.left))


def compiled_two_sided(
    tiles: CompiledTiles, shape: tuple[int, int], right: FloatArray, left: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return K @ right and Kᵀ @ left from one pass, as new arrays."""
    V, U = (_padded(tiles, block, n) for block, n in zip((right, left), tiles.padded_shape[::-1], strict=True))
    product: FloatArray = np.zeros(U.shape)
    strips = slices(0, shape[0], BLOCK_ROWS)
    n_threads = max(1, min(allowed_threads(), len(strips)))
    sums: list[FloatArray] = [np.zeros(V.shape) for _ in range(n_threads)]

    def add(strip: slice, thread: int) -> None:
        tiles.add_both_sides(strip, slice(0, shape[1]), V, product, U, sums[thread])

    in_threads(add, strips, n_threads)
    wide = np.result_type(right, left, tiles.left)
    return _as_asked([product], shape[0], right.shape[1], wide), _as_asked(sums, shape[1], left.shape[1], wide)


def compiled_rectangular(tiles: CompiledTiles, shape: tuple[int, int], coefficients: FloatArray) -> FloatArray:
    """Return K @ coefficients, as a new array."""
    V = _padded(tiles, coefficients, tiles.padded_shape[1])
    product: FloatArray = np.zeros((tiles.padded_shape[0], V.shape[1]))
    strips = slices(0, shape[0], BLOCK_ROWS)

    def add(strip: slice, thread: int) -> None:
        tiles.add_ahead(strip, slice(0, shape[1]), V, product)

    in_threads(add, strips, min(allowed_threads(), len(strips)))
    return _as_asked([product], shape[0], coefficients.shape[1], np.result_type(coefficients, tiles.left))


def _padded(tiles: CompiledTiles, columns: FloatArray, n_rows: int) -> FloatArray:
    """Return columns in the type of kernel values, with zeros for the rows and columns that are not there."""
    n_columns = -(-columns.shape[1] // tiles.lanes) * tiles.lanes
    padded: FloatArray = np.zeros((n_rows, n_columns), tiles.left.dtype)
    padded[: columns.shape[0], : columns.shape[1]] = columns
    return padded


def _as_asked(sums: list[FloatArray], n_rows: int, n_columns: int, dtype: np.dtype) -> FloatArray:
    """Return the total of the sums of all threads without the zeros that were added, in the type that is asked for."""
    total = sums[0]
    for other in sums[1:]:
        total += other
    return np.ascontiguousarray(total[:n_rows, :n_columns], dtype)
