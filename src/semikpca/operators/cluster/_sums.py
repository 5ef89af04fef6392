"""One pass over rows on a cluster: something of each chunk, joined as a tree on the workers."""

from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.array as da
from distributed import Client
from distributed.protocol.pickle import dumps

from semikpca.arrays import one_thread
from semikpca.operators.cluster._client import computed
from semikpca.operators.cluster._tasks import loaded

# Parts that are joined at a time: few, so that few of them are in the memory of a worker.
SPLIT_EVERY = 8


def reduced(
    client: Client,
    array: da.Array,
    of_chunk: Callable[..., Any],
    join: Callable[[list[Any]], Any],
    shared: Any,
    arguments: Sequence[Any],
) -> Any:
    """Return what ``join`` makes of ``of_chunk(chunk, shared, argument)`` over all chunks, in their order.

    Only the last join comes to the client. ``shared`` is one node of the graph: a worker that joins later, or takes the
    place of one that died, gets it as it gets any other result.
    """
    node = dask.delayed(loaded, pure=False)(dumps(shared))
    task, join_task = dask.delayed(_one_threaded, pure=False), dask.delayed(join, pure=False)
    blocks = array.to_delayed(optimize_graph=False).ravel()
    parts = [task(of_chunk, block, node, own) for block, own in zip(blocks, arguments, strict=True)]
    while len(parts) > 1:
        parts = [join_task(parts[at : at + SPLIT_EVERY]) for at in range(0, len(parts), SPLIT_EVERY)]
    return computed(client, parts)[0]


def _one_threaded(of_chunk: Callable[..., Any], chunk: Any, shared: Any, argument: Any) -> Any:
    with one_thread():
        return of_chunk(chunk, shared, argument)
