"""What a session of numbers shows: predicted values, and how far they are off once that is found out."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.app._drawing import mixed
from semikpca.app._snapshot import Advice, Doubt, Snapshot
from semikpca.app._state import State
from semikpca.labeling import HeldOutValues, audit_labels, held_out_values
from semikpca.labels import UNLABELED
from semikpca.tables import as_text
from semikpca.workflow import (
    COVERAGE,
    AccuracyEstimate,
    ValueEstimate,
    amount,
    decimals_for,
    hidden_numbers,
    suggested_rows,
)

_NUMBER = r"([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d{1,3})?|)"
_RANGE = re.compile(f"range:{_NUMBER}:{_NUMBER}", re.ASCII)
_SUGGESTED = 7  # beside the random checks
# An interval that 90% of the numbers are in takes nine errors. Where fewer rows were drawn at random, those of all
# labels count: they promise nothing, and are better than no interval.
LEAST_DRAWN = 9


@dataclass(frozen=True)
class NumberErrors:
    """How far numbers are off that models were not given, and the intervals that follow."""

    held_out: HeldOutValues | None  # None where it could not be found out
    estimate: ValueEstimate
    low: FloatArray  # shape (n_rows,); infinite where there are too few numbers
    high: FloatArray
    by_drawn: bool  # whether only labels count that were drawn at random

    @classmethod
    def unknown(cls, n_rows: int) -> "NumberErrors":
        """Return what stands for errors that could not be found out."""
        nothing = np.full(n_rows, np.inf)
        return cls(None, ValueEstimate.of(np.empty(0), np.empty(0)), -nothing, nothing, False)


@dataclass(frozen=True)
class NumberSnapshot(Snapshot):
    """What the page shows of numbers; ``given`` says only whether a row has one, and there are no classes."""

    numbers: FloatArray  # the given number of each row, NaN where none was given
    values: FloatArray | None  # the predicted number of each row; None as long as all given ones are the same
    deviation: FloatArray | None  # grows with the doubt in each prediction, in no unit
    moved: float | None  # by how much the last change moved the predictions, on the mean
    errors: NumberErrors | None  # None until it is found out for these numbers

    @property
    def has_predictions(self) -> bool:
        """Whether anything can be predicted from these numbers."""
        return self.values is not None

    @property
    def doubt(self) -> FloatArray | None:
        """What grows with the doubt in each prediction."""
        return self.deviation

    @property
    def known(self) -> FloatArray:
        """The given numbers, without the rows that have none."""
        return np.asarray(self.numbers[self.given != UNLABELED])

    @property
    def decimals(self) -> int:
        """How many decimals of predicted numbers are worth showing."""
        estimate = ValueEstimate.of(np.empty(0), np.empty(0)) if self.errors is None else self.errors.estimate
        return decimals_for(estimate, self.known) if len(self.known) else 2

    def amount(self, value: float) -> str:
        """Return a predicted number with the digits that count."""
        return amount(float(value), self.decimals)

    def ends(self, row: int) -> tuple[float, float] | None:
        """Return the interval of a row; None where none is known, or where it has no ends."""
        if self.errors is None or not np.isfinite(self.errors.low[row]):
            return None
        return float(self.errors.low[row]), float(self.errors.high[row])

    def between(self, row: int) -> str:
        """Return the interval of a row in words, "" where there is none."""
        ends = self.ends(row)
        return "" if ends is None else f"{self.amount(ends[0])} to {self.amount(ends[1])}"

    def label_of(self, row: int) -> Any:
        """Return the given number of a row, or None."""
        return None if np.isnan(self.numbers[row]) else float(self.numbers[row])

    def in_words(self, row: int) -> dict[str, str]:
        """Return what is known of a row, by the columns of the table beside the map."""
        given = self.label_of(row)
        known = {"given": "" if given is None else as_text(given), "predicted": "", "confidence": self.between(row)}
        return known if self.values is None else known | {"predicted": self.amount(self.values[row])}

    def is_predicted(self, asked: str) -> BoolArray:
        """Return which rows have a prediction in a range, ``range:LOW:HIGH``, of which either may be missing."""
        found = _RANGE.fullmatch(asked)
        if self.values is None or found is None:
            return np.zeros(len(self.numbers), dtype=bool)
        low, high = float(found[1] or "-inf"), float(found[2] or "inf")
        return np.asarray((self.values >= low) & (self.values <= high))

    def order_by(self, name: str) -> FloatArray | None:
        """Return what rows are sorted by: the place of each number among all, and -1 for nothing."""
        columns = {"given": self.numbers, "predicted": self.values, "confidence": self.deviation}
        if name not in columns:
            return None
        values = columns[name]
        if values is None:
            return np.full(len(self.numbers), -1.0)
        return np.where(np.isnan(values), -1.0, np.unique(values, return_inverse=True)[1])


def numbers_read_off(
    model: Any,
    state: State,
    empty: IntArray,
    *,
    problem: str | None,
    before: Snapshot | None,
    followed: Mapping[Any, Any],
    steps: tuple[str | None, str | None],
    revision: int,
) -> NumberSnapshot:
    """Return what the page shows of a model that has learned from the numbers of a state."""
    numbers = np.array([np.nan if label is None else label for label in state.given.tolist()], dtype=np.float64)
    given = np.where(np.isnan(numbers), UNLABELED, 0).astype(np.intp)
    drawn, chosen = state.drawing.split(given)
    values = deviation = moved = None
    if problem is None and len(np.unique(numbers[given != UNLABELED])) > 1:
        model.remember_suggestions(chosen, drawn)
        values = hidden_numbers(model.transduction_, model, empty)
        # The unit of deviations takes many fits to find; their order does not depend on it.
        deviation = model.blend_.deviations(1.0)[1][:, 0]
        deviation[empty] = np.inf  # nothing is known of these rows
        if isinstance(before, NumberSnapshot) and before.values is not None:
            moved = float(np.mean(np.abs(values - before.values)))
    return NumberSnapshot(
        revision=revision,
        classes=(),
        given=given,
        predicted=None,
        confidence=None,
        n_changed=None,
        estimate=AccuracyEstimate.of(0, 0),
        n_drawn=len(drawn),
        certificate=model.certificate_,
        error_weight=state.error_weight,
        undo=steps[0],
        redo=steps[1],
        problem=problem,
        accepted=np.full(len(given), UNLABELED, dtype=np.intp),
        flagged=state.flagged,
        numbers=numbers,
        values=values,
        deviation=deviation,
        moved=moved,
        errors=None,
    )


def numbers_reread(
    before: NumberSnapshot, state: State, *, steps: tuple[str | None, str | None], revision: int
) -> NumberSnapshot:
    """Return what the page shows after a step that taught the model nothing: a flag."""
    return replace(before, revision=revision, undo=steps[0], redo=steps[1], flagged=state.flagged)


def number_advice(revision: int, model: Any, checks: tuple[int, ...], n_before: int) -> Advice:
    """Return rows worth a number, and numbers worth a second look."""
    suggested = suggested_rows(model, _SUGGESTED)
    model.remember_suggestions((), checks)  # drawn all the same
    audit = audit_labels(model)
    columns = (audit.rows, audit.given, audit.suggested, audit.suspicion)
    doubtful = (column[audit.looks_wrong].tolist() for column in columns)
    doubts = tuple(Doubt(*doubt) for doubt in zip(*doubtful, strict=True))
    return Advice(revision, mixed(suggested.tolist(), checks, n_before), checks, doubts)


def found_errors(model: Any, drawn: IntArray, empty: IntArray, ask: Callable[[], None]) -> NumberErrors:
    """Return how far numbers are off, by up to 20 fits without some of them; ``ask`` is called before each."""
    by_drawn = len(drawn) >= LEAST_DRAWN
    rows = drawn if by_drawn else model.labeled_rows_
    held = held_out_values(model, rows, progress=lambda step, done, total: ask())
    low, high = (end[:, 0].copy() for end in held.intervals(1 - COVERAGE))
    low[empty], high[empty] = -np.inf, np.inf
    estimate = ValueEstimate.of(held.given[:, 0], held.predictions[:, 0])
    return NumberErrors(held, estimate, low, high, by_drawn)
