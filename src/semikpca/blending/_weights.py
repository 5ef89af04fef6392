"""How much each candidate counts: by its left-out labels, by what its labeling makes of all rows, and by a prior.

The constants were chosen on the data sets named in docs/benchmarks.md; docs/decisions/0027 has the trials. Results are
flat around all of them.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.arrays import allowed_threads, in_threads, slices
from semikpca.labels import only_of_class

# Candidates are compared at the temperature that suits each best, in multiples of 1 / (spread of its decisions).
_SHARPNESS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_SCORES_AT_ONCE = 2**20
_COST_OF_AN_ERROR = 0.25  # nats for a left-out label that is not found again, beside its likelihood
# Where next to no link leads out of a class, its share is what it is: the cost of shares that are not those of the
# labels fades over the last 1/20 of the agreement.
_FADING = 20.0
# Which columns matter is told by neighborhoods, more than they tell kernels on the same columns apart.
_AGREEMENT_BETWEEN_VIEWS = 1.5
# What it costs columns that they fall into groups by their form or by chance, until labels are many.
_COST_OF_NEEDING_LABELS = 5.0
_WEIGHT_OF_HALVES = 3.0
# What is learned from few labels echoes which rows happened to be drawn. Two terms fade until there are so many labels
# a class: the agreement of halves, and the cost of a boundary that the labels place.
_LABELS_ARE_MANY = 10.0
_COST_OF_PLACING_BY_LABELS = 3.0
_COST_OF_PLACING_BY_ROWS = 2.0
_LEAST_WEIGHT = 1e-4  # beside 1 for the heaviest candidate


@dataclass(frozen=True)
class Evidence:
    """What speaks for each candidate, and what it is; arrays with an entry for each of them."""

    losses: FloatArray  # of left-out labels
    agreement: FloatArray  # of its labeling with the neighborhoods of the rows
    separation: FloatArray  # of its classes along the components of the rows
    view: IntArray  # a number for what its kernel sees of the rows; the same where the same columns are seen
    halves: FloatArray  # how well the labelings from each half of the labels agree
    shares: FloatArray  # of the classes in its labeling, shape (n_candidates, n_classes)
    by_labels: BoolArray  # whether the labels place the boundary, or the rows: each class then has a mean score of 0
    needs_labels: BoolArray  # whether labels alone can tell that what its kernel sees matters
    from_labeled_alone: BoolArray  # whether the unlabeled rows say nothing to it


def candidate_log_weights(evidence: Evidence, counts: IntArray) -> FloatArray:
    """Return the logarithm of each candidate's weight, up to a constant; ``counts`` are the labels of each class.

    The likelihood of left-out labels grows with their number, so it decides once there are many. The other terms do
    not grow, and decide while there are few; with one label a class they are all there is.
    """
    n_classes = len(counts)
    few = labels_are_few(counts)
    expected = (counts + 1) / (counts.sum() + n_classes)
    shares = evidence.shares
    divergence = np.sum(shares * np.log(np.where(shares > 0, shares, 1) / expected), axis=1)
    unequal = np.minimum(1, _FADING * (1 - evidence.agreement)) * divergence
    halves, separation = (_within_views(values, evidence.view) for values in (evidence.halves, evidence.separation))
    best = _best_of_views(evidence.agreement, evidence.view)
    agreement = evidence.agreement + (_AGREEMENT_BETWEEN_VIEWS - 1) * best
    structure = n_classes * (np.log(n_classes) * (agreement + _WEIGHT_OF_HALVES * few * halves) + separation - unequal)
    costs = placement_costs(evidence, counts) + _COST_OF_NEEDING_LABELS * few * evidence.needs_labels
    return np.asarray(structure - evidence.losses - costs)


def _within_views(values: FloatArray, view: IntArray) -> FloatArray:
    """Return values less the best of their view, where that is positive: they count within a view alone.

    Columns may fall into clear groups that have nothing to do with the classes: their labelings lie apart, and both
    halves of the labels lead to them.
    """
    return np.asarray(values - np.maximum(_best_of_views(values, view), 0))


def _best_of_views(values: FloatArray, view: IntArray) -> FloatArray:
    """Return for each candidate the largest value of a candidate that sees the same columns."""
    best = np.full(view.max() + 1, -np.inf)
    np.maximum.at(best, view, values)
    return np.asarray(best[view])


def placement_costs(evidence: Evidence, counts: IntArray) -> FloatArray:
    """Return what it costs each candidate, in nats, that its boundary is where it is.

    A boundary placed by a few labels repeats which rows were drawn; one placed by the rows takes classes for equal.
    Who gives as many labels of each class, two or more, has chosen how many: such labels say nothing of the shares of
    the classes, which may well be unequal, and what is learned from them alone had better be placed by them.
    """
    by_labels = _COST_OF_PLACING_BY_LABELS * labels_are_few(counts)
    if counts.min() < counts.max() or counts[0] < 2:
        return np.where(evidence.by_labels, by_labels, 0.0)
    by_labels_alone = np.where(evidence.from_labeled_alone, 0.0, by_labels)
    return np.where(evidence.by_labels, by_labels_alone, _COST_OF_PLACING_BY_ROWS)


def labels_are_few(counts: IntArray) -> float:
    """Return 1 for the fewest labels, 0 where there are ten a class or more, and what lies between for others."""
    return max(0.0, 1 - float(counts.sum()) / len(counts) / _LABELS_ARE_MANY)


def left_out_losses(left_out: FloatArray, codes: IntArray) -> FloatArray:
    """Return the loss of each candidate over the left-out labels, in nats; 0 where none can be left out.

    ``left_out`` has class scores at labeled rows, shape (n_candidates, n_labeled, n_classes). A label that is the only
    one of its class is passed over: without it nothing can vote for the class.
    """
    counted = ~only_of_class(codes)
    if not counted.any():
        return np.zeros(len(left_out))
    given, losses = codes[counted], np.empty(len(left_out))

    def judge(some: slice, thread: int) -> None:
        scores = left_out[some, counted]
        spreads = scores.std(axis=(1, 2), keepdims=True)
        scaled = scores / np.where(spreads > 0, spreads, 1)
        of_given = np.arange(len(given)), given
        at_each = [-log_softmax(s * scaled, axis=2)[:, *of_given].sum(axis=1) for s in _SHARPNESS]
        errors = (scores.argmax(axis=2) != given).sum(axis=1)
        losses[some] = np.min(at_each, axis=0) + _COST_OF_AN_ERROR * errors

    # A few candidates at a time, where labels and classes are so many that all would fill the memory.
    parts = slices(0, len(left_out), max(1, _SCORES_AT_ONCE // left_out[0].size))
    in_threads(judge, parts, min(allowed_threads(), len(parts)))
    return losses


def normalized_weights(log_weights: FloatArray) -> FloatArray:
    """Return weights that sum to 1; what is next to nothing beside the heaviest is nothing.

    A source none of whose candidates counts then costs nothing, neither now nor for new rows.
    """
    weights = np.exp(log_weights - log_weights.max())
    weights[weights < _LEAST_WEIGHT] = 0
    return np.asarray(weights / weights.sum())
