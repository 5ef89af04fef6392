"""Which map of the rows the page shows: their components, or their neighborhoods once these are computed."""

import os
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, Protocol

from dash import html

from semikpca.app import _neighborhoods as layouts
from semikpca.app._autosave import state_folder
from semikpca.app._opening import OpenTable
from semikpca.app._pieces import act, box
from semikpca.workflow import RowMap

COMPONENTS, NEIGHBORHOODS = "components", "neighborhoods"
_NAMES = {COMPONENTS: "Components", NEIGHBORHOODS: "Neighborhoods"}
_ABOUT = {
    COMPONENTS: "The first two kernel principal components: what differs most",
    NEIGHBORHOODS: "Rows that are alike lie together; distances between groups mean little",
}
_MISSING = (
    "This map is made by the package openTSNE, which is not installed. Stop the program, run "
    f"pip install 'semikpca[{layouts.EXTRA}]', and start it again."
)
_TEXTS = ("place_on_map", "titles", "names")  # that do not depend on the places of rows


class Desk(Protocol):
    """Where the table lies: the workspace."""

    lock: RLock
    opened: OpenTable | None
    generation: int


class Maps:
    """The maps of the open table, and the one that is shown; all tabs show the same."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._session: Any = None  # of the table that the maps belong to
        self._known: dict[str, RowMap] = {}
        self.running: layouts.Computation | None = None
        self.problem: str | None = None

    def choose(self, kind: str) -> None:
        """Show a map, as soon as it is there; ValueError with what to do where it cannot be made."""
        with self._desk.lock:
            opened = self._of_open_table()
            if opened is None or kind not in _NAMES:
                return
            self.problem = None
            if kind in self._known:
                self._stop()
                self._show(opened, self._known[kind])
            elif not layouts.is_installed():
                raise ValueError(_MISSING)
            elif self.running is None:
                self._begin(opened)

    def _begin(self, opened: OpenTable) -> None:
        """Show the neighborhoods that an earlier visit left, or begin to compute them."""
        rows, kept = self._known[COMPONENTS], layouts.KeptLayouts(_folder(opened))
        X = opened.session.X[rows.rows]
        places = kept.load(layouts.key_of(X), len(X))
        if places is not None:
            self._known[NEIGHBORHOODS] = RowMap(rows.rows, places, NEIGHBORHOODS)
            self._show(opened, self._known[NEIGHBORHOODS])
            return
        self.running = layouts.Computation(X, rows.coordinates, kept, self._ready)
        self.running.begin()

    def progress(self) -> tuple[int, int] | None:
        """Return how many steps are done, and of how many; None where nothing is being computed."""
        with self._desk.lock:
            self._of_open_table()
            return None if self.running is None else (self.running.done, self.running.total)

    def switch(self) -> list[Any]:
        """Return the switch between the maps, with progress while one is computed."""
        with self._desk.lock:
            opened = self._of_open_table()
            if opened is None:
                return []
            running = self.running
            shown: list[Any] = []
            for kind, name in _NAMES.items():
                on = opened.map.kind == kind
                state = {"aria-pressed": str(on).lower(), "title": _ABOUT[kind]}
                shown.append(act(name, "layout", kind, kind="on" if on else "", id=f"map-{kind}", **state))
            parts: list[Any] = [box("segments", *shown, role="group", **{"aria-label": "Which map"})]
            if running is not None:
                # Its value is kept up to date by assets/map.js; a progress element says it to those who hear the page.
                bar = html.Progress(id="map-progress", max="100", value="0", **{"aria-label": "Neighborhoods"})
                parts.append(html.Span(["Finding neighborhoods … ", bar], className="soft", id="map-running"))
            elif self.problem is not None:
                parts.append(html.Span(f"No neighborhoods: {self.problem}", className="soft", role="alert"))
            return parts

    def _of_open_table(self) -> OpenTable | None:
        """Return the open table, and forget the maps of another."""
        opened = self._desk.opened
        if opened is not None and self._session is not opened.session:
            self._stop()
            self._session, self._known, self.problem = opened.session, {COMPONENTS: opened.map}, None
        return opened

    def _ready(self, computed: layouts.Computation) -> None:
        with self._desk.lock:
            opened = self._of_open_table()
            if computed is not self.running or opened is None:
                return  # another table, or another map was asked for since
            self.running = None
            self.problem = computed.problem
            if computed.places is None:
                self._desk.generation += 1  # for tabs to look
                return
            rows = self._known[COMPONENTS].rows
            self._known[NEIGHBORHOODS] = RowMap(rows, computed.places, NEIGHBORHOODS)
            self._show(opened, self._known[NEIGHBORHOODS])

    def _show(self, opened: OpenTable, rows: RowMap) -> None:
        if opened.map is rows:
            return
        moved = replace(opened, map=rows)
        vars(moved).update({name: vars(opened)[name] for name in _TEXTS if name in vars(opened)})
        self._desk.opened = moved
        self._desk.generation += 1

    def _stop(self) -> None:
        if self.running is not None:
            self.running.stop()
            self.running = None


def _folder(opened: OpenTable) -> Path:
    """Return where layouts of a table are kept: beside it, where its labels are, or in the state folder."""
    path, autosave = opened.table.path, opened.session.autosave
    is_beside = path is not None and autosave is not None and autosave.path.parent == path.parent
    if path is not None and is_beside and os.access(path.parent, os.W_OK):
        return path.with_name(f".{path.name}.semikpca-map")
    return state_folder() / "maps"
