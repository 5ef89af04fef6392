"""Given numbers as models see them that were not given them: errors, and the intervals that follow from these."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import length
from semikpca.estimators import TransductiveRegressor
from semikpca.labeling._held_out import Progress, drawn, models_without
from semikpca.labeling._kinds import require_numbers

_NUMBERS_AT_ONCE = 2**22  # answers that are sorted at once


@dataclass(frozen=True)
class HeldOutValues:
    """The numbers that were drawn at random, each as a model says it that was fitted without it.

    Attributes
    ----------
    rows : ndarray of int, shape (n_labels,)
        The labeled rows that count, ascending.
    given, predictions : ndarray of shape (n_labels, n_targets)
        Predictions are NaN where there is no other label.
    fold : ndarray of int, shape (n_labels,)
        The model that each prediction comes from.
    answers : ndarray of shape (n_folds, n_rows, n_targets)
        What each of these models says of all training rows, or of new ones.
    """

    rows: IntArray
    given: FloatArray
    predictions: FloatArray
    fold: IntArray
    answers: FloatArray

    @property
    def errors(self) -> FloatArray:
        """Absolute errors, shape (n_labels, n_targets)."""
        return np.asarray(np.abs(self.given - self.predictions))

    def intervals(self, error_rate: float, rows: IntArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the jackknife+ intervals at all rows of ``answers``, or at some, shape (n, n_targets)."""
        answers = self.answers if rows is None else self.answers[:, rows]
        low, high = np.empty((2, *answers.shape[1:]))
        step = max(1, _NUMBERS_AT_ONCE // max(1, len(self.rows)))
        for start in range(0, answers.shape[1], step):
            part = slice(start, start + step)
            low[part], high[part] = jackknife_plus(answers[self.fold, part], self.errors, error_rate)
        return low, high

    def reach(self, error_rate: float) -> FloatArray:
        """Return how far from its prediction a number of a new row is at most, shape (n_targets,); see ``intervals``.

        The same rank among the errors, without what models without each label say of the row.
        """
        return np.array([reach_of(errors, error_rate) for errors in self.errors.T])

    def own_intervals(self, error_rate: float) -> tuple[FloatArray, FloatArray]:
        """Return for each number that was held out the interval that the errors of the others make for it.

        It reaches from its prediction as far to both sides as so many errors of the other numbers do. What part of
        the numbers is inside is close to 1 − ``error_rate`` however good the model is; it shows how far they are off.
        """
        n = len(self.rows)
        rank = rank_of(error_rate, n - 1)
        if n < 2 or rank > n - 1:
            reach = np.full(self.errors.shape, np.inf)
        else:
            # Among the others, the one of this rank: the next larger where its own error is one of the smaller ones.
            ordered = np.sort(self.errors, axis=0)
            reach = np.where(self.errors <= ordered[rank - 1], ordered[rank], ordered[rank - 1])
        return self.predictions - reach, self.predictions + reach


def held_out_values(
    model: TransductiveRegressor, drawn_rows: Any = None, X: Any = None, *, progress: Progress | None = None
) -> HeldOutValues:
    """Return what a model says of labeled rows whose numbers it was not given, and of all rows without them.

    Models without the labels of each of 20 folds (without each label by itself where there are no more) answer.

    Parameters
    ----------
    model : fitted SemiKPCARegressor or SemiKPCARegressorCV
    drawn_rows : array-like of int or None, default=None
        The labeled rows that were drawn at random; None takes all but those that were suggested.
    X : array-like or None, default=None
        New rows to answer at; None asks for all training rows.
    progress : callable, optional
        Told the step, how many fits are done and how many there are, before each.
    """
    require_numbers(model, "held_out_values", "held_out")
    rows = drawn(model, drawn_rows)
    targets = model.targets_
    given = targets.values[rows]
    predictions = np.full(given.shape, np.nan)
    number = np.zeros(len(rows), dtype=np.intp)
    n_asked = len(targets.values) if X is None else length(X)
    answers: list[FloatArray] = []
    for fold, without in models_without(model, rows, progress):
        everywhere = without.transduction_.reshape(targets.values.shape)
        predictions[fold], number[fold] = everywhere[rows[fold]], len(answers)
        answers.append(everywhere if X is None else without.predict(X).reshape(n_asked, -1))
    if not answers:  # one label is all there is
        answers.append(np.full((n_asked, targets.n_targets), np.nan))
    return HeldOutValues(rows, given, predictions, number, np.array(answers))


def jackknife_plus(answers: FloatArray, errors: FloatArray, error_rate: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the intervals from answers and errors of models without each label.

    ``answers`` have shape (n_labels, n_rows, n_targets), ``errors`` (n_labels, n_targets); NaN where there is no model.
    """
    n, rank = len(errors), rank_of(error_rate, len(errors))
    if rank > n or np.isnan(errors).any():
        return np.full(answers.shape[1:], -np.inf), np.full(answers.shape[1:], np.inf)
    beside = errors[:, np.newaxis]
    high = np.partition(answers + beside, rank - 1, axis=0)[rank - 1]
    low = np.partition(answers - beside, n - rank, axis=0)[n - rank]
    return low, high


def reach_of(errors: FloatArray, error_rate: float) -> float:
    """Return how far a number is from its prediction at most, but for a share ``error_rate`` of all numbers.

    ``errors`` are absolute errors at other numbers, shape (n_labels,); infinite where they are too few.

    Examples
    --------
    >>> reach_of(np.arange(1.0, 20.0), 0.1), reach_of(np.array([1.0, 2.0]), 0.1)
    (18.0, inf)
    """
    rank = rank_of(error_rate, len(errors))
    return float("inf") if rank > len(errors) or np.isnan(errors).any() else float(np.sort(errors)[rank - 1])


def rank_of(error_rate: float, n_labels: int) -> int:
    """Return which of the sorted values is the upper end: ⌈(1 − error_rate) (n_labels + 1)⌉."""
    # 0.9 · 10 is 9, and must not become 10 by rounding.
    return int(np.ceil((1 - error_rate) * (n_labels + 1) * (1 - 4 * np.finfo(float).eps)))
