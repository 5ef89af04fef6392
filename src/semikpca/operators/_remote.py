"""Rows that are held elsewhere and arrays that are lazy, by neutral names: no layer above asks who holds them.

What holds them is :mod:`semikpca.operators.cluster`, which is imported when one of these functions needs it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import is_lazy, is_remote
from semikpca.kernels import Kernel


class RemoteRows(ABC):
    """Rows that are held elsewhere, in chunks: a few of them are fetched at most."""

    is_remote = True

    shape: tuple[int, int]
    dtype: np.dtype[Any]

    @property
    @abstractmethod
    def bounds(self) -> IntArray:
        """Row numbers at which chunks begin, and n: shape (n_chunks + 1,)."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def __getitem__(self, key: IntArray | slice) -> FloatArray:
        """Return a few rows as an array, or refuse to fetch very many."""

    @abstractmethod
    def expansion(self, kernel: Kernel, coefficients: FloatArray) -> Callable[[Any], Any]:
        """Return the function x ↦ Σ c_i k(x, x_i) over these rows; of a lazy array its values are lazy."""

    @abstractmethod
    def over_all(self, function: Callable[[FloatArray, int], FloatArray], n_columns: int, dtype: Any) -> Any:
        """Return ``function(chunk, number of its first row)`` of all chunks, as a lazy array (n, n_columns)."""

    @abstractmethod
    def reduced(
        self, of_chunk: Callable[..., Any], join: Callable[[list[Any]], Any], shared: Any, arguments: Sequence[Any]
    ) -> Any:
        """Return what ``join`` makes of ``of_chunk(chunk, shared, argument)``: all chunks, an argument for each."""


class Cluster(ABC):
    """Workers that call functions; see :func:`join_cluster`.

    While it is joined it is the current one, to which lazy arrays and remote rows turn as well.
    """

    @abstractmethod
    def on_each_worker(
        self, function: Callable[..., Any], *arguments: Any, errors_are_answers: bool = False
    ) -> dict[str, Any]:
        """Return what a function answers on each worker, by the addresses of the workers."""

    @abstractmethod
    def shared(self, value: Any) -> Any:
        """Return what stands for a value among the arguments of many tasks; it is sent to the workers once."""

    @abstractmethod
    def parts(self, array: Any) -> list[Any]:
        """Return what stands for the chunks of a lazy array among the arguments of tasks."""

    @abstractmethod
    def each_answer(
        self,
        function: Callable[..., Any],
        arguments: Iterable[Sequence[Any]],
        take: Callable[[int, Any], None],
        progress: Callable[[int, int], None],
    ) -> None:
        """Call a function with each of several lists of arguments, and hand over the answers as they come.

        Parameters
        ----------
        function : callable
            Called on the workers.
        arguments : iterable of sequences
            Values, and what :meth:`shared` and :meth:`parts` return.
        take : callable
            Called with the number of a task and its answer. Where it raises, what is still running is stopped.
        progress : callable
            Called with the number of tasks that are done, and of all.
        """

    @abstractmethod
    def array(
        self,
        function: Callable[..., Any],
        arguments: Iterable[Sequence[Any]],
        lengths: Sequence[int],
        n_columns: int | None,
        dtype: Any,
    ) -> Any:
        """Return a lazy array whose chunks are the answers of a function.

        Parameters
        ----------
        function, arguments
            As in :meth:`each_answer`.
        lengths : sequence of int
            Rows of each chunk.
        n_columns : int or None
            None for an array of one dimension.
        dtype : dtype
        """

    @abstractmethod
    def held(self, array: Any, share: float, progress: Callable[[int, int], None]) -> Any:
        """Return an array in the memory of the workers; a lazy one where it would take more than a share of that."""


def join_cluster(scheduler: str) -> AbstractContextManager[Cluster]:
    """Return a context with the cluster of the scheduler at an address, HOST:PORT.

    Raises
    ------
    ClusterError
        Where nobody answers there, or no worker has joined.
    """
    cluster: AbstractContextManager[Cluster] = _cluster().DaskCluster.joined(scheduler)
    return cluster


def require_cluster_packages() -> None:
    """Raise the ImportError, which names the remedy, where what a cluster needs is not installed."""
    _cluster()


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
        missing = (error.name or "").partition(".")[0]  # the package: nobody installs dask.array
        if missing == "semikpca":
            raise
        raise ImportError("Dask collections need distributed: pip install 'semikpca[dask]'.", name=missing) from error
    return cluster
