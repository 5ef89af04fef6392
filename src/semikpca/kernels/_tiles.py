"""Blocks of a kernel matrix, made when they are asked for: what any product that never holds the matrix is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import sparse

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import OwnMemory
from semikpca.kernels._base import Kernel
from semikpca.kernels._evaluation import product_factors, values_of_products
from semikpca.kernels._vectors import dense
from semikpca.kernels.compiled import compiled_tiles

# A block of 256 × 512 numbers, 512 kB or 1 MB, stays in the second-level cache with what it is multiplied by.
BLOCK_ROWS = 256
BLOCK_COLUMNS = 512


class Tiles(Protocol):
    """Blocks of a kernel matrix, made when they are asked for; a protocol, whatever args and kwargs a class takes."""

    def __call__(self, rows: slice | IntArray, columns: slice) -> FloatArray:
        """Return the block as an array that lasts until the same thread asks for the next one."""

    @property
    def nbytes(self) -> int:
        """Bytes kept beside the rows."""


@dataclass(frozen=True)
class FactorTiles:
    """Blocks of profile(L Rᵀ), for L as ``left`` and Rᵀ as ``right_columns``: a block is one plain matrix product.

    The ``profile`` turns products into kernel values, in place.
    """

    profile: Callable[[FloatArray], FloatArray]
    left: Rows
    right_columns: Rows
    _memory: OwnMemory = field(default_factory=OwnMemory, init=False, repr=False, compare=False)

    def __call__(self, rows: slice | IntArray, columns: slice) -> FloatArray:
        """Return the block of some rows and columns."""
        left, right = self.left[rows], self.right_columns[:, columns]
        if sparse.issparse(left) or sparse.issparse(right):
            return self.profile(left @ dense(right))
        dtype = np.result_type(left, right)
        block = self._memory.block("tile", (left.shape[0], right.shape[1]), dtype)
        return self.profile(np.matmul(left, right, out=block))

    @property
    def nbytes(self) -> int:
        """Both factors."""
        return _nbytes(self.left) + _nbytes(self.right_columns)


@dataclass(frozen=True)
class PairwiseTiles:
    """Blocks of type ``dtype`` of a function of two collections of rows, ``pairwise`` of A and B."""

    pairwise: Callable[[Rows, Rows], FloatArray]
    A: Rows
    B: Rows
    dtype: Any
    nbytes: ClassVar[int] = 0  # nothing is kept beside the rows

    def __call__(self, rows: slice | IntArray, columns: slice) -> FloatArray:
        """Return the block of some rows and columns, as a new array."""
        return self.pairwise(self.A[rows], self.B[columns]).astype(self.dtype, copy=False)


def tiles_of(kernel: Kernel, A: Rows, B: Rows, dtype: Any) -> Tiles:
    """Return blocks of ``kernel.pairwise(A, B)`` of type ``dtype``, by products of factors where these keep digits."""
    formula = kernel.formula
    if formula is not None:
        with np.errstate(over="ignore", invalid="ignore"):
            left, right = kernel.factor(A), kernel.factor(B)
            if (compiled := compiled_tiles(formula, left, right, dtype)) is not None:
                return compiled
            factors = product_factors(formula, left, right)
        if factors is not None:
            # Rounded only now: what was taken off the rows was taken off with all their digits.
            first, columns = factors[0].astype(dtype, copy=False), factors[1].T.astype(dtype)
            columns = columns.tocsc() if sparse.issparse(columns) else columns.copy("C")
            return FactorTiles(partial(values_of_products, formula), first, columns)
    return PairwiseTiles(kernel.pairwise, A, B, dtype)


def _nbytes(rows: Rows) -> int:
    if sparse.issparse(rows):
        return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)
    return int(rows.nbytes)
