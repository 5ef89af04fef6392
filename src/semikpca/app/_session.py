"""The state behind the page: labels, their history, the model, and what there is to show. No page in here."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from semikpca._typing import FloatArray, IntArray
from semikpca.app._autosave import Autosave, SavedLabels
from semikpca.app._drawing import Drawing
from semikpca.app._snapshot import Advice, Change, Snapshot, advice_of, first_advice
from semikpca.estimators import SemiKPCAClassifierCV
from semikpca.exceptions import SingleClassWarning, UnlabeledMarkWarning, UnreachableRowsWarning
from semikpca.labeling import Acceptance, AcceptedLabels
from semikpca.labels import UNLABELED
from semikpca.workflow import AccuracyEstimate, SemiKPCAShare, fit_labels, hidden, left_out_estimate


class LabelingSession:
    """Labels that are given one by one, and a model that follows at once.

    Every public method holds one lock, so that two tabs of a browser, or two quick clicks, come one after the other.

    ``given`` has a label for each row, None where there is none, and ``classes`` are labels to offer though no row has
    them yet. The model is not fitted. In ``autosave`` each change is written before it counts. Of rows that are
    ``empty`` nothing is known but the shares of the classes.
    """

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
        self.autosave = autosave
        self._empty = np.asarray(empty, dtype=np.intp)
        self._set_aside_first = False
        self._given = _objects(None if label != label else label for label in given)  # NaN is no label either
        found = sorted({label for label in self._given.tolist() if label is not None})
        self._classes: list[Any] = [*classes, *(label for label in found if label not in classes)]
        self._past: list[Change] = []
        self._future: list[Change] = []
        self._error_weight: float | str = "middle"
        self._revision = 0
        self._advice: Advice | None = None
        self._acceptance: tuple[int, Acceptance] | None = None  # with the revision that it belongs to
        labeled = [row for row, label in enumerate(self._given.tolist()) if label is not None]
        self._drawing = Drawing.begin(len(X), labeled, self._empty)
        self._n_at_start = len(labeled)
        make: Any = SemiKPCAClassifierCV
        self._model: Any = make() if model is None else model
        # Kernels and their spectra do not depend on the labels. Building them now, if need be with a label that nobody
        # gave, is what makes the first true label as quick as the hundredth.
        placeholder = _objects(["no label yet", *[None] * (len(X) - 1)])
        with _quiet():
            fit_labels(self._model, X, self._given if found else placeholder)
        self._is_fresh = True  # the model has learned from the present labels
        self._snapshot = self._read_off(before=None)

    # -- what there is to show ---------------------------------------------------------------------------------

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self._given)

    @property
    def given(self) -> npt.NDArray[Any]:
        """The labels, None where there is none; a copy."""
        with self._lock:
            return self._given.copy()

    def snapshot(self) -> Snapshot:
        """Return what the page shows now."""
        with self._lock:
            return self._snapshot

    def model(self) -> SemiKPCAClassifierCV | None:
        """Return the model, or None as long as fewer than two classes have a label."""
        with self._lock:
            return self._model if self._snapshot.predicted is not None else None

    def semi_kpca(self) -> SemiKPCAShare | None:
        """Return what Semi-KPCA has of the blend, or None as long as there are no predictions."""
        model = self.model()
        return None if model is None else SemiKPCAShare.of(model)

    def probabilities(self, row: int) -> list[tuple[Any, float]]:
        """Return the classes with their probabilities at one row, likely ones first; empty without predictions."""
        with self._lock:
            if self._snapshot.predicted is None:
                return []
            chances = self._model.decision_probabilities(self._decision()[[row]])[0]
            pairs = zip(self._model.classes_.tolist(), chances.tolist(), strict=True)
            return sorted(pairs, key=lambda pair: -pair[1])

    def advice(self) -> Advice:
        """Return rows to label next and labels to look at again; computed once for each state of the labels.

        It takes longer than an answer, and models never change: labels can be given meanwhile.
        """
        with self._advice_lock:
            with self._lock:
                revision, known, model = self._revision, self._advice, self.model()
                if known is not None and known.revision == revision:
                    return known
                given = self._snapshot.given
                turn = self._drawing.checks(given), int(np.sum(given != UNLABELED)) - self._n_at_start
            if model is None:
                advice = first_advice(revision, self.X, np.flatnonzero(given == UNLABELED), *turn)
            else:
                advice = advice_of(revision, model, *turn)
            with self._lock:
                self._advice = advice
            return advice

    # -- which labels can be accepted unseen -------------------------------------------------------------------

    def checks(self) -> tuple[int, ...]:
        """Return the rows that are drawn at random next."""
        with self._lock:
            return self._drawing.checks(self._snapshot.given)

    def find_acceptance(self) -> bool:
        """Find out what can be promised of the present labels; False without predictions, or where labels changed.

        The model is fitted some twenty times. Labels can be given meanwhile, which ends the work at the next fit.
        """
        with self._acceptance_lock:
            with self._lock:
                revision, model = self._revision, self.model()
                if model is None:
                    return False
                if self._acceptance is not None and self._acceptance[0] == revision:
                    return True
                drawn, _ = self._drawing.split(self._snapshot.given)

            def go_on(step: str, done: int, total: int) -> None:
                if self._revision != revision:
                    raise _LabelsChangedError

            try:
                found = Acceptance.of(model, drawn, progress=go_on)
            except _LabelsChangedError:
                return False
            # Of rows with nothing in them nothing is promised either; none of them was drawn.
            known = ~np.isin(found.rows, self._empty)
            found = replace(
                found, rows=found.rows[known], probabilities=found.probabilities[known], labels=found.labels[known]
            )
            with self._lock:
                self._acceptance = revision, found
                return revision == self._revision

    def accepted(self, error_rate: float) -> AcceptedLabels | None:
        """Return the labels that can be accepted; None as long as that is not found out for the present labels."""
        with self._lock:
            if self._acceptance is None or self._acceptance[0] != self._revision:
                return None
            return self._acceptance[1].accepted(error_rate)

    def to_review(self, error_rate: float) -> IntArray:
        """Return the rows without a label that are not accepted, most doubtful first; none without predictions."""
        with self._lock:
            snapshot, accepted = self._snapshot, self.accepted(error_rate)
            if snapshot.confidence is None:
                return np.empty(0, dtype=np.intp)
            is_open = snapshot.given == UNLABELED
            if accepted is not None:
                is_open[accepted.rows] = False
            rows = np.flatnonzero(is_open)
            return rows[np.argsort(snapshot.confidence[rows], kind="stable")]

    # -- changes -----------------------------------------------------------------------------------------------

    def label(self, rows: Iterable[int], label: Any, *, as_check: bool = False) -> Snapshot:
        """Give rows a label, one of ``classes``; ``as_check`` for rows that were looked at because they are checks."""
        with self._lock:
            if label not in self._classes:
                raise ValueError(f"There is no class {label!r}. Add it first.")
            rows = list(rows)
            drawn = set(self.checks()).intersection(rows) if as_check else set()
            return self._change(rows, label, drawn)

    def remove(self, rows: Iterable[int]) -> Snapshot:
        """Take the labels of rows away, where they have one."""
        with self._lock:
            return self._change(rows, None)

    def undo(self) -> Snapshot:
        """Take the last change back; nothing happens where there is none."""
        return self._step(self._past, self._future)

    def redo(self) -> Snapshot:
        """Make the change again that was taken back last."""
        return self._step(self._future, self._past)

    def _step(self, source: list[Change], target: list[Change]) -> Snapshot:
        """Apply the last change of ``source``, the past backwards, and move it to ``target``."""
        with self._lock:
            if not source:
                return self._snapshot
            change = source[-1]
            self._apply(change.rows, change.before if source is self._past else change.after)
            target.append(source.pop())
            return self._show()

    def add_class(self, name: str) -> Any:
        """Offer a new class and return its label: a number where all others are numbers, or else the text."""
        with self._lock:
            label = self._as_label(name)
            if label in self._classes:
                raise ValueError(f"The class {label!s} is there already.")
            self._save(classes=[*self._classes, label])
            self._classes.append(label)
            self._revision += 1
            self._show()
            return label

    def set_error_weight(self, weight: float | str) -> Snapshot:
        """Move the error weight of all Semi-KPCA candidates: a share of the bound, or "middle", the paper's rule.

        At the bound or above it an UnboundedProblemError is raised, and the weight stays as it was.
        """
        with self._lock:
            moved = self._model.at_error_weight(weight)
            self._save(error_weight=weight)
            self._model, self._error_weight = moved, weight
            self._revision += 1
            return self._show()

    # -- what an earlier visit left ----------------------------------------------------------------------------

    def saved(self) -> SavedLabels | None:
        """Return labels of an earlier visit that differ from the present ones; AutosaveError where they are damaged.

        From here on they are not overwritten: the next change puts them aside first, unless they are taken up.
        """
        with self._lock:
            if self.autosave is None:
                return None
            self._set_aside_first = True
            saved = self.autosave.load(self.n_rows)
            if saved is not None:
                present = {row: label for row, label in enumerate(self._given.tolist()) if label is not None}
                known = set(saved.classes) <= set(self._classes)
                if not (saved.labels == present and known and saved.error_weight == self._error_weight):
                    return saved
            self._set_aside_first = False
            return None

    def take_up(self, saved: SavedLabels) -> Snapshot:
        """Go on with the labels of an earlier visit; one step of the history, so it can be undone."""
        with self._lock:
            before = self._classes, self._error_weight, self._set_aside_first, self._drawing
            self._drawing = self._drawing.with_rows(saved.drawn)
            self._classes = [*saved.classes, *(label for label in self._classes if label not in saved.classes)]
            # All of it in one write: a program that dies between two would forget the weight.
            self._error_weight = saved.error_weight
            self._set_aside_first = False
            after = tuple(saved.labels.get(row) for row in range(self.n_rows))
            rows = tuple(row for row in range(self.n_rows) if after[row] != self._given[row])
            try:
                if rows:
                    self._commit(rows, tuple(after[row] for row in rows))
                else:
                    self._save()
                    self._revision += 1
            except OSError:
                self._classes, self._error_weight, self._set_aside_first, self._drawing = before
                raise
            if saved.error_weight != before[1]:
                self._model = self._model.at_error_weight(saved.error_weight)
            return self._show()

    def forget_history(self) -> None:
        """Begin the history anew: what was given so far cannot be undone step by step."""
        with self._lock:
            self._past.clear()
            self._future.clear()
            self._show()

    # -- inside ------------------------------------------------------------------------------------------------

    def _change(self, rows: Iterable[int], label: Any, drawn: Iterable[int] = ()) -> Snapshot:
        asked = list(dict.fromkeys(int(row) for row in rows))
        for row in asked:
            if not 0 <= row < self.n_rows:
                raise ValueError(f"There is no row {row}: rows are counted from 0 to {self.n_rows - 1}.")
        changed = tuple(row for row in asked if self._given[row] != label)
        if not changed:
            return self._snapshot
        self._commit(changed, (label,) * len(changed), drawn)
        return self._show()

    def _commit(self, rows: tuple[int, ...], after: tuple[Any, ...], drawn: Iterable[int] = ()) -> None:
        change = Change(rows, tuple(self._given[list(rows)]), after)
        self._apply(rows, after, drawn)
        self._past.append(change)
        self._future.clear()

    def _apply(self, rows: tuple[int, ...], labels: tuple[Any, ...], drawn: Iterable[int] = ()) -> None:
        given = self._given.copy()
        given[list(rows)] = _objects(labels)
        drawing = self._drawing.with_rows(drawn)  # a row stays drawn, also when its label is changed or taken back
        self._save(given=given, drawing=drawing)  # first on disk: what the page confirms is never lost
        self._given, self._drawing, self._is_fresh = given, drawing, False
        self._revision += 1

    def _save(self, *, given: Any = None, classes: Any = None, error_weight: Any = None, drawing: Any = None) -> None:
        """Write the state as it is, or as it will be once a change counts."""
        if self.autosave is None:
            return
        if self._set_aside_first:
            self.autosave.set_aside()
            self._set_aside_first = False
        labels = (self._given if given is None else given).tolist()
        self.autosave.save(
            self._classes if classes is None else classes,
            {row: label for row, label in enumerate(labels) if label is not None},
            self._error_weight if error_weight is None else error_weight,
            (self._drawing if drawing is None else drawing).rows,
        )

    def _show(self) -> Snapshot:
        self._snapshot = self._read_off(before=self._snapshot)
        return self._snapshot

    def _read_off(self, before: Snapshot | None) -> Snapshot:
        code_of = {label: code for code, label in enumerate(self._classes)}
        given = np.array([code_of.get(label, UNLABELED) for label in self._given.tolist()], dtype=np.intp)
        predicted = confidence = problem = n_changed = None
        estimate = AccuracyEstimate.of(0, 0)
        drawn, chosen = self._drawing.split(given)
        if len(np.unique(given[given != UNLABELED])) > 1:
            try:
                with _quiet():
                    if not self._is_fresh:
                        self._model = self._model.with_labels(self._given)
                    self._is_fresh = True
                    self._model.remember_suggestions(chosen, drawn)
            except ValueError as error:
                problem = str(error)  # the labels stay: they are what someone knows
            else:
                decision = self._decision()
                codes = self._model.decision_codes(decision)
                predicted = np.array([code_of[label] for label in self._model.classes_.tolist()])[codes]
                confidence = self._model.decision_probabilities(decision)[np.arange(len(codes)), codes]
                estimate = left_out_estimate(self._model)
                if before is not None and before.predicted is not None:
                    n_changed = int(np.sum(before.predicted != predicted))
        return Snapshot(
            revision=self._revision,
            classes=tuple(self._classes),
            given=given,
            predicted=predicted,
            confidence=confidence,
            n_changed=n_changed,
            estimate=estimate,
            n_drawn=len(drawn),
            certificate=self._model.certificate_,
            error_weight=self._error_weight,
            undo=str(self._past[-1]) if self._past else None,
            redo=str(self._future[-1]) if self._future else None,
            problem=problem,
        )

    def _decision(self) -> FloatArray:
        return hidden(self._model.decision_, self._empty)

    def _as_label(self, name: str) -> Any:
        text = name.strip()
        if not text:
            raise ValueError("A class needs a name.")
        if len(text) > 100:
            raise ValueError(f"The name has {len(text)} letters; at most 100 fit on the page.")
        if not self._classes or any(isinstance(label, str) for label in self._classes):
            return text
        try:
            return int(text) if all(isinstance(label, int) for label in self._classes) else float(text)
        except ValueError:
            shown = ", ".join(str(label) for label in self._classes[:3])
            raise ValueError(f"The classes of this table are numbers ({shown} …), and {text!r} is none.") from None


class _LabelsChangedError(Exception):
    """What is being computed is of labels that are no more."""


def _objects(values: Iterable[Any]) -> npt.NDArray[Any]:
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


class _quiet(warnings.catch_warnings):  # noqa: N801  (used like a function)
    """Leave out what the page says in its own words: one class only, rows that no label reaches, "-1" as a class."""

    def __enter__(self) -> None:
        super().__enter__()
        for category in (SingleClassWarning, UnlabeledMarkWarning, UnreachableRowsWarning):
            warnings.simplefilter("ignore", category)
