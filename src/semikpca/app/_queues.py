"""Rows that wait for someone: seven queues, each in its order. Cheap to ask, since they are asked after every label."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from semikpca._typing import BoolArray, IntArray
from semikpca.app._readings import open_rows
from semikpca.app._session import LabelingSession
from semikpca.app._snapshot import Snapshot
from semikpca.labels import UNLABELED


@dataclass(frozen=True)
class Queue:
    """A queue in words."""

    name: str
    nothing: str  # what is said where no row is left in it


QUEUES = {
    "suggested": Queue("Suggested", "There is no row left to suggest: all have a label."),
    "doubtful": Queue(
        "Most doubtful",
        "There is no doubtful row. Rows are listed once two classes have labels, or two rows different numbers.",
    ),
    "review": Queue("To review", "There is no row to review."),
    "random": Queue("Random checks", "There is no row left to draw: all have a label."),
    "wrong": Queue("Looks wrong", "No label looks wrong."),
    "flagged": Queue("Flagged", "No row is flagged. Flag the row in view with f."),
    "file": Queue("File order, no label", "There is no row left: all have a label."),
}
_WITH_CHECKS = ("suggested", "random")  # a random check that is taken from another queue was not drawn


def queue_rows(session: LabelingSession, name: str, error_rate: float) -> IntArray:
    """Return the rows of a queue in their order.

    Suggestions take longer than an answer, so the last ones that were computed count, without rows that have a label
    by now. Should all of them have one, the most doubtful rows stand in until the next are there.
    """
    snapshot = session.snapshot()
    unlabeled = np.flatnonzero(_waits(snapshot))
    if name == "suggested":
        advice = session.known_advice() or session.advice()
        left = [row for row in advice.rows if _waits(snapshot)[row]]
        if left or not snapshot.has_predictions:
            return _rows(left) if left else unlabeled
        return queue_rows(session, "doubtful", error_rate)
    if name == "doubtful":
        return open_rows(snapshot)
    if name == "review":
        return session.to_review(error_rate)
    if name == "random":
        return _rows(session.checks())
    if name == "wrong":
        return _rows(_still_doubted(session))
    return _rows(sorted(snapshot.flagged)) if name == "flagged" else unlabeled


def queue_lengths(session: LabelingSession, error_rate: float) -> dict[str, int]:
    """Return how many rows wait in each queue."""
    snapshot, advice, accepted = session.snapshot(), session.known_advice(), session.accepted(error_rate)
    waits = _waits(snapshot)
    n_unlabeled = int(waits.sum())
    suggested = () if advice is None else advice.rows
    n_doubtful = n_unlabeled if snapshot.has_predictions else 0
    lengths = {
        "suggested": int(waits[list(suggested)].sum()),
        "doubtful": n_doubtful,
        "review": n_doubtful if accepted is None else n_doubtful - int(waits[accepted.rows].sum()),
        # One after the other, all of them can be drawn, also those that were accepted unseen.
        "random": int(np.sum(snapshot.given == UNLABELED)),
        "wrong": len(_still_doubted(session)),
        "flagged": len(snapshot.flagged),
        "file": n_unlabeled,
    }
    return {name: length for name, length in lengths.items() if name in session.queues}


def counts_as_drawn(session: LabelingSession, name: str, row: int) -> bool:
    """Whether the label of a row that was taken from a queue counts as one of a row drawn at random."""
    return name in _WITH_CHECKS and row in session.checks()


def _still_doubted(session: LabelingSession) -> list[int]:
    """Return the rows whose label looked wrong, and is still the same."""
    advice, snapshot = session.known_advice(), session.snapshot()
    if advice is None:
        return []
    return [doubt.row for doubt in advice.doubts if snapshot.label_of(doubt.row) == doubt.given]


def _waits(snapshot: Snapshot) -> BoolArray:
    """Whether each row has no label, neither given nor accepted."""
    return np.asarray((snapshot.given == UNLABELED) & (snapshot.accepted == UNLABELED))


def _rows(rows: Iterable[int]) -> IntArray:
    return np.array(list(rows), dtype=np.intp)
