"""Which labels can be accepted unseen, in words, and the rows that a person should look at."""

from typing import Any

from dash import html

from semikpca._words import counted
from semikpca.app._opening import OpenTable
from semikpca.app._pieces import act, box, dot, line, soft
from semikpca.app._snapshot import Snapshot
from semikpca.app._workspace import Tab
from semikpca.labeling import AcceptedLabels
from semikpca.workflow import percent

_MOST_REVIEWED = 8


def promise(opened: OpenTable, snapshot: Snapshot, tab: Tab, *, is_asked: bool) -> list[Any]:
    """Return how many predicted labels can be accepted, or what it would take, and which labels that rests on."""
    n_labels = int((snapshot.given >= 0).sum())
    if snapshot.predicted is None:
        return [soft("Labels of two classes are needed first.")]
    if n_labels == len(snapshot.given):
        return [soft("All rows have a label.")]
    accepted = opened.session.accepted(tab.error_rate)
    text: Any = "Being found out: the model is fitted without some of the labels, and has to name them …"
    if accepted is not None:
        text = promised(accepted)
    elif not is_asked:
        text = "Not found out for these labels yet."
    kind = "promise" if accepted is not None else "promise unknown"
    sentence = html.P(text, className=kind, id="promise-text", **{"aria-live": "polite"})
    about = "The model is fitted some twenty times without some of the labels (a)"
    find = act(["Find out", html.Kbd("a")], "find", kind="small", title=about, id="find")
    about = "Labels of rows that are drawn at random add to the promise (d)"
    draw = act(["Draw a row at random", html.Kbd("d")], "draw", kind="small", title=about, id="draw")
    buttons = [draw] if accepted is not None or is_asked else [find, draw]
    buttons = [*accept_buttons(snapshot, accepted), *buttons]
    grounds = soft(_grounds(snapshot.n_drawn, n_labels - snapshot.n_drawn))
    return [sentence, share_bar(accepted), box("row", *buttons), grounds]


def accept_buttons(snapshot: Snapshot, accepted: AcceptedLabels | None) -> list[Any]:
    """Return what accepts all rows that can be accepted, and what takes that back."""
    buttons = []
    n_open = 0 if accepted is None else int((snapshot.accepted[accepted.rows] < 0).sum())
    if n_open:
        more = "more " if snapshot.n_accepted else ""
        text = f"Accept {'this' if n_open == 1 else 'these'} {counted(n_open, f'{more}row')}"
        about = "They get the predicted label, in one step that can be undone; nothing is learned from them"
        buttons.append(act(text, "accept", kind="strong small", title=about, id="accept"))
    if snapshot.n_accepted:
        text = f"Take back {counted(snapshot.n_accepted, 'accepted row')}"
        buttons.append(act(text, "withdraw", kind="plain small", id="withdraw"))
    return buttons


def promised(accepted: AcceptedLabels) -> list[Any]:
    """Return the promise as a sentence, or what is missing for one."""
    sure = f"(with {percent(accepted.confidence)} confidence)"
    error_rate, needed = percent(accepted.error_rate), accepted.n_labels_needed
    if needed is None:
        found = f"{len(accepted.rows):,} of {counted(accepted.n_unlabeled, 'row')} can be accepted"
        return [html.Strong(found), f"; at most {error_rate} of them are wrong {sure}."]
    missing = counted(needed, "more label")
    if needed > accepted.n_unlabeled:
        left = f"only {counted(accepted.n_unlabeled, 'row')} have none"
        return [
            html.Strong("Nothing can be promised"),
            f": it takes about {missing}, and {left}. Ask for a lower share.",
        ]
    return [
        html.Strong("Nothing can be promised yet"),
        f": about {missing}, drawn at random, would be needed for at most {error_rate} wrong {sure}.",
    ]


def share_bar(accepted: AcceptedLabels | None) -> Any:
    """Return the accepted share of the unlabeled rows as a bar; nothing where it is not known."""
    if accepted is None:
        return ""
    share = len(accepted.rows) / max(1, accepted.n_unlabeled)
    text = f"{share:.0%} of the rows without a label can be accepted"
    return html.Span(
        html.I(style={"width": f"{share:.1%}"}), className="bar share", title=text, role="img", **{"aria-label": text}
    )


def _grounds(n_drawn: int, n_chosen: int) -> str:
    """Return in words which labels the promise rests on."""
    labels = "those that stood in the table, taken as drawn at random, and those of random checks"
    hand = "suggested, listed for review or picked by hand"
    rests = f"A promise rests on {counted(n_drawn, 'label')}: {labels}."
    if not n_chosen:
        return f"{rests} Labels of rows that are {hand} do not count."
    others = (
        "1 other does not count: its row was" if n_chosen == 1 else f"{n_chosen:,} others do not count: their rows were"
    )
    return f"{rests} {others} {hand}."


def review(opened: OpenTable, snapshot: Snapshot, tab: Tab) -> list[Any]:
    """Return the rows to review, most doubtful first, each of which can be clicked."""
    rows = opened.session.to_review(tab.error_rate)
    if snapshot.predicted is None or snapshot.confidence is None:
        return [soft("Rows are listed as soon as two classes have labels.")]
    if not len(rows):
        return [soft("No row is left to review.")]
    lines = []
    for row in rows[:_MOST_REVIEWED].tolist():
        code = int(snapshot.predicted[row])
        guess = f"{snapshot.classes[code]}? {snapshot.confidence[row]:.0%}"
        lines.append(line(opened, row, dot(snapshot.places[code]), guess, queue="review"))
    more = len(rows) - _MOST_REVIEWED
    about = soft(
        f"{counted(len(rows), 'row')} without a label that {_is_not(len(rows))} accepted, most doubtful first."
    )
    return [about, html.Ul(lines, className="list"), *([soft(f"and {more:,} more")] if more > 0 else [])]


def _is_not(number: int) -> str:
    return "is not" if number == 1 else "are not"
