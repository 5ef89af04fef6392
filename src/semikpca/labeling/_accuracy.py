"""How many of the predicted labels are right, by labels that the model was not given."""

import math
from dataclasses import dataclass
from typing import Any

from scipy.stats import beta

from semikpca._numbers import require_share
from semikpca.estimators import DecisionClassifier
from semikpca.labeling._held_out import held_out

_WORTH_OF_DEPENDENT = 0.7


@dataclass(frozen=True)
class AccuracyEstimate:
    """The share of labels that a model finds which was not given them, and an interval for the share of all rows.

    Attributes
    ----------
    right, counted : int
        Labels found again, and labels that were asked for.
    share : float
        right / counted; NaN where none is counted.
    low, high : float
        The interval by Clopper and Pearson, NaN where none is counted. It holds for rows that are drawn as the labeled
        ones were; labels count for as much as they are worth (:func:`worth_of_labels`).
    confidence : float
        How often such intervals contain the truth, or more often.
    """

    right: int
    counted: int
    share: float
    low: float
    high: float
    confidence: float = 0.95

    @classmethod
    def of(cls, right: int, counted: int, confidence: float = 0.95, worth: float = 1.0) -> "AccuracyEstimate":
        """Return the estimate that belongs to a count; each label is worth as many independent ones.

        Examples
        --------
        >>> estimate = AccuracyEstimate.of(9, 10)
        >>> round(estimate.low, 3), round(estimate.high, 3)
        (0.555, 0.997)
        """
        require_share("confidence", confidence)
        if not counted:
            return cls(0, 0, math.nan, math.nan, math.nan, confidence)
        tail, hits, misses = (1 - confidence) / 2, worth * right, worth * (counted - right)
        low = float(beta.ppf(tail, hits, misses + 1)) if right else 0.0
        high = float(beta.ppf(1 - tail, hits + 1, misses)) if misses else 1.0
        return cls(right, counted, right / counted, low, high, confidence)

    @property
    def is_known(self) -> bool:
        """Whether a label could be left out at all."""
        return self.counted > 0


def estimate_accuracy(
    model: DecisionClassifier, *, confidence: float = 0.95, drawn_rows: Any = None
) -> AccuracyEstimate:
    """Return how many of the predicted labels are right, estimated from the given ones.

    Parameters
    ----------
    model : fitted classifier
    confidence : float, default=0.95
    drawn_rows : array-like of int or None, default=None
        The labeled rows that were drawn at random; None takes all but those that were suggested.

    Notes
    -----
    Labels are held out of everything that they decide, the weights of candidates included:
    :func:`leave_one_label_out`, which keeps the weights, is a little too good. A model with all labels is a little
    better than those without some, so that the estimate errs on the side of caution. A label that is the only one of
    its class cannot be found again and counts as not found.
    """
    found = held_out(model, drawn_rows)
    return AccuracyEstimate.of(int(found.is_right.sum()), len(found.rows), confidence, worth_of_labels(model))


def worth_of_labels(model: DecisionClassifier) -> float:
    """Return how many independent labels a label that was left out is worth, for an interval.

    Parameters
    ----------
    model : fitted classifier

    Notes
    -----
    With m labels and u rows without one, the two shares of right predictions differ as if there were m u / (m + u)
    labels and endless rows. And labels that are left out in turn are predicted from nearly the same others, so that
    their errors come together: they are worth 0.7 of it, which was measured (docs/benchmarks.md, "Certainty").
    """
    labels = model.label_coding_
    share_unlabeled = 1 - len(labels.labeled_rows) / len(labels.codes)
    return _WORTH_OF_DEPENDENT * (share_unlabeled or 1.0)  # where all rows have a label, others are asked about
