"""What stands around the map, or in its place. Cells and names are children, which React shows as text, not as HTML."""

from typing import Any

import numpy as np
from dash import html

from semikpca._words import counted
from semikpca.app._acceptance import promise, review
from semikpca.app._columns import columns_dialog
from semikpca.app._opening import EXAMPLES, NEW_COLUMN, OpenTable, Pending
from semikpca.app._opening_card import leave_out_question, opening_card, problem_at, problems
from semikpca.app._page_words import in_page_words
from semikpca.app._pieces import act, bar, box, chance, dot, interval, line, picture, press, soft, tile
from semikpca.app._snapshot import Advice, Snapshot
from semikpca.app._weight_panel import weight
from semikpca.app._workspace import Tab, Workspace
from semikpca.workflow import why_suggested

_KEYS = "1234567890"
_MOST_DOUBTS = 8
_MOST_LISTED_COLUMNS = 8


def parts(workspace: Workspace, tab: Tab) -> dict[str, Any]:
    """Return everything around the map that follows the labels or the selection."""
    opened = workspace.shown
    names = ("metrics", "toolbar", "classes", "detail", "weight", "promise", "review", "columns")
    shown: dict[str, Any] = {name: [] for name in names}
    if workspace.opening is not None:
        shown |= {"suggestions": [], "doubts": []}  # those of the old table; the others come with the new one
    shown |= {"header": header(workspace), "banners": banners(workspace, tab)}
    if opened is not None:
        snapshot = opened.session.snapshot()
        shown |= {
            "metrics": metrics(snapshot),
            "toolbar": toolbar(snapshot, tab),
            "classes": [*classes(snapshot), *problems(tab, "classes")],
            "detail": detail(opened, snapshot, tab),
            "weight": weight(snapshot, tab, opened.session.semi_kpca()),
            "promise": promise(opened, snapshot, tab, is_asked=workspace.is_asked(tab)),
            "review": review(opened, snapshot, tab),
        }
        if tab.is_choosing:  # a click must not wait for what nobody looks at
            problem = problem_at(tab, "columns")
            shown["columns"] = columns_dialog(opened, workspace.text_encoders(), problem, workspace.generation)
    return shown


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
            act("Open…", "open", title="Another file or an example"),
            act("?", "help", title="Keys (?)", kind="round", **{"aria-label": "Help"}),
            html.A("Download", **link),
        ),
    ]


def banners(workspace: Workspace, tab: Tab) -> list[Any]:
    """Return what there is to say above the map."""
    opened, message = workspace.shown, tab.message
    shown = [] if opened is None else _offer(workspace, opened)
    # What is said at its own place is not said here as well, but where that place is not to be seen.
    is_asking = opened is None or workspace.pending is not None
    elsewhere = ("start", "question") if is_asking else ("classes", "columns", "weight")
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


def _offer(workspace: Workspace, opened: OpenTable) -> list[Any]:
    offer = workspace.offer
    if offer is None:
        return []
    when = offer.saved_at.strftime("%d %B %Y, %H:%M").lstrip("0")
    given = {row: label for row, label in enumerate(opened.session.given.tolist()) if label is not None}
    if given == offer.labels:
        found = f"Your last visit, saved on {when}, had other classes or another error weight than the file."
    else:
        n_saved = f"{len(offer.labels):,}"
        found = f"Labels of your last visit are there: {n_saved}, saved on {when}. The file itself has {len(given):,}."
    go_on = act("Go on with them", "take-up", kind="strong", id="take-up")
    begin = act("Begin with the file", "start-over", kind="plain", title="They are kept under another name")
    return [box("banner", html.P(found), box("row", go_on, begin))]


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
    labels = tile("labels", "Labels", f"{n_labels:,}", f"of {n_rows:,} rows")
    return [accuracy, labels, tile("confidence", "Confidence", *sure), tile("changed", "Last change", *changed)]


def toolbar(snapshot: Snapshot, tab: Tab) -> list[Any]:
    """Return what a click on the map does: select, or give one of the classes."""

    def button(text: Any, brush: int | None, **more: Any) -> html.Button:
        on = tab.brush == brush
        value = "" if brush is None else brush
        return act(text, "brush", value, kind="on" if on else "", **{"aria-pressed": str(on).lower()}, **more)

    buttons = [button("Select", None, id="brush-select")]
    for number, (label, place) in enumerate(zip(snapshot.classes, snapshot.places, strict=True)):
        text = [dot(place), html.Span(str(label))]
        buttons.append(button(text, number, title=f"Each click, or lasso, gives {label}"))
    return [html.Span("Click to", className="soft"), box("segments", *buttons, role="group")]


def classes(snapshot: Snapshot) -> list[Any]:
    """Return the classes with their keys, labels and shares of the predictions."""
    n_classes = len(snapshot.classes)
    if not n_classes:
        return [soft("No class yet. Add the first two, then give rows of each a label.")]
    labels = np.bincount(snapshot.given[snapshot.given >= 0], minlength=n_classes)
    guesses = None if snapshot.predicted is None else np.bincount(snapshot.predicted, minlength=n_classes)
    lines = []
    for number, (label, place) in enumerate(zip(snapshot.classes, snapshot.places, strict=True)):
        share = 0.0 if guesses is None else guesses[number] / len(snapshot.given)
        cells = [
            html.Td([dot(place), html.Span(str(label), className="name")]),
            html.Td(_key(number)),
            html.Td(f"{labels[number]:,}", className="number"),
            html.Td("–" if guesses is None else f"{guesses[number]:,}", className="number"),
            html.Td(bar(place, share)),
        ]
        lines.append(html.Tr(cells))
    counts = [html.Th(name, className="number") for name in ("Given", "All")]
    head = html.Tr([html.Th("Class"), html.Th("Key"), *counts, html.Th("")])
    return [html.Table([html.Thead(head), html.Tbody(lines)], className="classes")]


def _key(number: int) -> Any:
    return html.Kbd(_KEYS[number]) if number < len(_KEYS) else ""


def detail(opened: OpenTable, snapshot: Snapshot, tab: Tab) -> list[Any]:
    """Return the selected row with its cells, or what is known of several."""
    if not tab.selected:
        keys = [html.Kbd("n"), " next suggestion  ", html.Kbd("?"), " all keys"]
        return [
            soft("Click a row on the map, draw a lasso around some, or take a suggested one."),
            html.P(keys, className="soft keys"),
        ]
    classes = enumerate(zip(snapshot.classes, snapshot.places, strict=True))
    gives = ([dot(place), html.Span(str(label)), _key(number)] for number, (label, place) in classes)
    buttons = box("gives", *(act(text, "label", number, kind="give") for number, text in enumerate(gives)))
    if len(tab.selected) > 1:
        return [*_several(snapshot, tab.selected), buttons]
    cells = [
        html.Tr([html.Th(name), html.Td(text or html.Span("empty", className="soft"))])
        for name, text in opened.cells(tab.selected[0])
    ]
    table = box("scroll", html.Table(html.Tbody(cells), className="cells"), tabIndex="0") if cells else ""
    return [*_one(opened, snapshot, tab.selected[0]), buttons, table]


def _one(opened: OpenTable, snapshot: Snapshot, row: int) -> list[Any]:
    given = int(snapshot.given[row])
    label: list[Any] = [html.Span("none yet", className="soft")]
    if given >= 0:
        remove = act("Remove", "remove", kind="plain small", title="Take the label away (x)")
        label = [dot(snapshot.places[given]), html.Strong(str(snapshot.classes[given])), remove]
    name = html.H3(opened.names[row].capitalize() if opened.roles.id is None else opened.names[row])
    where = html.Span("" if row in opened.place_on_map else "not on the map", className="soft")
    lines = [box("row between", name, where), html.P(["Label: ", *label], className="given")]
    if opened.picture:
        lines.append(picture(opened.pixels(row)))
    if chances := opened.session.probabilities(row):
        place_of = dict(zip(snapshot.classes, snapshot.places, strict=True))
        lines.append(box("chances", *(chance(place_of[label], label, share) for label, share in chances[:3])))
    return lines


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


def suggestions(opened: OpenTable, snapshot: Snapshot, advice: Advice) -> list[Any]:
    """Return the rows to label next, each of which can be clicked."""
    if not advice.rows:
        return [soft("All rows have a label.")]
    if snapshot.predicted is None or snapshot.confidence is None:
        return [html.Ul([line(opened, row, is_check=row in advice.checks) for row in advice.rows], className="list")]
    lines = []
    for row, why in zip(advice.rows, why_suggested(snapshot.confidence[list(advice.rows)]), strict=True):
        code = int(snapshot.predicted[row])
        guess = f"{snapshot.classes[code]}? {snapshot.confidence[row]:.0%}"
        guess += "" if row in advice.checks else f", {why}"
        lines.append(line(opened, row, dot(snapshot.places[code]), guess, is_check=row in advice.checks))
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
        lines.append(line(opened, doubt.row, given, f"{doubt.given} → ", suggested, guess))
    more = len(advice.doubts) - _MOST_DOUBTS
    return [html.Ul(lines, className="list"), *([soft(f"and {more} more")] if more > 0 else [])]


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


def _choice(pending: Pending, name: str) -> html.Button:
    cells = pending.table.features[name]
    about = f"{cells.nunique():,} different values, {cells.isna().sum():,} of {len(cells):,} cells empty"
    values = (str(value) for value in cells.dropna().unique()[:3])
    sample = ", ".join(value if len(value) <= 24 else f"{value[:23]}…" for value in values)
    text = [html.Strong(name), html.Span(about, className="soft"), html.Span(sample, className="sample")]
    return press(text, "column", name, className="choice")
