"""A kernel matrix whose rows are on a Dask cluster: exact products, made where the rows are.

Rows and kernel values stay on the workers. The vectors of a solve are on the client, as NumPy arrays: n numbers for
each column that goes in and comes out of a product.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import dask.array as da
import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.kernels import Kernel, require_finite_sums_of
from semikpca.operators._base import KernelOperator, Storage
from semikpca.operators._blocked import BLOCK_COLUMNS, ROUNDINGS_A_PRODUCT, computed_product_cost
from semikpca.operators._rough import sample_eigenvectors
from semikpca.operators.cluster import _tasks as tasks
from semikpca.operators.cluster._client import computed_blocks, with_data_on_workers
from semikpca.operators.cluster._graphs import mapped_array, symmetric_array
from semikpca.operators.cluster._rows import ClusterRows

# Where a method asks for the whole matrix, it is fetched to the client for up to this many rows: 34 MB.
_MOST_DENSE_ROWS = 2_048


class DaskOperator(KernelOperator):
    """A kernel matrix of rows on a cluster; a product is a graph over pairs of chunks, each pair computed once.

    Parameters
    ----------
    kernel : Kernel
        Fitted, on vectors.
    rows : ClusterRows
        Held by the workers, see ``ClusterRows.persisted``.
    dtype : dtype
        What kernel values are computed in. What goes in and comes out, and sums over blocks, have the type of the rows.
    """

    def __init__(self, kernel: Kernel, rows: ClusterRows, dtype: Any = None) -> None:
        super().__init__(rows.shape[0], rows.dtype)
        self.kernel = kernel
        self.rows = rows
        self.value_dtype = np.dtype(rows.dtype if dtype is None else dtype)
        found = self._mapped(tasks.diagonal, np.empty((0, 0)), 2)
        self._diagonal, gpu_error = found[:, 0].copy(), float(found[:, 1].max())
        require_finite_sums_of(kernel, self._diagonal, self.dtype)
        # A few roundings of the kernel values, or what was measured on the GPUs of the workers.
        product_error = max(ROUNDINGS_A_PRODUCT * float(np.finfo(self.value_dtype).eps), gpu_error)
        stored = max(self.facts.precision, gpu_error)
        self.facts = replace(
            self.facts,
            storage=Storage.NOTHING,
            product_cost=computed_product_cost(self.n, rows.shape[1]),
            # In float64 that of a stored matrix; in float32 a few roundings, since few numbers are added at a time.
            precision=stored if self.value_dtype == np.float64 else product_error,
            product_error=product_error,
            can_be_dense=self.n <= _MOST_DENSE_ROWS,
            block_columns=BLOCK_COLUMNS,  # the workers multiply with blocked matrices
            is_estimate=kernel.is_approximate,
        )

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``."""
        self.log.n_products += 1
        if not block.shape[1]:
            return np.empty(block.shape, dtype=self.dtype)
        return self._computed(
            np.ascontiguousarray(block, dtype=self.dtype),
            lambda sent: symmetric_array(self.rows.array, sent, block.shape[1], self.dtype),
        )

    def columns(self, rows: IntArray) -> FloatArray:
        """Return the columns of the matrix at ``rows``."""
        if not len(rows):
            return np.empty((self.n, 0), dtype=self.dtype)
        return self._mapped(tasks.columns_at, self.rows[rows], len(rows))

    def diag(self) -> FloatArray:
        """Return the diagonal."""
        return self._diagonal.copy()

    def to_dense(self) -> FloatArray:
        """Return the whole matrix, for few rows."""
        if not self.facts.can_be_dense:
            raise ValueError(
                f"This needs the whole kernel matrix of {self.n:,} rows, {8 * self.n**2 / 1e9:.1f} GB, and from a "
                f"cluster it is fetched for up to {_MOST_DENSE_ROWS:,} rows. Ask for fewer eigenpairs, use a kernel "
                "that is positive semi-definite by construction, or a Nystroem kernel."
            )
        return self.columns(np.arange(self.n))

    def rough_eigenvectors(self, m: int) -> FloatArray:
        """Return at most m columns that are close to leading eigenvectors: from a sample of the rows."""
        sample, coefficients = sample_eigenvectors(self.kernel, self.rows, m)
        return self._mapped(tasks.expanded, np.hstack([sample, coefficients]), coefficients.shape[1])

    @property
    def nbytes(self) -> int:
        """The diagonal; rows are on the workers."""
        return int(self._diagonal.nbytes)

    def sharper(self) -> KernelOperator:
        """Return the same matrix with kernel values in the type of the rows."""
        if self.value_dtype == self.dtype:
            return self
        sharper = DaskOperator(self.kernel, self.rows)
        sharper.log = self.log
        return sharper

    def _mapped(self, function: Callable[[Any, Any], Any], block: FloatArray, n_columns: int) -> FloatArray:
        return self._computed(block, lambda sent: mapped_array(function, self.rows.array, sent, n_columns, self.dtype))

    def _computed(self, block: FloatArray, graph: Callable[[Any], da.Array]) -> FloatArray:
        client = self.rows.client
        sent = tasks.Sent.of(self.kernel, block, self.rows.bounds, self.value_dtype)
        return with_data_on_workers(client, sent, lambda future: computed_blocks(client, graph(future)))
