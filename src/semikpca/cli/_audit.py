"""``semikpca audit``: given labels that look wrong, and why."""

from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
import typer
from rich.markup import escape
from rich.table import Table as Grid
from rich.text import Text

from semikpca._words import counted
from semikpca.cli._audit_numbers import number_conclusions, numbers_as_table, printed_numbers
from semikpca.cli._messages import errors, failing_clearly
from semikpca.cli._pipes import PIPE, talking, write_asked
from semikpca.cli._table_options import Force, Question, about_a_table, check_outputs, steps, tell_rest
from semikpca.tables import NUMBERS
from semikpca.workflow import (
    AuditedNumbers,
    AuditedTable,
    audit_numbers,
    audit_table,
    row_names,
    row_texts,
    shortened,
)


@about_a_table
def audit(
    question: Question,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A table of all given labels, most suspicious first.")
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Print all given labels, not only those that look wrong.")
    ] = False,
    force: Force = False,
) -> None:
    """Show the given labels that look wrong, most suspicious first.

    Each label is held against what all others say of its row when it is left out.
    """
    with failing_clearly(errors):
        options = question.options
        check_outputs({"-o": out}, question.files, force=force)
        with steps() as say:
            table, roles = question.read(say)
            audited: AuditedTable | AuditedNumbers
            if roles.labels_as == NUMBERS:
                audited = numbers = audit_numbers(table, roles, options, progress=say)
                rows, conclusions = numbers_as_table(numbers), number_conclusions(numbers)
                show = partial(printed_numbers, numbers)
            else:
                audited = classes = audit_table(table, roles, options, progress=say)
                rows, conclusions = _as_table(classes, classes.found), _conclusions(classes, classes.found)
                show = partial(_printed, classes)
            found = audited.found
            notes: list[str] = []
            if out is not None:
                notes += write_asked(rows, out, None, raw_cells=question.raw_cells)
        said = talking(out)
        shown = found if show_all else found[found["looks_wrong"]]
        if len(shown):
            said.print(show(shown))
        for line in conclusions:
            said.print(line, highlight=False)
        tell_rest(audited, notes)
        if out not in (None, PIPE):
            said.print(f"[bold]All labels:[/] {escape(str(out))}", soft_wrap=True, highlight=False)


def _printed(audited: AuditedTable, found: pd.DataFrame) -> Grid:
    grid = Grid(header_style="bold", show_lines=True)
    for title in ("Row", "Given", "Others say"):
        grid.add_column(title, overflow="fold")
    grid.add_column("Wrong?", justify="right")
    grid.add_column("Why", overflow="fold", ratio=1)
    names, texts = row_names(audited, found["row"]), row_texts(audited, found["row"], 100)
    for entry, name, text in zip(found.itertuples(), names, texts, strict=True):
        known, near = not np.isnan(entry.suspicion), ", ".join(row_names(audited, entry.nearest))
        reason = f"near {near}, which are {shortened(entry.suggested, 30)}" if near else "no label speaks for it"
        if not known:
            reason = "the only label of its class, or the only one that reaches its row"
        suggested = f"{shortened(entry.suggested, 30)} {entry.suggested_probability:.0%}"
        grid.add_row(
            Text(name),
            Text(shortened(entry.given, 30), style="yellow" if entry.looks_wrong else ""),
            Text(suggested if known else "–"),
            f"{entry.suspicion:.0%}" if known else "–",
            Text(reason) + Text(f"\n{text}", style="dim"),
        )
    return grid


def _conclusions(audited: AuditedTable, found: pd.DataFrame) -> list[str]:
    n_wrong, n_unknown = int(found["looks_wrong"].sum()), int(found["suspicion"].isna().sum())
    n_judged = len(found) - n_unknown
    lines = []
    if n_judged:
        wrong = counted(n_wrong, "label looks", "labels look") if n_wrong else "No label looks"
        lines.append(f"{wrong} wrong of {n_judged:,} that could be judged.")
    estimate = audited.estimate
    if n_wrong and estimate.right < estimate.counted:
        lines.append(
            f"Some of them will be right all the same: the others find {estimate.right} of {estimate.counted} labels "
            "again, so that they err as well. Look at each before you change it."
        )
    if n_unknown:
        lines.append(
            f"{counted(n_unknown, 'label', 'labels')} could not be judged: the only one of its class, or the only one "
            "that reaches its row. Give each class a second label."
        )
    return lines


def _as_table(audited: AuditedTable, found: pd.DataFrame) -> pd.DataFrame:
    """Return the audit for a file: rows count from 1, and are named where there is a column of names."""
    names = row_names(audited, found["row"])
    nearest = ["; ".join(row_names(audited, rows)) for rows in found["nearest"]]
    table = found.assign(row=found["row"] + 1, nearest=nearest).round({"suspicion": 4, "suggested_probability": 4})
    table.insert(1, "name", names)
    return table
