"""Which labels were drawn at random: promises rest on those alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from semikpca._typing import IntArray
from semikpca.labels import UNLABELED

N_CHECKS = 3
_SEED = 0
# Of ten rows that are suggested one after the other, these are random checks.
_TURN, _CHECKS_IN_TURN = 10, (3, 6, 9)


@dataclass(frozen=True)
class Drawing:
    """The order in which rows are drawn, and the rows whose labels count as drawn at random.

    The order is fixed once for a table. A random check that is passed over stays on the list until it has a label: with
    other rows after each label one could always take the easiest, and those would not be drawn at random.
    """

    order: IntArray
    rows: frozenset[int]

    @classmethod
    def begin(cls, n_rows: int, labeled: Iterable[int], empty: IntArray) -> "Drawing":
        """Return the drawing of a table: labels that stand in it count, rows that nothing is known of are not drawn."""
        order = np.random.default_rng(_SEED).permutation(n_rows)
        return cls(order[~np.isin(order, empty)], frozenset(map(int, labeled)) - frozenset(empty.tolist()))

    def checks(self, given: IntArray) -> tuple[int, ...]:
        """Return the rows that are drawn next: random checks."""
        return tuple(self.order[given[self.order] == UNLABELED][:N_CHECKS].tolist())

    def with_rows(self, rows: Iterable[int]) -> "Drawing":
        """Return the same with more rows that count."""
        return replace(self, rows=self.rows | frozenset(rows))

    def split(self, given: IntArray) -> tuple[IntArray, IntArray]:
        """Return the labeled rows that count, and the labeled rows that do not."""
        labeled = np.flatnonzero(given != UNLABELED)
        counts = np.isin(labeled, list(self.rows))
        return labeled[counts], labeled[~counts]


def mixed(suggested: Sequence[int], checks: Sequence[int], n_before: int) -> tuple[int, ...]:
    """Return suggestions and random checks in turn, as they go on after ``n_before`` labels.

    Who labels the first row of every list then gives three of ten labels to random checks.

    Examples
    --------
    >>> mixed([1, 2, 3, 4], [7, 8], n_before=3)
    (7, 1, 2, 8, 3, 4)
    """
    left, drawn = [row for row in suggested if row not in checks], list(checks)
    rows: list[int] = []
    while left or drawn:
        is_turn = (n_before + len(rows)) % _TURN in _CHECKS_IN_TURN
        source = drawn if drawn and (is_turn or not left) else left
        rows.append(source.pop(0))
    return tuple(rows)
