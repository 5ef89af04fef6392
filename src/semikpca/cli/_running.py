"""What commands that run cells share: the progress bar, and the run that keeps every finished cell."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from semikpca.cli._messages import console, errors
from semikpca.experiments import RecordStore, RecordT, SpecT


def split_names(given: Iterable[str], *, at_blanks: bool = True) -> list[str]:
    """Return names that were given one by one or separated by commas, or by blanks where no name has any."""
    parts = [part for text in given for part in text.split(",")]
    if at_blanks:
        return [name for part in parts for name in part.split()]
    return [part.strip() for part in parts if part.strip()]


def run_cells(
    store: RecordStore[SpecT, RecordT], spec: SpecT, run: Callable[[SpecT, list[Any]], Generator[RecordT, None, None]]
) -> None:
    """Compute the cells that the store lacks and store each as soon as it is finished."""
    cells, damaged = store.missing(spec)
    for problem in damaged:
        errors.print(f"[yellow]Computed again:[/] {escape(str(problem))}", soft_wrap=True)
    n_cells = len(spec.cells())
    with progress_bar() as progress, closing(run(spec, cells)) as records:
        task = progress.add_task("Experiments", total=n_cells, completed=n_cells - len(cells))
        for record in records:
            store.write(record)
            progress.advance(task)


@contextmanager
def outputs_progress() -> Iterator[Callable[[int, int], None]]:
    """Show how far tables and figures are; give what is to be called with those done and their number."""
    with progress_bar() as progress:
        task = progress.add_task("Tables and figures", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def progress_bar() -> Progress:
    """Return the progress bar of a command."""
    return Progress(
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )


def kept_cells(store: RecordStore[SpecT, RecordT]) -> str:
    """Say what a run that stopped has left behind."""
    n_kept = len(list(store.records.glob("*.json"))) if store.records.is_dir() else 0
    return f"{n_kept} finished cells are kept in {store.records}; go on with --resume." if n_kept else ""
