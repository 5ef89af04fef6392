"""What is read off a model for a session: a snapshot of what there is to show, and what can be promised."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from semikpca._typing import IntArray
from semikpca.app._snapshot import Advice, Snapshot
from semikpca.app._state import State
from semikpca.exceptions import SingleClassWarning, UnlabeledMarkWarning, UnreachableRowsWarning
from semikpca.labeling import Acceptance
from semikpca.labels import UNLABELED
from semikpca.workflow import AccuracyEstimate, hidden, left_out_estimate

_FALLBACK = 7  # rows that are suggested where all that were found are accepted


class quiet(warnings.catch_warnings):  # noqa: N801  (used like a function)
    """Leave out what the page says in its own words: one class only, rows that no label reaches, "-1" as a class."""

    def __enter__(self) -> None:
        super().__enter__()
        for category in (SingleClassWarning, UnlabeledMarkWarning, UnreachableRowsWarning):
            warnings.simplefilter("ignore", category)


def has_two_classes(state: State) -> bool:
    """Whether there is something to predict."""
    return len({label for label in state.given.tolist() if label is not None}) > 1


def read_off(
    model: Any,
    state: State,
    empty: IntArray,
    *,
    problem: str | None,
    before: Snapshot | None,
    followed: Mapping[Any, Any],
    steps: tuple[str | None, str | None],
    revision: int,
) -> Snapshot:
    """Return what the page shows; ``followed`` are classes of the snapshot ``before`` that have become others."""
    code_of = {label: code for code, label in enumerate(state.classes)}
    given = _codes(state, code_of)
    drawn, chosen = state.drawing.split(given)
    predicted = confidence = n_changed = None
    estimate = AccuracyEstimate.of(0, 0)
    if problem is None and has_two_classes(state):
        model.remember_suggestions(chosen, drawn)
        decision = hidden(model.decision_, empty)
        codes = model.decision_codes(decision)
        predicted = np.array([code_of[label] for label in model.classes_.tolist()])[codes]
        confidence = model.decision_probabilities(decision)[np.arange(len(codes)), codes]
        estimate = left_out_estimate(model)
        if before is not None and before.predicted is not None:
            now = [code_of.get(followed.get(label, label), UNLABELED) for label in before.classes]
            n_changed = int(np.sum(np.array(now)[before.predicted] != predicted))
    return Snapshot(
        revision=revision,
        classes=state.classes,
        given=given,
        predicted=predicted,
        confidence=confidence,
        n_changed=n_changed,
        estimate=estimate,
        n_drawn=len(drawn),
        certificate=model.certificate_,
        error_weight=state.error_weight,
        undo=steps[0],
        redo=steps[1],
        problem=problem,
        accepted=_accepted(state, code_of),
        flagged=state.flagged,
    )


def reread(before: Snapshot, state: State, *, steps: tuple[str | None, str | None], revision: int) -> Snapshot:
    """Return what the page shows after a step that taught the model nothing: a flag, an acceptance, a new class."""
    code_of = {label: code for code, label in enumerate(state.classes)}
    moved = np.array([code_of.get(label, UNLABELED) for label in before.classes] or [UNLABELED])
    return replace(
        before,
        revision=revision,
        classes=state.classes,
        given=_codes(state, code_of) if state.classes != before.classes else before.given,
        predicted=None if before.predicted is None else moved[before.predicted],
        undo=steps[0],
        redo=steps[1],
        accepted=_accepted(state, code_of),
        flagged=state.flagged,
    )


def _codes(state: State, code_of: Mapping[Any, int]) -> IntArray:
    return np.array([code_of.get(label, UNLABELED) for label in state.given.tolist()], dtype=np.intp)


def _accepted(state: State, code_of: Mapping[Any, int]) -> IntArray:
    codes = np.full(len(state.given), UNLABELED, dtype=np.intp)
    for row, label in state.accepted.items():
        codes[row] = code_of[label]
    return codes


def open_rows(snapshot: Snapshot) -> IntArray:
    """Return the rows that have neither a given nor an accepted label, most doubtful first."""
    doubt = snapshot.doubt
    if doubt is None:
        return np.empty(0, dtype=np.intp)
    rows = np.flatnonzero((snapshot.given == UNLABELED) & (snapshot.accepted == UNLABELED))
    return np.asarray(rows[np.argsort(-doubt[rows], kind="stable")])


def without_accepted(advice: Advice, snapshot: Snapshot) -> Advice:
    """Return advice without rows that were accepted; random checks stay, since they are drawn from all rows."""
    rows = [row for row in advice.rows if row in advice.checks or snapshot.accepted[row] == UNLABELED]
    if not set(rows) - set(advice.checks):
        rows += [row for row in open_rows(snapshot).tolist() if row not in rows][:_FALLBACK]
    return replace(advice, revision=snapshot.revision, rows=tuple(rows))


def found_acceptance(model: Any, drawn: IntArray, empty: IntArray, go_on: Callable[[], bool]) -> Acceptance | None:
    """Return what can be promised of a model, fitted some twenty times; None where it was told not to go on."""

    def ask(step: str, done: int, total: int) -> None:
        if not go_on():
            raise _NoLongerAskedError

    try:
        found = Acceptance.of(model, drawn, progress=ask)
    except _NoLongerAskedError:
        return None
    # Of rows with nothing in them nothing is promised either; none of them was drawn.
    known = ~np.isin(found.rows, empty)
    return replace(found, rows=found.rows[known], probabilities=found.probabilities[known], labels=found.labels[known])


class _NoLongerAskedError(Exception):
    """What is being computed is of labels that are no more."""
