"""Rows that are held elsewhere and arrays that are lazy, by neutral names: no layer above asks who holds them.

What holds them is :mod:`semikpca.operators.cluster`, which is imported when one of these functions needs it.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from semikpca._typing import Rows
from semikpca.arrays import is_lazy, is_remote

if TYPE_CHECKING:
    from semikpca.operators.cluster import Cluster, ClusterRows


def join_cluster(scheduler: str) -> "AbstractContextManager[Cluster]":
    """Return a context with the cluster of the scheduler at an address, HOST:PORT.

    While it is joined it is the current one, to which lazy arrays and remote rows turn as well. Where nobody answers,
    or no worker has joined, a ClusterError says so.
    """
    cluster: AbstractContextManager[Cluster] = _cluster().Cluster.joined(scheduler)
    return cluster


def require_cluster_packages() -> None:
    """Raise the ImportError, which names the remedy, where what a cluster needs is not installed."""
    _cluster()


def remote_rows(X: Any) -> "ClusterRows":
    """Return rows of a lazy array or data frame, or of an array, where they are held; one pass looks at every number.

    Rows that are held elsewhere already come back as they are.
    """
    rows: ClusterRows = X if is_remote(X) else _cluster().ClusterRows.of(X)
    return rows


def checked_lazy_rows(X: Any) -> Any:
    """Return new rows as a lazy array of numbers, whose blocks are looked through when they are computed."""
    return _cluster().checked_rows(X)


def map_rows(function: Callable[[Any], Any], rows: Rows, n_columns: int | None, dtype: Any) -> Any:
    """Return ``function(rows)``; of a lazy array lazily, block by block, or whole where ``function.takes_lazy``.

    ``n_columns`` of the answer is None for one number a row, and ``dtype`` that of the answer for a lazy array.
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
