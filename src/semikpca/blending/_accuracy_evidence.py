"""How many of the predicted labels will be right: by labels that were left out, and by how much candidates agree.

A blend whose candidates contradict each other is right less often than one whose candidates all say the same, and one
that follows the neighborhoods of the rows more often than one that cuts through them. With one label a class nothing
else is known. The constants are those that predict the accuracy best on the data sets that defaults may be tuned on
(docs/decisions/0028 names them, and the command).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from semikpca._typing import FloatArray, IntArray
from semikpca.labels import only_of_class

# The log-odds of a right label beyond chance.
_AT_FIRST = -4.0
_OF_CONSENSUS = 1.0  # times −log(1 − consensus)
_OF_AGREEMENT = 2.3
_OF_CLASSES = 0.4  # times log(number of classes): candidates rarely agree by chance where classes are many
_MOST_CONSENSUS = 0.995
_WORTH = 30.0  # left-out labels that this is worth
_STILL_TO_LEARN = 0.7  # of the errors that one label a class less makes, the share that this label mends


@dataclass(frozen=True)
class AccuracyEvidence:
    """What is known of how often a blend is right."""

    consensus: float  # the share of rows that candidates label as the blend does, on the mean by their weights
    agreement: float  # of the blend's labels with the neighborhoods of the rows
    n_classes: int
    labels_a_class: float
    left_out_accuracy: float  # the share of left-out labels that are found again, by the rows that they stand for
    n_left_out: float  # labels that this is worth

    @property
    def expected_accuracy(self) -> float:
        """The share of the predicted labels that is expected to be right."""
        log_odds = (
            _AT_FIRST
            - _OF_CONSENSUS * np.log(1 - min(self.consensus, _MOST_CONSENSUS))
            + _OF_AGREEMENT * self.agreement
            + _OF_CLASSES * np.log(self.n_classes)
        )
        chance = 1 / self.n_classes
        by_structure = chance + (1 - chance) * float(expit(log_odds))
        # A label is left out of a fit that had one label less.
        errors = (1 - self.left_out_accuracy) * (1 - _STILL_TO_LEARN / max(1.0, self.labels_a_class))
        return (_WORTH * by_structure + self.n_left_out * (1 - errors)) / (_WORTH + self.n_left_out)


def accuracy_by_left_out(left_out: FloatArray, given: IntArray, shares: FloatArray) -> tuple[float, float]:
    """Return the share of left-out labels that are found again, and how many labels that is worth.

    A label stands for the rows of its class: each class counts by its share among the predicted labels, so that giving
    as many labels of each class does not take the classes for equal. Labels alone in their class are passed over.
    """
    counted = ~only_of_class(given)
    counts = np.bincount(given, minlength=len(shares))
    weights = np.where(counted, shares[given] / counts[given], 0.0)
    if not weights.sum() > 0:
        return 0.0, 0.0
    found = left_out.argmax(axis=1) == given
    return float(weights @ found / weights.sum()), float(weights.sum() ** 2 / (weights @ weights))
