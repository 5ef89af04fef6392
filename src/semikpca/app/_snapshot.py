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
    """What the page shows after a change."""

    revision: int  # grows with each change
    classes: tuple[Any, ...]  # in the order of their keys
    given: IntArray  # index of each row's label in classes, -1 where none was given
    predicted: IntArray | None  # index into classes; None as long as fewer than two classes have a label
    confidence: FloatArray | None  # probability of the predicted class
    n_changed: int | None  # predictions that came out differently than before the last change
    estimate: AccuracyEstimate
    certificate: ConvexityCertificate | None
    error_weight: float | str  # as it was asked for: a share of the bound, or "middle"
    undo: str | None  # what the next step back would undo
    redo: str | None  # what the next step forward would do again
    problem: str | None  # why there are no predictions, if the model refused these labels

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
