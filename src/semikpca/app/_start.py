"""What stands where no table is open yet."""

from typing import Any

from dash import html

from semikpca.app._opening import EXAMPLES, NEW_COLUMN, Pending
from semikpca.app._pieces import act
from semikpca.app._workspace import Workspace

_MOST_LISTED_COLUMNS = 8


def start(workspace: Workspace, limit_mb: int) -> list[Any]:
    """Return what stands where no table is open yet: the ways to open one, or the question for its label column."""
    if workspace.pending is not None:
        return _column_question(workspace.pending)
    examples = [
        html.Button(
            [html.Strong(title), html.Span(text, className="soft")],
            type="button",
            className="choice",
            **{"data-act": "example", "data-value": key},
        )
        for key, (title, text) in EXAMPLES.items()
    ]
    back = [act("Back to the map", "close", kind="plain")] if workspace.opened is not None else []
    return [
        html.Div(
            [
                html.H1("Labels for the rest of your rows"),
                html.P(
                    "Open a table, give a few rows a label, and watch all others follow. Everything stays on this "
                    "computer.",
                    className="lead",
                ),
                html.Button(
                    [
                        html.Strong("Choose a file, or drop one here"),
                        html.Span(
                            f"CSV, TSV, Excel, Parquet, JSON lines, .npy or .npz; up to {limit_mb} MB", className="soft"
                        ),
                    ],
                    type="button",
                    className="drop",
                    id="browse",
                    **{"data-act": "browse"},
                ),
                html.H2("Or try an example"),
                html.Div(examples, className="choices"),
                *back,
            ],
            className="start-card",
        )
    ]


def _column_question(pending: Pending) -> list[Any]:
    columns = pending.candidates()

    def choice(name: str) -> html.Button:
        cells = pending.table.features[name]
        n_empty = int(cells.isna().sum())
        values = [str(value) for value in cells.dropna().unique()[:3]]
        about = f"{cells.nunique():,} different values, {n_empty:,} of {len(cells):,} cells empty"
        sample = ", ".join(value if len(value) <= 24 else f"{value[:23]}…" for value in values)
        return html.Button(
            [html.Strong(name), html.Span(about, className="soft"), html.Span(sample, className="sample")],
            type="button",
            className="choice",
            **{"data-act": "column", "data-value": name},
        )

    more = columns[_MOST_LISTED_COLUMNS:]
    rest = [
        html.Details(
            [html.Summary(f"{len(more)} more columns"), html.Div([choice(name) for name in more], className="choices")]
        )
    ]
    return [
        html.Div(
            [
                html.H1("Which column has the labels?"),
                html.P(
                    [html.Strong(pending.name), f": {len(pending.table):,} rows. Empty cells are the rows to label."],
                    className="lead",
                ),
                html.Div([choice(name) for name in columns[:_MOST_LISTED_COLUMNS]], className="choices"),
                *(rest if more else []),
                html.Div(
                    [
                        act(
                            f"None yet: begin a new column “{NEW_COLUMN}”",
                            "column",
                            kind="strong",
                            id="new-column",
                            **{"data-new": "1"},
                        ),
                        act("Cancel", "cancel", kind="plain"),
                    ],
                    className="row",
                ),
            ],
            className="start-card",
        )
    ]
