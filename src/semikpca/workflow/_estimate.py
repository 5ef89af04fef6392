"""How often the labels are found again when each is left out, and how much that number can be relied on."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

from semikpca._typing import BoolArray, FloatArray
from semikpca.estimators import LSSVMClassifier, SemiKPCAClassifierCV
from semikpca.kernels import RBF
from semikpca.labeling import leave_one_label_out


@dataclass(frozen=True)
class AccuracyEstimate:
    """The share of left-out labels that were found again.

    Attributes
    ----------
    right, counted : int
        Labels found again, and labels that were asked for. The only label of a class is not: without it, nothing can
        vote for its class.
    share : float
        right / counted; NaN where none is counted.
    low, high : float
        The 95% interval by Wilson's rule, NaN where none is counted. It holds for rows that are drawn as the labeled
        ones were.
    """

    right: int
    counted: int
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, right: int, counted: int) -> "AccuracyEstimate":
        """Return the estimate that belongs to a count.

        Examples
        --------
        >>> estimate = AccuracyEstimate.of(9, 10)
        >>> round(estimate.low, 3), round(estimate.high, 3)
        (0.596, 0.982)
        """
        if not counted:
            return cls(0, 0, math.nan, math.nan, math.nan)
        interval = binomtest(right, counted).proportion_ci(confidence_level=0.95, method="wilson")
        return cls(right, counted, right / counted, float(interval.low), float(interval.high))

    @property
    def is_known(self) -> bool:
        """Whether a label could be left out at all."""
        return self.counted > 0


def left_out_estimate(model: Any) -> AccuracyEstimate:
    """Return how often a fitted classifier finds its labels again, each left out in turn."""
    if len(model.classes_) < 2:
        return AccuracyEstimate.of(0, 0)  # what is always right tells nothing
    left_out = leave_one_label_out(model)
    scored: BoolArray = ~left_out.is_only_label
    return AccuracyEstimate.of(int(np.sum((left_out.predictions == left_out.given)[scored])), int(scored.sum()))


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
