"""``semikpca label``: from a table with some labels to a table with all of them."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from semikpca.cli._label_kinds import Asked, label_classes, label_numbers, refuse_for_numbers
from semikpca.cli._messages import errors, failing_clearly
from semikpca.cli._pipes import PIPE, talking
from semikpca.cli._table_options import (
    Coverage,
    Force,
    LabelsOnly,
    Question,
    about_a_table,
    check_outputs,
    default_output,
    steps,
    tell_rest,
)
from semikpca.tables import NUMBERS


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
    coverage: Coverage = None,
    force: Force = False,
) -> None:
    """Give every row of a table a label, learned from the rows that have one.

    Empty cells in the label column are the rows to be labeled. The table comes back as it was, with four columns more:
    predicted_label, confidence, label_was_given and looks_wrong.

    With --accept 0.95 a fifth says which predicted labels can be accepted unseen: at most 5% of these are wrong.

    A column of numbers, such as prices, is filled in with numbers: predicted_value, low and high take the place of
    predicted_label and confidence. Before the work it is said what the column is taken for; --numbers and --classes
    decide otherwise.
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
                "--numbers": question.numbers,
                "--coverage": coverage,
            }
            return label_by_scheduler(question, scheduler, out, unfit, force=force)
        outputs = {"-o": target, "--review": review, "--report": report, "--save": save}
        check_outputs(outputs, question.files, force=force)
        if drawn is not None:
            question = replace(question, exclude=[*(question.exclude or ()), drawn])
        asked = Asked(question, options, target, report, save, labels_only, drawn, written)
        with steps() as say:
            table, roles = question.read(say)
            if roles.labels_as == NUMBERS:
                refuse_for_numbers({"--accept": accept, "--review": review})
                done = label_numbers(asked, table, roles, coverage, say)
            else:
                if coverage is not None:
                    raise ValueError("--coverage is about numbers, and the labels are classes. Leave it out.")
                done = label_classes(asked, table, roles, accept, review, say)
        said = talking(target)
        done.summary(said)
        tell_rest(done.labeled, done.notes)
        for what, path in (("Labels", target), ("To review", review), ("Model", save), ("Report", report)):
            if path not in (None, PIPE):
                said.print(f"[bold]{what}:[/] {escape(str(path))}", soft_wrap=True, highlight=False)
