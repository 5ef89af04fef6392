"""One thread for each core, and BLAS held to one in each."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from threading import Condition, Event, Lock, local
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")

_AWAKE_SECONDS = 0.05
_own = local()  # what each thread may do


@lru_cache(maxsize=1)
def _found_blas(n_modules: int) -> Any:
    return ThreadpoolController().select(user_api="blas")


def _blas() -> Any:
    """Return a handle on the BLAS libraries that are loaded.

    To look for them takes as long as a small product, so it is done when modules were imported since the last time.
    """
    return _found_blas(len(sys.modules))


class _Rest:
    """Whether BLAS is held to one thread, and how many it had before: of the whole process."""

    lock, is_on, n_before = Lock(), False, 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread: for many small products, over which more would only wait.

    And for what is done between products that are made in threads of their own, which keep their number: a thread of
    BLAS that has nothing more to do goes on looking for work, for 20 ms and more in OpenBLAS, and takes a core from
    the threads of the next product.
    """
    is_mine = False  # only who turns it on, in this thread or in another, may turn it off
    try:
        with _Rest.lock:
            if not _Rest.is_on:
                _Rest.n_before = _blas_threads()
                is_mine = _Rest.is_on = True
        with _blas().limit(limits=1) if is_mine else nullcontext():
            yield
    finally:
        if is_mine:
            with _Rest.lock:
                _Rest.is_on = False


@contextmanager
def one_thread() -> Iterator[None]:
    """Start no threads from this one: for tasks of which several run side by side already."""
    before = getattr(_own, "is_one", False)
    _own.is_one = True
    try:
        yield
    finally:
        _own.is_one = before


def allowed_threads() -> int:
    """Return how many threads to use: as many as the user lets BLAS have, or this one alone."""
    if getattr(_own, "is_one", False):
        return 1
    with _Rest.lock:
        return _Rest.n_before if _Rest.is_on else _blas_threads()


def _blas_threads() -> int:
    return max((int(library.num_threads) for library in _blas().lib_controllers), default=1)


def in_threads(work: Callable[[Part, int], None], parts: Sequence[Part], n_threads: int) -> None:
    """Call ``work(part, thread)`` for every part; which thread does which part is always the same.

    After an error in a thread, or Ctrl-C, all threads end with the part that they are at; none is left behind.
    """
    stopped, changed, n_running = Event(), Condition(), [0]

    def share(thread: int) -> None:
        with changed:
            n_running[0] += 1
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                for part in parts[thread :: max(1, n_threads)]:
                    if stopped.is_set():
                        return
                    work(part, thread)
        except BaseException:
            stopped.set()
            raise
        finally:
            with changed:
                n_running[0] -= 1
                changed.notify_all()

    if n_threads <= 1:
        share(0)
        return
    with one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
        try:
            running = {pool.submit(one_thread()(share), thread) for thread in range(n_threads)}
            while running:
                # Awake now and then: a signal that another thread got is seen by this one only when it runs.
                done, running = wait(running, timeout=_AWAKE_SECONDS, return_when=FIRST_EXCEPTION)
                for share_done in done:
                    share_done.result()
        except BaseException:
            # Ctrl-C may come while the pool is being filled, and the pool then does not know of its last thread.
            stopped.set()
            with changed:
                changed.wait_for(lambda: not n_running[0])
            raise


class OwnMemory(local):
    """Memory for blocks that each thread uses again; to get it anew for each block takes a tenth of a product."""

    def __init__(self) -> None:  # is called in each thread
        self._blocks: dict[str, npt.NDArray[Any]] = {}

    def block(self, name: str, shape: tuple[int, int], dtype: Any) -> npt.NDArray[Any]:
        """Return an array, not filled, that lasts until the same thread asks for another one by this name."""
        size, memory = shape[0] * shape[1], self._blocks.get(name)
        if memory is None or memory.size < size or memory.dtype != dtype:
            memory = self._blocks[name] = np.empty(size, dtype)
        return memory[:size].reshape(shape)


def slices(start: int, stop: int, step: int) -> list[slice]:
    """Return consecutive slices of at most ``step``."""
    return [slice(at, min(at + step, stop)) for at in range(start, stop, step)]
