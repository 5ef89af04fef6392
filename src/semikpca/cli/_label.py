"""``semikpca label``: from a table with some labels to a table with all of them."""

import shlex
import sys
from dataclasses import replace
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
from semikpca.workflow import drawn_rows, save_model

HELD_OUT = "Labels held out"  # a step of the work


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
    accept: Annotated[
        float | None,
        typer.Option(
            help="The share that must be right of the labels that are accepted unseen, such as 0.95: adds a column "
            "accepted, and writes the rows that a person should look at to another file.",
        ),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(
            help="With --accept: the rows that are not accepted, most doubtful first; by default FILE.review.csv, or "
            "as FILE ends."
        ),
    ] = None,
    drawn: Annotated[
        str | None,
        typer.Option(
            help="A column that says which labels were drawn at random (yes or 1), for estimates and --accept; by "
            "default all count as drawn. Nothing is learned from it."
        ),
    ] = None,
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

    With --accept 0.95 a fifth says which predicted labels can be accepted unseen: at most 5% of these are wrong.
    """
    target = default_output(question.file, "labeled") if out is None else out
    written: list[Path] = []
    with failing_clearly(errors, lambda: f"Written before that: {', '.join(map(str, written))}" if written else ""):
        options = question.options
        if accept is not None and not 0 < accept < 1:
            hint = f" For {accept:g}% write {accept / 100:g}." if 1 < accept < 100 else ""
            raise ValueError(f"--accept must lie between 0 and 1, got {accept:g}.{hint}")
        if review is not None and accept is None:
            raise ValueError("--review lists what is not accepted, and needs --accept, such as --accept 0.95.")
        if accept is not None and review is None and target != PIPE:
            review = default_output(question.file, "review")
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
                "--accept": accept,
                "--drawn": drawn,
                "--with-page-labels": question.with_page_labels,
            }
            return label_by_scheduler(question, scheduler, out, unfit, force=force)
        outputs = {"-o": target, "--review": review, "--report": report, "--save": save}
        check_outputs(outputs, question.files, force=force)
        if drawn is not None:
            question = replace(question, exclude=[*(question.exclude or ()), drawn])
        with steps() as say:
            labeled = question.labeled(options, say)
            if drawn is not None:
                labeled = labeled.with_drawn(drawn_rows(labeled.table, drawn))
            say(HELD_OUT, 0, 1)
            accepted = None if accept is None else labeled.accepted(accept)
            _ = labeled.estimate
            say(HELD_OUT, 1, 1)
            say("Writing", 0, 1)
            frame = labeled.to_frame(labels_only=labels_only, accepted=accepted)
            notes = write_asked(frame, target, labeled.table, raw_cells=question.raw_cells)
            written.append(target)
            if accepted is not None and review is not None:
                to_review = labeled.rows_frame(labeled.to_review(accepted))
                notes += write_asked(to_review, review, labeled.table, raw_cells=question.raw_cells)
                written.append(review)
            if save is not None:
                save_model(save, labeled)
                written.append(save)
            if report is not None:
                from semikpca.report import write_label_report

                command = shlex.join(["semikpca", *sys.argv[1:]])
                made = datetime.now().astimezone()
                write_label_report(report, labeled, command=command, created=made, accepted=accepted, progress=say)
                written.append(report)
        said = talking(target)
        print_summary(said, labeled, question, accepted, review)
        tell_rest(labeled, notes)
        for what, path in (("Labels", target), ("To review", review), ("Model", save), ("Report", report)):
            if path not in (None, PIPE):
                said.print(f"[bold]{what}:[/] {escape(str(path))}", soft_wrap=True, highlight=False)
