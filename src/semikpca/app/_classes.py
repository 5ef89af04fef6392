"""The classes on the page: found by typing, given by a key, renamed, merged and deleted. Hundreds fit as well."""

from typing import Any

import numpy as np
from dash import html

from semikpca._words import counted
from semikpca.app._acts import matching
from semikpca.app._opening import OpenTable
from semikpca.app._pieces import act, bar, box, dot, soft
from semikpca.app._snapshot import Snapshot
from semikpca.app._workspace import Tab

KEYS = "1234567890"
_MOST_SHOWN = 20  # classes in the panel; the others are found by typing


def field(id: str, **more: Any) -> dict[str, Any]:
    """Return a text field; ``assets/elements.js`` makes it, as it makes components of dash.html, which has none."""
    return {"type": "input", "props": {"id": id, "type": "text", "className": "text", "autocomplete": "off", **more}}


def key_of(number: int) -> Any:
    """Return the key of a class by its place, for the first ten."""
    return html.Kbd(KEYS[number]) if number < len(KEYS) else ""


def offered(snapshot: Snapshot, *more: int) -> list[int]:
    """Return the places of the classes that have a button: those with a key, and ``more``; others are typed."""
    wanted = [*range(min(len(KEYS), len(snapshot.classes))), *more]
    return sorted({number for number in wanted if 0 <= number < len(snapshot.classes)})


def give_buttons(snapshot: Snapshot, *more: int) -> html.Div:
    """Return the classes that rows can be given, as buttons."""
    buttons = []
    for number in offered(snapshot, *more):
        label = snapshot.classes[number]
        text = [dot(snapshot.places[number]), html.Span(str(label)), key_of(number)]
        buttons.append(act(text, "label", number, kind="give", **{"data-name": str(label)}))
    hidden = len(snapshot.classes) - len(buttons)
    if hidden:
        others = [f"{hidden:,} more, by name", html.Kbd("c")]
        buttons.append(act(others, "focus-class", kind="plain small"))
    return box("gives", *buttons)


def toolbar(opened: OpenTable, snapshot: Snapshot, tab: Tab) -> list[Any]:
    """Return what a click on the map does: select, or give one of the classes."""
    brush = _brush(opened, snapshot, tab)

    def button(text: Any, number: int | None, **more: Any) -> html.Button:
        on = brush == number
        value = "" if number is None else number
        return act(text, "brush", value, kind="on" if on else "", **{"aria-pressed": str(on).lower()}, **more)

    buttons = [button("Select", None, id="brush-select")]
    for number in offered(snapshot, *([] if brush is None else [brush])):
        label = snapshot.classes[number]
        text = [dot(snapshot.places[number]), html.Span(str(label))]
        about = {"title": f"Each click, or lasso, gives {label}", "data-name": str(label)}
        buttons.append(button(text, number, **about))
    return [html.Span("Click to", className="soft"), box("segments", *buttons, role="group")]


def _brush(opened: OpenTable, snapshot: Snapshot, tab: Tab) -> int | None:
    """Return the place of the class that a click gives; it may have another name by now."""
    if tab.brush is None:
        return None
    try:
        return snapshot.classes.index(opened.session.class_named(tab.brush))
    except ValueError:
        return None


def shown_classes(snapshot: Snapshot, search: str) -> list[int]:
    """Return the places of the classes that the panel shows: what was searched for, or those with a key and in use."""
    if search:
        return [snapshot.classes.index(label) for label in matching(snapshot.classes, search)[:_MOST_SHOWN]]
    if len(snapshot.classes) <= _MOST_SHOWN:
        return list(range(len(snapshot.classes)))
    counts = np.bincount(snapshot.given[snapshot.given >= 0], minlength=len(snapshot.classes))
    used = [number for number in np.argsort(-counts, kind="stable").tolist() if counts[number]]
    first = list(range(len(KEYS)))
    return sorted([*first, *[number for number in used if number not in first][: _MOST_SHOWN - len(first)]])


def classes(snapshot: Snapshot, tab: Tab) -> list[Any]:
    """Return the classes with their keys, labels and shares of the predictions, and what can be done to them."""
    n_classes = len(snapshot.classes)
    if not n_classes:
        return [soft("No class yet. Add the first two, then give rows of each a label.")]
    shown = shown_classes(snapshot, tab.class_search)
    labels = np.bincount(snapshot.given[snapshot.given >= 0], minlength=n_classes)
    guesses = None if snapshot.predicted is None else np.bincount(snapshot.predicted, minlength=n_classes)
    lines = [
        _line(snapshot, number, int(labels[number]), None if guesses is None else int(guesses[number]), tab)
        for number in shown
    ]
    counts = [html.Th(name, className="number") for name in ("Given", "All")]
    edit = html.Th(html.Span("Edit", className="unseen"))
    head = html.Tr([html.Th("Class"), html.Th("Key"), *counts, html.Th(""), edit])
    about = {"placeholder": "Find a class and give it", "aria-label": "Find a class", "maxlength": "100"}
    search = box("row find", field("find-class", **about), html.Kbd("c"))
    return [
        search,
        *_found(snapshot, tab, shown),
        html.Table([html.Thead(head), html.Tbody(lines)], className="classes"),
        *_editing(snapshot, tab, labels),
    ]


def _found(snapshot: Snapshot, tab: Tab, shown: list[int]) -> list[Any]:
    """Return what Enter would do with what was typed, or how many classes are not in the list."""
    search, hidden = tab.class_search, len(snapshot.classes) - len(shown)
    about = {"id": "class-hint", "aria-live": "polite"}
    if search and not shown:
        said = [f"No class is called {search}. ", html.Kbd("Shift Enter"), " adds it and gives it."]
    elif search:
        first = snapshot.classes[shown[0]]
        n_found = len(matching(snapshot.classes, search))
        said = [html.Kbd("Enter"), f" gives {first}", f"; {counted(n_found, 'class fits', 'classes fit')}."]
    elif hidden:
        said = [f"{counted(len(snapshot.classes), 'class', 'classes')}; {hidden:,} are not listed. Type to find one."]
    else:
        return []
    return [html.P(said, className="soft", **about)]


def _line(snapshot: Snapshot, number: int, n_given: int, n_all: int | None, tab: Tab) -> html.Tr:
    label, place = snapshot.classes[number], snapshot.places[number]
    share = 0.0 if n_all is None else n_all / len(snapshot.given)
    name = str(label)
    on = tab.editing == name
    edit = {"data-name": name, "aria-label": f"Edit the class {name}", "aria-expanded": str(on).lower()}
    cells = [
        html.Td([dot(place), html.Span(name, className="name")], title=name),
        html.Td(key_of(number)),
        html.Td(f"{n_given:,}", className="number"),
        html.Td("–" if n_all is None else f"{n_all:,}", className="number"),
        html.Td(bar(place, share), className="share"),
        html.Td(act("…", "edit-class", kind="plain small", title="Rename, merge or delete", **edit), className="edit"),
    ]
    # What a digit gives is what the page shows for it, by name: places move when another tab deletes a class.
    keys = {"data-key": KEYS[number], "data-name": name} if number < len(KEYS) else {}
    return html.Tr(cells, **keys)


def _editing(snapshot: Snapshot, tab: Tab, labels: Any) -> list[Any]:
    """Return what can be done to the class that is being edited."""
    names = [str(label) for label in snapshot.classes]
    if tab.editing not in names:
        return []
    number = names.index(tab.editing)
    about = {"data-name": tab.editing}
    accepted = int(np.sum(snapshot.accepted == number))
    n_labels = f"{counted(int(labels[number]), 'label')}{f' and {accepted:,} accepted' if accepted else ''}"
    close = act("Close", "edit-class", kind="plain small", **about)
    head = box("row between", html.H3(["Class ", tab.editing]), close)
    if tab.merging in names:
        there = int(labels[names.index(tab.merging)])
        question = (
            f"There is a class {tab.merging} already, with {counted(there, 'label')}. Merge {tab.editing}, with its "
            f"{n_labels}, into it? All of them are {tab.merging} then, and undo makes two classes of them again."
        )
        merge = act(
            f"Merge into {tab.merging}", "merge-class", tab.merging, kind="strong small", id="merge-class", **about
        )
        keep = act("Keep both", "edit-class", kind="plain small", **about)
        return [box("edit-class", head, html.P(question, role="alert"), box("row", merge, keep), id="edit-class")]
    name = field(f"rename-{number}", value=tab.editing, maxlength="100", **about, **{"aria-label": "New name"})
    rename = act("Rename", "rename-class", kind="small", id="rename-class", **about)
    delete = act(f"Delete with {n_labels}", "delete-class", kind="plain small warn", id="delete-class", **about)
    hint = soft("The name of another class merges the two. Each of these can be undone.")
    return [box("edit-class", head, box("row", name, rename), hint, box("row", delete), id="edit-class")]
