"""The command line: ``semikpca label``, ``semikpca app``, ``semikpca paper`` and more. Only this package prints.

Another distribution adds a command with an entry point in the group ``semikpca.commands``: its name is that of the
command, and it leads to a function or a ``typer.Typer``. What such a command shares with those here is exported below.
It is imported when it is asked for, so that ``main`` can say what is missing where Typer is not installed.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from semikpca.cli._messages import console, errors, failing_clearly
    from semikpca.cli._running import kept_cells, outputs_progress, run_cells, split_names

INTERRUPTED = 130  # what shells report for a program that was stopped with Ctrl-C

__all__ = ["console", "errors", "failing_clearly", "kept_cells", "main", "outputs_progress", "run_cells", "split_names"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from semikpca.cli import _messages, _running

    return getattr(_messages if hasattr(_messages, name) else _running, name)


def main() -> None:
    """Run the command line, or say what is missing for it."""
    try:
        _run()
    except KeyboardInterrupt:  # before the command itself could answer
        raise SystemExit(INTERRUPTED) from None


def _run() -> None:
    try:
        with stopping_at_once():
            import rich  # noqa: F401  (typer loads it later, where its absence could not be explained)

            from semikpca.cli._app import app
    except ModuleNotFoundError as error:
        if error.name not in ("typer", "rich"):
            raise
        print(
            f"The semikpca command needs the package {error.name}, which is not installed. Install it with: "
            "pip install 'semikpca[label]' for tables, pip install 'semikpca[app]' for the page as well, or "
            "pip install 'semikpca[paper]' for the paper.",
            file=sys.stderr,
        )
        raise SystemExit(1) from error
    app()


@contextmanager
def stopping_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process while packages are loaded, when there is nothing to keep.

    A KeyboardInterrupt in the middle of their imports may come out as any other error, or be lost.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield  # somebody else answers Ctrl-C
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
