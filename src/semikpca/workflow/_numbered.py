"""A table with numbers for all of its rows, and what is known of them: above all, how far they are off."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.labeling import HeldOutValues, ValueAudit, audit_labels, held_out_values
from semikpca.tables import number_columns
from semikpca.workflow._filled import FilledTable
from semikpca.workflow._value_estimate import ValueEstimate, amount, decimals_for, labels_alone_values

COVERAGE = 0.9  # of the intervals, where nobody says otherwise


@dataclass(frozen=True)
class NumberedTable(FilledTable):
    """A table, the regressor that was fitted to it, and everything that is read off the two."""

    coverage: float = COVERAGE  # the share of numbers that are to be in their intervals

    @property
    def given(self) -> FloatArray:
        """The given number of each row, NaN where there is none, shape (n_rows,)."""
        return np.asarray(self.model.targets_.values[:, 0])

    @property
    def is_given(self) -> BoolArray:
        """Whether each row has a number of the user's, shape (n_rows,)."""
        return np.asarray(self.model.targets_.is_labeled)

    @cached_property
    def predicted(self) -> FloatArray:
        """What the regressor says of each row, shape (n_rows,); rows with a number of their own are no exception.

        The mean of the given numbers where a row has nothing to go by.
        """
        return hidden_numbers(self.model.transduction_, self.model, self._empty)

    @cached_property
    def held_out(self) -> HeldOutValues:
        """The given numbers that were drawn at random, as models say them that were fitted without them."""
        return held_out_values(self.model, self.drawn)

    @cached_property
    def interval(self) -> tuple[FloatArray, FloatArray]:
        """The ends of the interval of each row, shape (n_rows,) each; infinite where there are too few numbers."""
        if not len(self.held_out.rows):
            return np.full(len(self.X), -np.inf), np.full(len(self.X), np.inf)
        low, high = (end[:, 0].copy() for end in self.held_out.intervals(1 - self.coverage))
        low[self._empty], high[self._empty] = -np.inf, np.inf
        return low, high

    @cached_property
    def left_out(self) -> pd.DataFrame:
        """The numbers that were left out: row, given, predicted without it, and the interval of the other errors."""
        found = self.held_out
        low, high = found.own_intervals(1 - self.coverage)
        values = {"given": found.given, "predicted": found.predictions, "low": low, "high": high}
        return pd.DataFrame({"row": found.rows} | {name: columns[:, 0] for name, columns in values.items()})

    @property
    def n_inside(self) -> int:
        """How many of the left-out numbers are inside of the interval that the errors of the others make."""
        left = self.left_out
        return int(((left["low"] <= left["given"]) & (left["given"] <= left["high"])).sum())

    @cached_property
    def reach(self) -> float:
        """How far from its prediction the number of a row is, in the share ``coverage`` of the cases; or infinite."""
        return float(self.held_out.reach(1 - self.coverage)[0])

    @cached_property
    def estimate(self) -> ValueEstimate:
        """How far numbers are off that models were fitted without."""
        return ValueEstimate.of(self.held_out.given[:, 0], self.held_out.predictions[:, 0])

    @cached_property
    def baseline(self) -> ValueEstimate:
        """The same for LS-SVM on the labeled rows alone."""
        rows = self.held_out.rows
        return ValueEstimate.of(self.given[rows], labels_alone_values(self.X, self.given, rows))

    @cached_property
    def audit(self) -> ValueAudit:
        """The given numbers, most suspicious first."""
        audit: ValueAudit = audit_labels(self.model)
        return audit

    @cached_property
    def looks_wrong(self) -> BoolArray:
        """Whether the given number of each row looks wrong, shape (n_rows,); see :class:`ValueAudit`."""
        flags = np.zeros(len(self.X), dtype=bool)
        flags[self.audit.rows] = self.audit.looks_wrong
        return flags

    @cached_property
    def decimals(self) -> int:
        """How many decimals of predicted numbers are worth showing."""
        return decimals_for(self.estimate, self.given[self.is_given])

    def amount(self, value: Any) -> str:
        """Return a number in the unit of the column, with the digits that count."""
        return amount(float(value), self.decimals)

    def amounts(self, values: Any) -> list[str]:
        """Return several of them."""
        return [self.amount(value) for value in values]

    def in_brief(self, rows: IntArray) -> dict[str, list[str]]:
        """Return what is predicted for some rows and how sure it is, in words, by titles of columns."""
        low, high = self.interval
        ends = zip(low[rows], high[rows], strict=True)
        between = [f"{self.amount(one)} to {self.amount(other)}" if np.isfinite(one) else "–" for one, other in ends]
        return {"Looks like": self.amounts(self.predicted[rows]), "Between": between}

    @property
    def kept_beside_model(self) -> dict[str, Any]:
        """How far numbers were off that were left out, for intervals, and the decimals to write."""
        errors = self.held_out.errors[:, 0]
        return {"numbers": {"errors": errors[np.isfinite(errors)].tolist(), "decimals": self.decimals}}

    def to_frame(self, *, labels_only: bool = False) -> pd.DataFrame:
        """Return the table as it was, or the ids or places of its rows, with five columns more.

        Those of an earlier run go. Of an array there are the numbers of its rows alone.
        """
        return self.with_added(self.added_columns, labels_only=labels_only)

    @property
    def added_columns(self) -> dict[str, Any]:
        """The columns that a table gets, by name."""
        return number_columns(*self._rounded, self.is_given, self.looks_wrong)

    def _predictions(self) -> dict[str, Any]:
        return number_columns(*self._rounded)

    @property
    def _rounded(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        low, high = self.interval
        predicted, low, high = np.round([self.predicted, low, high], self.decimals)
        return predicted, low, high


def hidden_numbers(values: FloatArray, model: Any, rows: IntArray) -> FloatArray:
    """Return numbers with the mean of the given ones at some rows, which have nothing to go by."""
    values = np.array(values, dtype=np.float64)
    values[rows] = model.targets_.given[:, 0].mean()
    return values


def value_audit_frame(numbered: NumberedTable) -> pd.DataFrame:
    """Return the given numbers, most suspicious first, with what speaks against each.

    Returns
    -------
    DataFrame
        ``row`` (from 0), ``given``, ``suggested`` (what the other numbers say of the row), ``distance`` (between the
        two, in units of the spread of such distances), ``suspicion`` (the probability that the number is wrong; NaN
        where the others know nothing of it) and ``looks_wrong``.
    """
    frame: pd.DataFrame = numbered.audit.to_frame()  # type: ignore[no-untyped-call]  # labeling has no types
    frame["looks_wrong"] = numbered.looks_wrong[numbered.audit.rows]
    return frame[["row", "given", "suggested", "distance", "suspicion", "looks_wrong"]]
