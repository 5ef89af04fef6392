"""What stands in place of the old table while the next one is on its way, and errors at their place."""

from typing import Any

from dash import html

from semikpca.app._background import STAGES, Opening
from semikpca.app._opening import Pending
from semikpca.app._pieces import act, box
from semikpca.app._switching import Where
from semikpca.app._workspace import Tab

_MOST_COLUMNS = 60  # that can be left out one by one


def opening_card(opening: Opening) -> list[Any]:
    """Return the steps of an opening: those that are done, the present one, and those to come."""
    lines = []
    for number, words in enumerate(STAGES):
        how = "done" if number < opening.stage else "now" if number == opening.stage else "to-come"
        detail = f" ({opening.detail})" if number == opening.stage and opening.detail else ""
        lines.append(html.Li(f"{words}{detail}", className=how, **({"aria-current": "step"} if how == "now" else {})))
    return [
        box(
            "start-card",
            html.H1(["Opening ", html.Span(opening.name)]),
            html.Ol(lines, className="stages", id="stages", **{"aria-live": "polite"}),
            box("row", act("Stop", "stop", kind="plain", id="stop-opening")),
        )
    ]


def leave_out_question(pending: Pending) -> html.Div:
    """Return the columns that a table may be opened without, for one that cannot be opened as it is."""
    buttons = []
    for name in map(str, list(pending.table.features.columns)[:_MOST_COLUMNS]):
        on = name in pending.left_out
        look = {"kind": "small on" if on else "small", "aria-pressed": str(on).lower()}
        buttons.append(act(name, "leave-out", name, **look))
    return box("row wrap", html.Span("Open it without", className="soft"), *buttons, role="group", id="leave-out")


def problem_at(tab: Tab, where: Where) -> str | None:
    """Return what went wrong at a place of the page, or None."""
    message = tab.message
    return message.text if message is not None and message.kind == "error" and message.where == where else None


def problems(tab: Tab, where: Where) -> list[Any]:
    """Return the same as a line to show there."""
    text = problem_at(tab, where)
    return [] if text is None else [box("banner error", html.P(text), role="alert")]
