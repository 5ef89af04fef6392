"""A kernel matrix whose rows are on a Dask cluster: exact products with them and with new rows, made where they are.

Rows and kernel values stay on the workers. The vectors of a solve are on the client, as NumPy arrays: n numbers for
each column that goes in and comes out of a product.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from distributed import Future
from distributed.client import CancelledError

from semikpca._typing import FloatArray, IntArray
from semikpca.exceptions import ClusterError
from semikpca.kernels import Kernel, Normalized, normalized_product, require_finite_sums
from semikpca.operators._base import KernelOperator
from semikpca.operators._blocked import computed_facts
from semikpca.operators._rough import sample_eigenvectors
from semikpca.operators.cluster import _tasks as tasks
from semikpca.operators.cluster._client import clear_errors, computed_blocks, with_data_on_workers
from semikpca.operators.cluster._graphs import cross_array, mapped_array, symmetric_array
from semikpca.operators.cluster._lazy import lazy_rows
from semikpca.operators.cluster._rows import ClusterRows
from semikpca.operators.products import scaled_by_last

# Where a method asks for the whole matrix, it is fetched to the client for up to this many rows: 34 MB.
_MOST_DENSE_ROWS = 2_048


class DaskOperator(KernelOperator):
    """A kernel matrix of rows on a cluster; a product is a graph over pairs of chunks, each pair computed once.

    The workers hold the rows, see ``ClusterRows.persisted``. Kernel values are computed in ``dtype``. What goes in and
    comes out, and sums over blocks, have the type of the rows.
    """

    def __init__(self, kernel: Kernel, rows: ClusterRows, dtype: Any = None) -> None:
        super().__init__(rows.shape[0], rows.dtype)
        self.kernel = kernel
        self.rows = rows
        self.value_dtype = np.dtype(rows.dtype if dtype is None else dtype)
        found = self._mapped(tasks.diagonal, np.empty((0, 0)), 2)
        self._diagonal, gpu_error = found[:, 0].copy(), float(found[:, 1].max())
        require_finite_sums(kernel, self._diagonal, self.dtype)
        # The workers multiply with blocked matrices, or on GPUs of theirs.
        few = self.n <= _MOST_DENSE_ROWS
        self.facts = computed_facts(self.facts, kernel, rows, self.value_dtype, can_be_dense=few, gpu_error=gpu_error)

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
            raise self.too_large(
                f"from a cluster it is fetched for up to {_MOST_DENSE_ROWS:,} rows. Ask for fewer eigenpairs, use a "
                "kernel that is positive semi-definite by construction, or a Nystroem kernel."
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


class ClusterExpansion:
    """The values of an expansion at new rows: lazy for a Dask array, computed at once for a NumPy array.

    New rows and training rows meet on the workers, a pair of chunks at a time. The coefficients are sent to all workers
    when they are first needed, and stay there as long as this object or a lazy answer lives.
    """

    def __init__(self, kernel: Kernel, rows: ClusterRows, coefficients: FloatArray) -> None:
        self.rows = rows
        self._is_vector = coefficients.ndim == 1
        self._n_columns = 1 if self._is_vector else int(coefficients.shape[1])
        columns = coefficients.reshape(rows.shape[0], -1)
        self._kernel, self._columns, self._finish = _inside(kernel, columns)
        self._sent: Future | None = None

    def __call__(self, new_rows: Any) -> Any:
        """Return the values, shape (n_new,) or (n_new, n_columns)."""
        values = self._lazy(new_rows) if isinstance(new_rows, da.Array) else self._computed(new_rows)
        return values[:, 0] if self._is_vector else values

    def _lazy(self, new_rows: da.Array) -> da.Array:
        dtype = np.result_type(self._columns, new_rows.dtype)
        if self._sent is None or self._sent.status in ("cancelled", "lost"):
            sent = tasks.Sent.of(self._kernel, self._columns, self.rows.bounds, None)
            with clear_errors():
                self._sent = self.rows.client.scatter(sent, broadcast=True, hash=False)
        return cross_array(new_rows, self.rows.array, self._sent, self._n_columns, dtype, self._finish)

    def _computed(self, new_rows: FloatArray) -> FloatArray:
        if not len(new_rows):
            return np.empty((0, self._n_columns), dtype=self._columns.dtype)
        try:
            return computed_blocks(self.rows.client, self._lazy(lazy_rows(np.asarray(new_rows))))
        except ClusterError as error:
            if not isinstance(error.__cause__, CancelledError):
                raise
            self._sent = None  # lost with a worker: it is sent again
            return computed_blocks(self.rows.client, self._lazy(lazy_rows(np.asarray(new_rows))))


def _inside(kernel: Kernel, columns: FloatArray) -> tuple[Kernel, FloatArray, Callable[[FloatArray], FloatArray]]:
    """Return a kernel that workers can evaluate without all rows, its coefficients, and what to do with its sums.

    The degrees of new rows are one more column of the same pass.
    """
    if not isinstance(kernel, Normalized):
        return kernel, columns, np.asarray  # the sums as they are
    scaled = normalized_product(columns, kernel.degrees_)
    base, inner, finish = _inside(kernel.kernel_, np.column_stack([scaled, np.ones_like(scaled[:, :1])]))
    return base, inner, partial(scaled_by_last, inner=finish, kernel=base)
