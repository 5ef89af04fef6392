"""The cluster that labels a table: joining it, looking whether its workers can do the work, and handing it out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from distributed import Client, as_completed

from semikpca.exceptions import ClusterError
from semikpca.operators.cluster._client import clear_errors, data_in_graph_is_meant, n_threads, nothing_left
from semikpca.workflow._cluster_pieces import unseen
from semikpca.workflow._label import Progress

PATIENCE_SECONDS = 5  # until a scheduler counts as not there
_SAME_EVERYWHERE = ("semikpca", "skrub")


@contextmanager
def connected(scheduler: str) -> Iterator[Client]:
    """Give a client of a scheduler that answers and has workers."""
    try:
        client = Client(scheduler, timeout=PATIENCE_SECONDS)
    except (OSError, ValueError, TypeError) as error:  # nobody there, no such host, or no address
        raise ClusterError(
            f"No Dask scheduler answers at {scheduler} within {PATIENCE_SECONDS} s. Check the address (HOST:PORT, "
            "often with port 8786). 'dask scheduler' starts one, and 'dask worker HOST:PORT' a worker."
        ) from error
    with client:
        n_threads(client)
        yield client


def refuse_unready_workers(client: Client, file: Path, folder: Path) -> None:
    """Refuse workers without the packages, and those that do not see the files."""
    with clear_errors():
        for package in _SAME_EVERYWHERE:
            for worker, found in client.run(version, package, on_error="return").items():
                if found != version(package):
                    has = f"has {package} {found}" if isinstance(found, str) else f"does not have {package}"
                    raise ClusterError(
                        f"The worker {worker} {has}, and this computer has {version(package)}. Install the same there: "
                        "pip install 'semikpca[label,dask]'."
                    )
        for worker, what in client.run(unseen, file, folder).items():
            if what:
                raise ClusterError(
                    f"The worker {worker} does not see {what}. The table and the folder of the output must be under "
                    "the same path on this computer and on all workers: put both in a folder that they share."
                )


def each_answer(
    client: Client, tasks: Sequence[Any], step: str, progress: Progress, take: Callable[[int, Any], None]
) -> None:
    """Compute tasks, and hand over the number and the answer of each as it comes; nothing is left on the cluster."""
    with clear_errors(), data_in_graph_is_meant():
        # What is made of the rows of a fit is not optimized: see operators._cluster.computed.
        futures = client.compute(list(tasks), optimize_graph=False)
        numbers = {future.key: number for number, future in enumerate(futures)}
        with nothing_left(client, futures):
            for done, (future, answer) in enumerate(as_completed(futures, with_results=True), 1):
                take(numbers[future.key], answer)
                progress(step, done, len(futures))


def memory_of_workers(client: Client) -> int:
    """Return the bytes of memory that the workers may use together; one without a limit counts for none."""
    return int(client.run_on_scheduler(_memory))


def _memory(dask_scheduler: Any) -> int:
    return sum(worker.memory_limit or 0 for worker in dask_scheduler.workers.values())
