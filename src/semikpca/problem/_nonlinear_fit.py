"""A fit whose answer is not linear in the labels: everything by Newton steps that begin with the answer it has."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from semikpca._typing import Array, FloatArray, IntArray
from semikpca.arrays import slices, to_numpy
from semikpca.labels import UNLABELED, LabelCoding, signed_targets
from semikpca.problem._fit import LocalFit
from semikpca.problem._loss_response import LossResponse

# Columns that take Newton steps together: a product with many costs little more than one with few, but each takes
# several arrays of n numbers.
_NUMBERS_AT_ONCE = 2_000_000
_FEWEST_COLUMNS, _MOST_COLUMNS = 32, 256


class NonlinearFit(LocalFit):
    """Semi-KPCA with another loss than the square, with numbers for every training row.

    Where :class:`LocalFit` reads a column of H, this one solves again, from the slopes of the fit: exact to its
    tolerance, at a few products for as many columns as are solved together. Leaving each of m labels of c columns out
    takes m · c columns.
    """

    @property
    def _newton(self) -> LossResponse:
        response = self.response
        assert isinstance(response, LossResponse), "the problem of a loss sets up no other"
        return response

    def with_labels(self, labels: LabelCoding) -> LocalFit:
        """Return the fit to other labels."""
        if labels.n_classes != self.labels.n_classes:
            return self._solved_again(labels)
        if (labels.codes == self.labels.codes).all():
            return self
        response = self._newton
        operator = response.operator
        targets = operator.block(signed_targets(labels.codes, labels.n_classes))
        with operator.between_products():
            answer = response.solve(targets, start=self._slopes).on_host()
        return replace(self, labels=labels, answer=answer)

    def left_out(self, rows: IntArray, rtol: float | None) -> FloatArray:
        rows = np.asarray(rows)
        nowhere = np.full(len(rows), UNLABELED)
        found = np.empty((len(rows), self.answer.decision.shape[1]), dtype=self.answer.decision.dtype)
        for some, decisions in self._decisions(rows, nowhere, rtol):
            places = np.arange(len(rows))[some]
            found[some] = decisions[np.arange(len(places)), rows[places]]
        return found

    def decisions_with(self, rows: IntArray, codes: IntArray) -> Iterator[tuple[slice, FloatArray]]:
        return self._decisions(rows, codes, None)

    def path(self, error_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return decisions and left-out decisions at all these weights: fits of their own, each begun with the last."""
        labeled, n_columns = self.labels.labeled_rows, self.answer.decision.shape[1]
        whole = np.empty((len(error_weights), self._newton.operator.n, n_columns), dtype=self.answer.decision.dtype)
        left_out = np.empty((len(error_weights), len(labeled), n_columns), dtype=whole.dtype)
        ascending = np.argsort(error_weights)
        start = None
        for number in ascending:
            found = self._newton.newton(self._targets, start=start, error_weight=float(error_weights[number]))
            start, whole[number] = found.slopes, to_numpy(found.decision)
        for some in self._parts(len(labeled)):
            rows, start = labeled[some], None
            targets = self._changed_targets(rows, np.full(len(rows), UNLABELED))
            for number in ascending:
                found = self._newton.newton(targets, start=start, error_weight=float(error_weights[number]))
                start = found.slopes
                left_out[number, some] = self._by_change(found.decision, len(rows))[np.arange(len(rows)), rows]
        return whole, left_out

    # -- columns for changes of single labels ------------------------------------------------------------------

    def _decisions(self, rows: IntArray, codes: IntArray, rtol: float | None) -> Iterator[tuple[slice, FloatArray]]:
        response = self._newton
        for some in self._parts(len(rows)):
            targets = self._changed_targets(rows[some], codes[some])
            n_changes = len(rows[some])
            xp = response.operator.xp
            with response.operator.between_products():
                found = response.newton(targets, rtol, start=xp.tile(self._slopes, (1, n_changes)))
            yield some, self._by_change(found.decision, n_changes)

    def _parts(self, n_changes: int) -> list[slice]:
        """Return places of changes that are solved for together."""
        columns = int(np.clip(_NUMBERS_AT_ONCE // self._newton.operator.n, _FEWEST_COLUMNS, _MOST_COLUMNS))
        return slices(0, n_changes, max(1, columns // self.answer.decision.shape[1]))

    def _changed_targets(self, rows: IntArray, codes: IntArray) -> Array:
        """Return the targets after each change by itself, shape (n, n_changes · n_columns)."""
        changed = signed_targets(codes, self.labels.n_classes)
        targets = np.tile(signed_targets(self.labels.codes, self.labels.n_classes)[:, np.newaxis], (1, len(rows), 1))
        targets[rows, np.arange(len(rows))] = changed
        return self._newton.operator.block(targets.reshape(len(targets), -1))

    def _by_change(self, decision: Array, n_changes: int) -> FloatArray:
        """Return decisions with the changes on their first axis, shape (n_changes, n, n_columns)."""
        host = to_numpy(decision)
        return np.moveaxis(host.reshape(len(host), n_changes, -1), 1, 0)

    @property
    def _targets(self) -> Array:
        return self._newton.operator.block(signed_targets(self.labels.codes, self.labels.n_classes))

    @property
    def _slopes(self) -> Array:
        """α/γ of the answer, where the operator has its blocks."""
        return self._newton.operator.block(self.answer.alpha / self._newton.error_weight)
