"""Processes side by side that end with the one that started them, however that one ends."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from threading import Thread
from typing import Any

_LOOK_EVERY = 1.0  # seconds


@dataclass(frozen=True)
class WithParent:
    """A function to be called in worker processes of this one, which end when this one does.

    A worker of joblib whose parent is killed waits forever to hand over its result: the pipe stays open, because the
    other workers hold it too.
    """

    function: Callable[..., Any]
    parent: int  # number of the process that starts the workers

    @classmethod
    def here(cls, function: Callable[..., Any]) -> "WithParent":
        """Bind a function to the process that runs now."""
        return cls(function, os.getpid())

    def __call__(self, *arguments: Any) -> Any:
        """Call the function; the first call in a worker starts the watch."""
        if os.getpid() != self.parent:
            _watch(self.parent)
        return self.function(*arguments)


@cache
def _watch(parent: int) -> None:
    def end_with_parent() -> None:
        # A process whose parent has died belongs to another one. (Not on Windows, where the number stays.)
        while os.getppid() == parent:
            time.sleep(_LOOK_EVERY)
        os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
