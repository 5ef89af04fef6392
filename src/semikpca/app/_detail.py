"""The row in view: what it is, the buttons that give it a label, and the queue that the next one comes from."""

from typing import Any

import numpy as np
from dash import html

from semikpca.app._cells import cells
from semikpca.app._classes import give_buttons
from semikpca.app._opening import OpenTable
from semikpca.app._pieces import act, box, chance, dot, picture, soft
from semikpca.app._queues import QUEUES, queue_lengths
from semikpca.app._snapshot import Snapshot
from semikpca.app._workspace import Tab

_MOST_CHANCES = 3


def detail(opened: OpenTable, snapshot: Snapshot, tab: Tab) -> list[Any]:
    """Return the queue, and the selected row with its cells, or what is known of several."""
    if not tab.selected:
        return [queue_bar(opened, tab), resting()]
    if len(tab.selected) > 1:
        hand = box("hand", _gives(opened, snapshot, tab), loop_buttons(opened, tab))
        return [close_button(), *_several(snapshot, tab.selected), hand, queue_bar(opened, tab)]
    (row,) = tab.selected
    hand = box("hand", _gives(opened, snapshot, tab), loop_buttons(opened, tab))
    reading = box("reading", *pictured(opened, row), cells(opened, row))
    return [
        close_button(),
        _heading(opened, snapshot, tab, row),
        _chances(opened, snapshot, row),
        hand,
        reading,
        queue_bar(opened, tab),
    ]


def resting() -> html.Div:
    """Return what stands where no row is selected."""
    keys = [html.Kbd("n"), " next row  ", html.Kbd("?"), " all keys"]
    about = "Take the next row of the queue, click one on the map, or draw a lasso around some."
    return box("resting", soft(about), html.P(keys, className="soft keys"))


def queue_bar(opened: OpenTable, tab: Tab) -> html.Div:
    """Return the choice of the queue, each with its length, and whether the next row comes by itself."""
    lengths = queue_lengths(opened.session, tab.error_rate)
    options = [html.Option(queue_text(name, length), value=name) for name, length in lengths.items()]
    choice = html.Select(
        options, id="queue", className="text", **{"aria-label": "Queue of rows", "data-chosen": tab.loop.queue}
    )
    on = tab.loop.goes_on
    about = "After a label the next row of the queue comes by itself"
    pressed = {"aria-pressed": str(on).lower()}
    goes_on = act(
        ["Go on", html.Span(" by itself", className="more")],
        "goes-on",
        kind="toggle on" if on else "toggle",
        title=about,
        id="goes-on",
        **pressed,
    )
    follow = act(["Next", html.Kbd("n")], "step", 1, kind="next", title="The next row of the queue (n)", id="next")
    return box("queue", choice, follow, goes_on)


def queue_text(name: str, length: int) -> str:
    """Return a queue with its length in words."""
    return f"{QUEUES[name].name} ({length:,})"


def _gives(opened: OpenTable, snapshot: Snapshot, tab: Tab) -> html.Div:
    """Return the buttons that give a class: those with a key, and the likely ones."""
    likely = [] if len(tab.selected) != 1 else opened.session.probabilities(tab.selected[0])[:_MOST_CHANCES]
    return give_buttons(snapshot, *(snapshot.classes.index(label) for label, _ in likely))


def loop_buttons(opened: OpenTable, tab: Tab) -> html.Div:
    """Return what can be done with the row but to label it."""
    flagged = set(tab.selected) <= opened.session.flagged
    pressed = {"aria-pressed": str(flagged).lower()}
    return box(
        "loop",
        act(["Back", html.Kbd("b")], "back", kind="small", disabled=not tab.loop.way, title="The row before (b)"),
        act(["Skip", html.Kbd("s")], "skip", kind="small", title="Not now: it comes last (s)"),
        act(
            ["Flag", html.Kbd("f")],
            "flag",
            kind="small on" if flagged else "small",
            title="Mark it for later (f)",
            **pressed,
        ),
    )


def close_button() -> html.Button:
    """Return what closes the row in view."""
    return act("×", "clear", kind="close", title="Select nothing (Esc)", **{"aria-label": "Close the row"})


def _heading(opened: OpenTable, snapshot: Snapshot, tab: Tab, row: int) -> html.Div:
    given = int(snapshot.given[row])
    label: list[Any] = [html.Span("none yet", className="soft")]
    if given >= 0:
        remove = act("Remove", "remove", kind="plain small", title="Take the label away (x)")
        label = [dot(snapshot.places[given]), html.Strong(str(snapshot.classes[given])), remove]
    elif (accepted := int(snapshot.accepted[row])) >= 0:
        remove = act("Take back", "remove", kind="plain small", title="This label was accepted unseen (x)")
        tag = html.Span("accepted unseen", className="tag")
        label = [dot(snapshot.places[accepted]), html.Strong(str(snapshot.classes[accepted])), tag, remove]
    return box("heading", row_name(opened, tab, row), html.P(["Label: ", *label], className="given"))


def row_name(opened: OpenTable, tab: Tab, row: int) -> html.Div:
    """Return how a row is found, and what it is marked as."""
    name = html.H3(opened.names[row].capitalize() if opened.roles.id is None else opened.names[row])
    tags = [html.Span("random check", className="tag")] if tab.is_check else []
    if row in opened.session.flagged:
        tags.append(html.Span("flagged", className="tag"))
    where = html.Span("" if row in opened.place_on_map else "not on the map", className="soft")
    return box("row", name, *tags, where)


def pictured(opened: OpenTable, row: int) -> list[Any]:
    """Return the picture of a row, where it is one."""
    return [picture(opened.pixels(row))] if opened.picture else []


def _chances(opened: OpenTable, snapshot: Snapshot, row: int) -> Any:
    chances = opened.session.probabilities(row)[:_MOST_CHANCES]
    place_of = dict(zip(snapshot.classes, snapshot.places, strict=True))
    return box("chances", *(chance(place_of[label], label, share) for label, share in chances)) if chances else ""


def _several(snapshot: Snapshot, rows: list[int]) -> list[Any]:
    n_labeled = int(np.sum(snapshot.given[rows] >= 0))
    lines: list[Any] = [html.H3(f"{len(rows):,} rows"), soft(f"{n_labeled:,} of them have a label.")]
    if n_labeled:
        lines.append(act("Remove their labels", "remove", kind="plain small"))
    if snapshot.predicted is not None:
        counts = np.bincount(snapshot.predicted[rows], minlength=len(snapshot.classes))
        common = [code for code in np.argsort(-counts, kind="stable")[:4] if counts[code]]
        bars = (chance(snapshot.places[code], snapshot.classes[code], counts[code] / len(rows)) for code in common)
        lines += [soft("Predicted:"), box("chances", *bars)]
    return lines
