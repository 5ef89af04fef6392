"""What stands around the map, or in its place. Cells and names are children, which React shows as text, not as HTML."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from dash import html

from semikpca._words import counted
from semikpca.app._acceptance import promise, review
from semikpca.app._classes import classes, toolbar
from semikpca.app._columns import columns_dialog
from semikpca.app._detail import detail
from semikpca.app._folder_panel import folder_list
from semikpca.app._number_panels import number_doubts, number_parts, number_suggestions
from semikpca.app._opening import EXAMPLES, NEW_COLUMN, OpenTable, Pending
from semikpca.app._opening_card import leave_out_question, opening_card, problem_at, problems
from semikpca.app._page_words import in_page_words
from semikpca.app._pieces import act, box, dot, interval, line, press, soft, tile
from semikpca.app._snapshot import Advice, Snapshot
from semikpca.app._table_view import FILTERS, class_filters
from semikpca.app._visits import dialog, offer
from semikpca.app._weight_panel import weight
from semikpca.app._workspace import Tab, Workspace
from semikpca.tables import CLASSES, NUMBERS
from semikpca.workflow import why_suggested

_MOST_DOUBTS = 8
_MOST_LISTED_COLUMNS = 8


def parts(workspace: Workspace, tab: Tab) -> dict[str, Any]:
    """Return everything around the map that follows the labels or the selection."""
    opened = workspace.shown
    around = ("metrics", "toolbar", "map-switch", "classes", "detail", "weight", "promise", "review")
    names = (*around, "dialog", "columns", *FILTERS)
    shown: dict[str, Any] = {name: [] for name in names}
    if workspace.opening is not None:
        shown |= {"suggestions": [], "doubts": []}  # those of the old table; the others come with the new one
    shown |= {"header": header(workspace), "banners": banners(workspace, tab)}
    if opened is not None:
        around_labels = PANELS[opened.kind.name].parts(workspace, opened, opened.session.snapshot(), tab)
        shown |= {"map-switch": workspace.maps.switch(), "dialog": dialog(workspace, tab), **around_labels}
        if tab.is_choosing:  # a click must not wait for what nobody looks at
            problem = problem_at(tab, "columns")
            shown["columns"] = columns_dialog(opened, workspace.text_encoders(), problem, workspace.generation)
    return shown


def class_parts(workspace: Workspace, opened: OpenTable, snapshot: Snapshot, tab: Tab) -> dict[str, Any]:
    """Return the parts that are about classes."""
    return {
        "metrics": metrics(snapshot),
        "toolbar": toolbar(opened, snapshot, tab),
        "classes": [*classes(snapshot, tab), *problems(tab, "classes")],
        "detail": detail(opened, snapshot, tab),
        "weight": weight(snapshot, tab, opened.session.semi_kpca()),
        "promise": promise(opened, snapshot, tab, is_asked=workspace.is_asked(tab)),
        "review": review(opened, snapshot, tab),
        **class_filters(snapshot),
    }


def header(workspace: Workspace) -> list[Any]:
    """Return name and size of the open table, and the buttons that concern it as a whole."""
    opened = workspace.shown
    brand = html.Span("semikpca", className="brand")
    if opened is None:
        return [box("where", brand)]
    snapshot = opened.session.snapshot()
    name = html.Span(opened.name, className="file", title=opened.name)
    undo = f"Undo: {snapshot.undo} (u)" if snapshot.undo else "Nothing to undo"
    redo = f"Redo: {snapshot.redo} (r)" if snapshot.redo else "Nothing to redo"
    columns = act("Columns", "columns-open", kind="plain small", title="What each column is", id="open-columns")
    link = {"href": "download", "className": "button strong", "id": "download", "title": "The table with labels"}
    return [
        box("where", brand, name, html.Span(f"{opened.session.n_rows:,} rows", className="soft"), columns),
        box(
            "tools",
            act("Undo", "undo", title=undo, disabled=snapshot.undo is None, id="undo"),
            act("Redo", "redo", title=redo, disabled=snapshot.redo is None, id="redo"),
            act("Labels…", "dialog", "labels", title="Earlier visits, export and import", id="labels-dialog"),
            act("Open…", "open", title="Another file or an example"),
            act("?", "help", title="Keys (?)", kind="round", **{"aria-label": "Help"}),
            html.A("Download", **link),
        ),
    ]


def banners(workspace: Workspace, tab: Tab) -> list[Any]:
    """Return what there is to say above the map."""
    opened, message = workspace.shown, tab.message
    shown = [] if opened is None else offer(workspace, opened)
    # What is said at its own place is not said here as well, but where that place is not to be seen.
    is_asking = opened is None or workspace.pending is not None
    elsewhere = ("start", "question") if is_asking else ("classes", "columns", "weight", "number")
    if message is not None and message.kind != "bound" and message.where not in elsewhere:
        close = act("Close", "dismiss", kind="plain")
        role = "alert" if message.kind == "error" else "status"
        shown.append(box(f"banner {message.kind}", html.P(message.text), close, role=role))
    if opened is None:
        return shown
    if problem := opened.session.snapshot().problem:
        shown.append(box("banner error", html.P(in_page_words(problem)), role="alert"))
    if opened.notes:
        summary = html.Summary(counted(len(opened.notes), "note") + " on this table")
        notes = html.Ul([html.Li(in_page_words(note)) for note in opened.notes])
        shown.append(html.Details([summary, notes], className="notes"))
    return shown


def metrics(snapshot: Snapshot) -> list[Any]:
    """Return the numbers that follow every label."""
    n_labels, n_rows = int(np.sum(snapshot.given >= 0)), len(snapshot.given)
    estimate, confidence, n_changed = snapshot.estimate, snapshot.confidence, snapshot.n_changed
    if estimate.is_known:
        found = f"{estimate.right} of {estimate.counted} labels found again when left out"
        drawing = interval(estimate.low, estimate.share, estimate.high)
        accuracy = tile("accuracy", "Accuracy", f"{estimate.share:.0%}", found, drawing)
    else:
        known = snapshot.predicted is not None
        wait = "Two labels of a class are needed" if known else "Label rows of two classes first"
        accuracy = tile("accuracy", "Accuracy", "–", wait)
    sure = "–", "No predictions yet"
    if confidence is not None:
        sure = f"{confidence.mean():.0%}", f"{np.sum(confidence < 0.6):,} rows below 60%"
    changed = "–", "What a label moves is counted here"
    if n_changed is not None:
        changed = f"{n_changed:,}", "predictions came out differently"
    more = f"; {snapshot.n_accepted:,} more accepted" if snapshot.n_accepted else ""
    labels = tile("labels", "Labels", f"{n_labels:,}", f"of {n_rows:,} rows{more}")
    return [accuracy, labels, tile("confidence", "Confidence", *sure), tile("changed", "Last change", *changed)]


def suggestions(opened: OpenTable, snapshot: Snapshot, advice: Advice) -> list[Any]:
    """Return the rows to label next, each of which can be clicked."""
    if not advice.rows:
        return [soft("All rows have a label.")]
    if snapshot.predicted is None or snapshot.confidence is None:
        bare = (line(opened, row, is_check=row in advice.checks, queue="suggested") for row in advice.rows)
        return [html.Ul(list(bare), className="list")]
    lines = []
    for row, why in zip(advice.rows, why_suggested(snapshot.confidence[list(advice.rows)]), strict=True):
        code = int(snapshot.predicted[row])
        guess = f"{snapshot.classes[code]}? {snapshot.confidence[row]:.0%}"
        guess += "" if row in advice.checks else f", {why}"
        about = dot(snapshot.places[code]), guess
        lines.append(line(opened, row, *about, is_check=row in advice.checks, queue="suggested"))
    return [html.Ul(lines, className="list")]


def doubts(opened: OpenTable, snapshot: Snapshot, advice: Advice) -> list[Any]:
    """Return the labels that look wrong."""
    if snapshot.predicted is None:
        return [soft("Labels are compared as soon as two classes have some.")]
    if not advice.doubts:
        return [soft("Nothing suspicious: the labels agree with each other.")]
    place_of = dict(zip(snapshot.classes, snapshot.places, strict=True))
    lines = []
    for doubt in advice.doubts[:_MOST_DOUBTS]:
        given, suggested = dot(place_of[doubt.given]), dot(place_of[doubt.suggested])
        guess = f"{doubt.suggested}? {doubt.suspicion:.0%}"
        lines.append(line(opened, doubt.row, given, f"{doubt.given} → ", suggested, guess, queue="wrong"))
    more = len(advice.doubts) - _MOST_DOUBTS
    return [html.Ul(lines, className="list"), *([soft(f"and {more} more")] if more > 0 else [])]


@dataclass(frozen=True)
class Panels:
    """What is said around the map, by what the labels are."""

    parts: Callable[[Workspace, OpenTable, Any, Tab], dict[str, Any]]
    suggestions: Callable[[OpenTable, Any, Advice], list[Any]]
    doubts: Callable[[OpenTable, Any, Advice], list[Any]]


PANELS = {
    CLASSES: Panels(class_parts, suggestions, doubts),
    NUMBERS: Panels(number_parts, number_suggestions, number_doubts),
}


def start(workspace: Workspace, limit_mb: int, tab: Tab) -> list[Any]:
    """Return what stands where no table is open yet: the ways to open one, or the question for its label column."""
    if workspace.opening is not None:
        return opening_card(workspace.opening)
    if workspace.pending is not None:
        return _column_question(workspace, workspace.pending, tab)
    lead = "Open a table, give a few rows a label, and watch all others follow. Everything stays on this computer."
    formats = f"CSV, TSV, Excel, Parquet, JSON lines, .npy or .npz; up to {limit_mb} MB"
    drop = [html.Strong("Choose a file, or drop one here"), html.Span(formats, className="soft")]
    examples = (
        press([html.Strong(title), html.Span(text, className="soft")], "example", key, className="choice")
        for key, (title, text) in EXAMPLES.items()
    )
    return [
        box(
            "start-card",
            html.H1("Labels for the rest of your rows"),
            html.P(lead, className="lead"),
            *folder_list(workspace.folder),
            press(drop, "browse", className="drop", id="browse"),
            *problems(tab, "start"),
            html.H2("Or try an example"),
            box("choices", *examples),
            *([act("Back to the map", "close", kind="plain")] if workspace.opened is not None else []),
        )
    ]


def _column_question(workspace: Workspace, pending: Pending, tab: Tab) -> list[Any]:
    choices = [_choice(pending, name) for name in pending.candidates()]
    listed, more = choices[:_MOST_LISTED_COLUMNS], choices[_MOST_LISTED_COLUMNS:]
    rest = html.Details([html.Summary(f"{len(more)} more columns"), box("choices", *more)])
    about = f": {len(pending.table):,} rows. Empty cells are the rows to label."
    none_yet = f"None yet: begin a new column “{NEW_COLUMN}”"
    return [
        box(
            "start-card",
            html.H1("Which column has the labels?"),
            html.P([html.Strong(pending.name), about], className="lead"),
            *problems(tab, "question"),
            box("choices", *listed),
            *([rest] if more else []),
            *([leave_out_question(pending)] if pending.left_out or problem_at(tab, "question") else []),
            *([_encoder_question(workspace, pending)] if pending.has_text else []),
            box(
                "row",
                act(none_yet, "column", kind="strong", id="new-column", **{"data-new": "1"}),
                act("… for numbers", "column", id="new-numbers", **{"data-new": "1", "data-name": NUMBERS}),
                act("Cancel", "cancel", kind="plain"),
            ),
        )
    ]


def _encoder_question(workspace: Workspace, pending: Pending) -> html.Div:
    """Return what texts may be compared by; the first is what the command line says."""
    encoders = workspace.text_encoders()
    chosen = pending.text_encoder or next(iter(encoders))
    buttons = []
    for name, words in encoders.items():
        on = name == chosen
        buttons.append(act(words, "encoder", name, kind="on" if on else "", **{"aria-pressed": str(on).lower()}))
    return box("row", html.Span("Texts are compared", className="soft"), *buttons, role="group")


def _choice(pending: Pending, name: str) -> Any:
    cells = pending.table.features[name]
    about = f"{cells.nunique():,} different values, {cells.isna().sum():,} of {len(cells):,} cells empty"
    values = (str(value) for value in cells.dropna().unique()[:3])
    sample = ", ".join(value if len(value) <= 24 else f"{value[:23]}…" for value in values)
    text = [html.Strong(name), html.Span(about, className="soft"), html.Span(sample, className="sample")]
    kind = pending.label_kinds.get(name)
    if kind is None:
        return press(text, "column", name, className="choice")
    why, _, _ = in_page_words(kind.reason).removeprefix(f"{name!r} is ").partition(". ")
    text.append(html.Span(f"{why[:1].upper()}{why[1:]}", className="kind"))
    other = CLASSES if kind.is_number else NUMBERS
    switch = act(f"Open as {other}", "column", name, kind="plain small", **{"data-name": other})
    return box("choice-with-switch", press(text, "column", name, className="choice"), switch)
