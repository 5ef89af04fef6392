"""What a method is asked and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from semikpca_benchmarks._typing import FloatArray, IntArray

UNLABELED = -1


@dataclass(frozen=True)
class Answer:
    """A label for each row, and how sure the method is of it.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        An oracle has an answer for each setting among which the test labels choose, shape (n_settings, n_samples).
    probabilities : ndarray of shape (n_samples, n_known_classes) or None
        None where the method has none.
    classes : ndarray of shape (n_known_classes,) or None
        The classes of their columns: those among the given labels.
    """

    labels: IntArray
    probabilities: FloatArray | None = None
    classes: IntArray | None = None

    def probabilities_of(self, n_classes: int) -> FloatArray | None:
        """Return the probabilities of all classes, shape (n_samples, n_classes); 0 for those that it never saw."""
        if self.probabilities is None:
            return None
        whole = np.zeros((len(self.probabilities), n_classes))
        whole[:, self.classes] = self.probabilities
        return whole


Predictor: TypeAlias = Callable[[FloatArray, IntArray, np.random.Generator], Answer]
"""Rows, labels (-1 is unlabeled) and random numbers in, an answer out."""

Auditor: TypeAlias = Callable[[FloatArray, IntArray, np.random.Generator], FloatArray]
"""The same in; for each labeled row, in the order of the rows, how suspicious its label is."""


def transduced(model: Any) -> Answer:
    """Return the answer of a fitted model that labels the rows that it was fitted on, with probabilities."""
    return Answer(np.asarray(model.transduction_), np.asarray(model.label_distributions_), np.asarray(model.classes_))
