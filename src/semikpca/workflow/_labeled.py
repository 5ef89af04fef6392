"""A table with labels for all of its rows, and what is known of them: above all, how often they are found again."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.estimators import LSSVMClassifier, SemiKPCAClassifierCV
from semikpca.kernels import RBF
from semikpca.labeling import (
    Acceptance,
    AcceptedLabels,
    AccuracyEstimate,
    LabelAudit,
    audit_labels,
    leave_one_label_out,
    worth_of_labels,
)
from semikpca.labels import only_of_class
from semikpca.tables import label_columns
from semikpca.workflow._filled import FilledTable
from semikpca.workflow._rows import shortened
from semikpca.workflow._suggestions import suggested_rows


def left_out_estimate(model: Any) -> AccuracyEstimate:
    """Return how often a fitted classifier finds its labels again, each left out in turn, with no fit more.

    The only label of a class is not asked for: without it, nothing can vote for its class. Of the automatic classifier
    this is a little too good, because all labels took part in the weights of its blend; see
    :attr:`LabeledTable.estimate`.
    """
    if len(model.classes_) < 2:
        return AccuracyEstimate.of(0, 0)  # what is always right tells nothing
    left_out = leave_one_label_out(model)
    scored: BoolArray = ~left_out.is_only_label
    right = int(np.sum((left_out.predictions == left_out.given)[scored]))
    return AccuracyEstimate.of(right, int(scored.sum()), worth=worth_of_labels(model))


def labels_alone_estimate(X: FloatArray, labels: npt.NDArray[Any], model: SemiKPCAClassifierCV) -> AccuracyEstimate:
    """Return the same for LS-SVM on the rows that are labeled in a model, with the median bandwidth of all rows."""
    rows = model.label_coding_.labeled_rows
    if model.label_coding_.n_classes < 2:
        return AccuracyEstimate.of(0, 0)
    try:
        gamma = RBF(gamma="median").fit(X).gamma_
    except ValueError:
        return AccuracyEstimate.of(0, 0)  # most rows are equal: there is no scale to compare rows by
    baseline: Any = LSSVMClassifier
    return left_out_estimate(baseline(RBF(gamma=gamma)).fit(X[rows], labels[rows].tolist()))


@dataclass(frozen=True)
class LabeledTable(FilledTable):
    """A table, the classifier that was fitted to it, and everything that is read off the two."""

    @property
    def given(self) -> npt.NDArray[Any]:
        """The given label of each row, None where there is none, shape (n_rows,)."""
        labels = np.full(len(self.X), None, dtype=object)
        labels[self.is_given] = self.model.label_coding_.decode(self._codes[self.is_given]).tolist()
        return labels

    @property
    def is_given(self) -> BoolArray:
        """Whether each row has a label of the user's, shape (n_rows,)."""
        return np.asarray(self._codes >= 0)

    @cached_property
    def predicted(self) -> npt.NDArray[Any]:
        """What the classifier calls each row, shape (n_rows,); rows with a label of their own are no exception."""
        return np.array(self.model.label_coding_.decode(self.predicted_codes).tolist(), dtype=object)

    @cached_property
    def predicted_codes(self) -> IntArray:
        """The predicted labels as places among the classes of the model, shape (n_rows,)."""
        return np.asarray(self.model.decision_codes(self.decision))

    @cached_property
    def confidence(self) -> FloatArray:
        """Probability of the predicted label, shape (n_rows,)."""
        chances = np.asarray(self.model.decision_probabilities(self.decision))
        return np.asarray(chances[np.arange(len(chances)), self.predicted_codes])

    @cached_property
    def decision(self) -> FloatArray:
        """What labels and probabilities are read off; 0, which says nothing, where a row has nothing to go by."""
        return hidden(np.asarray(self.model.decision_), self._empty)

    @property
    def _codes(self) -> IntArray:
        return np.asarray(self.model.label_coding_.codes)

    @cached_property
    def audit(self) -> LabelAudit:
        """The given labels, most suspicious first."""
        audit: LabelAudit = audit_labels(self.model)
        return audit

    @cached_property
    def looks_wrong(self) -> BoolArray:
        """Whether the given label of each row looks wrong, shape (n_rows,); see :class:`LabelAudit`."""
        flags = np.zeros(len(self.X), dtype=bool)
        flags[self.audit.rows] = self.audit.looks_wrong
        return flags

    @cached_property
    def acceptance(self) -> Acceptance:
        """What the model says of labels that it was not given: how far its own can be accepted unseen."""
        return Acceptance.of(self.model, self.drawn)

    @cached_property
    def estimate(self) -> AccuracyEstimate:
        """How often labels are found again by a model that was fitted without them.

        The only label of a class is not asked for: without it, nothing can vote for its class.
        """
        if len(self.model.classes_) < 2:
            return AccuracyEstimate.of(0, 0)  # what is always right tells nothing
        found = self.acceptance.found
        rows = np.flatnonzero(self.is_given)
        asked: BoolArray = ~np.isin(found.rows, rows[only_of_class(self._codes[rows])])
        right, counted = int(found.is_right[asked].sum()), int(asked.sum())
        return AccuracyEstimate.of(right, counted, worth=worth_of_labels(self.model))

    def accepted(self, share_right: float, confidence: float = 0.9) -> AcceptedLabels:
        """Return the predicted labels that can be accepted unseen, so that this share of them is right, or more."""
        return self.acceptance.accepted(1 - share_right, confidence)

    def is_accepted(self, accepted: AcceptedLabels) -> BoolArray:
        """Return whether the predicted label of each row is accepted, shape (n_rows,); never that of an empty row."""
        flags = np.zeros(len(self.X), dtype=bool)
        flags[accepted.rows] = True
        flags[self._empty] = False
        return flags

    def to_review(self, accepted: AcceptedLabels) -> IntArray:
        """Return the rows that have no label and whose predicted one is not accepted, most doubtful first."""
        rows = np.flatnonzero(~self.is_given & ~self.is_accepted(accepted))
        return rows[np.argsort(self.confidence[rows], kind="stable")]

    @cached_property
    def baseline(self) -> AccuracyEstimate:
        """The same for LS-SVM on the labeled rows alone."""
        return labels_alone_estimate(self.X, self.given, self.model)

    def suggestions(self, n: int = 10, check_rows: int = 0) -> IntArray:
        """Return numbers of rows to label next, as the page suggests them; the last ones drawn at random."""
        return suggested_rows(self.model, n, check_rows=check_rows, random_state=self.options.random_state)

    def nearest_labeled(self, row: int, label: Any, n: int = 3) -> IntArray:
        """Return the rows with a given label that are nearest to a row, nearest first; the row itself is not one."""
        rows = np.flatnonzero((self.given == label) & (np.arange(len(self.X)) != row))
        distances = np.linalg.norm(self.X[rows] - self.X[row], axis=1)
        return rows[np.argsort(distances, kind="stable")[:n]]

    def in_brief(self, rows: IntArray) -> dict[str, list[str]]:
        """Return what is predicted for some rows and how sure it is, in words, by titles of columns."""
        return {
            "Looks like": [shortened(self.predicted[row], 30) for row in rows],
            "Confidence": [f"{self.confidence[row]:.2f}" for row in rows],
        }

    def to_frame(self, *, labels_only: bool = False, accepted: AcceptedLabels | None = None) -> pd.DataFrame:
        """Return the table as it was, or the ids or places of its rows, with four columns more, or five.

        Those of an earlier run go. Of an array there are the numbers of its rows alone.
        """
        is_accepted = None if accepted is None else self.is_accepted(accepted)
        added = label_columns(self.predicted, self.confidence, self.is_given, self.looks_wrong, is_accepted)
        return self.with_added(added, labels_only=labels_only)

    def _predictions(self) -> dict[str, Any]:
        return label_columns(self.predicted, self.confidence)


def audit_frame(labeled: LabeledTable, *, n_nearest: int = 3) -> pd.DataFrame:
    """Return the given labels, most suspicious first, with what speaks against each.

    Returns
    -------
    DataFrame
        ``row`` (from 0), ``given``, ``suggested`` (what the other labels call the row), ``suspicion`` (the probability
        that the label is wrong; NaN where the others know nothing of it), ``suggested_probability``, ``looks_wrong``,
        and ``nearest``: numbers of the rows with the suggested label that are nearest, a tuple.
    """
    audit = labeled.audit
    frame: pd.DataFrame = audit.to_frame()  # type: ignore[no-untyped-call]  # labeling has no types
    frame["suggested_probability"] = audit.suggested_probability
    frame["looks_wrong"] = labeled.looks_wrong[audit.rows]
    frame["nearest"] = [
        tuple(int(near) for near in labeled.nearest_labeled(int(row), label, n_nearest))
        for row, label in zip(audit.rows, audit.suggested, strict=True)
    ]
    return frame[["row", "given", "suggested", "suspicion", "suggested_probability", "looks_wrong", "nearest"]]


def hidden(decision: FloatArray, rows: IntArray) -> FloatArray:
    """Return decisions with 0 at some rows: the commonest label, with its share as confidence, is read off there."""
    if not len(rows):
        return decision
    decision = decision.copy()
    decision[rows] = 0
    return decision
