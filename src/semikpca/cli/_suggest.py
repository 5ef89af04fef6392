"""``semikpca suggest``: rows that are worth labeling next."""

from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from semikpca._typing import BoolArray, IntArray
from semikpca.cli._messages import errors, failing_clearly
from semikpca.cli._pipes import PIPE, talking, write_asked
from semikpca.cli._table_options import Force, Question, about_a_table, check_outputs, steps, tell_rest
from semikpca.tables import NUMBERS, with_columns
from semikpca.workflow import FilledTable, printable, row_names, row_texts


@about_a_table
def suggest(
    question: Question,
    n: Annotated[int, typer.Option("-n", min=1, help="How many rows.")] = 10,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A table of these rows, to be labeled.")] = None,
    check_rows: Annotated[
        int,
        typer.Option(
            min=0,
            help="How many of them are drawn at random instead: labels of these alone keep estimates and label "
            "--accept honest. In OUT a column says which they are, for label --drawn.",
        ),
    ] = 0,
    force: Force = False,
) -> None:
    """Show the rows that are worth labeling next.

    The labels of the rows in the list are expected to change the predictions of all rows the most, each beside those
    before it: no two of them tell the same. Labels of rows that were chosen so promise nothing of others. Of numbers,
    they are expected to make the predictions of all rows the surest.
    """
    with failing_clearly(errors):
        options = question.options
        check_outputs({"-o": out}, question.files, force=force)
        with steps() as say:
            labeled = question.filled(options, say)
            say("Rows to label", 0, 1)
            rows = labeled.suggestions(n, check_rows)
            is_drawn = ~np.isin(rows, labeled.model.suggested_rows_)
            notes: list[str] = []
            if out is not None:
                notes += write_asked(
                    _as_table(labeled, rows, is_drawn), out, labeled.table, raw_cells=question.raw_cells
                )
        said = talking(out)
        said.print(_printed(labeled, rows, is_drawn))
        table, column = labeled.table, question.label_column
        what = "array" if table.is_array and table.file_of(column) == table.name else "column"
        labels = "numbers" if labeled.roles.labels_as == NUMBERS else "labels"
        said.print(
            f"Write their {labels} into the {what} {escape(printable(column))} of "
            f"{escape(printable(table.file_of(column)))}, and run semikpca label again.",
            highlight=False,
        )
        tell_rest(labeled, notes)
        if out not in (None, PIPE):
            said.print(f"[bold]These rows:[/] {escape(str(out))}", soft_wrap=True, highlight=False)


def _printed(labeled: FilledTable, rows: IntArray, is_drawn: BoolArray) -> Grid:
    grid = Grid(header_style="bold")
    grid.add_column("", justify="right", style="dim")
    grid.add_column("Row", overflow="fold")
    brief = labeled.in_brief(rows)
    what, how_sure = brief
    grid.add_column(what, overflow="fold")
    grid.add_column(how_sure, justify="right")
    grid.add_column("What it is", overflow="fold", ratio=1)
    names, texts = row_names(labeled, rows), row_texts(labeled, rows, 120)
    for place, (name, said, sure, text) in enumerate(zip(names, *brief.values(), texts, strict=True), start=1):
        number = f"{place} at random" if is_drawn[place - 1] else str(place)
        grid.add_row(number, Text(name), Text(said), sure, Text(text))
    return grid


def _as_table(labeled: FilledTable, rows: IntArray, is_drawn: BoolArray) -> pd.DataFrame:
    """Return the rows for a file, best first; where some were drawn at random, with a column that says which."""
    found = labeled.rows_frame(rows)
    return with_columns(found, {"drawn_at_random": is_drawn}) if is_drawn.any() else found
