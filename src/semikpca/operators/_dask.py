"""A kernel matrix whose rows are on a Dask cluster: exact products, made where the rows are.

Rows and kernel values stay on the workers. The vectors of a solve are on the client, as NumPy arrays: n numbers for
each column that goes in and comes out of a product.
"""

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.kernels import Kernel, require_finite_sums_of
from semikpca.operators import _cluster_tasks as tasks
from semikpca.operators._base import KernelOperator
from semikpca.operators._blocked import _ROUNDINGS_A_PRODUCT
from semikpca.operators._cluster import computed_blocks, with_data_on_workers
from semikpca.operators._cluster_graphs import mapped_array, symmetric_array
from semikpca.operators._cluster_rows import ClusterRows
from semikpca.operators._rough import sample_eigenvectors

# Rows up to which the whole matrix may come to the client, where a method asks for it: 34 MB.
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
        self.kernel = kernel
        self.rows = rows
        self.shape = (rows.shape[0], rows.shape[0])
        self.dtype = rows.dtype
        self.value_dtype = np.dtype(rows.dtype if dtype is None else dtype)
        found = self._mapped(tasks.diagonal, np.empty((0, 0)), 2)
        self._diagonal, self._gpu_error = found[:, 0].copy(), float(found[:, 1].max())
        require_finite_sums_of(kernel, self._diagonal, self.dtype)

    def matmat(self, block: FloatArray) -> FloatArray:
        """Return the product with ``block``."""
        self.n_products += 1
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
        if not self.can_be_dense:
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

    @property
    def product_cost(self) -> float:
        """Each entry is computed from its two rows, which takes as long as some multiplications for each feature."""
        return float(self.n) ** 2 * (8 + self.rows.shape[1] / 4)

    @property
    def can_be_dense(self) -> bool:
        """For up to 2,048 rows."""
        return self.n <= _MOST_DENSE_ROWS

    @property
    def is_stored(self) -> bool:
        """False: a product costs as much as the matrix."""
        return False

    @property
    def block_columns(self) -> int:
        """As of a blocked matrix, which the workers multiply with."""
        return 16

    @property
    def precision(self) -> float:
        """In float64 as of a stored matrix; in float32 a few roundings, since few numbers are added at a time."""
        return max(super().precision, self._gpu_error) if self.value_dtype == np.float64 else self.product_error

    @property
    def product_error(self) -> float:
        """A few roundings of the kernel values, or what was measured on the GPUs of the workers."""
        return max(_ROUNDINGS_A_PRODUCT * float(np.finfo(self.value_dtype).eps), self._gpu_error)

    def sharper(self) -> KernelOperator:
        """Return the same matrix with kernel values in the type of the rows."""
        if self.value_dtype == self.dtype:
            return self
        sharper = DaskOperator(self.kernel, self.rows)
        sharper.n_products, sharper.progress, sharper.is_estimate = self.n_products, self.progress, self.is_estimate
        return sharper

    def _mapped(self, function: Callable[[Any, Any], Any], block: FloatArray, n_columns: int) -> FloatArray:
        return self._computed(block, lambda sent: mapped_array(function, self.rows.array, sent, n_columns, self.dtype))

    def _computed(self, block: FloatArray, graph: Callable[[Any], da.Array]) -> FloatArray:
        client = self.rows.client
        sent = tasks.Sent.of(self.kernel, block, self.rows.bounds, self.value_dtype)
        return with_data_on_workers(client, sent, lambda future: computed_blocks(client, graph(future)))
