"""Numbers that are given one by one: the session of a table whose labels are amounts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semikpca._typing import IntArray
from semikpca.app import _edits as edits
from semikpca.app._autosave import Autosave, AutosaveError, SavedLabels
from semikpca.app._number_snapshot import (
    NumberErrors,
    NumberSnapshot,
    found_errors,
    number_advice,
    numbers_read_off,
    numbers_reread,
)
from semikpca.app._session import LabelingSession
from semikpca.app._snapshot import Advice, Snapshot
from semikpca.app._state import State
from semikpca.tables import as_text, typed_number

_NO_CLASSES = "The labels of this table are numbers: it has no classes."


class NumberSession(LabelingSession):
    """A session in which labels are numbers, and the model is a regressor.

    All that people do and undo is that of :class:`LabelingSession`; what is read off the model is not. Errors and
    intervals take up to 20 fits: they are found apart from the answer to a number, see :meth:`find_out`.
    """

    placeholder = 0.0
    queues = ("suggested", "doubtful", "random", "wrong", "flagged", "file")
    _snapshot: NumberSnapshot

    def snapshot(self) -> NumberSnapshot:
        """Return what the page shows now."""
        with self._lock:
            return self._snapshot

    def label(self, rows: Iterable[int], label: Any, *, as_check: bool = False) -> Snapshot:
        """Give rows a number; ``as_check`` for rows that were looked at because they are checks."""
        is_number = isinstance(label, int | float | np.number) and not isinstance(label, bool)
        if not is_number or not np.isfinite(label):
            raise ValueError(f"{label!r} is no number, and the labels of this table are numbers.")
        with self._lock:
            rows, value = list(rows), float(label)
            drawn = set(self.checks()).intersection(rows) if as_check else set()
            change = edits.relabeling(self._state, rows, value)
            what = change.what.replace(str(value), as_text(value), 1)  # 850 and not 850.0
            return self._do(replace(change, what=what), drawn)

    def prepare(self, row: int) -> None:
        """Do nothing beforehand: a number is quick (benchmarks/bench_number_page.py)."""

    def import_labels(self, labels: Mapping[int, str], accepted: Mapping[int, str], name: str) -> int:
        """Give rows the numbers of a file, in place of their own; return how many had another one.

        Numbers that a model has said are none that people have given, and are passed over.
        """
        numbers = {row: _number_in(name, row, text) for row, text in labels.items()}
        with self._lock:
            change, n_replaced = edits.giving(self._state, numbers, f"numbers of {name}")
            self._do(change)
            return n_replaced

    def add_class(self, name: str) -> Any:
        """Refuse it: numbers have no classes."""
        raise ValueError(_NO_CLASSES)

    def class_named(self, name: str) -> Any:
        """Refuse it: numbers have no classes."""
        raise ValueError(_NO_CLASSES)

    def probabilities(self, row: int) -> list[tuple[Any, float]]:
        """Return nothing: there are no classes to be likely."""
        return []

    # -- errors and intervals ----------------------------------------------------------------------------------

    def waits_for_fits(self, error_rate: float, *, is_asked: bool) -> bool:
        """Whether errors and intervals of the present numbers are to be found, asked or not."""
        with self._lock:
            return self._snapshot.has_predictions and self._snapshot.errors is None

    def find_out(self) -> bool:
        """Find out how far predictions are off; False where numbers changed meanwhile, which ends the work."""
        with self._acceptance_lock:
            with self._lock:
                evidence, model = self._evidence, self.model()
                if model is None or self._snapshot.errors is not None:
                    return model is not None
                drawn, _ = self._state.drawing.split(self._snapshot.given)

            def ask() -> None:
                if self._evidence != evidence:
                    raise _NoLongerAskedError

            found = NumberErrors.unknown(self.n_rows)  # shown if it fails: nobody tries again and again
            try:
                found = found_errors(model, drawn, self._empty, ask)
            except _NoLongerAskedError:
                return False
            finally:
                with self._lock:
                    if self._evidence == evidence:
                        self._snapshot = replace(self._snapshot, errors=found)
            return self._evidence == evidence

    # -- what differs from classes -----------------------------------------------------------------------------

    def _offered(self, classes: Sequence[Any], found: list[Any]) -> tuple[Any, ...]:
        return ()

    def _snapshot_of(self, model: Any, state: State, empty: IntArray, **how: Any) -> NumberSnapshot:
        return numbers_read_off(model, state, empty, **how)

    def _reread(self) -> NumberSnapshot:
        return numbers_reread(self._snapshot, self._state, steps=self._record.steps, revision=self._revision)

    def _advice_of(self, revision: int, model: Any, checks: tuple[int, ...], n_before: int) -> Advice:
        return number_advice(revision, model, checks, n_before)


class NumberAutosave(Autosave):
    """The place of numbers: a file of labels like any other, in which each different number stands for a class.

    So it is read by a session of classes as well, and labels of one can be taken up here where all of them are numbers.
    """

    def save(
        self,
        classes: Sequence[Any],
        labels: Mapping[int, Any],
        error_weight: float | str,
        drawn: Iterable[int] = (),
        accepted: Mapping[int, Any] | None = None,
        flagged: Iterable[int] = (),
    ) -> None:
        """Write all numbers; the file is there whole or not at all."""
        super().save(sorted(set(labels.values())), labels, error_weight, drawn, {}, flagged)

    def _read(self, path: Any, n_rows: int) -> SavedLabels | None:
        saved = super()._read(path, n_rows)
        if saved is None:
            return None
        labels = {}
        for row, label in saved.labels.items():
            try:
                labels[row] = label if isinstance(label, float) else typed_number(str(label))
            except ValueError as error:
                raise AutosaveError(
                    f"The saved labels in {path} are classes, such as {label!r}, and the column is opened as numbers."
                ) from error
        return replace(saved, classes=(), labels=labels, accepted={})


def _number_in(name: str, row: int, text: str) -> float:
    try:
        return typed_number(text)
    except ValueError as error:
        raise ValueError(f"Row {row + 1} in {name}: {error}") from error


class _NoLongerAskedError(Exception):
    """What is being computed is of numbers that are no more."""
