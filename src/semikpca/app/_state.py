"""What people have said about the rows of a table, and the steps that lead from one state to the next and back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from semikpca.app._drawing import Drawing


@dataclass(frozen=True)
class State:
    """Everything that is saved. Nobody writes to it: a change makes another one.

    Labels that people have given are evidence: the model learns from them. Accepted ones are answers, which the model
    gave itself: nothing is learned from them, and no promise rests on them.
    """

    given: npt.NDArray[Any]  # the label of each row, None where nobody has given one
    classes: tuple[Any, ...]  # in the order of their keys, also those that no row has
    drawing: Drawing
    accepted: Mapping[int, Any] = field(default_factory=dict)  # by row; none of these rows has a given label
    flagged: frozenset[int] = frozenset()
    error_weight: float | str = "middle"

    @property
    def labels(self) -> dict[int, Any]:
        """The given labels by row."""
        return {row: label for row, label in enumerate(self.given.tolist()) if label is not None}

    def rows_of(self, label: Any) -> tuple[list[int], list[int]]:
        """Return the rows that have a label, given and accepted."""
        given = [row for row, one in enumerate(self.given.tolist()) if one == label]
        return given, [row for row, one in self.accepted.items() if one == label]


@dataclass(frozen=True)
class Values:
    """What some rows had before a step, and have after it; None for nothing."""

    rows: tuple[int, ...] = ()
    before: tuple[Any, ...] = ()
    after: tuple[Any, ...] = ()

    @classmethod
    def of(cls, before: Any, after: Mapping[int, Any]) -> "Values":
        """Return those of the new values that differ from the old ones; ``before`` is a function of the row."""
        changed = {row: value for row, value in after.items() if before(row) != value}
        return cls(tuple(changed), tuple(before(row) for row in changed), tuple(changed.values()))

    def pairs(self, *, back: bool) -> Iterable[tuple[int, Any]]:
        """Return rows with their new values, or with their old ones."""
        return zip(self.rows, self.before if back else self.after, strict=True)


@dataclass(frozen=True)
class Change:
    """One step of the history. It holds what differs, since tables are large and histories long."""

    what: str  # in words, as in "Undo: …"
    given: Values = field(default_factory=Values)
    accepted: Values = field(default_factory=Values)
    flagged: Values = field(default_factory=Values)  # True or None
    classes: tuple[tuple[Any, ...], tuple[Any, ...]] | None = None  # before and after
    renamed: tuple[tuple[Any, Any], ...] = ()  # classes that have become another, or None where they were deleted

    def __bool__(self) -> bool:
        """Whether anything differs."""
        has_rows = self.given.rows or self.accepted.rows or self.flagged.rows
        return bool(has_rows) or (self.classes is not None and self.classes[0] != self.classes[1])

    def applied(self, state: State, *, back: bool = False) -> State:
        """Return the state after this step, or that before it."""
        given = state.given
        if self.given.rows:
            given = given.copy()
            for row, label in self.given.pairs(back=back):
                given[row] = label
        accepted = _replaced(state.accepted, self.accepted.pairs(back=back))
        flagged = _replaced(dict.fromkeys(state.flagged, True), self.flagged.pairs(back=back))
        classes = state.classes if self.classes is None else self.classes[0 if back else 1]
        return replace(state, given=given, accepted=accepted, flagged=frozenset(flagged), classes=classes)

    def followed(self, *, back: bool = False) -> dict[Any, Any]:
        """Return what became of classes whose name is no more: another class, or None."""
        if not back:
            return dict(self.renamed)
        kept = () if self.classes is None else self.classes[0]
        return {new: old for old, new in self.renamed if new is not None and new not in kept}


def _replaced(values: Mapping[int, Any], pairs: Iterable[tuple[int, Any]]) -> dict[int, Any]:
    replaced = dict(values)
    for row, value in pairs:
        if value is None:
            replaced.pop(row, None)
        else:
            replaced[row] = value
    return replaced


def objects(values: Iterable[Any]) -> npt.NDArray[Any]:
    """Return values as an array that takes them as they are."""
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
