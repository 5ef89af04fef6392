"""The state behind the page: labels, their history, the model, and what there is to show. No page in here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from semikpca._typing import FloatArray, IntArray
from semikpca.app import _edits as edits
from semikpca.app._autosave import Autosave, SavedLabels
from semikpca.app._drawing import Drawing
from semikpca.app._readings import (
    found_acceptance,
    has_two_classes,
    open_rows,
    quiet,
    read_off,
    reread,
    without_accepted,
)
from semikpca.app._record import Record
from semikpca.app._snapshot import Advice, Snapshot, advice_of, first_advice
from semikpca.app._state import Change, State, objects
from semikpca.arrays import one_blas_thread, one_thread
from semikpca.estimators import SemiKPCAClassifierCV
from semikpca.labeling import Acceptance, AcceptedLabels
from semikpca.labels import UNLABELED
from semikpca.workflow import SemiKPCAShare, Visit, fit_labels, hidden


class LabelingSession:
    """Labels that are given one by one, and a model that follows at once.

    Every public method holds one lock, so that two tabs of a browser, or two quick clicks, come one after the other.

    ``given`` has a label for each row, None where there is none, and ``classes`` are labels to offer though no row has
    them yet. The model is not fitted. In ``autosave`` each change is written before it counts. Of rows that are
    ``empty`` nothing is known but the shares of the classes.
    """

    # What differs for labels that are numbers: see ``_number_session``.
    placeholder: Any = "no label yet"
    queues: tuple[str, ...] = ("suggested", "doubtful", "review", "random", "wrong", "flagged", "file")

    def __init__(
        self,
        X: FloatArray,
        given: Sequence[Any] | npt.NDArray[Any],
        *,
        classes: Sequence[Any] = (),
        model: SemiKPCAClassifierCV | None = None,
        autosave: Autosave | None = None,
        empty: Sequence[int] | IntArray = (),
    ) -> None:
        self._lock, self._advice_lock, self._acceptance_lock = RLock(), RLock(), RLock()
        self.X = X
        self._empty = np.asarray(empty, dtype=np.intp)
        start = objects(None if label != label else label for label in given)  # NaN is no label either
        found = sorted({label for label in start.tolist() if label is not None})
        labeled = [row for row, label in enumerate(start.tolist()) if label is not None]
        self._start, self._n_in_table = start, len(labeled)  # what stood in the table
        known = self._offered(classes, found)
        self._classes_at_start = known
        self._record = Record(State(start, known, Drawing.begin(len(X), labeled, self._empty)), autosave)
        self._revision = self._evidence = 0  # the second counts only what a model learns from
        self._advice: tuple[int, Advice] | None = None  # with the evidence that it belongs to
        self._acceptance: tuple[int, Acceptance] | None = None
        make: Any = SemiKPCAClassifierCV
        self._model: Any = make() if model is None else model
        # Kernels and their spectra do not depend on the labels. Building them now, if need be with a label that nobody
        # gave, is what makes the first true label as quick as the hundredth.
        placeholder = objects([self.placeholder, *[None] * (len(X) - 1)])
        with quiet():
            fit_labels(self._model, X, start if found else placeholder)
        self._is_fresh = True  # the model has learned from the present labels
        self._problem: str | None = None
        self._snapshot = self._read_off(before=None)

    # -- what there is to show ---------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self._start)

    @property
    def autosave(self) -> Autosave | None:
        """Where each change is written before it counts."""
        return self._record.autosave

    @property
    def _state(self) -> State:
        return self._record.state

    @property
    def given(self) -> npt.NDArray[Any]:
        """The labels that people have given, None where there is none; a copy."""
        with self._lock:
            return self._state.given.copy()

    @property
    def n_in_table(self) -> int:
        """How many labels stood in the table."""
        return self._n_in_table

    def changed_rows(self) -> IntArray:
        """Return the rows that have another label than in the table, or none any more."""
        with self._lock:
            return np.flatnonzero(self._state.given != self._start)

    @property
    def accepted_labels(self) -> dict[int, Any]:
        """The labels that were accepted unseen, by row; a copy."""
        with self._lock:
            return dict(self._state.accepted)

    @property
    def flagged(self) -> frozenset[int]:
        """The rows that have a flag."""
        with self._lock:
            return self._state.flagged

    def snapshot(self) -> Snapshot:
        """Return what the page shows now."""
        with self._lock:
            return self._snapshot

    def model(self) -> SemiKPCAClassifierCV | None:
        """Return the model, or None as long as fewer than two classes have a label."""
        with self._lock:
            return self._model if self._snapshot.has_predictions else None

    def semi_kpca(self) -> SemiKPCAShare | None:
        """Return what Semi-KPCA has of the blend, or None as long as there are no predictions."""
        model = self.model()
        return None if model is None else SemiKPCAShare.of(model)

    def probabilities(self, row: int) -> list[tuple[Any, float]]:
        """Return the classes with their probabilities at one row, likely ones first; empty without predictions."""
        with self._lock:
            if self._snapshot.predicted is None:
                return []
            decision = hidden(self._model.decision_, self._empty)
            chances = self._model.decision_probabilities(decision[[row]])[0]
            pairs = zip(self._model.classes_.tolist(), chances.tolist(), strict=True)
            return sorted(pairs, key=lambda pair: -pair[1])

    def advice(self) -> Advice:
        """Return rows to label next and labels to look at again; computed once for each state of the labels.

        It takes longer than an answer, and models never change: labels can be given meanwhile.
        """
        with self._advice_lock:
            with self._lock:
                revision, evidence, model = self._revision, self._evidence, self.model()
                snapshot, given = self._snapshot, self._snapshot.given
                known = self._advice
                if known is not None and known[0] == evidence:
                    if known[1].revision != revision:
                        self._advice = known = evidence, without_accepted(known[1], snapshot)
                    return known[1]
                turn = self.checks(), int(np.sum(given != UNLABELED)) - self._n_in_table
            # On one core: a label that comes meanwhile has the others.
            with one_thread(), one_blas_thread():
                if model is None:
                    advice = first_advice(revision, self.X, np.flatnonzero(given == UNLABELED), *turn)
                else:
                    advice = without_accepted(self._advice_of(revision, model, *turn), snapshot)
            with self._lock:
                self._advice = evidence, advice
            return advice

    def known_advice(self) -> Advice | None:
        """Return the last advice that was computed, which may be of earlier labels; None before the first."""
        with self._lock:
            return None if self._advice is None else self._advice[1]

    def prepare(self, row: int) -> None:
        """Do beforehand what takes long of a label of this row; on one core, as advice."""
        with self._lock:
            model, is_labeled = self._model, self._state.given[row] is not None
        if not is_labeled:
            with one_thread(), one_blas_thread():
                model.prepare_labels([row])

    # -- which labels can be accepted unseen -------------------------------------------------------------------

    def checks(self) -> tuple[int, ...]:
        """Return the rows that are drawn at random next, from all that no person has labeled, accepted or not."""
        with self._lock:
            return self._state.drawing.checks(self._snapshot.given)

    def waits_for_fits(self, error_rate: float, *, is_asked: bool) -> bool:
        """Whether :meth:`find_out` has something to find: what can be accepted, if a user has asked for it."""
        return is_asked and self.model() is not None and self.accepted(error_rate) is None

    def find_out(self) -> bool:
        """Find out what takes many fits, apart from the answer to a label; False where labels changed meanwhile."""
        return self.find_acceptance()

    def find_acceptance(self) -> bool:
        """Find out what can be promised of the present labels; False without predictions, or where labels changed.

        The model is fitted some twenty times. Labels can be given meanwhile, which ends the work at the next fit.
        """
        with self._acceptance_lock:
            with self._lock:
                evidence, model = self._evidence, self.model()
                if model is None:
                    return False
                if self._acceptance is not None and self._acceptance[0] == evidence:
                    return True
                drawn, _ = self._state.drawing.split(self._snapshot.given)
            found = found_acceptance(model, drawn, self._empty, lambda: self._evidence == evidence)
            if found is None:
                return False
            with self._lock:
                self._acceptance = evidence, found
                return evidence == self._evidence

    def accepted(self, error_rate: float) -> AcceptedLabels | None:
        """Return the labels that can be accepted; None as long as that is not found out for the present labels."""
        with self._lock:
            if self._acceptance is None or self._acceptance[0] != self._evidence:
                return None
            return self._acceptance[1].accepted(error_rate)

    def to_review(self, error_rate: float) -> IntArray:
        """Return the rows without a label that are not accepted, most doubtful first; none without predictions."""
        with self._lock:
            rows, accepted = open_rows(self._snapshot), self.accepted(error_rate)
            return rows if accepted is None else rows[~np.isin(rows, accepted.rows)]

    # -- changes -----------------------------------------------------------------------------------------------

    def label(self, rows: Iterable[int], label: Any, *, as_check: bool = False) -> Snapshot:
        """Give rows a label, one of ``classes``; ``as_check`` for rows that were looked at because they are checks."""
        with self._lock:
            if label not in self._state.classes:
                raise ValueError(f"There is no class {label!r}. Add it first.")
            rows = list(rows)
            drawn = set(self.checks()).intersection(rows) if as_check else set()
            return self._do(edits.relabeling(self._state, rows, label), drawn)

    def remove(self, rows: Iterable[int]) -> Snapshot:
        """Take the labels of rows away, given or accepted, where they have one."""
        with self._lock:
            return self._do(edits.relabeling(self._state, rows, None))

    def flag(self, rows: Iterable[int], on: bool = True) -> Snapshot:
        """Put a flag on rows, to come back to them, or take it off."""
        with self._lock:
            return self._do(edits.flagging(self._state, rows, on))

    def accept(self, error_rate: float) -> Snapshot:
        """Accept all labels that can be accepted at this error rate, in one step.

        They are answers and no evidence: the model does not learn from what it has said itself, and no promise rests on
        it. A person can still give such a row a label.
        """
        with self._lock:
            found = self.accepted(error_rate)
            if found is None:
                raise ValueError("What can be accepted is not found out for the present labels yet. Find out first.")
            labels = dict(zip(found.rows.tolist(), found.labels.tolist(), strict=True))
            return self._do(edits.acceptance(self._state, labels))

    def withdraw_accepted(self) -> Snapshot:
        """Take all acceptances back, in one step."""
        with self._lock:
            return self._do(edits.withdrawal(self._state))

    def undo(self) -> Snapshot:
        """Take the last change back; nothing happens where there is none."""
        return self._step(back=True)

    def redo(self) -> Snapshot:
        """Make the change again that was taken back last."""
        return self._step(back=False)

    def set_error_weight(self, weight: float | str) -> Snapshot:
        """Move the error weight of all Semi-KPCA candidates: a share of the bound, or "middle", the paper's rule.

        At the bound or above it an UnboundedProblemError is raised, and the weight stays as it was.
        """
        with self._lock:
            moved = self._model.at_error_weight(weight)
            self._record.put(replace(self._state, error_weight=weight))
            self._model = moved
            return self._show(learns=True)

    # -- classes -----------------------------------------------------------------------------------------------

    def class_named(self, name: str) -> Any:
        """Return the class that a tab calls so; one that was renamed or merged meanwhile is what it has become.

        A tab may show classes that another one has changed since. A class that was deleted is refused.
        """
        with self._lock:
            return self._record.class_named(name)

    def add_class(self, name: str) -> Any:
        """Offer a new class and return its label: a number where all others are numbers, or else the text."""
        with self._lock:
            label, change = edits.new_class(self._state, name)
            self._do(change)
            return label

    def rename_class(self, label: Any, name: str) -> Snapshot:
        """Give a class another name, which no other class has."""
        with self._lock:
            return self._do(edits.renaming(self._state, label, name))

    def merge_classes(self, label: Any, target: Any) -> Snapshot:
        """Make one class of two: all rows of the first have the second, and the first is no more."""
        with self._lock:
            return self._do(edits.merging(self._state, label, target))

    def delete_class(self, label: Any) -> Snapshot:
        """Take a class away, and with it the labels of its rows."""
        with self._lock:
            return self._do(edits.deletion(self._state, label))

    # -- what an earlier visit left, or another program --------------------------------------------------------

    def saved(self) -> SavedLabels | None:
        """Return labels of an earlier visit that differ from the present ones; AutosaveError where they are damaged.

        From here on they are not overwritten: the next change puts them aside first, unless they are taken up.
        """
        with self._lock:
            return self._record.saved()

    def visits(self) -> list[Visit]:
        """Return what is kept of this table: the present labels, and those of earlier visits, newest first."""
        with self._lock:
            return [] if self.autosave is None else self.autosave.visits(self.n_rows)

    def take_up(self, saved: SavedLabels) -> Snapshot:
        """Go on with the labels of an earlier visit; one step of the history, so it can be undone.

        Rows whose label was changed in this visit keep it, since it is newer. All others are as they were saved.
        """
        with self._lock:
            kept = {row: self._state.given[row] for row in self.changed_rows().tolist()}
            return self._go_on(saved, kept)

    def restore(self, saved: SavedLabels) -> Snapshot:
        """Replace all labels by those of an earlier visit; one step of the history."""
        with self._lock:
            return self._go_on(saved, {})

    def merge(self, saved: SavedLabels, what: str = "") -> int:
        """Give rows without a label that of an earlier visit, or of another program; return how many kept another."""
        with self._lock:
            what = what or f"labels of {saved.saved_at:%d %B %Y, %H:%M}"
            change, n_kept = edits.filling_in(self._state, saved, what)
            self._do(change, saved.drawn)
            return n_kept

    def import_labels(self, labels: Mapping[int, str], accepted: Mapping[int, str], name: str) -> int:
        """Give rows the labels of a file, in place of their own; return how many had another one."""
        with self._lock:
            change, n_replaced = edits.importing(self._state, labels, accepted, f"labels of {name}")
            self._do(change)
            return n_replaced

    def _go_on(self, saved: SavedLabels, kept: Mapping[int, Any]) -> Snapshot:
        what = f"labels of {saved.saved_at:%d %B %Y, %H:%M}"
        change = edits.taking_up(self._state, saved, kept, self._classes_at_start, what)
        weight = self._state.error_weight if kept else saved.error_weight
        moved = self._model if weight == self._state.error_weight else self._model.at_error_weight(weight)
        self._record.go_on(change, saved, weight)
        self._model = moved
        self._is_fresh = self._is_fresh and not change.given.rows
        return self._show(learns=True)

    def forget_history(self) -> None:
        """Begin the history anew: what was given so far cannot be undone step by step."""
        with self._lock:
            self._record.forget_steps()
            self._show(learns=False)

    # -- what differs for numbers ------------------------------------------------------------------------------

    def _offered(self, classes: Sequence[Any], found: list[Any]) -> tuple[Any, ...]:
        """Return the labels to offer at the start."""
        return (*classes, *(label for label in found if label not in classes))

    def _snapshot_of(self, model: Any, state: State, empty: IntArray, **how: Any) -> Snapshot:
        """Return what there is to show after a step that a model has learned from."""
        return read_off(model, state, empty, **how)

    def _reread(self) -> Snapshot:
        """Return what there is to show after a step that taught the model nothing."""
        return reread(self._snapshot, self._state, steps=self._record.steps, revision=self._revision)

    def _advice_of(self, revision: int, model: Any, checks: tuple[int, ...], n_before: int) -> Advice:
        """Return what to do next, with predictions."""
        return advice_of(revision, model, checks, n_before)

    # -- inside ------------------------------------------------------------------------------------------------

    def _do(self, change: Change, drawn: Iterable[int] = ()) -> Snapshot:
        """Make a change; nothing happens where nothing would differ."""
        if change:
            self._record.do(change, drawn)
            self._show_change(change)
        return self._snapshot

    def _step(self, *, back: bool) -> Snapshot:
        with self._lock:
            if change := self._record.step(back=back):
                self._show_change(change, back=back)
            return self._snapshot

    def _show_change(self, change: Change, *, back: bool = False) -> None:
        learns = bool(change.given.rows)
        self._is_fresh = self._is_fresh and not learns
        self._show(learns=learns, followed=change.followed(back=back))

    def _show(self, *, learns: bool, followed: Mapping[Any, Any] | None = None) -> Snapshot:
        self._revision += 1
        self._evidence += learns
        if learns:
            self._snapshot = self._read_off(before=self._snapshot, followed=followed)
        else:
            self._snapshot = self._reread()
        return self._snapshot

    def _read_off(self, before: Snapshot | None, followed: Mapping[Any, Any] | None = None) -> Snapshot:
        if not self._is_fresh and has_two_classes(self._state):
            try:
                with quiet():
                    self._model, self._problem = self._model.with_labels(self._state.given), None
                self._is_fresh = True
            except ValueError as error:
                self._problem = str(error)  # the labels stay: they are what someone knows
        return self._snapshot_of(
            self._model,
            self._state,
            self._empty,
            problem=self._problem if not self._is_fresh else None,
            before=before,
            followed=followed or {},
            steps=self._record.steps,
            revision=self._revision,
        )
