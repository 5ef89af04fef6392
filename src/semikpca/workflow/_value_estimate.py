"""How far predicted numbers are off, by those that were left out: of the model, and of the labels alone."""

import math
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import RidgeCV

from semikpca._typing import FloatArray, IntArray
from semikpca.blending import label_folds
from semikpca.kernels import RBF

# Levels of noise to choose from, in units of the variance of the kernel.
_NOISE = (0.001, 0.01, 0.1, 1.0, 10.0)
_DIGITS_OF_AN_ERROR = 3  # that count: the others say nothing about a number that is off by so much


@dataclass(frozen=True)
class ValueEstimate:
    """Errors at numbers that models were not given, in the unit of the column.

    Attributes
    ----------
    counted : int
        How many numbers were left out.
    root_mean_square, median_absolute : float
        Of the errors; NaN where nothing is known.
    share_of_variance : float
        1 less the mean squared error in units of the variance of these numbers (R²): 0 where their mean is as good,
        and less where it is better.
    """

    counted: int
    root_mean_square: float
    median_absolute: float
    share_of_variance: float

    @classmethod
    def of(cls, given: FloatArray, predicted: FloatArray) -> "ValueEstimate":
        """Return the estimate from numbers and their predictions; those without a prediction do not count.

        Examples
        --------
        >>> ValueEstimate.of(np.array([1.0, 2.0, 6.0]), np.array([1.0, 3.0, 4.0])).median_absolute
        1.0
        """
        known = ~np.isnan(predicted)
        given, missed = given[known], (given - predicted)[known]
        if len(given) < 2:
            return cls(len(given), math.nan, math.nan, math.nan)
        square, variance = float(np.mean(missed**2)), float(np.var(given))
        explained = 1 - square / variance if variance > 0 else math.nan
        return cls(len(given), math.sqrt(square), float(np.median(np.abs(missed))), explained)

    @property
    def is_known(self) -> bool:
        """Whether two numbers or more could be left out."""
        return not math.isnan(self.root_mean_square)


def labels_alone_values(X: FloatArray, values: FloatArray, asked: IntArray) -> FloatArray:
    """Return what LS-SVM on the labeled rows alone says of some of them without their numbers, in the model's folds.

    ``X`` are all rows, whose median distance is the bandwidth, ``values`` their numbers, NaN where there is none. The
    level of noise is chosen anew without each fold, by leaving out one number after the other. NaN where most rows are
    equal, so that there is no distance to compare rows by.
    """
    found = np.full(len(asked), np.nan)
    rows = np.flatnonzero(~np.isnan(values))
    try:
        kernel = RBF(gamma="median").fit(X)
    except ValueError:
        return found
    if len(rows) < 3:
        return found
    # Ridge regression on features whose inner products are the kernel is LS-SVM with its bias.
    eigenvalues, vectors = np.linalg.eigh(kernel.pairwise(X[rows], X[rows]).astype(np.float64))
    features = vectors * np.sqrt(np.maximum(eigenvalues, 0))
    places = np.searchsorted(rows, asked)
    for fold in label_folds(len(asked)):
        others = np.setdiff1d(np.arange(len(rows)), places[fold])
        ridge = RidgeCV(alphas=_NOISE).fit(features[others], values[rows[others]])
        found[fold] = ridge.predict(features[places[fold]])
    return found


def decimals_for(estimate: ValueEstimate, values: FloatArray) -> int:
    """Return how many decimals of predicted numbers are worth writing: three digits of their error, none before it.

    Examples
    --------
    >>> decimals_for(ValueEstimate(9, 340.0, 200.0, 0.5), np.array([1000.0])), decimals_for(
    ...     ValueEstimate(9, 0.02, 0.01, 0.5), np.array([1.0]))
    (0, 4)
    """
    size = estimate.root_mean_square if estimate.is_known else 0.0
    if not size > 0:
        size = 1e-3 * float(np.ptp(values)) or 1e-3 * float(np.abs(values).max()) or 1.0
    return max(0, _DIGITS_OF_AN_ERROR - 1 - math.floor(math.log10(size)))


def amount(value: float, decimals: int) -> str:
    """Return a number as a reader writes it, with so many decimals.

    Examples
    --------
    >>> amount(1234.56, 1), amount(-0.04, 1), amount(2.5e9, 0)
    ('1,234.6', '0', '2,500,000,000')
    """
    if not math.isfinite(value):
        return "–"
    if abs(value) >= 1e15 or decimals > 12:
        return f"{value:.6g}"
    text = f"{value:,.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text
