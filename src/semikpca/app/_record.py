"""The record of a session: its state, the steps that led to it, and the file in which it is before it counts."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from semikpca.app._autosave import Autosave, SavedLabels
from semikpca.app._state import Change, State


class Record:
    """A state with a history. Whoever calls holds a lock: the steps of two tabs come one after the other."""

    def __init__(self, state: State, autosave: Autosave | None) -> None:
        self.state = state
        self.autosave = autosave
        self._past: list[Change] = []
        self._future: list[Change] = []
        self._became: dict[str, Any] = {}  # classes that a tab may still show, and what they are now
        self._set_aside_first = False

    @property
    def steps(self) -> tuple[str | None, str | None]:
        """What the next step back would undo, and what the next step forward would do again."""
        undo, redo = (steps[-1].what if steps else None for steps in (self._past, self._future))
        return undo, redo

    def do(self, change: Change, drawn: Iterable[int] = ()) -> None:
        """Make a change that is a new step of the history."""
        # A row stays drawn, also when its label is changed or taken back.
        state = change.applied(self.state)
        self._count(change, replace(state, drawing=state.drawing.with_rows(drawn)))
        self._past.append(change)
        self._future.clear()

    def step(self, *, back: bool) -> Change | None:
        """Undo the last change, or do the last again that was undone; None where there is none."""
        source, target = (self._past, self._future) if back else (self._future, self._past)
        if not source:
            return None
        change = source[-1]
        self._count(change, change.applied(self.state, back=back), back=back)
        target.append(source.pop())
        return change

    def forget_steps(self) -> None:
        """Begin the history anew with the state as it is."""
        self._past.clear()
        self._future.clear()

    def put(self, state: State) -> None:
        """Write a state before it counts; it is no step of the history."""
        self._save(state)
        self.state = state

    def go_on(self, change: Change, saved: SavedLabels, error_weight: float | str) -> None:
        """Take up what was saved: the change, the rows that were drawn and the error weight, in one write.

        A program that dies between two writes would forget the weight. Without labels there is nothing to undo.
        """
        state = change.applied(self.state)
        drawing = state.drawing.with_rows(saved.drawn)
        is_put_aside, self._set_aside_first = self._set_aside_first, False
        try:
            self._count(change, replace(state, error_weight=error_weight, drawing=drawing))
        except OSError:
            self._set_aside_first = is_put_aside
            raise
        if change.given.rows or change.accepted.rows or change.flagged.rows or self._past:
            self._past.append(change)
        self._future.clear()

    def saved(self) -> SavedLabels | None:
        """Return what an earlier visit has saved, where it differs; from here on it is not overwritten, see there."""
        if self.autosave is None:
            return None
        self._set_aside_first = True
        saved, state = self.autosave.load(len(self.state.given)), self.state
        if saved is not None:
            said = saved.classes, saved.labels, saved.accepted, saved.flagged, saved.error_weight
            if said != (state.classes, state.labels, state.accepted, state.flagged, state.error_weight):
                return saved
        self._set_aside_first = False
        return None

    def class_named(self, name: str) -> Any:
        """Return the class that a tab calls so; one that was renamed or merged meanwhile is what it has become."""
        by_name = {str(label): label for label in self.state.classes}
        seen: set[str] = set()
        while name not in by_name:
            if name in seen or self._became.get(name) is None:
                raise ValueError(f"There is no class {name} any more: it was deleted, perhaps in another tab.")
            seen.add(name)
            name = str(self._became[name])
        return by_name[name]

    def _count(self, change: Change, state: State, *, back: bool = False) -> None:
        self._save(state)  # first on disk: what the page confirms is never lost
        self.state = state
        self._became |= {str(label): became for label, became in change.followed(back=back).items()}
        for label in state.classes:
            self._became.pop(str(label), None)

    def _save(self, state: State) -> None:
        if self.autosave is None:
            return
        if self._set_aside_first:
            self.autosave.set_aside()
            self._set_aside_first = False
        self.autosave.save(
            state.classes, state.labels, state.error_weight, state.drawing.rows, state.accepted, state.flagged
        )
