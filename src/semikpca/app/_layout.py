"""The page as a whole: where everything stands. What it says comes from ``_panels``."""

import secrets
from typing import Any

from dash import dcc, html

from semikpca.app._figure import empty_figure, map_figure
from semikpca.app._pieces import act
from semikpca.app._weight_scale import END, MARKS, START, STEP
from semikpca.app._workspace import Tab, Workspace

_KEYS = (
    ("1 … 9, 0", "give the selected rows the class with this key"),
    ("n → / p ←", "next, or previous, suggested row"),
    ("x", "take the label of the selected rows away"),
    ("u / r", "undo / redo"),
    ("l", "lasso on or off"),
    ("Esc", "select nothing"),
    ("?", "this help"),
)
_MAP_BUTTONS = [["pan2d", "lasso2d", "select2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"]]


def layout(workspace: Workspace, limit_mb: int) -> html.Div:
    """Return the page as it is now, for a tab that is being opened or loaded again."""
    client = secrets.token_hex(8)
    with workspace.lock:
        tab = Tab()
        opened = workspace.opened
        snapshot = None if opened is None else opened.session.snapshot()
        position = workspace.slider()
        figure = empty_figure() if opened is None or snapshot is None else map_figure(opened, snapshot, tab)
        return html.Div(
            [
                html.A("Skip to the map", href="#map", className="skip"),
                html.Header(id="header"),
                html.Div(
                    id="lost",
                    role="alert",
                    children="The program does not answer. Is it still running? Labels that were shown are saved.",
                ),
                html.Div(id="start"),
                html.Div(id="banners", **{"aria-live": "polite"}),
                html.Main(_workbench(position, figure), id="workbench"),
                _help(),
                dcc.Store(id="state", data=list(workspace.state())),
                dcc.Store(id="lists"),
                dcc.Store(id="repaint"),
                dcc.Store(id="painted"),
                dcc.Store(id="done"),
                html.Div(
                    id="client",
                    hidden=True,
                    **{"data-client": client, "data-limit": str(limit_mb), "data-slider": str(position)},
                ),
            ],
            id="page",
            className=page_class(workspace),
        )


def page_class(workspace: Workspace) -> str:
    """Return whether the page shows a table or asks for one."""
    return "asking" if workspace.opened is None or workspace.pending is not None else "working"


def _workbench(position: float, figure: dict[str, Any]) -> list[Any]:
    slider = dcc.Slider(
        START,
        END,
        STEP,
        id="slider",
        value=position,
        marks={**{place: text for place, text in MARKS.items()}, END: {"label": "bound", "style": {"fontWeight": 600}}},
        included=True,
        updatemode="mouseup",
        allow_direct_input=False,
        className="weight-slider",
    )
    graph = dcc.Graph(
        id="map",
        figure=figure,
        responsive=True,
        config={"scrollZoom": True, "displaylogo": False, "displayModeBar": True, "modeBarButtons": _MAP_BUTTONS},
    )
    middle = act("Middle", "middle", kind="small", title="The paper’s rule: the middle of the interval")
    new_class = dcc.Input(id="new-class", type="text", placeholder="New class", maxLength=100, className="text")
    left = [
        html.Section(id="metrics", **{"aria-label": "How it stands", "aria-live": "polite"}),
        _card(
            "map-card", html.Div(id="toolbar"), html.Div(graph, id="canvas"), html.P(_LEGEND, className="legend soft")
        ),
        _card("suggestions-card", html.H2("Label next"), html.Div(id="suggestions")),
        _card("doubts-card", html.H2("Look again"), html.Div(id="doubts")),
        _card(
            "weight-card",
            html.Div([html.H2("Error weight"), middle], className="row between"),
            html.P("How much the unlabeled rows shape the answer, as a share of the bound.", className="soft"),
            html.Div(slider, id="slider-frame"),
            html.Div(id="weight"),
        ),
    ]
    right = [
        _card("detail-card", html.H2("Row"), html.Div(id="detail")),
        _card(
            "classes-card",
            html.H2("Classes"),
            html.Div(id="classes"),
            html.Div([new_class, act("Add", "add-class")], className="row"),
        ),
    ]
    return [html.Div(left, className="left"), html.Div(right, className="right")]


def _card(name: str, *children: Any) -> html.Section:
    return html.Section(list(children), id=name, className="card")


_LEGEND = [
    html.Span([html.I(className="mark labeled"), "label given"]),
    html.Span([html.I(className="mark suggested"), "worth a label"]),
    html.Span([html.I(className="mark selected"), "selected"]),
    html.Span("the paler, the less sure"),
]


def _help() -> html.Div:
    lines = [html.Div([html.Dt(html.Kbd(keys)), html.Dd(text)]) for keys, text in _KEYS]
    return html.Div(
        html.Div(
            [
                html.Div([html.H2("Keys"), act("Close", "help", kind="plain")], className="row between"),
                html.Dl(lines),
                html.P("On the map: scroll to zoom, drag to move, double-click to see all.", className="soft"),
            ],
            className="card",
            role="dialog",
            **{"aria-label": "Keys", "aria-modal": "true"},
        ),
        id="help",
    )
