"""``semikpca paper``: the paper's tables and figures, and how far ours are from the printed ones."""

import os
from pathlib import Path
from typing import Annotated

import typer

from semikpca.cli._messages import console, errors, failing_clearly
from semikpca.cli._running import kept_cells, outputs_progress, run_cells, split_names
from semikpca.datasets import PAPER_DATASETS, load_paper_dataset
from semikpca.experiments import CellRecord, PaperSpec, RecordStore, result_rows, run_missing, summarize
from semikpca.report import write_paper_outputs


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
    store = RecordStore(out, PaperSpec, CellRecord)
    with failing_clearly(errors, lambda: kept_cells(store)):
        if report_only:
            spec = store.spec()
        else:
            names = tuple(split_names(datasets or PAPER_DATASETS))
            spec = PaperSpec(datasets=names, repetitions=repetitions, seed=seed)
            for name in spec.datasets:
                load_paper_dataset(name, seed=spec.seed)  # say now, not in the middle, that one is missing
            store.begin(spec, resume=resume)
            run_cells(store, spec, lambda spec, cells: run_missing(spec, cells, jobs))
        records = store.read_all(spec)
        with outputs_progress() as progress:
            write_paper_outputs(out, spec, store.versions(), records, jobs=jobs, progress=progress)
    agreement = summarize(result_rows(records))
    console.print(
        f"{agreement.within_2} of {agreement.n_cells} cells lie within 2 standard errors of the paper, "
        f"{agreement.within_3} within 3.\n"
        f"Semi-KPCA is ahead at the smallest number of labels on {agreement.ahead_at_fewest} of "
        f"{agreement.n_datasets} data sets (in the paper: {agreement.paper_ahead_at_fewest})."
    )
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
