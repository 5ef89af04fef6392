"""From an event to the parts of the page that it changes."""

import time
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, Patch, State, no_update

from semikpca.app import _panels as panels
from semikpca.app._figure import changed_labels, map_figure, mark_selection, mark_suggestions
from semikpca.app._layout import page_class
from semikpca.app._start import start
from semikpca.app._workspace import Workspace

_PAUSE = 0.2  # seconds: clicks that follow each other faster have their lists only once
_FOLLOW_LABELS = ("header", "metrics", "classes")
_FOLLOW_ALL = ("banners", "toolbar", "detail", "weight")


def register(app: Dash, workspace: Workspace, limit_mb: int) -> None:
    """Connect the page with the workspace."""
    for name, prop, function in (
        ("map", "selectedData", "lassoed"),
        ("slider", "value", "slid"),
        ("answered", "data", "answered"),
        ("state", "data", "shown"),
    ):
        app.clientside_callback(
            ClientsideFunction("semikpca", function),
            Output("done", "data", allow_duplicate=True),
            Input(name, prop),
            State("answered", "data"),
            prevent_initial_call="initial_duplicate" if name == "state" else True,
        )

    @app.callback(
        *(Output(name, "children") for name in (*_FOLLOW_LABELS, *_FOLLOW_ALL)),
        Output("start", "children"),
        Output("page", "className"),
        Output("slider", "value"),
        Output("map", "figure"),
        Output("repaint", "data"),
        Output("answered", "data"),
        Output("state", "data"),
        Input("event", "data"),
        prevent_initial_call=True,
    )
    def answer(data: dict[str, Any]) -> tuple[Any, ...]:
        with workspace.lock:
            update = workspace.handle(str(data["client"]), data["events"], data["shown"], dark=bool(data["dark"]))
            tab, opened = update.tab, workspace.opened
            parts = panels.parts(workspace, tab)
            new_map = update.is_new_table and opened is not None
            return (
                *(parts[name] if update.has_new_labels else no_update for name in _FOLLOW_LABELS),
                *(parts[name] for name in _FOLLOW_ALL),
                start(workspace, limit_mb) if update.is_new_table else no_update,
                # Only where it changes: the browser would go through the whole page, map included.
                page_class(workspace) if page_class(workspace) != data["page"] else no_update,
                # A refused weight is set back; any other value would only come back as an event.
                parts["slider"] if update.has_new_labels or update.was_refused else no_update,
                map_figure(opened, opened.session.snapshot(), tab) if new_map and opened else no_update,
                {"client": str(data["client"]), "event": update.last_event},
                {"last": update.last_event, "slider": parts["slider"]},
                list(update.state) if update.has_new_labels else no_update,
            )

    @app.callback(
        Output("map", "figure", allow_duplicate=True),
        Output("painted", "data"),
        Input("repaint", "data"),
        State("painted", "data"),
        prevent_initial_call=True,
    )
    def repaint(asked: dict[str, Any], painted: Any) -> tuple[Any, Any]:
        # After the answer: numbers and lists need not wait for the browser to draw ten thousand rows.
        with workspace.lock:
            tab, opened = workspace.tab(str(asked["client"])), workspace.opened
            if opened is None:
                return no_update, no_update
            now = [*workspace.state(), tab.dark]
            figure = changed_labels(opened, opened.session.snapshot(), tab) if painted != now else Patch()
            return mark_selection(figure, opened, tab.selected, int(asked["event"])), now

    @app.callback(
        Output("suggestions", "children"),
        Output("doubts", "children"),
        Output("map", "figure", allow_duplicate=True),
        Input("state", "data"),
        prevent_initial_call="initial_duplicate",
    )
    def advise(state: list[int]) -> tuple[Any, ...]:
        # Later than the answer: a click must not wait for what to click next, nor share the processor with it.
        time.sleep(_PAUSE)
        with workspace.lock:
            opened = workspace.opened
            if opened is None or list(workspace.state()) != state:
                return no_update, no_update, no_update  # overtaken: the next answer asks again
        advice, snapshot = opened.session.advice(), opened.session.snapshot()
        if advice.revision != snapshot.revision:
            return no_update, no_update, no_update
        return (
            panels.suggestions(opened, snapshot, advice),
            panels.doubts(opened, snapshot, advice),
            mark_suggestions(Patch(), opened, advice.rows),
        )
