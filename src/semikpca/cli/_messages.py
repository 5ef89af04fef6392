"""How a command fails: one clear message, a non-zero exit code, and a word on what is kept."""

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.markup import escape

from semikpca.cli import INTERRUPTED
from semikpca.exceptions import ClusterError

console = Console()
errors = Console(stderr=True)


@contextmanager
def failing_clearly(console: Console, kept: Callable[[], str] = lambda: "") -> Iterator[None]:
    """Turn errors that a user can act on into a message; ``kept`` says what was saved before."""
    try:
        yield
    except KeyboardInterrupt:
        _say(console, "Stopped.", kept())
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        raise  # whoever reads our output has enough: typer ends the command without a word
    except OSError as error:
        _say(console, f"{_meaning(error)}: {error}", kept())
        raise typer.Exit(1) from error
    except (ValueError, MemoryError, ClusterError) as error:
        _say(console, str(error) or "The memory is full.", kept())
        raise typer.Exit(1) from error


def _meaning(error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return "The disk is full"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "The folder cannot be written to (choose another with --out)"
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return "There is a file where a folder is needed (choose another with --out)"
    if error.errno == errno.ELOOP:
        return "A symbolic link leads back to itself (name the file that is meant)"
    return "The file system refused"


def _say(console: Console, message: str, kept: str) -> None:
    console.print(f"[bold red]Error:[/] {escape(message)}", soft_wrap=True)
    if kept:
        console.print(escape(kept), soft_wrap=True)
