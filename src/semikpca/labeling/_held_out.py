"""Labeled rows as models see them that were not given their labels, and the rows such models can be judged by."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.blending import label_folds
from semikpca.estimators import DecisionClassifier, TransductiveRegressor
from semikpca.labeling._kinds import require_classes
from semikpca.labels import only_of_class

Progress: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True)
class HeldOut:
    """The labels that were drawn at random, each as a model sees it that was fitted without it.

    Attributes
    ----------
    rows : ndarray of int, shape (n_labels,)
        The labeled rows that count, ascending.
    codes : ndarray of int, shape (n_labels,)
        Their classes, as numbers.
    probabilities : ndarray of shape (n_labels, n_classes)
        By models without the label of the row, and without those of its fold.
    """

    rows: IntArray
    codes: IntArray
    probabilities: FloatArray

    @property
    def confidence(self) -> FloatArray:
        """The probability of the class that is predicted for each row."""
        return np.asarray(self.probabilities.max(axis=1))

    @property
    def is_right(self) -> BoolArray:
        """Whether the class that is predicted for each row is the given one."""
        found = self.probabilities.argmax(axis=1) == self.codes
        return np.asarray(found & (self.confidence > 0))  # all are 0 where no other label is left


def held_out(model: DecisionClassifier, drawn_rows: Any = None, *, progress: Progress | None = None) -> HeldOut:
    """Return what a model says of labeled rows whose labels it was not given.

    Where decisions are linear in the labels, every label is left out by itself, in closed form. The automatic
    classifier weighs its candidates by the labels, so that leaving one out is more than taking off its part: it is
    fitted without the labels of each of 20 folds (of each label where there are no more), with all that labels decide.
    So is Semi-KPCA with another loss than the square, by Newton steps.

    Parameters
    ----------
    model : fitted classifier
    drawn_rows : array-like of int or None, default=None
        The labeled rows that were drawn at random; None takes all but those that were suggested.
    progress : callable, optional
        Told the step, how many fits are done and how many there are, before each; an error in it ends the work.
    """
    require_classes(model, "held_out", "prediction_intervals")
    rows = drawn(model, drawn_rows)
    codes = model.label_coding_.codes[rows]
    if model.is_linear_in_labels:
        probabilities = np.asarray(model.decision_probabilities(model.left_out_decisions(rows)))
        lost = np.flatnonzero(only_of_class_in(model, rows))
        probabilities[lost, codes[lost]] = 0  # its class goes with it, and the others share the rest
        totals = probabilities[lost].sum(axis=1, keepdims=True)
        probabilities[lost] /= np.where(totals == 0, 1, totals)
        return HeldOut(rows, codes, probabilities)
    probabilities = np.zeros((len(rows), model.label_coding_.n_classes))
    for fold, without in models_without(model, rows, progress):
        probabilities[fold] = of_all_classes(model, without, without.label_distributions_[rows[fold]])
    return HeldOut(rows, codes, probabilities)


def models_without(model: Any, rows: IntArray, progress: Progress | None = None) -> Iterator[tuple[IntArray, Any]]:
    """Yield the places of the labels of each fold, and the model without them.

    The folds are those of :func:`semikpca.blending.label_folds`. Nothing comes where there is one label in all: it
    takes another to say anything.
    """
    if len(model.labeled_rows_) > 1:
        folds = label_folds(len(rows))
        for number, fold in enumerate(folds):
            if progress is not None:
                progress("Hiding labels", number, len(folds))
            yield fold, model.without_labels(rows[fold])


def drawn(model: DecisionClassifier | TransductiveRegressor, drawn_rows: Any = None) -> IntArray:
    """Return the labeled rows that count as drawn at random, ascending."""
    check_is_fitted(model)
    labeled = model.labeled_rows_
    if drawn_rows is None:
        return np.setdiff1d(labeled, model.suggested_rows_)
    rows = np.unique(np.asarray(drawn_rows))
    if rows.size and rows.dtype.kind not in "iu":
        raise ValueError(f"drawn_rows must be whole numbers, the places of labeled rows, got {drawn_rows!r}.")
    rows = rows.astype(np.intp)
    unlabeled = np.setdiff1d(rows, labeled)
    if unlabeled.size:
        raise ValueError(f"drawn_rows names row {unlabeled[0]}, which has no label; name labeled rows.")
    return rows


def nothing_drawn() -> str:
    """Return what to say where no label counts."""
    return (
        "No label was drawn at random, as far as is known, so that nothing can be promised. Name those that were with "
        "drawn_rows, or have suggest_labels(..., check_rows=m) mix in rows at random."
    )


def of_all_classes(model: DecisionClassifier, without: DecisionClassifier, probabilities: FloatArray) -> FloatArray:
    """Return probabilities by a model that lost some labels, with 0 for the classes that it lost with them."""
    kept = np.searchsorted(model.classes_, without.classes_)
    chances = np.zeros((len(probabilities), model.label_coding_.n_classes))
    chances[:, kept] = probabilities
    return chances


def only_of_class_in(model: DecisionClassifier, rows: IntArray) -> BoolArray:
    """Return which of some labeled rows have the only label of their class: without it nothing can vote for it."""
    coding = model.label_coding_
    alone = coding.labeled_rows[only_of_class(coding.codes[coding.labeled_rows])]
    return np.isin(rows, alone)
