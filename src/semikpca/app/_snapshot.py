"""What a session shows and advises: plain values that nobody writes to."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from semikpca._palette import class_places
from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.app._drawing import mixed
from semikpca.convexity import ConvexityCertificate
from semikpca.labeling import audit_labels
from semikpca.labels import UNLABELED
from semikpca.workflow import AccuracyEstimate, suggested_rows

CLASS = "class:"  # before the name of a class in a filter, to tell it from "with" and "without"
_SUGGESTED = 7  # beside the random checks
_ROWS_FOR_GROUPS = 5_000


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
    n_drawn: int  # labels that count as drawn at random
    certificate: ConvexityCertificate | None
    error_weight: float | str  # as it was asked for: a share of the bound, or "middle"
    undo: str | None  # what the next step back would undo
    redo: str | None  # what the next step forward would do again
    problem: str | None  # why there are no predictions, if the model refused these labels
    accepted: IntArray  # index of each row's accepted label in classes, -1 where none was accepted
    flagged: frozenset[int]

    @property
    def n_accepted(self) -> int:
        """How many rows have an accepted label."""
        return int(np.sum(self.accepted != UNLABELED))

    @property
    def has_predictions(self) -> bool:
        """Whether anything can be predicted from these labels."""
        return self.predicted is not None

    @property
    def doubt(self) -> FloatArray | None:
        """What grows with the doubt in each prediction; None without predictions."""
        return None if self.confidence is None else -self.confidence

    def label_of(self, row: int) -> Any:
        """Return the given label of a row, or None."""
        code = int(self.given[row])
        return self.classes[code] if code >= 0 else None

    def in_words(self, row: int) -> dict[str, str]:
        """Return what is known of a row, by the columns of the table beside the map."""
        given = self.label_of(row)
        known = {"given": "" if given is None else str(given), "predicted": "", "confidence": ""}
        if self.predicted is not None and self.confidence is not None:
            predicted = str(self.classes[int(self.predicted[row])])
            known |= {"predicted": predicted, "confidence": f"{self.confidence[row]:.0%}"}
        return known

    def is_predicted(self, asked: str) -> BoolArray:
        """Return which rows have the prediction that a reader filters by: a class by its name after ``CLASS``."""
        names = [f"{CLASS}{label}" for label in self.classes]
        if self.predicted is None or asked not in names:
            return np.zeros(len(self.given), dtype=bool)
        return np.asarray(self.predicted == names.index(asked))

    def order_by(self, name: str) -> FloatArray | None:
        """Return what rows are sorted by in one of these columns: numbers from 0 on, -1 for nothing; None elsewhere."""
        places = np.array([*self.places, -1], dtype=float)  # the last is that of no class
        if name == "given":
            return np.asarray(places[self.given])
        if name == "predicted" and self.predicted is not None:
            return np.asarray(places[self.predicted])
        if name == "confidence":
            return np.full(len(self.given), -1.0) if self.confidence is None else self.confidence
        return None

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The place of each class in sorted order, which decides on its color and shape here as in a report."""
        return tuple(class_places(self.classes, set(self.given.tolist())))


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
    checks: tuple[int, ...]  # those of the rows that were drawn at random
    doubts: tuple[Doubt, ...]


def advice_of(revision: int, model: Any, checks: tuple[int, ...], n_before: int) -> Advice:
    """Return the advice that belongs to a fitted model; random checks come in turn, after ``n_before`` labels."""
    suggested = suggested_rows(model, _SUGGESTED)  # as ``semikpca suggest`` does
    model.remember_suggestions((), checks)  # drawn all the same
    audit = audit_labels(model)
    columns = (audit.rows, audit.given, audit.suggested, audit.suspicion)
    doubtful = (column[audit.looks_wrong].tolist() for column in columns)
    doubts = tuple(Doubt(*doubt) for doubt in zip(*doubtful, strict=True))
    return Advice(revision, mixed(suggested.tolist(), checks, n_before), checks, doubts)


def first_advice(revision: int, X: FloatArray, unlabeled: IntArray, checks: tuple[int, ...], n_before: int) -> Advice:
    """Return rows to begin with, where nothing can be predicted yet: one from the middle of each group of rows."""
    unlabeled = np.setdiff1d(unlabeled, checks)
    if len(unlabeled) <= _SUGGESTED:
        return Advice(revision, mixed(unlabeled.tolist(), checks, n_before), checks, ())
    sample = np.sort(np.random.default_rng(0).permutation(unlabeled)[:_ROWS_FOR_GROUPS])
    groups = KMeans(_SUGGESTED, n_init=1, random_state=0).fit(X[sample])
    middles = sample[groups.transform(X[sample]).argmin(axis=0)]
    sizes = np.bincount(groups.labels_, minlength=_SUGGESTED)
    in_order = middles[np.argsort(-sizes, kind="stable")].tolist()
    return Advice(revision, mixed(list(dict.fromkeys(in_order)), checks, n_before), checks, ())
