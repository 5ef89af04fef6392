"""What a session shows: plain values that nobody writes to."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from semikpca._palette import class_places
from semikpca._typing import FloatArray, IntArray
from semikpca.convexity import ConvexityCertificate
from semikpca.workflow import AccuracyEstimate


@dataclass(frozen=True)
class Change:
    """One step of the history: labels before and after, None where there is none."""

    rows: tuple[int, ...]
    before: tuple[Any, ...]
    after: tuple[Any, ...]

    def __str__(self) -> str:
        what = f"row {self.rows[0] + 1}" if len(self.rows) == 1 else f"{len(self.rows)} rows"
        after = set(self.after)
        if after == {None}:
            return f"no label for {what}"
        return f"{next(iter(after))} for {what}" if len(after) == 1 else f"labels of {what}"


@dataclass(frozen=True)
class Snapshot:
    """What the page shows after a change.

    Attributes
    ----------
    revision : int
        Grows with each change.
    classes : tuple
        In the order of their keys.
    given : ndarray of int, shape (n_samples,)
        Index into ``classes``, -1 where no label was given.
    predicted : ndarray of int or None
        Index into ``classes``; None as long as fewer than two classes have a label.
    confidence : ndarray or None
        Probability of the predicted class.
    n_changed : int or None
        Predictions that came out differently than before the last change.
    estimate : AccuracyEstimate
    certificate : ConvexityCertificate or None
    error_weight : float or "middle"
        As it was asked for.
    undo, redo : str or None
        What the next step back, or forward, would undo or do again.
    problem : str or None
        Why there are no predictions, if the model refused these labels.
    """

    revision: int
    classes: tuple[Any, ...]
    given: IntArray
    predicted: IntArray | None
    confidence: FloatArray | None
    n_changed: int | None
    estimate: AccuracyEstimate
    certificate: ConvexityCertificate | None
    error_weight: float | str
    undo: str | None
    redo: str | None
    problem: str | None

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The place of each class in sorted order, which decides on its color here as in a report."""
        return tuple(class_places(self.classes))


@dataclass(frozen=True)
class Doubt:
    """A given label that looks wrong."""

    row: int
    given: Any
    suggested: Any
    suspicion: float


@dataclass(frozen=True)
class Advice:
    """What to do next: rows worth a label, and labels worth a second look; it takes longer than an answer."""

    revision: int
    rows: tuple[int, ...]
    doubts: tuple[Doubt, ...]
