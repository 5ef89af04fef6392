"""``semikpca predict``: a saved model on other rows."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from semikpca.cli import _table_options as asked
from semikpca.cli._messages import errors, failing_clearly
from semikpca.cli._pipes import PIPE, read_given, shown_name, talking, write_asked
from semikpca.cli._table_options import check_outputs, default_output, steps, tell
from semikpca.tables import empty_rows
from semikpca.workflow import LabelModel, NumberModel, about_empty_rows, load_model, printable


def predict(
    model: Annotated[Path, typer.Argument(help="A file that semikpca label --save wrote.", show_default=False)],
    file: asked.FileArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The table with labels; by default FILE.predicted.csv, or as FILE ends. - writes to standard output.",
        ),
    ] = None,
    embeddings: asked.EmbeddingsFile = None,
    delimiter: asked.Delimiter = None,
    encoding: asked.Encoding = None,
    sheet: asked.Sheet = None,
    header_row: asked.HeaderRow = None,
    raw_cells: asked.RawCells = False,
    labels_only: asked.LabelsOnly = False,
    coverage: asked.Coverage = None,
    force: asked.Force = False,
) -> None:
    """Label the rows of another table with a saved model.

    Columns are found by their names. The table comes back as it was, with predicted_label and confidence at its end;
    with a model of numbers, with predicted_value, low and high.
    """
    target = default_output(file, "predicted") if out is None else out
    with failing_clearly(errors):
        check_outputs({"-o": target}, (file, model, embeddings), force=force)
        with steps() as say:
            say("Reading the model", 0, 1)
            loaded = with_coverage(load_model(model), coverage)
            say("Reading the model", 1, 1)
            say("Reading the table", 0, 1)
            how = {"delimiter": delimiter, "encoding": encoding, "raw_cells": raw_cells}
            where = {"sheet": sheet, "header_row": header_row}
            table = read_given(file, **how, **where, embeddings=embeddings, id_column=loaded.roles.id)
            say("Reading the table", 1, 1)
            say("Labels", 0, 1)
            frame = loaded.predict_table(table, labels_only=labels_only, progress=say)
            notes = write_asked(frame, target, table, raw_cells=raw_cells)
        n_empty = len(empty_rows(loaded.learned_from(table), loaded.feature_names))
        of_empty = about_empty_rows(n_empty, loaded.of_empty_rows)
        tell([*loaded.warnings, *table.options.get("notes", ()), *of_empty, *notes])
        if replaced := loaded.replaced_columns(table):
            tell([f"These columns come from an earlier run, and new ones take their place: {', '.join(replaced)}"])
        if surplus := loaded.surplus_columns(table):
            tell([f"The model does not know these columns, which say nothing to it: {', '.join(surplus)}"])
        said = talking(target)
        name, found = printable(shown_name(file)), loaded.in_words(frame)
        said.print(f"[bold]{escape(name)}[/]: {escape(found)}", soft_wrap=True, highlight=False)
        if target != PIPE:
            said.print(f"[bold]Labels:[/] {escape(str(target))}", soft_wrap=True, highlight=False)


def with_coverage(model: LabelModel, coverage: float | None) -> LabelModel:
    """Return a model of numbers with intervals for this share of them."""
    if coverage is None:
        return model
    if not isinstance(model, NumberModel):
        raise ValueError("--coverage is about numbers, and the model predicts classes. Leave it out.")
    return replace(model, coverage=asked.checked_coverage(coverage))
