"""A kernel matrix that is computed each time it is multiplied."""

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import one_blas_thread
from semikpca.kernels import Kernel, Tiles, require_finite_sums, tiles_of
from semikpca.operators._base import KernelOperator, OperatorFacts, Storage
from semikpca.operators._memory import has_room, too_large
from semikpca.operators._rough import rough_eigenvectors
from semikpca.operators.products import KeptTiles, product_at, rectangular_values, symmetric_product

# Roundings of kernel values in a product, measured: 2e-7 in float32 and 4e-16 in float64, on exponents up to 16.
_ROUNDINGS_A_PRODUCT = 4
# A product with 16 columns takes 1.5 times one with one column, and less than one with 13: BLAS works in fours.
_BLOCK_COLUMNS = 16


def computed_facts(
    stored: OperatorFacts, kernel: Kernel, rows: Rows, dtype: Any, *, can_be_dense: bool, gpu_error: float = 0.0
) -> OperatorFacts:
    """Return the facts of a matrix whose blocks are computed in ``dtype``, from those of the same matrix in memory.

    ``gpu_error`` was measured where a GPU computes them.
    """
    product_error = max(_ROUNDINGS_A_PRODUCT * float(np.finfo(dtype).eps), gpu_error)
    n, n_features = rows.shape
    return replace(
        stored,
        storage=Storage.NOTHING,
        product_cost=float(n) ** 2 * (8 + n_features / 4),  # each entry takes a few multiplications a feature
        # In float64 that of a stored matrix; in float32 a few roundings, since few numbers are added at a time.
        precision=max(stored.precision, gpu_error) if dtype == np.float64 else product_error,
        product_error=product_error,
        can_be_dense=can_be_dense,
        block_columns=_BLOCK_COLUMNS,
        is_estimate=kernel.is_approximate,
    )


class BlockedOperator(KernelOperator):
    """A kernel matrix in O(n) memory: blocks of it are computed in the cache of a core, multiplied and discarded.

    Kernel values are computed in ``dtype``: float32 is about twice as fast. What goes in and comes out, and sums over
    blocks, have the type of the rows, an array or a CSR matrix. With ``keep`` blocks stay in memory once they are made,
    about n² / 2 numbers: the products after the first then take two thirds of the time, and with a single column less
    than half. Where a compiled program makes blocks, products with more than a few columns neither need nor keep them.
    """

    def __init__(self, kernel: Kernel, rows: Rows, dtype: Any = None, keep: bool = False) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            require_finite_sums(kernel, kernel.diag(rows), rows.dtype)
        super().__init__(int(rows.shape[0]), rows.dtype)
        self.kernel = kernel
        self.rows = rows
        self.value_dtype = np.dtype(rows.dtype if dtype is None else dtype)
        self._tiles: Tiles = tiles_of(kernel, rows, rows, self.value_dtype)
        if keep:
            self._tiles = KeptTiles(self._tiles, self.n, self.value_dtype)
        # The memory budget is read here, once, so that a fit does not change its method halfway.
        can_be_dense = has_room(self.n, self.dtype)
        self.facts = computed_facts(self.facts, kernel, rows, self.value_dtype, can_be_dense=can_be_dense)

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``."""
        self.log.n_products += 1
        return symmetric_product(self._tiles, self.n, block, self.value_dtype)

    def product_at(self, rows: IntArray, block: FloatArray) -> FloatArray | None:
        """Return the product with ``block`` at a few rows."""
        return product_at(self._tiles, rows, self.n, block, self.value_dtype)

    def columns(self, rows: IntArray) -> FloatArray:
        """Return the columns of the matrix at ``rows``."""
        return self.kernel.pairwise(self.rows, self.rows[rows])

    def landmark_columns(self, rows: IntArray) -> FloatArray:
        """Return the columns at ``rows``, made in the cache of each core."""
        tiles = tiles_of(self.kernel, self.rows, self.rows[rows], self.dtype)
        return rectangular_values(tiles, (self.n, len(rows)), self.dtype)

    def diag(self) -> FloatArray:
        """Return the diagonal."""
        return self.kernel.diag(self.rows)

    def to_dense(self) -> FloatArray:
        """Return the whole matrix, where that fits the memory budget of this moment."""
        if not has_room(self.n, self.dtype):
            raise too_large("What was asked for needs the whole kernel matrix, which", self.n, self.dtype)
        return self.kernel.pairwise(self.rows, self.rows)

    def rough_eigenvectors(self, m: int) -> FloatArray:
        """Return at most m columns that are close to leading eigenvectors: from a sample of the rows."""
        return self.block(rough_eigenvectors(self.kernel, self.rows, m))

    @property
    def nbytes(self) -> int:
        """The factors of the blocks, and the blocks that are kept."""
        return self._tiles.nbytes

    def between_products(self) -> AbstractContextManager[None]:
        """Keep BLAS to one thread: products have a thread on each core, and those of BLAS would be in their way."""
        return one_blas_thread()

    def sharper(self) -> KernelOperator:
        """Return the same matrix with kernel values in the type of the rows."""
        if self.value_dtype == self.dtype:
            return self
        sharper = BlockedOperator(self.kernel, self.rows)
        sharper.log = self.log
        return sharper
