"""``semikpca paper``: the paper's tables and figures, and how far ours are from the printed ones."""

import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from semikpca.cli._messages import failing_clearly
from semikpca.datasets import PAPER_DATASETS, load_paper_dataset
from semikpca.experiments import PaperSpec, RecordStore, result_rows, run_missing, summarize
from semikpca.report import write_paper_outputs

_console = Console()
_errors = Console(stderr=True)


def paper(
    out: Annotated[Path, typer.Option(help="Folder for tables, figures, report and records.")] = Path("paper-results"),
    datasets: Annotated[
        list[str] | None,
        typer.Option(help=f"Data sets, separated by commas or given one by one: {', '.join(PAPER_DATASETS)}."),
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, help="Draws of the labeled rows; the paper has 10.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws and of the synthetic data.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes side by side; the tables do not depend on it.")] = (
        os.cpu_count() or 1
    ),
    resume: Annotated[bool, typer.Option("--resume", help="Keep the finished cells of an earlier run.")] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Write tables, figures and report from the records alone.")
    ] = False,
) -> None:
    """Reproduce the paper's tables and figures, and hold them against the printed numbers."""
    store = RecordStore(out)
    with failing_clearly(_errors, lambda: _kept(store)):
        if report_only:
            spec = store.spec()
        else:
            names = [name for given in datasets or PAPER_DATASETS for name in given.replace(",", " ").split()]
            spec = PaperSpec(datasets=tuple(names), repetitions=repetitions, seed=seed)
            for name in spec.datasets:
                load_paper_dataset(name, seed=spec.seed)  # say now, not in the middle, that one is missing
            _run(store, spec, jobs, resume=resume)
        records = store.read_all(spec)
        with _progress() as progress:
            task = progress.add_task("Tables and figures", total=None)
            write_paper_outputs(
                out,
                spec,
                store.versions(),
                records,
                jobs=jobs,
                progress=lambda done, total: progress.update(task, completed=done, total=total),
            )
    agreement = summarize(result_rows(records))
    _console.print(
        f"{agreement.within_2} of {agreement.n_cells} cells lie within 2 standard errors of the paper, "
        f"{agreement.within_3} within 3.\n"
        f"Semi-KPCA is ahead at the smallest number of labels on {agreement.ahead_at_fewest} of "
        f"{agreement.n_datasets} data sets (in the paper: {agreement.paper_ahead_at_fewest})."
    )
    _console.print(f"Report: {out / 'report.html'}", soft_wrap=True)


def _run(store: RecordStore, spec: PaperSpec, jobs: int, *, resume: bool) -> None:
    store.begin(spec, resume=resume)
    cells, damaged = store.missing(spec)
    for problem in damaged:
        _errors.print(f"[yellow]Computed again:[/] {problem}", soft_wrap=True)
    n_cells = len(spec.cells())
    with _progress() as progress, closing(run_missing(spec, cells, jobs)) as records:
        task = progress.add_task("Experiments", total=n_cells, completed=n_cells - len(cells))
        for record in records:
            store.write(record)
            progress.advance(task)


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=_console,
    )


def _kept(store: RecordStore) -> str:
    n_kept = len(list(store.records.glob("*.json"))) if store.records.is_dir() else 0
    return f"{n_kept} finished cells are kept in {store.records}; go on with --resume." if n_kept else ""
