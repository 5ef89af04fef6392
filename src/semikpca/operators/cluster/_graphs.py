"""Graphs of products with a kernel matrix whose rows are chunks of a Dask array.

Values come back as Dask arrays, so that the same graph serves a product that is computed at once and a prediction that
is computed when somebody asks. ``sent`` is a :class:`semikpca.operators.cluster._tasks.Sent` on the cluster, by its
future: one key of the graph, to which every task refers.
"""

import math
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

from semikpca.operators.cluster import _tasks as tasks

# Partial sums that are added by one task: a tree of this width keeps few of them in memory at a time.
_FAN_IN = 16
# A chunk of this many rows makes pairs that take a second or a few; smaller ones would be lost in what a task costs.
_MOST_CHUNK_ROWS = 2**15
_FEWEST_CHUNK_ROWS = 512
_MOST_CHUNKS = 128
# Pairs for each thread, so that none waits long for the last ones.
_PAIRS_PER_THREAD = 16


def chunks_for(n_rows: int, threads: int) -> int:
    """Return into how many chunks rows are cut for exact products, which are made for each pair of chunks.

    Enough pairs to keep all threads busy, and chunks of 512 to 32,768 rows; but never more than 128 chunks, with which
    a product has 9,400 tasks.

    Examples
    --------
    >>> chunks_for(200_000, threads=2), chunks_for(1_000_000, threads=64), chunks_for(300, threads=64)
    (8, 45, 1)
    """
    # p (p + 1) / 2 pairs are at least so many for each thread.
    busy = math.ceil((math.sqrt(1 + 8 * _PAIRS_PER_THREAD * threads) - 1) / 2)
    wanted = max(busy, math.ceil(n_rows / _MOST_CHUNK_ROWS))
    return max(1, min(wanted, n_rows // _FEWEST_CHUNK_ROWS, _MOST_CHUNKS))


def even_chunks(n_rows: int, n_chunks: int) -> tuple[int, ...]:
    """Return the lengths of so many chunks, which differ by one row at most."""
    return tuple(np.diff(np.linspace(0, n_rows, n_chunks + 1).astype(int)).tolist())


def symmetric_array(rows: da.Array, sent: Any, n_columns: int, dtype: Any) -> da.Array:
    """Return K @ V, shape (n, n_columns): a task for each pair of chunks, whose kernel values serve both sides."""
    name, n_chunks = _fresh("product"), len(rows.chunks[0])
    pairs, sent_key = f"{name}-pair", f"{name}-sent"
    graph: dict[Any, Any] = {sent_key: sent}
    for i in range(n_chunks):
        for j in range(i, n_chunks):
            graph[pairs, i, j] = (tasks.pair_product, (rows.name, i, 0), (rows.name, j, 0), sent_key, i, j)
    for i in range(n_chunks):
        # Chunk i is on the left of pairs (i, j) and on the right of pairs (j, i).
        parts = [(pairs, min(i, j), max(i, j)) for j in range(n_chunks)]
        sides = [int(j < i) for j in range(n_chunks)]
        leaves = []
        for number, at in enumerate(range(0, n_chunks, _FAN_IN)):
            some = slice(at, at + _FAN_IN)
            leaves.append((f"{name}-leaf", i, number))
            graph[leaves[-1]] = (tasks.sum_of_sides, parts[some], sides[some])
        graph[name, i, 0] = (tasks.summed, leaves)
    return _array(name, graph, [rows], (rows.chunks[0], (n_columns,)), dtype)


def cross_array(
    new_rows: da.Array, rows: da.Array, sent: Any, n_columns: int, dtype: Any, finish: Callable[[Any], Any]
) -> da.Array:
    """Return ``finish(K(new_rows, rows) @ V)``, shape (n_new, n_columns), with the chunks of the new rows.

    ``finish`` takes and returns a block of the sums, and is called on the workers.
    """
    name, n_chunks = _fresh("decision"), len(rows.chunks[0])
    parts, sent_key = f"{name}-part", f"{name}-sent"
    graph: dict[Any, Any] = {sent_key: sent}
    for b in range(len(new_rows.chunks[0])):
        for j in range(n_chunks):
            graph[parts, b, j] = (tasks.cross_product, (new_rows.name, b, 0), (rows.name, j, 0), sent_key, j)
        leaves = []
        for number, at in enumerate(range(0, n_chunks, _FAN_IN)):
            leaves.append((f"{name}-leaf", b, number))
            graph[leaves[-1]] = (tasks.summed, [(parts, b, j) for j in range(n_chunks)[at : at + _FAN_IN]])
        graph[name, b, 0] = (finish, (tasks.summed, leaves))
    return _array(name, graph, [new_rows, rows], (new_rows.chunks[0], (n_columns,)), dtype)


def mapped_array(
    function: Callable[[Any, Any], Any], rows: da.Array, sent: Any, n_columns: int, dtype: Any
) -> da.Array:
    """Return ``function(chunk, sent)`` of all chunks, shape (n, n_columns)."""
    name = _fresh("mapped")
    sent_key = f"{name}-sent"
    graph: dict[Any, Any] = {sent_key: sent}
    for i in range(len(rows.chunks[0])):
        graph[name, i, 0] = (function, (rows.name, i, 0), sent_key)
    return _array(name, graph, [rows], (rows.chunks[0], (n_columns,)), dtype)


def _array(name: str, graph: Any, dependencies: list[da.Array], chunks: Any, dtype: Any) -> da.Array:
    layered = HighLevelGraph.from_collections(name, graph, dependencies=dependencies)
    return da.Array(layered, name, chunks, dtype=dtype, meta=np.empty((0, 0), dtype=dtype))


def _fresh(what: str) -> str:
    """Return a name of which there is no second one: blocks that go in are not part of it."""
    return f"semikpca-{what}-{uuid4().hex}"
