"""What stands around the map where labels are numbers."""

from typing import Any

from dash import html

from semikpca._words import counted
from semikpca.app._number_detail import number_detail
from semikpca.app._number_figure import scale_legend
from semikpca.app._number_snapshot import NumberSnapshot
from semikpca.app._opening import OpenTable
from semikpca.app._pieces import line, soft, tile
from semikpca.app._snapshot import Advice
from semikpca.app._table_view import given_filters
from semikpca.app._workspace import Tab, Workspace
from semikpca.tables import as_text

_MOST_DOUBTS = 8


def number_parts(workspace: Workspace, opened: OpenTable, snapshot: NumberSnapshot, tab: Tab) -> dict[str, Any]:
    """Return the parts that differ from those of classes; there is none for classes, acceptance and error weight."""
    return {
        "metrics": number_metrics(snapshot),
        "toolbar": scale_legend(snapshot, opened.roles.label),
        "detail": number_detail(opened, snapshot, tab),
        **given_filters(),
    }


def number_metrics(snapshot: NumberSnapshot) -> list[Any]:
    """Return the figures that follow every number; errors come a little later."""
    wait = "Give two different numbers first" if snapshot.values is None else "Being found out …"
    error, variance = ("–", wait), ("–", wait)
    if snapshot.errors is not None:
        estimate = snapshot.errors.estimate
        if estimate.is_known:
            which = "drawn at random" if snapshot.errors.by_drawn else "given, suggested ones too"
            half = f"half are off by less than {snapshot.amount(estimate.median_absolute)}"
            error = snapshot.amount(estimate.root_mean_square), half
            variance = f"{estimate.share_of_variance:.0%}", f"by {estimate.counted:,} numbers left out, {which}"
        else:
            error = variance = "–", "Too few numbers to leave one out"
    moved = ("–", "What a number moves is told here")
    if snapshot.moved is not None:
        moved = snapshot.amount(snapshot.moved), "predictions moved so far on the mean"
    n_rows = len(snapshot.given)
    return [
        tile("error", "Typical error", *error),
        tile("variance", "Variance explained", *variance),
        tile("labels", "Numbers given", f"{len(snapshot.known):,}", f"of {n_rows:,} rows"),
        tile("changed", "Last change", *moved),
    ]


def number_suggestions(opened: OpenTable, snapshot: NumberSnapshot, advice: Advice) -> list[Any]:
    """Return the rows to give a number next, each of which can be clicked."""
    if not advice.rows:
        return [soft("All rows have a number.")]
    lines = []
    for row in advice.rows:
        guess = [] if snapshot.values is None else [f"{snapshot.amount(snapshot.values[row])}?"]
        lines.append(line(opened, row, *guess, is_check=row in advice.checks, queue="suggested"))
    return [html.Ul(lines, className="list")]


def number_doubts(opened: OpenTable, snapshot: NumberSnapshot, advice: Advice) -> list[Any]:
    """Return the given numbers that look wrong."""
    if snapshot.values is None:
        return [soft("Numbers are compared as soon as there are two different ones.")]
    if not advice.doubts:
        return [soft("Nothing suspicious: the numbers agree with each other.")]
    lines = []
    for doubt in advice.doubts[:_MOST_DOUBTS]:
        guess = f"{as_text(doubt.given)} → {snapshot.amount(doubt.suggested)}? {doubt.suspicion:.0%}"
        lines.append(line(opened, doubt.row, guess, queue="wrong"))
    more = len(advice.doubts) - _MOST_DOUBTS
    rest = [soft(f"and {counted(more, 'more number')}")] if more > 0 else []
    return [html.Ul(lines, className="list"), *rest]
