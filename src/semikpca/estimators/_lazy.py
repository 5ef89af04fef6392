"""Answers for rows of a Dask array: computed on the workers, block by block, when somebody asks."""

import numpy as np

from semikpca.arrays import is_dask


def values_at(function, rows, n_columns, dtype):
    """Return ``function(rows)``; of a Dask array lazily.

    Parameters
    ----------
    function : callable
        Takes a block of rows; or a whole Dask array, where it says so by ``takes_dask``.
    rows : ndarray, CSR matrix, tensor, list of objects or dask.array.Array
    n_columns : int or None
        Of the answer; None for one number a row.
    dtype : dtype
        Of the numbers that the function works with; answers for a Dask array have it together with that of the rows.
    """
    if not is_dask(rows) or getattr(function, "takes_dask", False):
        return function(rows)
    return mapped(function, rows, n_columns, np.result_type(dtype, rows.dtype))


def mapped(function, array, n_columns, dtype):
    """Return ``function`` of each block of a Dask array in one block of columns, as a lazy Dask array.

    ``n_columns`` is None where the answer has one number a row. The function is sent to the workers once.
    """
    import dask
    from distributed.protocol.pickle import dumps

    from semikpca.operators._cluster_tasks import loaded

    shared = dask.delayed(loaded, pure=False)(dumps(function))
    meta = np.empty((0,) * (1 if n_columns is None else 2), dtype=dtype)
    return array.map_blocks(
        _called,
        function=shared,
        dtype=dtype,
        meta=meta,
        chunks=None if n_columns is None else (array.chunks[0], (n_columns,)),
        drop_axis=1 if n_columns is None and array.ndim == 2 else None,
        new_axis=1 if n_columns is not None and array.ndim == 1 else None,
    )


def _called(block, function):
    return function(block)
