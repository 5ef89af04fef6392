"""From decision values to class numbers and probabilities: one factor makes log-probabilities of scores.

It is learned from labels that are left out, or matched to how many labels are expected to be right.
"""

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_softmax, softmax

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.labels import class_scores, only_of_class, predicted_codes

# The sharpness is searched in these multiples of 1 / (typical score), on a logarithmic scale: from probabilities
# that are flat to a percent to ones that are certain in double precision.
_SEARCH = (np.log(1e-2), np.log(1e3))
MAX_LEFT_OUT = 256  # labels that are left out to learn one number; more would cost and change little
MOST_ROWS_TO_MATCH = 5_000  # likewise


def probabilities(decision: FloatArray, n_classes: int, sharpness: float) -> FloatArray:
    """Return the probability of each class, shape (n, n_classes); rows sum to 1."""
    return np.asarray(softmax(sharpness * class_scores(decision, n_classes), axis=1))


def learn_sharpness(left_out: FloatArray, codes: IntArray, n_classes: int, decision: FloatArray) -> float:
    """Return the factor that turns scores into log-probabilities.

    ``left_out`` are decisions at labeled rows, each without its own label, and ``codes`` their labels; the ``decision``
    at all rows sets the scale.

    The factor maximizes the likelihood of the left-out labels. Targets are smoothed by Laplace's rule, (m + 1) /
    (m + n_classes) for the given class, as Platt did, so that a handful of correct labels does not end in
    certainty. Where no label can be left out without its class vanishing, the same rule speaks alone: a row
    with a typical margin gets the confidence that m labels can give.
    """
    margin = typical_margin(decision, n_classes) if n_classes > 1 else 0.0
    if margin == 0:
        return 1.0
    usable = ~only_of_class(codes)
    m = int(usable.sum())
    if m == 0:
        return float(np.log(len(codes) + 1) / margin)
    scores = class_scores(left_out[usable], n_classes)
    targets = np.full(scores.shape, 1 / (m + n_classes))
    targets[np.arange(m), codes[usable]] = (m + 1) / (m + n_classes)

    def loss(log_factor: float) -> float:
        return -float(np.sum(targets * log_softmax(np.exp(log_factor) / margin * scores, axis=1)))

    best = minimize_scalar(loss, bounds=_SEARCH, method="bounded")
    return float(np.exp(best.x) / margin)


def matching_sharpness(decision: FloatArray, n_classes: int, accuracy: float) -> float:
    """Return the factor with which the predicted classes have the probability ``accuracy``, on the mean over rows.

    Where no factor gives that, the one that comes nearest: the predicted class is never less likely than the others.
    """
    margin = typical_margin(decision, n_classes) if n_classes > 1 else 0.0
    if margin == 0:
        return 1.0
    scores = class_scores(decision[:: -(-len(decision) // MOST_ROWS_TO_MATCH)], n_classes) / margin

    def excess(log_factor: float) -> float:
        return float(softmax(np.exp(log_factor) * scores, axis=1).max(axis=1).mean()) - accuracy

    lowest, highest = _SEARCH
    if excess(lowest) >= 0:
        return float(np.exp(lowest) / margin)
    if excess(highest) <= 0:
        return float(np.exp(highest) / margin)
    return float(np.exp(brentq(excess, lowest, highest, xtol=1e-3)) / margin)


def typical_margin(decision: FloatArray, n_classes: int) -> float:
    """Return how far the best class is ahead of the second, as the root of the mean square over the rows."""
    top_two = np.partition(class_scores(decision, n_classes), -2, axis=1)[:, -2:]
    return float(np.sqrt(np.mean((top_two[:, 1] - top_two[:, 0]) ** 2, dtype=np.float64)))


def rows_to_leave_out(labeled: IntArray) -> IntArray:
    """Return labeled rows, all of them or an even choice of ``MAX_LEFT_OUT``."""
    if len(labeled) <= MAX_LEFT_OUT:
        return labeled
    return labeled[np.linspace(0, len(labeled) - 1, MAX_LEFT_OUT).astype(np.intp)]


def decided_codes(class_shares: FloatArray, decision: FloatArray) -> IntArray:
    """Return the class number of each row; a row of which nothing is known gets the class of the largest share."""
    codes = predicted_codes(decision, len(class_shares))
    codes[says_nothing(decision)] = np.argmax(class_shares)
    return codes


def decided_probabilities(class_shares: FloatArray, sharpness: float, decision: FloatArray) -> FloatArray:
    """Return the probability of each class; those of a row of which nothing is known are the shares of the classes."""
    chances = probabilities(decision, len(class_shares), sharpness)
    chances[says_nothing(decision)] = class_shares
    return chances


def says_nothing(decision: FloatArray) -> BoolArray:
    """Return where all decision values of a row are exactly 0: then nothing is known of it."""
    return np.asarray(~np.atleast_2d(decision.T).any(axis=0))
