"""Lazy arrays: rows that are checked, and functions of blocks that are computed when somebody asks."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client
from distributed.protocol.pickle import dumps

from semikpca._typing import FloatArray
from semikpca.operators.cluster._client import computed, current_client
from semikpca.operators.cluster._tasks import loaded

# Rows of one chunk of an array that is sent to the workers: some megabytes.
_SENT_NUMBERS = 2**20


# -- rows ----------------------------------------------------------------------------------------------------------


def lazy_rows(X: Any) -> da.Array:
    """Return rows as a Dask array of float32 or float64 in one block of columns.

    Nothing is computed: lengths may stay unknown, and NaN is not looked for.
    """
    if isinstance(X, np.ndarray):
        sent_rows = max(1, _SENT_NUMBERS // max(1, math.prod(X.shape[1:])))
        X = da.from_array(X, chunks=(sent_rows, *([-1] * (X.ndim - 1))), name=False)
    elif hasattr(X, "to_dask_array"):
        strange = [name for name, dtype in X.dtypes.items() if not _is_number(dtype)] if X.ndim == 2 else []
        if strange:
            raise ValueError(
                f"Column {strange[0]!r} of X is not of numbers (it is {X.dtypes[strange[0]]}). Drop it, or make "
                "numbers of it."
            )
        X = X.to_dask_array()
    if not isinstance(X, da.Array):
        raise TypeError(f"X must be a Dask array, a Dask data frame or a NumPy array, got {type(X).__name__}.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape X to (n_samples, n_features).")
    if not isinstance(X._meta, np.ndarray):
        raise ValueError(
            f"backend='dask' takes blocks that are NumPy arrays, got {type(X._meta).__name__}. Use X.map_blocks("
            "lambda block: block.toarray()) on sparse ones, if dense rows fit the workers."
        )
    if not X.shape[1]:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    if not _is_number(X.dtype):
        raise ValueError(f"X must hold numbers, got dtype {X.dtype}. Convert it, for example with X.astype(float).")
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def checked_rows(X: Any) -> da.Array:
    """Return new rows as a lazy Dask array whose blocks are looked through when they are computed."""
    array = lazy_rows(X)
    return array.map_blocks(_checked, dtype=array.dtype, meta=array._meta)


def looked_at(block: Any) -> tuple[int, int]:
    """Return the length of a block of rows, and how many of them hold NaN or infinity."""
    if not isinstance(block, np.ndarray):
        raise ValueError(
            f"backend='dask' takes blocks that are NumPy arrays, and one is a {type(block).__name__}. Use "
            "X.map_blocks(lambda block: block.toarray()) on sparse ones, if dense rows fit the workers."
        )
    return len(block), len(block) - int(np.isfinite(block).all(axis=1).sum())


def _checked(block: Any) -> FloatArray:
    _, n_strange = looked_at(block)
    if n_strange:
        raise ValueError("Input X contains NaN or infinity. Drop such rows, or fill them in.")
    return np.asarray(block)


def _is_number(dtype: Any) -> bool:
    return getattr(dtype, "kind", "O") in "fiub"


# -- functions of blocks -------------------------------------------------------------------------------------------


def mapped(function: Callable[[Any], Any], array: da.Array, n_columns: int | None, dtype: Any) -> da.Array:
    """Return ``function`` of each block of an array in one block of columns, as a lazy array.

    ``n_columns`` is None where the answer has one number a row. The function is sent to the workers once.
    """
    shared = dask.delayed(loaded, pure=False)(dumps(function))
    meta: Any = np.empty((0,) * (1 if n_columns is None else 2), dtype=dtype)
    return array.map_blocks(
        _called,
        function=shared,
        dtype=dtype,
        meta=meta,
        chunks=None if n_columns is None else (array.chunks[0], (n_columns,)),
        drop_axis=1 if n_columns is None and array.ndim == 2 else None,
        new_axis=1 if n_columns is not None and array.ndim == 1 else None,
    )


# -- values that come to the client --------------------------------------------------------------------------------


def gathered(collection: Any) -> Any:
    """Return the values of a lazy array, series or data frame."""
    return computed(current_client(), [collection], optimize=True)[0]


def map_parts(function: Callable[[Any], Any], collection: Any) -> list[Any]:
    """Return ``function`` of each part of a lazy array or series, in their order: called on the workers."""
    return of_parts(current_client(), function, np.ravel(collection.to_delayed()))


def of_parts(client: Client, function: Callable[[Any], Any], parts: Iterable[Any]) -> list[Any]:
    """Return ``function`` of each delayed part, in their order."""
    task = dask.delayed(function)
    return list(computed(client, [dask.delayed(list)([task(part) for part in parts])])[0])


def _called(block: Any, function: Callable[[Any], Any]) -> Any:
    return function(block)
