"""The page as a whole: where everything stands. What it says comes from ``_panels``."""

import secrets
from typing import Any

from dash import dcc, html

from semikpca.app._figure import empty_figure, map_figure
from semikpca.app._pieces import act, box, soft
from semikpca.app._scales import (
    END,
    LEAST_SHARE,
    MARKS,
    MOST_SHARE,
    SHARE_STEP,
    START,
    STEP,
    USUAL_SHARE,
)
from semikpca.app._table_view import table_view
from semikpca.app._workspace import Tab, Workspace

_KEYS = (
    ("1 … 9, 0", "give the selected rows the class with this key; then the next row of the queue comes"),
    ("c", "type the name of a class, and give it with Enter (Shift Enter adds it)"),
    ("0 … 9 or e", "where labels are numbers: type the number, and give it with Enter"),
    ("n → / p ←", "next, or previous, row of the queue"),
    ("s", "skip the row: it comes last"),
    ("f", "flag the row, or take its flag away"),
    ("b", "back to the row before"),
    ("q / Q", "next, or previous, queue"),
    ("g", "whether the loop goes on by itself"),
    ("d", "the queue of rows drawn at random"),
    ("v / V", "the queue of rows to review, forward or backward"),
    ("a", "find out which labels can be accepted unseen"),
    ("x", "take the label of the selected rows away"),
    ("u / r", "undo / redo"),
    ("t", "map or table"),
    ("/", "search in the table"),
    ("l", "lasso on or off"),
    ("Esc", "select nothing"),
    ("?", "this help"),
)
_LEGEND = {"labeled": "label given", "suggested": "worth a label", "selected": "selected"}
_DIALOG = {"role": "dialog", "aria-label": "Columns", "aria-modal": "true"}
_LOST = "The program does not answer. Is it still running? Labels that were shown are saved."
_MAP_BUTTONS = [["pan2d", "lasso2d", "select2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]]


def layout(workspace: Workspace, limit_mb: int) -> html.Div:
    """Return the page as it is now, for a tab that is being opened or loaded again."""
    with workspace.lock:
        opened, position = workspace.shown, workspace.slider()
        figure = empty_figure() if opened is None else map_figure(opened, opened.session.snapshot(), Tab())
        tells = {"data-client": secrets.token_hex(8), "data-limit": str(limit_mb), "data-slider": str(position)}
        return html.Div(
            [
                html.A("Skip to the map", href="#map", className="skip"),
                html.Header(id="header"),
                html.Div(_LOST, id="lost", role="alert"),
                html.Div(id="start"),
                html.Div(id="banners", **{"aria-live": "polite"}),
                html.Main(_workbench(position, figure, table_view(opened)), id="workbench"),
                _help(),
                html.Div(id="dialog"),
                html.Div(html.Div(id="columns", className="card", **_DIALOG), id="columns-frame"),
                dcc.Store(id="state", data=list(workspace.state())),
                *(dcc.Store(id=name) for name in ("lists", "repaint", "painted", "done")),
                html.Div(id="client", hidden=True, **tells),
            ],
            id="page",
            className=page_class(workspace),
        )


def page_class(workspace: Workspace) -> str:
    """Return whether the page shows a table or asks for one."""
    return "asking" if workspace.shown is None or workspace.pending is not None else "working"


def _workbench(position: float, figure: dict[str, Any], table: html.Div) -> list[Any]:
    slider = dcc.Slider(
        START,
        END,
        STEP,
        id="slider",
        value=position,
        marks={**MARKS, END: {"label": "bound", "style": {"fontWeight": 600}}},
        included=True,
        updatemode="mouseup",
        allow_direct_input=False,
        className="weight-slider",
    )
    share = dcc.Slider(
        LEAST_SHARE,
        MOST_SHARE,
        SHARE_STEP,
        id="share",
        value=USUAL_SHARE,
        marks={value: f"{value:g}%" for value in (LEAST_SHARE, 85, 90, 95, MOST_SHARE)},
        updatemode="drag",
        allow_direct_input=False,
        className="share-slider",
    )
    config = {"scrollZoom": True, "displaylogo": False, "displayModeBar": True, "modeBarButtons": _MAP_BUTTONS}
    graph = dcc.Graph(id="map", figure=figure, responsive=True, config=config)
    middle = act("Middle", "middle", kind="small", title="The paper’s rule: the middle of the interval")
    new_class = dcc.Input(id="new-class", type="text", placeholder="New class", maxLength=100, className="text")
    add = act("Add", "add-class")
    marks = [html.Span([html.I(className=f"mark {kind}"), text]) for kind, text in _LEGEND.items()]
    legend = html.P([*marks, html.Span("the paler, the less sure", className="of-classes")], className="legend soft")
    left = [
        html.Section(id="metrics", **{"aria-label": "How it stands", "aria-live": "polite"}),
        _card(
            "map-card",
            box("row between", _views(), html.Div(id="map-switch")),
            html.Div(id="toolbar"),
            html.Div(graph, id="canvas"),
            legend,
            table,
        ),
        _card("suggestions-card", html.H2("Label next"), html.Div(id="suggestions")),
        _card(
            "accept-card",
            html.H2("Accept or review"),
            soft("Of the labels that you accept without a look, this share must be right."),
            _named(share, "share-frame", "Share of accepted labels that must be right, in percent"),
            html.Div(id="promise"),
            html.Section([html.H3("To review"), html.Div(id="review")], id="review-card"),
        ),
        _card("doubts-card", html.H2("Look again"), html.Div(id="doubts")),
        _card(
            "weight-card",
            box("row between", html.H2("Error weight"), middle),
            soft("How much the unlabeled rows shape the answer, as a share of the bound."),
            _named(slider, "slider-frame", "Error weight"),
            html.Div(id="weight"),
        ),
    ]
    right = [
        _card("detail-card", html.H2("Row"), html.Div(id="detail")),
        _card("classes-card", html.H2("Classes"), html.Div(id="classes"), box("row", new_class, add)),
    ]
    return [box("left", *left), box("right", *right)]


def _views() -> html.Div:
    """Return the switch between map and table; the browser remembers it."""
    switch = {"role": "group", "aria-label": "View"}
    names = {"map": "Map", "table": "Table"}
    about = "Map or table (t)"
    return box("segments views", *(act(text, "view", name, title=about) for name, text in names.items()), **switch)


def _card(name: str, *children: Any) -> html.Section:
    return html.Section(list(children), id=name, className="card")


def _named(slider: dcc.Slider, name: str, words: str) -> html.Div:
    """Return a slider with a name for those who hear the page; its handle itself cannot be given one."""
    return html.Div(slider, id=name, role="group", **{"aria-label": words})


def _help() -> html.Div:
    lines = [html.Div([html.Dt(html.Kbd(keys)), html.Dd(text)]) for keys, text in _KEYS]
    head = box("row between", html.H2("Keys"), act("Close", "help", kind="plain"))
    on_map = soft("On the map: scroll to zoom, drag to move, double-click to see all.")
    dialog = {"role": "dialog", "aria-label": "Keys", "aria-modal": "true", "tabIndex": "-1"}
    return html.Div(box("card", head, html.Dl(lines), on_map, **dialog), id="help")
