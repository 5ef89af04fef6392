"""Rows that are held elsewhere and arrays that are lazy, by neutral names: no layer above asks who holds them.

What holds them is :mod:`semikpca.operators.cluster`, which is imported when one of these functions needs it.
"""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Protocol

import numpy as np

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import is_lazy, is_remote
from semikpca.kernels import Kernel


class RemoteRows(Protocol):
    """Rows that are held elsewhere, in chunks: a few of them are fetched at most.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype
    bounds : ndarray of int, shape (n_chunks + 1,)
        Row numbers at which chunks begin, and n.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @property
    def bounds(self) -> IntArray: ...

    def __len__(self) -> int: ...

    def __getitem__(self, key: IntArray | slice) -> FloatArray: ...

    def expansion(self, kernel: Kernel, coefficients: FloatArray) -> Callable[[Any], Any]:
        """Return the function x ↦ Σ c_i k(x, x_i) over these rows; of a lazy array its values are lazy."""

    def over_all(self, function: Callable[[FloatArray, int], FloatArray], n_columns: int, dtype: Any) -> Any:
        """Return ``function(chunk, number of its first row)`` of all chunks, as a lazy array (n, n_columns)."""

    def reduced(
        self, of_chunk: Callable[..., Any], join: Callable[[list[Any]], Any], shared: Any, arguments: Sequence[Any]
    ) -> Any:
        """Return what ``join`` makes of ``of_chunk(chunk, shared, argument)``: all chunks, an argument for each."""


def goes_to_cluster(backend: str, rows: Rows) -> bool:
    """Return whether a back end, as the user names it, computes with these rows on a cluster."""
    return backend == "dask" or (backend == "auto" and is_remote(rows))


def remote_rows(X: Any) -> RemoteRows:
    """Return rows of a lazy array or data frame, or of an array, where they are held; one pass looks at every number.

    Rows that are held elsewhere already come back as they are.
    """
    rows: RemoteRows = X if is_remote(X) else _cluster().ClusterRows.of(X)
    return rows


def checked_lazy_rows(X: Any) -> Any:
    """Return new rows as a lazy array of numbers, whose blocks are looked through when they are computed."""
    return _cluster().checked_rows(X)


def map_rows(function: Callable[[Any], Any], rows: Rows, n_columns: int | None, dtype: Any) -> Any:
    """Return ``function(rows)``; of a lazy array lazily, block by block.

    Parameters
    ----------
    function : callable
        Takes a block of rows; or a whole lazy array, where it says so by ``takes_lazy``.
    rows : ndarray, CSR matrix, tensor, list of objects or lazy array
    n_columns : int or None
        Of the answer; None for one number a row.
    dtype : dtype
        Of the answer for a lazy array.
    """
    if not is_lazy(rows) or getattr(function, "takes_lazy", False):
        return function(rows)
    return _cluster().mapped(function, rows, n_columns, dtype)


def values_at(function: Callable[[Any], Any], rows: Rows, n_columns: int | None, dtype: Any) -> Any:
    """Return :func:`map_rows` for a function that computes with rows and with numbers of type ``dtype``."""
    return map_rows(function, rows, n_columns, np.result_type(dtype, rows.dtype) if is_lazy(rows) else dtype)


def gathered(collection: Any) -> Any:
    """Return a lazy array, series or data frame as values in the memory of this computer; others as they are."""
    return _cluster().gathered(collection) if is_lazy(collection) else collection


def map_parts(function: Callable[[Any], Any], collection: Any) -> list[Any]:
    """Return ``function`` of each part of a lazy array or series, in their order; it is called where the parts are."""
    answers: list[Any] = _cluster().map_parts(function, collection)
    return answers


def _cluster() -> ModuleType:
    try:
        from semikpca.operators import cluster
    except ImportError as error:
        raise ImportError(
            "Dask collections need distributed: pip install 'semikpca[dask]'.", name=error.name
        ) from error
    return cluster
