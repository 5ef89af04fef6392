"""Which predicted labels can be accepted unseen, so that few of them are wrong."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from semikpca._numbers import require_share
from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import to_numpy
from semikpca.estimators import DecisionClassifier
from semikpca.labeling._held_out import HeldOut, Progress, held_out
from semikpca.labels import UNLABELED

# Where there are so many times the labels that are needed at least, half of the doubt is spent on a list that begins
# with half of the labels: one wrong label among the surest then does not end all.
_ENOUGH_FOR_TWO = 3
_LIKELY_SHARE = 0.8  # of the error rate: errors that are hoped for where more labels are asked for
_MOST_LABELS = 100_000


@dataclass(frozen=True)
class AcceptedLabels:
    """Predicted labels that can be accepted unseen.

    Attributes
    ----------
    rows : ndarray of int
        Unlabeled rows whose predicted label can be accepted, surest first; none where nothing can be promised.
    labels : ndarray
        Their predicted labels.
    error_rate : float
        At most this share of them is wrong,
    confidence : float
        with this probability, over labels drawn at random from the rows.
    threshold : float
        The probability of the predicted class from which on labels are accepted; infinity where none are.
    n_labels : int
        Labels drawn at random, which the promise rests on.
    n_labels_needed : int or None
        Where nothing can be promised, how many more labels, drawn at random, would be needed; an estimate. None where
        there is a threshold, also if no row is as sure as that.
    n_unlabeled : int
        Rows that a label was predicted for.
    """

    rows: IntArray
    labels: npt.NDArray[Any]
    error_rate: float
    confidence: float
    threshold: float
    n_labels: int
    n_labels_needed: int | None
    n_unlabeled: int


@dataclass(frozen=True)
class Acceptance:
    """What is known of a model for promises at any error rate.

    Attributes
    ----------
    found : HeldOut
        The labels that were drawn at random, by models that were not given them.
    rows : ndarray of int
        The unlabeled rows, surest first.
    probabilities : ndarray
        Of the predicted class of each of them.
    labels : ndarray
    """

    found: HeldOut
    rows: IntArray
    probabilities: FloatArray
    labels: npt.NDArray[Any]

    @classmethod
    def of(
        cls,
        model: DecisionClassifier,
        drawn_rows: Any = None,
        *,
        progress: Progress | None = None,
    ) -> "Acceptance":
        """Return what a fitted model can be held to; ``progress`` is that of :func:`held_out`."""
        found = held_out(model, drawn_rows, progress=progress)
        unlabeled = np.flatnonzero(model.label_coding_.codes == UNLABELED)
        chances = to_numpy(model.label_distributions_)[unlabeled]
        order = np.argsort(-chances.max(axis=1), kind="stable")
        labels = model.label_coding_.decode(chances.argmax(axis=1))
        return cls(found, unlabeled[order], chances.max(axis=1)[order], labels[order])

    def accepted(self, error_rate: float = 0.05, confidence: float = 0.9) -> AcceptedLabels:
        """Return the labels that can be accepted."""
        threshold = self._threshold(error_rate, confidence)
        n_accepted = int(np.sum(self.probabilities >= threshold))
        needed = None if np.isfinite(threshold) else self._labels_needed(error_rate, confidence)
        return AcceptedLabels(
            rows=self.rows[:n_accepted],
            labels=self.labels[:n_accepted],
            error_rate=error_rate,
            confidence=confidence,
            threshold=threshold,
            n_labels=len(self.found.rows),
            n_labels_needed=needed,
            n_unlabeled=len(self.rows),
        )

    def shares(self, error_rates: FloatArray, confidence: float = 0.9) -> FloatArray:
        """Return the share of the unlabeled rows that can be accepted at each error rate."""
        accepted = [np.sum(self.probabilities >= self._threshold(rate, confidence)) for rate in error_rates]
        return np.array(accepted, dtype=float) / max(1, len(self.rows))

    @cached_property
    def _by_confidence(self) -> tuple[FloatArray, IntArray]:
        """The probabilities of the labels' predicted classes, falling, and how many are wrong down to each."""
        order = np.argsort(-self.found.confidence, kind="stable")
        return self.found.confidence[order], np.cumsum(~self.found.is_right[order])

    def _threshold(self, error_rate: float, confidence: float) -> float:
        """Return the smallest probability from which on labels are accepted: one or two fixed sequences of tests.

        At each place in the order of their confidence the labels so far are tested: would as few be wrong, if more than
        ``error_rate`` of all such rows were? A sequence ends with the first place where that is not unlikely enough,
        and since its order does not depend on which labels are right, its tests need no correction for their number.
        """
        require_share("error_rate", error_rate)
        require_share("confidence", confidence)
        probabilities, n_wrong = self._by_confidence
        doubt = 1 - confidence
        starts = [(labels_needed(error_rate, doubt), doubt)]
        if len(probabilities) >= _ENOUGH_FOR_TWO * labels_needed(error_rate, doubt / 2):
            first = labels_needed(error_rate, doubt / 2)
            starts = [(first, doubt / 2), (max(first, len(probabilities) // 2), doubt / 2)]
        best = np.inf
        for start, spent in starts:
            # A threshold lets in all labels of its confidence, so that they are tested together.
            places = np.flatnonzero(np.append(np.diff(probabilities) < 0, len(probabilities) > 0)) + 1
            places = places[places >= start]
            unlikely = binom.cdf(n_wrong[places - 1], places, error_rate) <= spent
            n_passed = int(np.argmin(unlikely)) if not unlikely.all() else len(places)
            if n_passed:
                best = min(best, float(probabilities[places[n_passed - 1] - 1]))
        return best

    def _labels_needed(self, error_rate: float, confidence: float) -> int:
        """Return how many more labels would be needed, if errors among the surest half stay as they are, or fewer."""
        n_labels, doubt = len(self.found.rows), 1 - confidence
        half = max(1, n_labels // 2)
        n_wrong = self._by_confidence[1][half - 1] if n_labels else 0
        rate = min((n_wrong + 0.5) / (half + 1), _LIKELY_SHARE * error_rate)
        sizes = np.unique(np.geomspace(labels_needed(error_rate, doubt), _MOST_LABELS, 500).astype(int))
        enough = binom.cdf(np.floor(rate * sizes), sizes, error_rate) <= doubt
        # Of all labels those of the surest half are tested.
        wanted = int(sizes[np.argmax(enough)]) if enough.any() else _MOST_LABELS
        return max(1, (wanted if n_wrong == 0 else 2 * wanted) - n_labels)


def accept_labels(
    model: DecisionClassifier, error_rate: float = 0.05, confidence: float = 0.9, *, drawn_rows: Any = None
) -> AcceptedLabels:
    """Return the predicted labels that can be accepted unseen, so that at most ``error_rate`` of them are wrong.

    Parameters
    ----------
    model : fitted SemiKPCAClassifierCV, SemiKPCAClassifier or SemiLSSVMClassifier
    error_rate : float, default=0.05
    confidence : float, default=0.9
        How sure the promise is.
    drawn_rows : array-like of int or None, default=None
        The labeled rows that were drawn at random; None takes all but those that :func:`suggest_labels` named.

    Notes
    -----
    Labels must have been drawn at random from the rows. Each is predicted by a model that was not given it, and labels
    are accepted down to the confidence at which so few wrong ones would be unlikely if more than ``error_rate`` of all
    such rows were wrong: Clopper and Pearson's bound along a fixed sequence of thresholds (Angelopoulos, Bates, Candès,
    Jordan and Lei 2021, "Learn then test"). That left-out labels are independent is not quite true; docs/accepting.md
    has how often the promise was kept.

    It takes log(1 − confidence) / log(1 − error_rate) labels, all right, to promise anything: 45 for 5% with 90%.
    """
    return Acceptance.of(model, drawn_rows).accepted(error_rate, confidence)


def labels_needed(error_rate: float, doubt: float) -> int:
    """Return how many labels, all of them right, it takes to promise an error rate.

    Parameters
    ----------
    error_rate : float
        The share of accepted labels that may be wrong, between 0 and 1.
    doubt : float
        How often the promise may fail: one minus its confidence.

    Examples
    --------
    >>> labels_needed(0.05, 0.1)
    45
    """
    return int(np.ceil(np.log(doubt) / np.log1p(-error_rate)))
