"""The function x ↦ Σ c_i k(x, x_i) over training rows that are on a Dask cluster."""

from collections.abc import Callable
from functools import partial
from typing import Any

import dask.array as da
import numpy as np
from distributed import Future
from distributed.client import CancelledError

from semikpca._typing import FloatArray
from semikpca.exceptions import ClusterError
from semikpca.kernels import Kernel, Normalized, normalized_product, positive_degrees
from semikpca.operators.cluster._client import clear_errors, computed_blocks
from semikpca.operators.cluster._graphs import cross_array
from semikpca.operators.cluster._lazy import lazy_rows
from semikpca.operators.cluster._rows import ClusterRows
from semikpca.operators.cluster._tasks import Sent


class ClusterExpansion:
    """The values of an expansion at new rows: lazy for a Dask array, computed at once for a NumPy array.

    New rows and training rows meet on the workers, a pair of chunks at a time. The coefficients are sent to all workers
    when they are first needed, and stay there as long as this object or a lazy answer lives.

    Parameters
    ----------
    kernel : Kernel
        Fitted, on vectors.
    rows : ClusterRows
        Held by the workers.
    coefficients : ndarray of shape (n,) or (n, n_columns)
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
            sent = Sent.of(self._kernel, self._columns, self.rows.bounds, None)
            with clear_errors():
                self._sent = self.rows.client.scatter(sent, broadcast=True, hash=False)
        return cross_array(new_rows, self.rows.array, self._sent, self._n_columns, dtype, self._finish)

    def _computed(self, new_rows: FloatArray) -> FloatArray:
        if not len(new_rows):
            return np.empty((0, self._n_columns), dtype=self._columns.dtype)
        try:
            return computed_blocks(self.rows.client, self._lazy(lazy_rows(np.asarray(new_rows))[0]))
        except ClusterError as error:
            if not isinstance(error.__cause__, CancelledError):
                raise
            self._sent = None  # lost with a worker: it is sent again
            return computed_blocks(self.rows.client, self._lazy(lazy_rows(np.asarray(new_rows))[0]))


def _inside(kernel: Kernel, columns: FloatArray) -> tuple[Kernel, FloatArray, Callable[[FloatArray], FloatArray]]:
    """Return a kernel that workers can evaluate without all rows, its coefficients, and what to do with its sums.

    The degrees of new rows are one more column of the same pass.
    """
    if not isinstance(kernel, Normalized):
        return kernel, columns, _as_they_are
    scaled = normalized_product(columns, kernel.degrees_)
    base, inner, finish = _inside(kernel.kernel_, np.column_stack([scaled, np.ones_like(scaled[:, :1])]))
    return base, inner, partial(_scaled, finish=finish, kernel=base)


def _as_they_are(sums: FloatArray) -> FloatArray:
    return sums


def _scaled(sums: FloatArray, finish: Callable[[FloatArray], FloatArray], kernel: Kernel) -> FloatArray:
    values = finish(sums)
    degrees = positive_degrees(kernel, values[:, -1], of_training_rows=False)
    return np.asarray(normalized_product(values[:, :-1], degrees))
