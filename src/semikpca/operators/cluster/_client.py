"""A Dask cluster: finding it, computing on it, and saying what went wrong."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import dask
import dask.array as da
import numpy as np
from distributed import Client, KilledWorker, Status, wait
from distributed.client import CancelledError
from distributed.comm import CommClosedError

from semikpca._typing import FloatArray
from semikpca.exceptions import ClusterError

Answer = TypeVar("Answer")

# What is lost with a worker is sent again so many times.
_MOST_LOSSES = 3
# A worker that is paused twice with this time between has been so all along.
_PATIENCE_SECONDS = 60
_HOW_TO_START = (
    "Start one with: from dask.distributed import Client; client = Client(). With an address, Client('HOST:PORT'), it "
    "joins a scheduler that runs already."
)

_log = logging.getLogger(__name__)


def current_client(client: Client | None = None) -> Client:
    """Return the client that is given or running; where there is none, raise: no cluster is started unasked."""
    if client is None:
        try:
            client = Client.current()
        except ValueError as error:
            raise ClusterError(f"No client of a Dask cluster is running. {_HOW_TO_START}") from error
    if client.asynchronous:
        raise ClusterError("An asynchronous Dask client cannot wait for answers. Use Client(asynchronous=False).")
    if client.status != "running":
        raise ClusterError(f"The Dask client is {client.status}, not running. {_HOW_TO_START}")
    return client


def n_threads(client: Client) -> int:
    """Return how many tasks the workers of a cluster run at a time."""
    threads = sum(client.nthreads().values())
    if not threads:
        raise ClusterError(
            "The Dask cluster has no worker. Add one, for example with client.cluster.scale(2), or start one with: "
            "dask worker HOST:PORT."
        )
    return int(threads)


def computed(client: Client, collections: Sequence[Any], *, optimize: bool = False) -> list[Any]:
    """Return the values of Dask collections; whatever happens, nothing of them is left on the cluster afterwards.

    What is made of ``ClusterRows.array`` is not optimized: its graph is, and the scheduler must not be told two ways to
    make the same chunk.
    """
    with clear_errors(), data_in_graph_is_meant():
        futures = client.compute(list(collections), optimize_graph=optimize)
        with nothing_left(client, futures):
            return list(_gathered(client, futures))


def computed_blocks(client: Client, array: da.Array) -> FloatArray:
    """Return the numbers of a Dask array in one block of columns; chunks are put together here and not on a worker."""
    with clear_errors(), data_in_graph_is_meant():
        held = client.persist(array, optimize_graph=False)
        futures = [held.dask[key] for key in dask.core.flatten(held.__dask_keys__())]
        with nothing_left(client, futures):
            return np.concatenate(_gathered(client, futures))


@contextmanager
def nothing_left(client: Client, futures: list[Any]) -> Iterator[None]:
    """Let go of futures at the end, and stop what is still running of them where the end is an error or Ctrl-C."""
    try:
        yield
    except BaseException:
        client.cancel(futures, force=True)
        raise
    finally:
        for future in futures:
            future.release()


def _gathered(client: Client, futures: list[Any]) -> list[Any]:
    wait_for(client, futures)
    return list(client.gather(futures))


def wait_for(client: Client, futures: Any) -> None:
    """Wait until futures are done, or until a worker has been paused for so long that what is queued there never is."""
    paused: set[str] = set()
    while True:
        try:
            wait(futures, timeout=_PATIENCE_SECONDS)
            return
        except TimeoutError:
            still = set(client.run_on_scheduler(_paused_workers)) & paused
            if still:
                raise ClusterError(
                    f"Worker {min(still)} has been paused for more than {_PATIENCE_SECONDS} s: its memory is full, and "
                    "what it was to do does not go on. Give each worker more memory or fewer threads."
                ) from None
            paused = set(client.run_on_scheduler(_paused_workers))


def _paused_workers(dask_scheduler: Any) -> list[str]:
    return [address for address, worker in dask_scheduler.workers.items() if worker.status == Status.paused]


def with_data_on_workers(client: Client, data: Any, compute: Callable[[Any], Answer]) -> Answer:
    """Return ``compute(future)`` with data that every worker holds; what is lost with a worker is sent again."""
    for _ in range(_MOST_LOSSES):
        future = None
        try:
            with clear_errors():
                future = client.scatter(data, broadcast=True, hash=False)
            return compute(future)
        except ClusterError as error:
            if not isinstance(error.__cause__, CancelledError) or client.status != "running":
                raise
            lost = error
            _log.info("what the workers had been sent was lost with one of them, and is sent again")
        finally:
            if future is not None:
                future.release()
    raise ClusterError(
        f"The cluster gave up: workers died {_MOST_LOSSES} times with what they had been sent, most likely for want of "
        "memory. Give each worker more memory or fewer threads, and look at their logs."
    ) from lost


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn the ways in which a cluster can break down into one error that says what to do."""
    try:
        yield
    except KilledWorker as error:
        raise ClusterError(
            f"The cluster gave up: {error.allowed_failures + 1} workers in a row died while they ran the same task "
            f"({error.task}), most likely for want of memory. Give each worker more memory or fewer threads, or use "
            "more and smaller chunks."
        ) from error
    except CancelledError as error:
        raise ClusterError(
            "The cluster lost what it was computing: the scheduler has stopped, the client was closed, or a worker "
            f"died with data that only it had ({error}). Look at the logs of the workers, and fit again."
        ) from error
    except CommClosedError as error:
        raise ClusterError(
            f"The connection to the scheduler was lost ({error}). Connect again with Client('HOST:PORT'), and fit "
            "again."
        ) from error
    except TimeoutError as error:
        raise ClusterError(
            f"The cluster did not answer in time ({error}). Are its workers running? client.nthreads() lists them."
        ) from error


def data_in_graph_is_meant() -> Any:
    """Return a context in which no warning says that rows are sent with a graph: they are, once and on purpose."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"})
