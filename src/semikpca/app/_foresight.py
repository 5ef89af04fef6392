"""Work that is done ahead, while someone reads a row: what its label will need."""

from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread

from semikpca.app._session import LabelingSession


class Foresight:
    """One thread at most, which prepares the row that was looked at last. Nobody waits for it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._next: Callable[[], None] | None = None
        self._is_running = False

    def look_at(self, session: LabelingSession, row: int) -> None:
        """Prepare a row in the background; rows that were looked at meanwhile are passed over."""
        with self._lock:
            self._next = lambda: session.prepare(row)
            if self._is_running:
                return
            self._is_running = True
        Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                work, self._next = self._next, None
                if work is None:
                    self._is_running = False
                    return
            with suppress(Exception):  # whatever it is, the label itself will meet it, and say so
                work()
