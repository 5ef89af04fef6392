"""``semikpca label``: from a table with some labels to a table with all of them."""

import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from semikpca.cli._label_summary import print_summary
from semikpca.cli._messages import errors, failing_clearly
from semikpca.cli._pipes import PIPE, talking, write_asked
from semikpca.cli._table_options import (
    Force,
    LabelsOnly,
    Question,
    about_a_table,
    check_outputs,
    default_output,
    steps,
    tell_rest,
)
from semikpca.workflow import save_model


@about_a_table
def label(
    question: Question,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The table with labels; by default FILE.labeled.csv, or as FILE ends. - writes to standard output.",
        ),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="A page to look at: one HTML file that needs no network.")] = None,
    save: Annotated[Path | None, typer.Option(help="A model for semikpca predict.")] = None,
    labels_only: LabelsOnly = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Address of a Dask scheduler, such as HOST:8786, for tables larger than a memory: Parquet (a file or "
            "a folder), CSV or TSV ('part-*.csv' too), in a folder that all workers see. OUT is then a Parquet folder."
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Give every row of a table a label, learned from the rows that have one.

    Empty cells in the label column are the rows to be labeled. The table comes back as it was, with four columns more:
    predicted_label, confidence, label_was_given and looks_wrong.
    """
    target = default_output(question.file, "labeled") if out is None else out
    written: list[Path] = []
    with failing_clearly(errors, lambda: f"Written before that: {', '.join(map(str, written))}" if written else ""):
        options = question.options
        if scheduler is not None:
            from semikpca.cli._label_on_cluster import label_by_scheduler

            unfit: dict[str, object] = {
                "--report": report,
                "--save": save,
                "--labels": question.labels,
                "--embeddings": question.embeddings,
                "--sheet": question.sheet,
                "--header-row": question.header_row,
                "--labels-only": labels_only,
            }
            return label_by_scheduler(question, scheduler, out, unfit, force=force)
        check_outputs({"-o": target, "--report": report, "--save": save}, question.files, force=force)
        with steps() as say:
            labeled = question.labeled(options, say)
            say("Writing", 0, 1)
            frame = labeled.to_frame(labels_only=labels_only)
            notes = write_asked(frame, target, labeled.table, raw_cells=question.raw_cells)
            written.append(target)
            if save is not None:
                save_model(save, labeled)
                written.append(save)
            if report is not None:
                from semikpca.report import write_label_report

                command = shlex.join(["semikpca", *sys.argv[1:]])
                write_label_report(report, labeled, command=command, created=datetime.now().astimezone(), progress=say)
                written.append(report)
        said = talking(target)
        print_summary(said, labeled, question)
        tell_rest(labeled, notes)
        for what, path in (("Labels", target), ("Model", save), ("Report", report)):
            if path not in (None, PIPE):
                said.print(f"[bold]{what}:[/] {escape(str(path))}", soft_wrap=True, highlight=False)
