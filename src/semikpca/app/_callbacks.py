"""From an event to the parts of the page that it changes."""

import hashlib
import time
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, Patch, State, no_update
from flask import Response
from plotly.io.json import to_json_plotly
from werkzeug.exceptions import BadRequest

from semikpca.app import _panels as panels
from semikpca.app._detail import queue_text
from semikpca.app._figure import SUGGESTIONS, changed_labels, empty_figure, map_figure, mark, mark_selection
from semikpca.app._layout import page_class
from semikpca.app._requests import check_events, check_rows, is_repaint, json_body
from semikpca.app._table_view import block, columns
from semikpca.app._workspace import Workspace

_PAUSE = 0.2  # seconds: clicks that follow each other faster have their lists only once


def register(app: Dash, workspace: Workspace, limit_mb: int) -> None:
    """Connect the page with the workspace."""
    for name, prop, function in (
        ("map", "selectedData", "lassoed"),
        ("slider", "value", "slid"),
        ("share", "value", "shared"),
        ("lists", "data", "listed"),
        ("state", "data", "shown"),
    ):
        app.clientside_callback(
            ClientsideFunction("semikpca", function),
            Output("done", "data", allow_duplicate=True),
            Input(name, prop),
            prevent_initial_call="initial_duplicate" if name == "state" else True,
        )

    # A callback of Dash would be slower by a tenth of a click: here the page sends at once, and shows numbers first.
    @app.server.post("/events")
    def events() -> Response:
        asked = json_body()
        check_events(asked)
        return Response(to_json_plotly(answer(workspace, asked, limit_mb)), mimetype="application/json")

    @app.server.post("/rows")
    def rows() -> Response:
        asked = json_body()
        check_rows(asked)
        return Response(to_json_plotly(block(workspace, asked)), mimetype="application/json")

    @app.callback(
        Output("map", "figure", allow_duplicate=True),
        Output("painted", "data"),
        Input("repaint", "data"),
        State("painted", "data"),
        prevent_initial_call=True,
    )
    def repaint(asked: dict[str, Any], painted: Any) -> tuple[Any, Any]:
        if not is_repaint(asked):
            raise BadRequest("To paint the map, the names of a tab and of its event are needed.")
        # After the answer: numbers and lists need not wait for the browser to draw ten thousand rows.
        with workspace.lock:
            tab, opened = workspace.tab(asked["client"]), workspace.shown
            if opened is None:
                return no_update, no_update
            now = [*workspace.state(), tab.dark]
            figure = changed_labels(opened, opened.session.snapshot(), tab) if painted != now else Patch()
            return mark_selection(figure, opened, tab.selected, asked["event"]), now

    @app.callback(
        Output("lists", "data"),
        Output("map", "figure", allow_duplicate=True),
        Input("state", "data"),
        prevent_initial_call="initial_duplicate",
    )
    def advise(state: list[int]) -> tuple[Any, ...]:
        # Later than the answer: a click must not wait for what to click next, nor share the processor with it.
        time.sleep(_PAUSE)
        with workspace.lock:
            opened = workspace.shown
            if opened is None or list(workspace.state()) != state:
                return no_update, no_update  # overtaken: the next answer asks again
        advice, snapshot = opened.session.advice(), opened.session.snapshot()
        if advice.revision != snapshot.revision:
            return no_update, no_update
        shown = opened, snapshot, advice
        said = panels.PANELS[opened.kind.name]
        lists: dict[str, Any] = {"suggestions": said.suggestions(*shown), "doubts": said.doubts(*shown)}
        # Two queues are as long as the lists are now; the answer before could not know.
        lengths = {"suggested": len(advice.rows), "wrong": len(advice.doubts)}
        lists["queues"] = {name: queue_text(name, length) for name, length in lengths.items()}
        return lists, mark(Patch(), SUGGESTIONS, opened, advice.rows)


def answer(workspace: Workspace, asked: dict[str, Any], limit_mb: int) -> dict[str, Any]:
    """Do what a tab asks for, and return what it has to show: those ``parts`` alone that it does not show already.

    It is asked with the arguments of :meth:`Workspace.handle`, and with the ``marks`` of what the tab shows, as they
    came with the last answer. ``last`` is the last event that was done, ``weight`` where the slider belongs,
    ``find`` whether the tab now has to ask the server to find out what can be accepted, which takes long,
    ``selected`` the selected rows where they are others than before, and ``waits`` whether it should ask again soon,
    because a table is on its way.
    """
    workspace.wait_for_table(asked["events"])
    with workspace.lock:
        update = workspace.handle(asked["client"], asked["events"], asked["shown"], dark=asked["dark"])
        opened, tab = workspace.shown, update.tab
        parts = {**panels.parts(workspace, tab), "start": panels.start(workspace, limit_mb, tab)}
        figure = None
        if update.is_new_table:
            # A table that goes takes its rows with it at once, also where the next one is not there yet.
            figure = empty_figure() if opened is None else map_figure(opened, opened.session.snapshot(), tab)
        marks = {name: _mark(part) for name, part in parts.items()}
        known = asked["marks"] or {}
        if opened is not None and len(tab.selected) == 1:
            workspace.foresight.look_at(opened.session, tab.selected[0])
        flags = [] if opened is None else sorted(opened.session.flagged)
        marks |= {"selected": _mark(tab.selected), "flags": _mark(flags)}
        return {
            "parts": {name: part for name, part in parts.items() if known.get(name) != marks[name]},
            "marks": marks,
            "last": tab.last_event,
            "weight": workspace.slider(),
            "find": workspace.is_asked(tab),
            "selected": tab.selected if known.get("selected") != marks["selected"] else None,
            "page": page_class(workspace),
            "state": list(update.state) if update.has_new_labels else None,
            "figure": figure,
            "columns": columns(opened) if update.is_new_table and opened else None,
            "waits": workspace.opening is not None,
        }


def _mark(part: Any) -> str:
    return hashlib.blake2b(to_json_plotly(part).encode(), digest_size=8).hexdigest()
