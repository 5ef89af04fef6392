"""What stands where no table is open yet."""

from typing import Any

from dash import html

from semikpca.app._opening import EXAMPLES, NEW_COLUMN, Pending
from semikpca.app._pieces import act, box, press
from semikpca.app._workspace import Workspace

_MOST_LISTED_COLUMNS = 8


def start(workspace: Workspace, limit_mb: int) -> list[Any]:
    """Return what stands where no table is open yet: the ways to open one, or the question for its label column."""
    if workspace.pending is not None:
        return _column_question(workspace.pending)
    lead = "Open a table, give a few rows a label, and watch all others follow. Everything stays on this computer."
    formats = f"CSV, TSV, Excel, Parquet, JSON lines, .npy or .npz; up to {limit_mb} MB"
    drop = [html.Strong("Choose a file, or drop one here"), html.Span(formats, className="soft")]
    examples = (
        press([html.Strong(title), html.Span(text, className="soft")], "example", key, className="choice")
        for key, (title, text) in EXAMPLES.items()
    )
    return [
        box(
            "start-card",
            html.H1("Labels for the rest of your rows"),
            html.P(lead, className="lead"),
            press(drop, "browse", className="drop", id="browse"),
            html.H2("Or try an example"),
            box("choices", *examples),
            *([act("Back to the map", "close", kind="plain")] if workspace.opened is not None else []),
        )
    ]


def _column_question(pending: Pending) -> list[Any]:
    choices = [_choice(pending, name) for name in pending.candidates()]
    listed, more = choices[:_MOST_LISTED_COLUMNS], choices[_MOST_LISTED_COLUMNS:]
    rest = html.Details([html.Summary(f"{len(more)} more columns"), box("choices", *more)])
    about = f": {len(pending.table):,} rows. Empty cells are the rows to label."
    none_yet = f"None yet: begin a new column “{NEW_COLUMN}”"
    return [
        box(
            "start-card",
            html.H1("Which column has the labels?"),
            html.P([html.Strong(pending.name), about], className="lead"),
            box("choices", *listed),
            *([rest] if more else []),
            box(
                "row",
                act(none_yet, "column", kind="strong", id="new-column", **{"data-new": "1"}),
                act("Cancel", "cancel", kind="plain"),
            ),
        )
    ]


def _choice(pending: Pending, name: str) -> html.Button:
    cells = pending.table.features[name]
    about = f"{cells.nunique():,} different values, {cells.isna().sum():,} of {len(cells):,} cells empty"
    values = (str(value) for value in cells.dropna().unique()[:3])
    sample = ", ".join(value if len(value) <= 24 else f"{value[:23]}…" for value in values)
    text = [html.Strong(name), html.Span(about, className="soft"), html.Span(sample, className="sample")]
    return press(text, "column", name, className="choice")
