"""The table beside the map: a grid that asks for the rows it shows, block by block. Cells are text, never HTML."""

from typing import Any

import dash_ag_grid as dag
from dash import dcc, html

from semikpca.app._opening import OpenTable
from semikpca.app._pieces import act, box, soft
from semikpca.app._queues import queue_rows
from semikpca.app._snapshot import CLASS, Snapshot
from semikpca.app._workspace import Workspace
from semikpca.tables import CLASSES, NUMBERS

FILTERS = ("filter-given", "filter-predicted")  # choices among the classes, which follow them
BLOCK = 100  # rows that the grid asks for at once
_MOST_LETTERS = 300  # of a cell: what a line of the grid has room for; the row in view has all of them
# What says how sure a prediction is, by what the labels are.
_HOW_SURE = {CLASSES: {"headerName": "Sure", "width": 80}, NUMBERS: {"headerName": "Between", "width": 150}}
_OPTIONS = {
    "rowSelection": {"mode": "multiRow", "checkboxes": True, "headerCheckbox": False, "enableClickSelection": False},
    "selectionColumnDef": {"pinned": "left", "width": 44, "maxWidth": 44},
    "cacheBlockSize": BLOCK,
    "maxBlocksInCache": 20,
    "infiniteInitialRowCount": 1,
    "rowBuffer": 20,
    "suppressDragLeaveHidesColumns": True,
    "suppressCellFocus": False,
    "animateRows": False,
    "localeText": {"noRowsToShow": "No row is found."},
}


def table_view(opened: OpenTable | None) -> html.Div:
    """Return the filters and the grid."""
    search = dcc.Input(
        id="search", type="search", placeholder="Search in all cells", maxLength=200, className="text", debounce=False
    )
    return html.Div(
        [
            box(
                "filters",
                _labeled("Search", search, "search", kind="wide"),
                _labeled("Label", html.Select(id="filter-given", className="text"), "filter-given"),
                _labeled(
                    "Predicted",
                    html.Select(id="filter-predicted", className="text"),
                    "filter-predicted",
                    kind="of-classes",
                ),
                _labeled("Predicted from", _number("filter-from"), "filter-from", kind="of-numbers"),
                _labeled("to", _number("filter-to"), "filter-to", kind="of-numbers"),
                _labeled("Sure from", _percent("filter-low", 0), "filter-low", kind="short of-classes"),
                _labeled("to (%)", _percent("filter-high", 100), "filter-high", kind="short of-classes"),
                _toggle("filter-wrong", "Looks wrong"),
                _toggle("filter-flagged", "Flagged"),
            ),
            box(
                "row between",
                html.P(id="found", className="soft", **{"aria-live": "polite"}),
                act("Select all found", "found", kind="small", id="select-found"),
            ),
            html.Div(
                dag.AgGrid(
                    id="grid",
                    rowModelType="infinite",
                    columnDefs=[] if opened is None else columns(opened),
                    defaultColDef={
                        "resizable": True,
                        "sortable": True,
                        "filter": False,
                        "minWidth": 80,
                        "suppressMovable": True,
                    },
                    dashGridOptions=_OPTIONS,
                    getRowId="params.data.id",
                    style={"height": "100%", "width": "100%"},
                ),
                id="grid-frame",
            ),
            soft(
                "A click opens a row; the boxes, or the space bar, select several. Labels go to all that are selected."
            ),
        ],
        id="table-view",
    )


def columns(opened: OpenTable) -> list[dict[str, Any]]:
    """Return the columns of the grid: what is known of each row, then the cells of the table."""
    known = [
        {"field": "row", "headerName": "Row", "width": 80, "pinned": "left"},
        {"field": "given", "headerName": "Label", "width": 110},
        {"field": "predicted", "headerName": "Predicted", "width": 115},
        {"field": "confidence", **_HOW_SURE[opened.kind.name]},
    ]
    # By number: a dot in a name would mean a path to the grid.
    cells = [
        {"field": f"c{i}", "headerName": str(name), "width": 320 if str(name) in opened.texts else 130}
        for i, name in enumerate(opened.shown_columns)
    ]
    cells.sort(key=lambda column: column["headerName"] not in opened.texts)  # texts first, as in the row in view
    marks = {"field": "marks", "headerName": "Marks", "width": 120, "sortable": False}
    return [*known, *cells, marks]


def block(workspace: Workspace, asked: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the rows that a query finds, and how many it finds."""
    with workspace.lock:
        opened = workspace.opened
        if opened is None:
            return {"rows": [], "found": 0, "of": 0}
        search = workspace.search
    # Outside of the lock: a label must not wait for a search.
    found, snapshot = search.rows(asked["query"]), opened.session.snapshot()
    wrong = set(queue_rows(opened.session, "wrong", 0.0).tolist())
    lines = []
    for row in found[asked["start"] : asked["end"]].tolist():
        marks = [word for word, rows in (("looks wrong", wrong), ("flagged", snapshot.flagged)) if row in rows]
        cells = {f"c{i}": text[:_MOST_LETTERS] for i, (_, text) in enumerate(opened.cells(row))}
        lines.append({"id": str(row), "row": row + 1, "marks": ", ".join(marks), **snapshot.in_words(row), **cells})
    return {"rows": lines, "found": len(found), "of": len(snapshot.given)}


def given_filters() -> dict[str, list[html.Option]]:
    """Return the choices of the two filters where there are no classes to name."""
    whether = [
        html.Option("any or none", value=""),
        html.Option("given", value="with"),
        html.Option("none", value="without"),
    ]
    return {"filter-given": whether, "filter-predicted": [html.Option("any", value="")]}


def class_filters(snapshot: Snapshot) -> dict[str, list[html.Option]]:
    """Return the choices of the two filters that name classes."""
    classes = [html.Option(str(label), value=f"{CLASS}{label}") for label in snapshot.classes]
    return {name: [*options, *classes] for name, options in given_filters().items()}


def _labeled(words: str, control: Any, name: str, *, kind: str = "") -> html.Div:
    return box(f"filter {kind}".strip(), html.Label(words, htmlFor=name, className="soft"), control)


def _number(name: str) -> dcc.Input:
    return dcc.Input(id=name, type="text", inputMode="decimal", maxLength=40, className="text", debounce=False)


def _percent(name: str, value: int) -> dcc.Input:
    return dcc.Input(id=name, type="number", min=0, max=100, step=1, value=value, className="text", debounce=False)


def _toggle(name: str, words: str) -> html.Button:
    return act(words, "filter", kind="toggle", id=name, **{"aria-pressed": "false"})
