"""A fit whose answer is not linear in the labels: everything by Newton steps that begin with the answer it has."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

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
# Of left-out decisions and of a path of error weights on a stored matrix: nine digits, as those of the square have.
_READING_RTOL = 1e-10
# Of decisions with a label more, from which only differences of probabilities are made.
_CHANGE_RTOL = 1e-8


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
        found = np.empty((len(rows), self.answer.decision.shape[1]), dtype=self.answer.decision.dtype)
        for some in self._parts(len(rows)):
            changes = self._changes(rows[some], np.full(len(rows[some]), UNLABELED))
            decision = self._solved(changes, rtol or _READING_RTOL, changes.repeated(self._slopes))[1]
            found[some] = changes.at_own_rows(decision)
        return found

    def decisions_with(self, rows: IntArray, codes: IntArray) -> Iterator[tuple[slice, FloatArray]]:
        for some in self._parts(len(rows)):
            changes = self._changes(rows[some], codes[some])
            yield some, changes.everywhere(self._solved(changes, _CHANGE_RTOL, changes.repeated(self._slopes))[1])

    def path(self, error_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return decisions and left-out decisions at all these weights: fits of their own, each begun with the last."""
        labeled, n_columns = self.labels.labeled_rows, self.answer.decision.shape[1]
        whole = np.empty((len(error_weights), self._newton.operator.n, n_columns), dtype=self.answer.decision.dtype)
        left_out = np.empty((len(error_weights), len(labeled), n_columns), dtype=whole.dtype)
        ascending = np.argsort(error_weights)
        none = self._changes(labeled[:1], self.labels.codes[labeled[:1]])  # the labels as they are
        start = None
        for number in ascending:
            start, decision = self._solved(none, _READING_RTOL, start, float(error_weights[number]))
            whole[number] = none.everywhere(decision)[0]
        for some in self._parts(len(labeled)):
            changes, start = self._changes(labeled[some], np.full(len(labeled[some]), UNLABELED)), None
            for number in ascending:
                start, decision = self._solved(changes, _READING_RTOL, start, float(error_weights[number]))
                left_out[number, some] = changes.at_own_rows(decision)
        return whole, left_out

    def _changes(self, rows: IntArray, codes: IntArray) -> "_Changes":
        return _Changes.of(signed_targets(self.labels.codes, self.labels.n_classes), rows, codes, self.labels.n_classes)

    def _solved(
        self, changes: "_Changes", rtol: float, start: Array | None, error_weight: float | None = None
    ) -> tuple[Array, FloatArray]:
        """Return slopes, where the operator has its blocks, and decisions of all columns of some changes."""
        operator = self._newton.operator
        with operator.between_products():
            found = self._newton.newton(operator.block(changes.targets), rtol, start, error_weight)
        return found.slopes, to_numpy(found.decision)

    def _parts(self, n_changes: int) -> list[slice]:
        """Return places of changes that are solved for together."""
        columns = int(np.clip(_NUMBERS_AT_ONCE // self._newton.operator.n, _FEWEST_COLUMNS, _MOST_COLUMNS))
        return slices(0, n_changes, max(1, columns // self.answer.decision.shape[1]))

    @property
    def _slopes(self) -> Array:
        """α/γ of the answer, where the operator has its blocks."""
        return self._newton.operator.block(self.answer.alpha / self._newton.error_weight)


@dataclass(frozen=True)
class _Changes:
    """Changes of single labels, each by itself, as columns of targets.

    A label of one class or another is the same for most columns (−1 in both cases), so that each column that differs
    stands there once.
    """

    rows: IntArray  # whose label is changed, shape (n_changes,)
    columns: IntArray  # which column of the targets each one here is made of
    targets: FloatArray  # shape (n, len(columns))
    places: IntArray  # which of the columns belong to each change, shape (n_changes, n_columns)

    @classmethod
    def of(cls, targets: FloatArray, rows: IntArray, codes: IntArray, n_classes: int) -> "_Changes":
        """Return the changes of targets when each of ``rows`` by itself has another class number, or none."""
        changed = signed_targets(codes, n_classes)
        n_columns = changed.shape[1]
        of_row, of_column = np.repeat(rows, n_columns), np.tile(np.arange(n_columns), len(rows))
        described = np.stack([of_row, of_column, changed.reshape(-1).astype(np.intp)])
        (row, column, value), places = np.unique(described, axis=1, return_inverse=True)
        different = targets[:, column]
        different[row, np.arange(len(row))] = value
        return cls(np.asarray(rows), column, different, places.reshape(len(rows), n_columns))

    def repeated(self, values: Array) -> Array:
        """Return values that the unchanged columns have for each of the columns here."""
        return values[:, self.columns]

    def everywhere(self, decision: FloatArray) -> FloatArray:
        """Return the decisions of all rows after each change, shape (n_changes, n, n_columns)."""
        return np.moveaxis(decision[:, self.places], 1, 0)

    def at_own_rows(self, decision: FloatArray) -> FloatArray:
        """Return the decisions of each row after its own change, shape (n_changes, n_columns)."""
        return decision[self.rows[:, np.newaxis], self.places]
