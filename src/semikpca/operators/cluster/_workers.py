"""The workers of a scheduler, and what they are asked to do; nothing here knows what it is about."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import dask
import dask.array as da
import numpy as np
from distributed import Client, as_completed
from distributed.protocol.pickle import dumps

from semikpca.exceptions import ClusterError
from semikpca.operators.cluster._client import clear_errors, data_in_graph_is_meant, n_threads, nothing_left
from semikpca.operators.cluster._tasks import loaded

PATIENCE_SECONDS = 5  # until a scheduler counts as not there


class Cluster:
    """A scheduler that answers and has workers; made by :meth:`joined`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @classmethod
    @contextmanager
    def joined(cls, scheduler: str) -> Iterator[Self]:
        """Give the cluster of the scheduler at an address."""
        try:
            client = Client(scheduler, timeout=PATIENCE_SECONDS)
        except (OSError, ValueError, TypeError) as error:  # nobody there, no such host, or no address
            raise ClusterError(
                f"No Dask scheduler answers at {scheduler} within {PATIENCE_SECONDS} s. Check the address (HOST:PORT, "
                "often with port 8786). 'dask scheduler' starts one, and 'dask worker HOST:PORT' a worker."
            ) from error
        with client:
            n_threads(client)
            yield cls(client)

    @property
    def memory(self) -> int:
        """Bytes of memory that the workers may use together; one without a limit counts for none."""
        return int(self._client.run_on_scheduler(_memory))

    def on_each_worker(
        self, function: Callable[..., Any], *arguments: Any, errors_are_answers: bool = False
    ) -> dict[str, Any]:
        """Return what a function answers on each worker, by the addresses of the workers."""
        with clear_errors():
            on_error = "return" if errors_are_answers else "raise"
            return dict(self._client.run(function, *arguments, on_error=on_error))

    # -- tasks -------------------------------------------------------------------------------------------------

    def shared(self, value: Any) -> Any:
        """Return what stands for a value among the arguments of many tasks; it is sent to the workers once."""
        return dask.delayed(loaded, pure=False)(dumps(value))

    def parts(self, array: Any) -> list[Any]:
        """Return what stands for the chunks of a lazy array among the arguments of tasks."""
        return list(array.to_delayed(optimize_graph=False).ravel())

    def each_answer(
        self,
        function: Callable[..., Any],
        arguments: Iterable[Sequence[Any]],
        take: Callable[[int, Any], None],
        progress: Callable[[int, int], None],
    ) -> None:
        """Call a function on the workers with each of several lists of arguments, and hand over answers as they come.

        Arguments are values, and what :meth:`shared` and :meth:`parts` return. ``take`` gets the number of a task and
        its answer. Where it raises, what is still running is stopped; nothing is left on the cluster in any case.
        ``progress`` gets the number of tasks that are done, and of all.
        """
        task = dask.delayed(function, pure=False)
        with clear_errors(), data_in_graph_is_meant():
            # What is made of the rows of a fit is not optimized: see _client.computed.
            futures = self._client.compute([task(*own) for own in arguments], optimize_graph=False)
            numbers = {future.key: number for number, future in enumerate(futures)}
            with nothing_left(self._client, futures):
                for done, (future, answer) in enumerate(as_completed(futures, with_results=True), 1):
                    take(numbers[future.key], answer)
                    progress(done, len(futures))

    # -- arrays ------------------------------------------------------------------------------------------------

    def array(
        self,
        function: Callable[..., Any],
        arguments: Iterable[Sequence[Any]],
        lengths: Sequence[int],
        n_columns: int | None,
        dtype: Any,
    ) -> da.Array:
        """Return a lazy array whose chunks are the answers of a function to its arguments: see :meth:`each_answer`.

        ``lengths`` are the rows of each chunk; ``n_columns`` is None for an array of one dimension.
        """
        task, columns = dask.delayed(function, pure=False), () if n_columns is None else (n_columns,)
        return da.concatenate(
            [
                da.from_delayed(task(*own), (int(length), *columns), dtype=np.dtype(dtype))
                for own, length in zip(arguments, lengths, strict=True)
            ]
        )

    def held(self, array: da.Array, share: float, progress: Callable[[int, int], None]) -> da.Array:
        """Return an array in the memory of the workers; a lazy one where it would take more than a share of that."""
        with clear_errors(), data_in_graph_is_meant():
            if array.nbytes > share * self.memory:
                return array
            array = self._client.persist(array)
            futures = self._client.futures_of(array)
            for done, _ in enumerate(as_completed(futures), 1):
                progress(done, len(futures))
        return array


def _memory(dask_scheduler: Any) -> int:
    return sum(worker.memory_limit or 0 for worker in dask_scheduler.workers.values())
