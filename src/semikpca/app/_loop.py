"""From row to row: what comes after a label, what was skipped, and the way back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from semikpca._typing import IntArray
from semikpca.app._queues import QUEUES, counts_as_drawn, queue_rows
from semikpca.app._session import LabelingSession

if TYPE_CHECKING:
    from semikpca.app._workspace import Tab

_LONGEST_WAY_BACK = 1_000


@dataclass
class Loop:
    """Where a tab is in its queue."""

    queue: str = "suggested"
    is_running: bool = False  # whether the selected row was taken from the queue
    goes_on: bool = True  # whether the next row comes by itself after a label
    way: list[int] = field(default_factory=list)  # rows that were shown before the selected one
    skipped: dict[int, None] = field(default_factory=dict)  # rows that come last, in the order they were skipped


def take(session: LabelingSession, tab: "Tab", row: int, queue: str) -> None:
    """Select a row of a queue; after its label the next one follows."""
    _check(session, queue)
    _remember(tab)
    _show(session, tab, row, queue)


def step(session: LabelingSession, tab: "Tab", *, forward: bool, queue: str | None = None) -> None:
    """Take the row after the selected one, or that before; from elsewhere the first, or the last."""
    name = _check(session, tab.loop.queue if queue is None else queue)
    rows = _waiting(session, tab, name)
    if not len(rows):
        raise ValueError(QUEUES[name].nothing)
    place = _place(rows, tab)
    if place is None:
        place = 0 if forward else -1
    else:
        place = (place + (1 if forward else -1)) % len(rows)
    take(session, tab, int(rows[place]), name)


def skip(session: LabelingSession, tab: "Tab") -> None:
    """Put the selected row at the end of all queues and take the next one."""
    if len(tab.selected) != 1:
        return step(session, tab, forward=True)
    (row,) = tab.selected
    go_on = next_after(session, tab)
    tab.loop.skipped.pop(row, None)  # skipped once more, it goes to the end once more
    tab.loop.skipped[row] = None
    go_on()
    if tab.selected == [row]:
        raise ValueError("This is the only row of the queue.")
    return None


def back(session: LabelingSession, tab: "Tab") -> None:
    """Show the row again that was shown before."""
    if not tab.loop.way:
        raise ValueError("There is no row to go back to.")
    _show(session, tab, tab.loop.way.pop(), tab.loop.queue)


def next_after(session: LabelingSession, tab: "Tab") -> Callable[[], None]:
    """Return what takes the next row, to be asked before the selected one gets a label and called afterwards.

    A row that stood first is followed by the first of the queue as the label has left it; one further down by the row
    that stood below it.
    """
    name, selected = tab.loop.queue, tab.selected[0]
    before = _waiting(session, tab, name)
    place = _place(before, tab)
    below = before[place + 1 :] if place else before[:0]

    def go_on() -> None:
        rows = _waiting(session, tab, name)
        rows = rows[rows != selected]
        following = below[np.isin(below, rows)]
        if len(following) or len(rows):
            take(session, tab, int((following if len(following) else rows)[0]), name)

    return go_on


def _check(session: LabelingSession, queue: str) -> str:
    if queue not in session.queues:
        raise ValueError(f"There is no queue {queue!r}; there are {', '.join(session.queues)}.")
    return queue


def _waiting(session: LabelingSession, tab: "Tab", name: str) -> IntArray:
    """Return the rows of a queue, those that were skipped last."""
    rows = queue_rows(session, name, tab.error_rate)
    if not tab.loop.skipped:
        return rows
    last = np.array(list(tab.loop.skipped), dtype=np.intp)
    return np.concatenate([rows[~np.isin(rows, last)], last[np.isin(last, rows)]])


def _place(rows: IntArray, tab: "Tab") -> int | None:
    """Return where the selected row stands, if it is one of these."""
    found = np.flatnonzero(rows == tab.selected[0]) if len(tab.selected) == 1 else rows[:0]
    return int(found[0]) if len(found) else None


def _remember(tab: "Tab") -> None:
    if len(tab.selected) == 1:
        tab.loop.way.append(tab.selected[0])
        del tab.loop.way[:-_LONGEST_WAY_BACK]


def _show(session: LabelingSession, tab: "Tab", row: int, queue: str) -> None:
    tab.select([row], is_check=counts_as_drawn(session, queue, row))
    tab.loop.queue, tab.loop.is_running = queue, True
