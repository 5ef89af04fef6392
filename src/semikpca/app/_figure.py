"""The map of the rows: drawn once, then only its colors and its few marked rows are sent."""

import base64
import html
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from dash import Patch

from semikpca._palette import class_color, class_shape
from semikpca._typing import FloatArray, IntArray
from semikpca.app._number_figure import number_label_looks, number_row_looks
from semikpca.app._opening import OpenTable
from semikpca.app._snapshot import Snapshot
from semikpca.app._workspace import Tab
from semikpca.tables import CLASSES, NUMBERS

ROWS, LABELS, SUGGESTIONS, SELECTION = range(4)  # the traces, in the order they are drawn
_MARGIN = 0.06  # around the rows, as a share of their extent
_FAINTEST, _FULL = 0.22, 0.95  # how much of a color a guess shows, and a certainty
# Colors of marks, keyed by whether the page is dark.
NO_CLASS = "#8b9691"
SELECTED = {False: "#d6248a", True: "#ff7cc4"}
SUGGESTED = {False: "#8a6100", True: "#e8c15a"}
LABEL_EDGE = {False: "#17201c", True: "#ffffff"}
# The lasso marks rows by a ring of our own; dimming all others would repaint the whole map, and stay on marks that no
# lasso can select.
_UNDIMMED = {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}}}
_OVERLAY = {"type": "scattergl", "mode": "markers", "hoverinfo": "skip", **_UNDIMMED}


def empty_figure() -> dict[str, Any]:
    """Return a map without rows."""
    return {"data": [], "layout": _layout("no table", np.zeros((1, 2)))}


def map_figure(opened: OpenTable, snapshot: Snapshot, tab: Tab) -> dict[str, Any]:
    """Return the whole figure."""
    coordinates = opened.map.coordinates
    rows = opened.map.rows.tolist()
    size = marker_size(opened)
    return {
        "data": [
            {
                "type": "scattergl",
                "mode": "markers",
                **_axes(coordinates),
                "text": [f"{_hover(opened.titles[row])}<br><i>{_hover(opened.names[row])}</i>" for row in rows],
                "hovertemplate": f"%{{text}}{_HOVER[opened.kind.name]}<extra></extra>",
                "marker": {"size": size, "showscale": False, **_looks(opened, snapshot, tab.dark)},
                **_UNDIMMED,
            },
            {**_OVERLAY, **_label_marks(opened, snapshot, size, tab.dark)},
            {**_OVERLAY, **_rings(opened, (), size + 8, SUGGESTED[tab.dark], 1.75)},
            {**_OVERLAY, **_rings(opened, tab.selected, size + 10, SELECTED[tab.dark], 2.5)},
        ],
        "layout": _layout(f"{opened.name} {opened.map.kind}", coordinates),
    }


def changed_labels(opened: OpenTable, snapshot: Snapshot, tab: Tab) -> Patch:
    """Return what of the figure follows a label: colors and shapes of all rows, the marks of the labeled ones."""
    patch = Patch()
    for name, value in _looks(opened, snapshot, tab.dark).items():
        patch["data"][ROWS]["marker"][name] = value
    for name, value in _label_marks(opened, snapshot, marker_size(opened), tab.dark).items():
        patch["data"][LABELS][name] = value
    for trace, colors in ((SUGGESTIONS, SUGGESTED), (SELECTION, SELECTED)):
        patch["data"][trace]["marker"]["line"]["color"] = colors[tab.dark]
    return patch


def mark_selection(patch: Patch, opened: OpenTable, selected: list[int], event: int) -> Patch:
    """Add the rings of the selected rows to a patch, and take the lasso's outline away."""
    patch["layout"]["selectionrevision"] = event
    patch["layout"]["selections"] = []
    for trace in (ROWS, LABELS, SUGGESTIONS, SELECTION):
        patch["data"][trace]["selectedpoints"] = None
    return mark(patch, SELECTION, opened, selected)


def mark(patch: Patch, trace: int, opened: OpenTable, rows: Sequence[int]) -> Patch:
    """Add the rings of the selected or suggested rows to a patch."""
    for name, value in _points(opened, rows).items():
        patch["data"][trace][name] = value
    return patch


def marker_size(opened: OpenTable) -> float:
    """Return the size of a row on the map."""
    return 8 if len(opened.map.rows) <= 1_000 else 6 if len(opened.map.rows) <= 4_000 else 4.5


def _hover(cell: str) -> str:
    """Return a cell so that the map shows it as it stands: Plotly reads a few tags in texts."""
    return html.escape(cell, quote=False)


def _looks(opened: OpenTable, snapshot: Any, dark: bool) -> dict[str, Any]:
    """Return the shape of each row, one number a row, and the scale that makes colors of them."""
    looks = _ROW_LOOKS[opened.kind.name](snapshot, opened.map.rows, dark)
    return {**looks, "color": _packed(looks["color"])}


def _class_looks(snapshot: Snapshot, rows: IntArray, dark: bool) -> dict[str, Any]:
    """Return the shape of each row, one number a row, class + confidence, and the scale that makes colors of them."""
    shapes: Any = class_shape(0)
    if snapshot.predicted is None or snapshot.confidence is None:
        values = np.full(len(rows), -0.5)
    else:
        shapes = np.array([class_shape(place) for place in snapshot.places])[snapshot.predicted[rows]].tolist()
        n_classes = max(2, len(snapshot.classes))
        # From the confidence of a mere guess to certainty; 0.999, so that it never counts as the next class.
        strength = np.clip((snapshot.confidence[rows] - 1 / n_classes) / (1 - 1 / n_classes), 0, 0.999)
        values = snapshot.predicted[rows] + strength
    scale = {"cmax": max(1, len(snapshot.classes)), "colorscale": _color_scale(snapshot, dark)}
    return {"symbol": shapes, "color": values, "cmin": -1, **scale}


def _color_scale(snapshot: Snapshot, dark: bool) -> list[list[Any]]:
    colors = [NO_CLASS, *(class_color(place, dark) for place in snapshot.places or (0,))]
    scale = []
    for place, color in enumerate(colors):
        red, green, blue = (int(color[start : start + 2], 16) for start in (1, 3, 5))
        for edge, alpha in enumerate((_FAINTEST, _FULL) if place else (0.55, 0.55), start=place):
            scale.append([edge / len(colors), f"rgba({red},{green},{blue},{alpha:g})"])  # the page shines through
    return scale


def _label_marks(opened: OpenTable, snapshot: Snapshot, size: float, dark: bool) -> dict[str, Any]:
    rows = _on_map(opened, np.flatnonzero(snapshot.given >= 0).tolist())
    looks = _LABEL_LOOKS[opened.kind.name](snapshot, rows, dark)
    edge = {"color": LABEL_EDGE[dark], "width": 1.5}
    return {**_points(opened, rows), "marker": {"size": size + 4, **looks, "line": edge}}


def _class_label_looks(snapshot: Snapshot, rows: Sequence[int], dark: bool) -> dict[str, Any]:
    places = [snapshot.places[snapshot.given[row]] for row in rows]
    return {
        "symbol": [class_shape(place) for place in places],
        "color": [class_color(place, dark) for place in places],
    }


# By what the labels are: what is told of a row beside its name, and its looks.
_HOVER = {CLASSES: "", NUMBERS: "<br>%{marker.color:,.4~g}"}
_ROW_LOOKS: dict[str, Callable[[Any, IntArray, bool], dict[str, Any]]] = {
    CLASSES: _class_looks,
    NUMBERS: number_row_looks,
}
_LABEL_LOOKS: dict[str, Callable[[Any, Sequence[int], bool], dict[str, Any]]] = {
    CLASSES: _class_label_looks,
    NUMBERS: number_label_looks,
}


def _rings(opened: OpenTable, rows: Sequence[int], size: float, color: str, width: float) -> dict[str, Any]:
    marker = {"size": size, "color": "rgba(0,0,0,0)", "line": {"color": color, "width": width}}
    return {**_points(opened, rows), "marker": marker}


def _on_map(opened: OpenTable, rows: Sequence[int]) -> list[int]:
    return [row for row in rows if row in opened.place_on_map]


def _points(opened: OpenTable, rows: Sequence[int]) -> dict[str, Any]:
    return _axes(opened.map.coordinates[[opened.place_on_map[row] for row in _on_map(opened, rows)]])


def _axes(coordinates: FloatArray) -> dict[str, list[float]]:
    return dict(zip("xy", np.round(coordinates, 6).T.tolist(), strict=True))


def _layout(name: str, coordinates: FloatArray) -> dict[str, Any]:
    ink = "#26302b"
    return {
        "uirevision": name,  # zoom and place stay as the user has them, until another table or map comes
        "selectionrevision": 0,
        "dragmode": "pan",
        "showlegend": False,
        "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "clickmode": "none",
        "hoverlabel": {"align": "left", "bgcolor": ink, "bordercolor": ink, "font": {"color": "#ffffff"}},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": NO_CLASS, "activecolor": SELECTED[False]},
        "xaxis": _axis(coordinates[:, 0]),
        "yaxis": _axis(coordinates[:, 1]),
        "newselection": {"line": {"color": SELECTED[False], "width": 1.5, "dash": "dot"}},
        "selections": [],
    }


def _axis(values: FloatArray) -> dict[str, Any]:
    # The components have no unit that would mean something to a reader. A fixed range: one that follows the marks would
    # move the map under the mouse with every click.
    low, high = float(values.min()), float(values.max())
    room = _MARGIN * (high - low) or 1.0
    look = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": "", "showline": False}
    return {**look, "range": [low - room, high + room], "autorange": False}


def _packed(values: Any) -> dict[str, str]:
    """Return numbers as Plotly's typed array: four bytes each instead of a text."""
    return {"dtype": "f4", "bdata": base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()}
