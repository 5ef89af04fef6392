"""The row in view where labels are numbers: what is predicted, and a field to type the number into."""

from typing import Any

import numpy as np
from dash import html

from semikpca.app._cells import cells
from semikpca.app._classes import field
from semikpca.app._detail import close_button, loop_buttons, pictured, queue_bar, resting, row_name
from semikpca.app._number_figure import color_range
from semikpca.app._number_snapshot import NumberSnapshot
from semikpca.app._opening import OpenTable
from semikpca.app._opening_card import problems
from semikpca.app._pieces import act, box, soft
from semikpca.app._workspace import Tab
from semikpca.tables import as_text


def number_detail(opened: OpenTable, snapshot: NumberSnapshot, tab: Tab) -> list[Any]:
    """Return the queue, and the selected row with its number and its cells, or what is known of several."""
    if not tab.selected:
        return [queue_bar(opened, tab), *problems(tab, "number"), resting()]
    hand = box("hand", _field(opened, tab), *problems(tab, "number"), loop_buttons(opened, tab))
    if len(tab.selected) > 1:
        return [close_button(), *_several(snapshot, tab.selected), hand, queue_bar(opened, tab)]
    (row,) = tab.selected
    reading = box("reading", *pictured(opened, row), cells(opened, row))
    heading = box("heading", row_name(opened, tab, row), html.P(_given(opened, snapshot, row), className="given"))
    return [close_button(), heading, *_predicted(snapshot, row), hand, reading, queue_bar(opened, tab)]


def _given(opened: OpenTable, snapshot: NumberSnapshot, row: int) -> list[Any]:
    given = snapshot.label_of(row)
    if given is None:
        return [f"{opened.roles.label}: ", html.Span("none yet", className="soft")]
    remove = act("Remove", "remove", kind="plain small", title="Take the number away (x)")
    return [f"{opened.roles.label}: ", html.Strong(as_text(given)), remove]


def _field(opened: OpenTable, tab: Tab) -> html.Div:
    """Return the field; its own for each selection, so that the next row begins with an empty one."""
    name = f"{opened.roles.label} of {'this row' if len(tab.selected) == 1 else 'these rows'}"
    about = {"placeholder": opened.roles.label, "aria-label": name, "inputmode": "decimal", "maxlength": "100"}
    typed = field(f"number-{tab.selected[0]}-{len(tab.selected)}", **{"data-number": "1"}, **about)
    give = act(["Give", html.Kbd("Enter")], "give-number", kind="strong", id="give-number")
    return box("row number-field", typed, give)


def _predicted(snapshot: NumberSnapshot, row: int) -> list[Any]:
    """Return what is predicted of a row, and the interval that its number is in."""
    if snapshot.values is None:
        return []
    ends = snapshot.ends(row)
    value = html.Strong(snapshot.amount(snapshot.values[row]), id="row-value")
    if ends is not None:
        about = f"{snapshot.between(row)}: nine of ten are in their interval"
        drawing = [_drawn(snapshot, row, *ends)]
    elif snapshot.errors is None:
        about, drawing = "its interval is being found out …", []
    else:
        about, drawing = "too few numbers for an interval", []
    line = box("row", html.Span("Predicted", className="soft"), value)
    return [box("predicted", line, *drawing, html.P(about, className="soft", id="row-between"))]


def _drawn(snapshot: NumberSnapshot, row: int, low: float, high: float) -> html.Div:
    """Return the interval on the scale of the map, with the prediction in it."""
    assert snapshot.values is not None
    least, most = color_range(snapshot)
    places = np.clip((np.array([low, snapshot.values[row], high]) - least) / (most - least), 0, 1)
    whole = html.I(style={"left": f"{places[0]:.2%}", "width": f"{places[2] - places[0]:.2%}"})
    here = html.B(style={"left": f"{places[1]:.2%}"})
    return box("interval", whole, here, role="img", **{"aria-label": f"Between {snapshot.between(row)}"})


def _several(snapshot: NumberSnapshot, rows: list[int]) -> list[Any]:
    n_given = int(np.sum(snapshot.given[rows] >= 0))
    lines: list[Any] = [html.H3(f"{len(rows):,} rows"), soft(f"{n_given:,} of them have a number.")]
    if n_given:
        lines.append(act("Remove their numbers", "remove", kind="plain small"))
    if snapshot.values is not None:
        low, middle, high = (snapshot.amount(end) for end in np.quantile(snapshot.values[rows], (0, 0.5, 1)))
        lines.append(soft(f"Predicted: {low} to {high}, half of them below {middle}."))
    return lines
