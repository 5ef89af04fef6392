"""``semikpca bench speed``."""

from pathlib import Path
from typing import Annotated

import typer

from semikpca.cli import console, errors, failing_clearly, kept_cells, run_cells, split_names
from semikpca.experiments import RecordStore
from semikpca_benchmarks.report import speed_headlines, write_speed_outputs
from semikpca_benchmarks.speed import WORKS, SpeedRecord, SpeedSpec, run_speed_cells


def speed(
    out: Annotated[Path, typer.Option(help="Folder for tables, figure, report and records.")] = Path("speed-results"),
    works: Annotated[
        list[str] | None,
        typer.Option(help=f"What to time, separated by commas or given one by one: {', '.join(WORKS)}; all of it."),
    ] = None,
    repetitions: Annotated[
        int, typer.Option(min=1, help="Rounds over all methods; what takes long is run once.")
    ] = SpeedSpec.repetitions,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes, which say nothing of speed: a rehearsal of half a minute.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Keep the finished cells of an earlier run.")] = False,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Write tables, figure and report from the records alone.")
    ] = False,
    gpu: Annotated[
        Path | None, typer.Option(help="CSV file of benchmarks/bench_gpu.py, to be shown in the report.")
    ] = None,
) -> None:
    """Time and weigh the package beside scikit-learn, every answer checked; leave the computer alone meanwhile."""
    store = RecordStore(out, SpeedSpec, SpeedRecord)
    with failing_clearly(errors, lambda: kept_cells(store)):
        if gpu is not None and not gpu.is_file():
            raise ValueError(f"There is no file {gpu}, which --gpu names.")
        if report_only:
            spec = store.spec()
        else:
            names = tuple(split_names(works, at_blanks=False)) if works else SpeedSpec.works
            spec = SpeedSpec(works=names, repetitions=repetitions, quick=quick)
            store.begin(spec, resume=resume, command=spec.command(), packages=("threadpoolctl", "joblib", "faiss-cpu"))
            run_cells(store, spec, run_speed_cells)
        records = store.read_all(spec)
        write_speed_outputs(out, spec, store.versions(), records, gpu)
        for line in speed_headlines(records):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
