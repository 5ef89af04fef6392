"""What ``semikpca audit`` says of numbers."""

import numpy as np
import pandas as pd
from rich.table import Table as Grid
from rich.text import Text

from semikpca._words import counted
from semikpca.workflow import AuditedNumbers, row_names, row_texts


def printed_numbers(audited: AuditedNumbers, found: pd.DataFrame) -> Grid:
    """Return given numbers with what the others say of their rows."""
    grid = Grid(header_style="bold", show_lines=True)
    grid.add_column("Row", overflow="fold")
    for title in ("Given", "Others say", "Wrong?"):
        grid.add_column(title, justify="right", overflow="fold")
    grid.add_column("Why", overflow="fold", ratio=1)
    names, texts = row_names(audited, found["row"]), row_texts(audited, found["row"], 100)
    for entry, name, text in zip(found.itertuples(), names, texts, strict=True):
        known = not np.isnan(entry.suspicion)
        reason = "no other number reaches its row"
        if known:
            missed = audited.amount(abs(entry.given - entry.suggested))
            reason = f"off by {missed}, {entry.distance:.1f} times as far as is usual"
        grid.add_row(
            Text(name),
            Text(f"{entry.given:,.12g}", style="yellow" if entry.looks_wrong else ""),
            audited.amount(entry.suggested) if known else "–",
            f"{entry.suspicion:.0%}" if known else "–",
            Text(reason) + Text(f"\n{text}", style="dim"),
        )
    return grid


def number_conclusions(audited: AuditedNumbers) -> list[str]:
    """Return how many numbers look wrong, and how far that is to be trusted."""
    found = audited.found
    n_wrong, n_unknown = int(found["looks_wrong"].sum()), int(found["suspicion"].isna().sum())
    n_judged = len(found) - n_unknown
    lines = []
    if n_judged:
        wrong = counted(n_wrong, "number looks", "numbers look") if n_wrong else "No number looks"
        lines.append(f"{wrong} wrong of {n_judged:,} that could be judged.")
    if n_wrong and audited.estimate.is_known:
        lines.append(
            "Some of them will be right all the same: the others are off by "
            f"{audited.amount(audited.estimate.median_absolute)} in half of all cases. Look at each before you change "
            "it."
        )
    if n_unknown:
        lines.append(f"{counted(n_unknown, 'number')} could not be judged: no other number reaches its row.")
    return lines


def numbers_as_table(audited: AuditedNumbers) -> pd.DataFrame:
    """Return the audit for a file: rows count from 1, and are named where there is a column of names."""
    found = audited.found
    table = found.assign(row=found["row"] + 1, suggested=found["suggested"].round(audited.decimals))
    table = table.round({"suspicion": 4, "distance": 2})
    table.insert(1, "name", row_names(audited, found["row"]))
    return table
