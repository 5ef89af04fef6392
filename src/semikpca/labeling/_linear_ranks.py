"""How unusual classes are for rows, among left-out labels, where decisions are sums over the labels: no refit."""

from typing import Any

import numpy as np

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.arrays import slices
from semikpca.labeling._held_out import only_of_class_in
from semikpca.labels import class_scores, signed_targets

_NUMBERS_AT_ONCE = 1_000_000


def ranks_of_unlabeled(model: Any, rows: IntArray, asked: IntArray, class_conditional: bool) -> tuple[FloatArray, int]:
    """Return how many labels are as unusual as each class would be or more, for unlabeled rows: full conformal.

    Each row is given each class in turn, by a column of H, and ranks among all labeled rows, each without its own
    label. The second answer is how many labels nothing speaks for but themselves: these are as unusual as can be.
    """
    coding = model.label_coding_
    codes, n_classes = coding.codes[rows], coding.n_classes
    response = model.label_response(rows)
    # Without class_prior's offsets: they are learned from the labels together, which the proof does not know of.
    decision = model.linear_decision() - model.class_offsets_
    own = response[rows, np.arange(len(rows))]
    left_out = class_scores(decision[rows] - own[:, np.newaxis] * signed_targets(codes, n_classes), n_classes)
    scores = _margins(decision[asked], n_classes)
    only, apart = only_of_class_in(model, rows), model.reach_.alone(rows, coding.codes)
    counts = np.zeros((len(asked), n_classes))
    for some in slices(0, len(asked), max(1, _NUMBERS_AT_ONCE // max(1, len(rows)))):
        # Axis 0 counts rows that are asked about, axis 1 labels.
        gains = 2 * response[asked[some]]
        is_apart = apart & ~_in_one_piece(model, asked[some], rows) if apart.any() else apart
        for code in range(n_classes):
            worse = _margins_after(left_out, codes, code, gains) >= scores[some, code, np.newaxis]
            worse |= is_apart | (only & (codes != code))
            counts[some, code] = _counted(worse, codes == code, class_conditional)
    return counts, int((only | apart).sum())


def ranks_of_new(
    model: Any, rows: IntArray, X: Any, decision: FloatArray, class_conditional: bool
) -> tuple[FloatArray, int]:
    """Return the same for new rows and their decisions: jackknife+. Models without each label rank rows against it."""
    coding = model.label_coding_
    codes, n_classes = coding.codes[rows], coding.n_classes
    left_out = model.left_out_decisions(rows) - model.class_offsets_
    given = _margins(left_out, n_classes)[np.arange(len(rows)), codes]
    alone = only_of_class_in(model, rows) | model.reach_.alone(rows, coding.codes)
    # A row without its label has the target 0, or is gone, which is the same as a target that is met.
    change = -signed_targets(codes, n_classes) + (0 if model.learns_from_unlabeled else left_out)
    response = model.label_response_at(X, rows)
    decision = decision.reshape(len(response), left_out.shape[1]) - model.class_offsets_
    counts = np.zeros((len(response), n_classes))
    for some in slices(0, len(response), max(1, _NUMBERS_AT_ONCE // max(1, len(rows) * n_classes))):
        # Axis 0 counts new rows, axis 1 labels.
        without = decision[some][:, np.newaxis] + response[some][:, :, np.newaxis] * change
        scores = _margins(without.reshape(-1, without.shape[2]), n_classes).reshape(*without.shape[:2], n_classes)
        for code in range(n_classes):
            worse = (given >= scores[:, :, code]) | alone
            counts[some, code] = _counted(worse, codes == code, class_conditional)
    return counts, int(alone.sum())


def _in_one_piece(model: Any, some: IntArray, rows: IntArray) -> BoolArray:
    """Return which of some rows are in the same piece of the graph as each of ``rows``."""
    components = model.reach_.components
    return np.asarray(components[some][:, np.newaxis] == components[rows])


def _counted(worse: BoolArray, of_class: BoolArray, class_conditional: bool) -> FloatArray:
    return np.asarray((worse & of_class if class_conditional else worse).sum(axis=1), dtype=float)


def _margins(decision: FloatArray, n_classes: int) -> FloatArray:
    """Return by how much the best other class is ahead of each class: how unusual the class would be."""
    if n_classes == 1:
        return np.zeros((len(decision), 1))
    scores = class_scores(decision, n_classes)
    top = np.partition(scores, -2, axis=1)[:, -2:]
    best_other = np.where(scores == top[:, 1:], top[:, :1], top[:, 1:])
    return np.asarray(best_other - scores)


def _margins_after(scores: FloatArray, codes: IntArray, code: int, gains: FloatArray) -> FloatArray:
    """Return the margins of labels, each in its own class, when the score of one class gains over all others.

    ``gains`` has a column for each label and a line for each row that would be given a label of class ``code``.
    """
    if scores.shape[1] == 1:
        return np.zeros_like(gains)
    own = scores[np.arange(len(codes)), codes]
    others = scores.copy()
    others[np.arange(len(codes)), codes] = -np.inf
    others[:, code] = -np.inf
    rest = others.max(axis=1) - own
    return np.asarray(np.where(codes == code, rest - gains, np.maximum(rest, scores[:, code] - own + gains)))
