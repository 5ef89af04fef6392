"""For each row the interval that its number is in: jackknife+ from labels that were left out."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._numbers import require_share
from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import length
from semikpca.estimators import TransductiveRegressor
from semikpca.labeling._held_out import drawn, nothing_drawn
from semikpca.labeling._held_out_values import held_out_values, rank_of
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
        return rank_of(self.error_rate, self.n_labels) <= self.n_labels


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
    found = held_out_values(model, rows, X)
    asked = model.unlabeled_rows_ if X is None else np.arange(length(X))
    low, high = found.intervals(error_rate, asked)
    promised = float("nan") if X is not None else promise_of_folds(error_rate, len(rows))
    shaped = model.targets_.shaped
    return PredictionIntervals(asked, shaped(low), shaped(high), error_rate, len(rows), promised)
