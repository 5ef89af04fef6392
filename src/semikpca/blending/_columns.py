"""Columns of a source at some rows: all that candidates are made of, kept whole where memory allows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import slices
from semikpca.problem import DualSolution

if TYPE_CHECKING:
    from semikpca.blending._sources import Source

_COLUMNS_AT_ONCE = 256  # that are computed and forgotten
_ROWS_AT_ONCE = 4096


def harder(one: DualSolution | None, other: DualSolution | None) -> DualSolution | None:
    """Return the solve that left the larger residual."""
    if one is None or other is None:
        return other if one is None else one
    return other if other.residual >= one.residual else one


@dataclass(frozen=True)
class Columns:
    """Columns of a source at some training rows: k(training rows, training rows ``at``).

    Each column is in one piece of memory: one more is then added without a look at the others.
    """

    at: IntArray
    values: FloatArray
    hardest: DualSolution | None = None  # the solve behind them with the largest residual, without its arrays

    @property
    def own(self) -> FloatArray:
        """K between the rows themselves, shape (n_at, n_at)."""
        return self.values[self.at]

    @property
    def means(self) -> FloatArray:
        """The mean of each column over all training rows, in float64."""
        return np.asarray(self.values.mean(axis=0, dtype=np.float64))

    def times(self, source: "Source", coefficients: FloatArray) -> FloatArray:
        """Return Σ columns · coefficients at all training rows; ``source`` is theirs.

        Sums, like columns, are in one piece of memory each. A few rows at a time: columns in single precision are
        multiplied in double, and a copy of all of them in double would take longer than the product.
        """
        counted: Any = coefficients.any(axis=1)  # half of the labels say nothing where the other half is asked
        counted = slice(None) if counted.all() else np.flatnonzero(counted)
        multipliers, columns = coefficients[counted].T, self.values.T
        sums = np.empty((len(multipliers), len(self.values)), dtype=np.result_type(multipliers, columns))
        for some in slices(0, len(self.values), _ROWS_AT_ONCE):
            sums[:, some] = multipliers @ columns[counted, some]
        return sums.T

    def moved(self, source: "Source", at: IntArray, most_numbers: float = np.inf) -> "Columns":
        """Return the columns at other rows; only those that are not here are computed.

        Where they have more than ``most_numbers``, what is left of them is :class:`ThinColumns`.
        """
        if np.array_equal(at, self.at):
            return self
        if source.n * len(at) > most_numbers:
            return ThinColumns.of(source, at, self)
        hardest, dtype, new = self.hardest, self.values.dtype, np.setdiff1d(at, self.at)
        known = dict(zip(self.at.tolist(), self.values.T, strict=True))
        if new.size:
            computed, solution = source.compute(new)
            hardest, dtype = harder(hardest, solution), computed.dtype
            known |= dict(zip(new.tolist(), computed.T, strict=True))
        # Each column is copied once: with many labels this is a good part of what one more label costs.
        values = np.empty((len(at), source.n), dtype=dtype)
        for place, row in enumerate(at.tolist()):
            values[place] = known[row]
        return Columns(at, values.T, hardest)


NO_COLUMNS = Columns(np.empty(0, dtype=np.intp), np.empty((0, 0)))


@dataclass(frozen=True)
class ThinColumns(Columns):
    """What a fit needs of columns that would take too much memory: their values between the rows, and their means.

    Sums of columns are computed by one more solve for each sum, since they are linear in their coefficients.
    """

    known_means: FloatArray | None = None  # ``values`` have a row for each of the rows ``at``

    @classmethod
    def of(cls, source: "Source", at: IntArray, known: Columns) -> "ThinColumns":
        """Compute what is not known yet, a few columns at a time."""
        own, means, hardest = np.empty((len(at), len(at))), np.empty(len(at)), known.hardest
        _, here, there = np.intersect1d(at, known.at, assume_unique=True, return_indices=True)
        if len(here):
            own[np.ix_(here, here)] = known.own[np.ix_(there, there)]
            means[here] = known.means[there]
        new = np.setdiff1d(np.arange(len(at)), here)
        for places in (new[some] for some in slices(0, len(new), _COLUMNS_AT_ONCE)):
            computed, solution = source.compute(at[places])
            own[:, places] = block = computed[at]
            own[np.ix_(places, here)] = block[here].T  # of old columns at new rows
            means[places] = computed.mean(axis=0, dtype=np.float64)
            hardest = harder(hardest, solution)
        return cls(at, own, hardest, means)

    @property
    def own(self) -> FloatArray:
        """K between the rows themselves."""
        return self.values

    @property
    def means(self) -> FloatArray:
        """The mean of each column over all training rows."""
        assert self.known_means is not None, "they are always given"
        return self.known_means

    def times(self, source: "Source", coefficients: FloatArray) -> FloatArray:
        """Return Σ columns · coefficients at all training rows."""
        return source.combined(self.at, coefficients)

    def moved(self, source: "Source", at: IntArray, most_numbers: float = np.inf) -> Columns:
        """Return the columns at other rows, thin again if they are still too many."""
        if np.array_equal(at, self.at):
            return self
        if source.n * len(at) > most_numbers:
            return ThinColumns.of(source, at, self)
        return NO_COLUMNS.moved(source, at)
