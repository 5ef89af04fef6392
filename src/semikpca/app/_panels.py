"""What stands around the map, as components. Cells and names are children, which React shows as text, never as HTML."""

from typing import Any

import numpy as np
from dash import html

from semikpca._words import counted
from semikpca.app._colors import style_color
from semikpca.app._opening import OpenTable
from semikpca.app._pieces import act, chance, dot, entry, interval, line, low, picture, tile
from semikpca.app._snapshot import Advice, Snapshot
from semikpca.app._workspace import Tab, Workspace

_KEYS = "1234567890"
_MOST_DOUBTS = 8


def parts(workspace: Workspace, tab: Tab) -> dict[str, Any]:
    """Return everything around the map that follows the labels or the selection."""
    opened = workspace.opened
    shown: dict[str, Any] = {name: [] for name in ("metrics", "toolbar", "classes", "detail", "weight")}
    shown |= {"header": header(workspace), "banners": banners(workspace, tab)}
    if opened is not None:
        snapshot = opened.session.snapshot()
        shown |= {
            "metrics": metrics(snapshot),
            "toolbar": toolbar(snapshot, tab),
            "classes": classes(snapshot),
            "detail": detail(opened, snapshot, tab),
            "weight": weight(snapshot, tab),
        }
    return shown


def header(workspace: Workspace) -> list[Any]:
    """Return name and size of the open table, and the buttons that concern it as a whole."""
    opened = workspace.opened
    name = [html.Span("semikpca", className="brand")]
    if opened is None:
        return [html.Div(name, className="where")]
    snapshot = opened.session.snapshot()
    name.append(html.Span(opened.name, className="file", title=opened.name))
    name.append(html.Span(f"{opened.session.n_rows:,} rows", className="soft"))
    undo = f"Undo: {snapshot.undo} (u)" if snapshot.undo else "Nothing to undo"
    redo = f"Redo: {snapshot.redo} (r)" if snapshot.redo else "Nothing to redo"
    return [
        html.Div(name, className="where"),
        html.Div(
            [
                act("Undo", "undo", title=undo, disabled=snapshot.undo is None, id="undo"),
                act("Redo", "redo", title=redo, disabled=snapshot.redo is None, id="redo"),
                act("Open…", "open", title="Another file or an example"),
                act("?", "help", title="Keys (?)", kind="round", **{"aria-label": "Help"}),
                html.A(
                    "Download", href="download", className="button strong", id="download", title="The table with labels"
                ),
            ],
            className="tools",
        ),
    ]


def banners(workspace: Workspace, tab: Tab) -> list[Any]:
    """Return what there is to say above the map."""
    shown = []
    opened, offer = workspace.opened, workspace.offer
    if opened is not None and offer is not None:
        n_saved = len(offer.labels)
        when = offer.saved_at.strftime("%d %B %Y, %H:%M").lstrip("0")
        given = {row: label for row, label in enumerate(opened.session.given.tolist()) if label is not None}
        found = (
            f"Labels of your last visit are there: {n_saved:,}, saved on {when}. The file itself has {len(given):,}."
        )
        if given == offer.labels:
            found = f"Your last visit, saved on {when}, had other classes or another error weight than the file."
        shown.append(
            html.Div(
                [
                    html.P(found),
                    html.Div(
                        [
                            act("Go on with them", "take-up", kind="strong", id="take-up"),
                            act(
                                "Begin with the file",
                                "start-over",
                                kind="plain",
                                title="They are kept under another name",
                            ),
                        ],
                        className="row",
                    ),
                ],
                className="banner",
            )
        )
    if tab.message is not None and tab.message.kind != "bound":
        shown.append(
            html.Div(
                [html.P(tab.message.text), act("Close", "dismiss", kind="plain")],
                className=f"banner {tab.message.kind}",
                role="alert" if tab.message.kind == "error" else "status",
            )
        )
    if opened is not None and opened.session.snapshot().problem:
        shown.append(html.Div(html.P(opened.session.snapshot().problem), className="banner error", role="alert"))
    if opened is not None and opened.notes:
        notes = html.Ul([html.Li(note) for note in opened.notes])
        shown.append(
            html.Details(
                [html.Summary(counted(len(opened.notes), "note") + " on this table"), notes], className="notes"
            )
        )
    return shown


def metrics(snapshot: Snapshot) -> list[Any]:
    """Return the numbers that follow every label."""
    n_labels = int(np.sum(snapshot.given >= 0))
    n_rows = len(snapshot.given)
    estimate = snapshot.estimate
    if estimate.is_known:
        accuracy = tile(
            "Accuracy",
            f"{estimate.share:.0%}",
            f"{estimate.right} of {estimate.counted} labels found again when left out",
            interval(estimate.low, estimate.share, estimate.high),
            id="accuracy",
        )
    else:
        wait = (
            "Two labels of a class are needed" if snapshot.predicted is not None else "Label rows of two classes first"
        )
        accuracy = tile("Accuracy", "–", wait, id="accuracy")
    if snapshot.confidence is None:
        sure = tile("Confidence", "–", "No predictions yet", id="confidence")
    else:
        unsure = int(np.sum(snapshot.confidence < 0.6))
        sure = tile("Confidence", f"{snapshot.confidence.mean():.0%}", f"{unsure:,} rows below 60%", id="confidence")
    if snapshot.n_changed is None:
        changed = tile("Last change", "–", "What a label moves is counted here", id="changed")
    else:
        changed = tile("Last change", f"{snapshot.n_changed:,}", "predictions came out differently", id="changed")
    share = tile("Labels", f"{n_labels:,}", f"of {n_rows:,} rows", id="labels")
    return [accuracy, share, sure, changed]


def toolbar(snapshot: Snapshot, tab: Tab) -> list[Any]:
    """Return what a click on the map does: select, or give one of the classes."""
    buttons = [
        act(
            "Select",
            "brush",
            kind="on" if tab.brush is None else "",
            id="brush-select",
            **{"aria-pressed": str(tab.brush is None).lower()},
        )
    ]
    for number, label in enumerate(snapshot.classes):
        pressed = tab.brush == number
        buttons.append(
            act(
                [dot(snapshot.places[number]), html.Span(str(label))],
                "brush",
                number,
                kind="on" if pressed else "",
                title=f"Each click, or lasso, gives {label}",
                **{"aria-pressed": str(pressed).lower()},
            )
        )
    return [html.Span("Click to", className="soft"), html.Div(buttons, className="segments", role="group")]


def classes(snapshot: Snapshot) -> list[Any]:
    """Return the classes with their keys, labels and shares of the predictions."""
    n_classes = len(snapshot.classes)
    labels = np.bincount(snapshot.given[snapshot.given >= 0], minlength=n_classes)
    guesses = None if snapshot.predicted is None else np.bincount(snapshot.predicted, minlength=n_classes)
    lines = []
    for number, (label, place) in enumerate(zip(snapshot.classes, snapshot.places, strict=True)):
        share = 0.0 if guesses is None else guesses[number] / len(snapshot.given)
        lines.append(
            html.Tr(
                [
                    html.Td([dot(place), html.Span(str(label), className="name")]),
                    html.Td(html.Kbd(_KEYS[number]) if number < len(_KEYS) else ""),
                    html.Td(f"{labels[number]:,}", className="number"),
                    html.Td("–" if guesses is None else f"{guesses[number]:,}", className="number"),
                    html.Td(
                        html.Span(
                            className="bar",
                            children=html.I(style={"width": f"{share:.1%}", "background": style_color(place)}),
                        )
                    ),
                ]
            )
        )
    if not lines:
        return [html.P("No class yet. Add the first two, then give rows of each a label.", className="soft")]
    head = html.Tr(
        [
            html.Th("Class"),
            html.Th("Key"),
            html.Th("Given", className="number"),
            html.Th("All", className="number"),
            html.Th(""),
        ]
    )
    return [html.Table([html.Thead(head), html.Tbody(lines)], className="classes")]


def detail(opened: OpenTable, snapshot: Snapshot, tab: Tab) -> list[Any]:
    """Return the selected row with its cells, or what is known of several."""
    if not tab.selected:
        return [
            html.P("Click a row on the map, draw a lasso around some, or take a suggested one.", className="soft"),
            html.P([html.Kbd("n"), " next suggestion  ", html.Kbd("?"), " all keys"], className="soft keys"),
        ]
    buttons = html.Div(
        [
            act(
                [dot(place), html.Span(str(label)), html.Kbd(_KEYS[number]) if number < len(_KEYS) else ""],
                "label",
                number,
                kind="give",
            )
            for number, (label, place) in enumerate(zip(snapshot.classes, snapshot.places, strict=True))
        ],
        className="gives",
    )
    if len(tab.selected) > 1:
        return _several(snapshot, tab.selected, buttons)
    row = tab.selected[0]
    given = int(snapshot.given[row])
    label: list[Any] = [html.Span("none yet", className="soft")]
    if given >= 0:
        label = [
            dot(snapshot.places[given]),
            html.Strong(str(snapshot.classes[given])),
            act("Remove", "remove", kind="plain small", title="Take the label away (x)"),
        ]
    lines: list[Any] = [
        html.Div(
            [
                html.H3(opened.names[row].capitalize() if opened.roles.id is None else opened.names[row]),
                html.Span("" if row in opened.place_on_map else "not on the map", className="soft"),
            ],
            className="row between",
        ),
        html.P(["Label: ", *label], className="given"),
    ]
    if opened.picture:
        lines.append(picture(opened.pixels(row)))
    chances = opened.session.probabilities(row)
    if chances:
        place_of = dict(zip(snapshot.classes, snapshot.places, strict=True))
        lines.append(
            html.Div([chance(place_of[label], label, share) for label, share in chances[:3]], className="chances")
        )
    cells = [
        html.Tr([html.Th(name), html.Td(text or html.Span("empty", className="soft"))])
        for name, text in opened.cells(row)
    ]
    return [
        *lines,
        buttons,
        html.Div(html.Table(html.Tbody(cells), className="cells"), className="scroll", tabIndex="0") if cells else "",
    ]


def _several(snapshot: Snapshot, rows: list[int], buttons: Any) -> list[Any]:
    n_labeled = int(np.sum(snapshot.given[rows] >= 0))
    lines: list[Any] = [
        html.H3(f"{len(rows):,} rows"),
        html.P(f"{n_labeled:,} of them have a label.", className="soft"),
    ]
    if n_labeled:
        lines.append(act("Remove their labels", "remove", kind="plain small"))
    if snapshot.predicted is not None:
        counts = np.bincount(snapshot.predicted[rows], minlength=len(snapshot.classes))
        order = np.argsort(-counts, kind="stable")[:4]
        bars = [
            chance(snapshot.places[number], snapshot.classes[number], counts[number] / len(rows))
            for number in order
            if counts[number]
        ]
        lines += [html.P("Predicted:", className="soft"), html.Div(bars, className="chances")]
    return [*lines, buttons]


def weight(snapshot: Snapshot, tab: Tab) -> list[Any]:
    """Return the certificate in words, and why the slider stops where it does."""
    certificate = snapshot.certificate
    if certificate is None:
        return [html.P("None of the kernels in use has an error weight.", className="soft")]
    k = certificate.n_components_removed
    rule = "paper’s middle" if snapshot.error_weight == "middle" else "by hand"
    lines: list[Any] = [
        html.Dl(
            [
                *entry("Relative weight", f"{certificate.relative_weight:.5f}", id="relative-weight"),
                *entry("Chosen", rule),
                *entry(f"Bound 1/λ{low(k + 1)}", f"{certificate.error_weight_max:.6g}"),
                *entry("Error weight", f"{certificate.error_weight:.6g}"),
                *entry("Condition number", f"{certificate.condition_number:,.4g}"),
                *entry("Certificate", "convex (estimate)" if certificate.is_estimate else "convex, exact"),
            ]
        )
    ]
    if tab.message is not None and tab.message.kind == "bound":
        next_value, bound = certificate.next_eigenvalue, certificate.error_weight_max
        lines.append(
            html.Div(
                html.P(
                    f"It stops here. The largest eigenvalue that is left is λ{low(k + 1)} = {next_value:.6g}, so "
                    f"from an error weight of 1/λ{low(k + 1)} = {bound:.6g} on, the problem is no longer convex and "
                    f"has no solution. The weight stays at {certificate.error_weight:.6g}, "
                    f"{certificate.relative_weight:.4%} of the bound."
                ),
                className="banner bound",
                role="alert",
                id="bound-message",
            )
        )
    return lines


def suggestions(opened: OpenTable, snapshot: Snapshot, advice: Advice) -> list[Any]:
    """Return the rows to label next, each of which can be clicked."""
    if not advice.rows:
        return [html.P("All rows have a label.", className="soft")]
    lines = []
    for row in advice.rows:
        guess: Any = ""
        if snapshot.predicted is not None and snapshot.confidence is not None:
            number = int(snapshot.predicted[row])
            guess = html.Span(
                [dot(snapshot.places[number]), f"{snapshot.classes[number]}? {snapshot.confidence[row]:.0%}"],
                className="guess",
            )
        lines.append(line(opened, row, guess))
    return [html.Ul(lines, className="list")]


def doubts(opened: OpenTable, snapshot: Snapshot, advice: Advice) -> list[Any]:
    """Return the labels that look wrong."""
    if snapshot.predicted is None:
        return [html.P("Labels are compared as soon as two classes have some.", className="soft")]
    if not advice.doubts:
        return [html.P("Nothing suspicious: the labels agree with each other.", className="soft")]
    place_of = dict(zip(snapshot.classes, snapshot.places, strict=True))
    lines = []
    for doubt in advice.doubts[:_MOST_DOUBTS]:
        about = [
            dot(place_of[doubt.given]),
            f"{doubt.given} → ",
            dot(place_of[doubt.suggested]),
            f"{doubt.suggested}? {doubt.suspicion:.0%}",
        ]
        lines.append(line(opened, doubt.row, html.Span(about, className="guess")))
    more = len(advice.doubts) - _MOST_DOUBTS
    return [html.Ul(lines, className="list"), *([html.P(f"and {more} more", className="soft")] if more > 0 else [])]
