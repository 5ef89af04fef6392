"""Which rows the labels reach."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.labels import UNLABELED


@dataclass(frozen=True)
class Reach:
    """The training rows that are connected with a label, and those that are not.

    A decision of a row out of reach comes from labels that have nothing to do with it; it is set to exactly 0, which
    stands for "nothing is known": see ``DecisionClassifier.decision_probabilities``.
    """

    components: IntArray | None  # the connected component of each training row; None where all are connected
    out: BoolArray  # True where no label is in the row's component

    @classmethod
    def of(cls, components: IntArray | None, codes: IntArray) -> "Reach":
        """Return what the labels among ``codes`` reach."""
        if components is None:
            return cls(None, np.zeros(len(codes), dtype=bool))
        return cls(components, ~np.isin(components, components[codes != UNLABELED]))

    def hide(self, decision: FloatArray) -> FloatArray:
        """Return the decisions of all training rows with 0 where they are out of reach."""
        if not self.out.any():
            return decision
        hidden = decision.copy()
        hidden[self.out] = 0
        return hidden

    def reached(self, decision: FloatArray) -> FloatArray:
        """Return the decisions of the rows that a label reaches; all of them, also of a sample, where none is out."""
        return decision[~self.out] if self.out.any() else decision

    def with_label_at(self, row: int) -> "Reach":
        """Return what is reached when ``row`` has a label as well."""
        if self.components is None or not self.out[row]:
            return self
        return Reach(self.components, self.out & (self.components != self.components[row]))

    def alone(self, rows: IntArray, codes: IntArray) -> BoolArray:
        """Return for each labeled row whether it is out of reach of all other labels."""
        if self.components is None:
            return np.zeros(len(rows), dtype=bool)
        labels = np.bincount(self.components[codes != UNLABELED], minlength=int(self.components.max()) + 1)
        return np.asarray(labels[self.components[rows]] == 1)


def joined_components(components: list[IntArray | None]) -> IntArray | None:
    """Return the pieces that rows fall into when links of all graphs count; None where one kernel links all rows."""
    known = [numbers for numbers in components if numbers is not None]
    if len(known) < len(components):
        return None
    n = len(known[0])
    starts = n + np.cumsum([0, *(int(numbers.max()) + 1 for numbers in known)])
    # A node for each row and for each piece of each graph; a row is linked with the pieces that it is in.
    pieces = np.concatenate([numbers + start for numbers, start in zip(known, starts, strict=False)])
    rows = np.tile(np.arange(n), len(known))
    links = sparse.coo_array((np.ones(len(pieces)), (rows, pieces)), shape=(starts[-1], starts[-1]))
    return np.asarray(connected_components(links, directed=False)[1][:n])
