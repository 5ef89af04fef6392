"""For each row the interval that its number is in: jackknife+ from labels that were left out."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._numbers import require_share
from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import length
from semikpca.estimators import TransductiveRegressor
from semikpca.labeling._held_out import drawn, models_without, nothing_drawn
from semikpca.labeling._kinds import require_numbers
from semikpca.labeling._promise import promise_of_folds


@dataclass(frozen=True)
class PredictionIntervals:
    """The interval that the number of each of some rows is in.

    Attributes
    ----------
    rows : ndarray of int, shape (n_rows,)
        The unlabeled training rows, or 0 … n_rows − 1 for new rows.
    low, high : ndarray of shape (n_rows,) or (n_rows, n_targets)
        Infinite where there are too few labels for the error rate.
    error_rate : float
    n_labels : int
        Labels whose left-out errors were counted.
    promised_coverage : float
        The share of rows whose number is in its interval, in expectation over labels drawn at random from the rows, as
        far as it is proved; for each target by itself. NaN for new rows, where nothing is.
    """

    rows: IntArray
    low: FloatArray
    high: FloatArray
    error_rate: float
    n_labels: int
    promised_coverage: float

    @property
    def is_informative(self) -> bool:
        """Whether there are labels enough to exclude anything: an error rate below 1 / (n_labels + 1) cannot be had."""
        return _rank(self.error_rate, self.n_labels) <= self.n_labels


def prediction_intervals(
    model: TransductiveRegressor, error_rate: float = 0.1, X: Any = None, *, drawn_rows: Any = None
) -> PredictionIntervals:
    """Return for each row the interval that its number is in.

    Parameters
    ----------
    model : fitted SemiKPCARegressor or SemiKPCARegressorCV
    error_rate : float, default=0.1
        The share of rows whose number may be outside of their interval.
    X : array-like or None, default=None
        New rows; None asks for the unlabeled training rows.
    drawn_rows : array-like of int or None, default=None
        The labeled rows that were drawn at random; None takes all but those that :func:`suggest_labels` named.

    Notes
    -----
    Jackknife+ (Barber, Candès, Ramdas and Tibshirani 2021): models without the labels of each of 20 folds (without each
    label by itself where there are no more) answer at the rows of their fold, which gives an error for each label, and
    at the row asked. The interval goes from a low quantile of these answers less the errors to a high quantile of the
    answers plus the errors. Kernels, spectra and columns are shared, and all that labels decide is decided again.

    Labels must have been drawn at random from the rows. Then a labeled row and an unlabeled one could have changed
    places, and at most twice the error rate of the numbers are outside, a little more with more labels than folds
    (theorems 1 and 4 there); what is seen is ``error_rate`` itself (docs/regression.md). New rows were not among the
    unlabeled ones, which the proof wants; what is seen is the same.

    Examples
    --------
    >>> import numpy as np
    >>> from semikpca import SemiKPCARegressor
    >>> from semikpca.labeling import prediction_intervals
    >>> X = np.linspace(0, 1, 60)[:, np.newaxis]
    >>> y = np.full(60, np.nan)
    >>> y[::3] = X[::3, 0]
    >>> found = prediction_intervals(SemiKPCARegressor().fit(X, y))
    >>> len(found.rows), found.promised_coverage
    (40, 0.8)
    """
    require_share("error_rate", error_rate)
    require_numbers(model, "prediction_intervals", "prediction_sets")
    rows = drawn(model, drawn_rows)
    if not len(rows):
        raise ValueError(nothing_drawn())
    asked = model.unlabeled_rows_ if X is None else np.arange(length(X))
    targets = model.targets_
    answers = np.full((len(rows), len(asked), targets.n_targets), np.nan)
    errors = np.full((len(rows), targets.n_targets), np.nan)
    for fold, without in models_without(model, rows):
        everywhere = without.transduction_.reshape(targets.values.shape)
        errors[fold] = np.abs(targets.values[rows[fold]] - everywhere[rows[fold]])
        answers[fold] = everywhere[asked] if X is None else without.predict(X).reshape(len(asked), -1)
    low, high = jackknife_plus(answers, errors, error_rate)
    promised = float("nan") if X is not None else promise_of_folds(error_rate, len(rows))
    return PredictionIntervals(asked, targets.shaped(low), targets.shaped(high), error_rate, len(rows), promised)


def jackknife_plus(answers: FloatArray, errors: FloatArray, error_rate: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the intervals from answers and errors of models without each label.

    ``answers`` have shape (n_labels, n_rows, n_targets), ``errors`` (n_labels, n_targets); NaN where there is no model.
    """
    n, rank = len(errors), _rank(error_rate, len(errors))
    if rank > n or np.isnan(errors).any():
        return np.full(answers.shape[1:], -np.inf), np.full(answers.shape[1:], np.inf)
    beside = errors[:, np.newaxis]
    high = np.partition(answers + beside, rank - 1, axis=0)[rank - 1]
    low = np.partition(answers - beside, n - rank, axis=0)[n - rank]
    return low, high


def _rank(error_rate: float, n_labels: int) -> int:
    """Return which of the sorted values is the upper end: ⌈(1 − error_rate) (n_labels + 1)⌉."""
    # 0.9 · 10 is 9, and must not become 10 by rounding.
    return int(np.ceil((1 - error_rate) * (n_labels + 1) * (1 - 4 * np.finfo(float).eps)))
