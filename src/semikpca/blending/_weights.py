"""How much each candidate counts: its left-out labels, its agreement with neighborhoods, and a prior.

The constants were chosen on the data sets named in docs/benchmarks.md; docs/decisions/0011 has the trials. Results
are flat around all of them.
"""

import numpy as np
from scipy.special import log_softmax

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.labels import only_of_class

# Candidates are compared at the temperature that suits each best, in multiples of 1 / (spread of its decisions).
_SHARPNESS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
_COST_OF_AN_ERROR = 0.25  # nats for a left-out label that is not found again, beside its likelihood
# Nats a class for each nat between the predicted shares and those of the labels. Where next to no link leads out of a
# class, the shares are what they are: the cost fades over the last 1/20 of the agreement.
_COST_OF_UNEQUAL_SHARES = 2.0
_FADING = 20.0
# An intercept learned from few labels echoes which classes happened to be drawn: it costs this many nats at first, and
# nothing once there are this many labels a class.
_COST_OF_INTERCEPT = 2.0
_LABELS_FOR_INTERCEPT = 10.0


def left_out_losses(left_out: FloatArray, codes: IntArray) -> FloatArray:
    """Return the loss of each candidate over the left-out labels, in nats; 0 where none can be left out.

    Parameters
    ----------
    left_out : ndarray of shape (n_candidates, n_labeled, n_classes)
        Class scores at labeled rows, each without its own label.
    codes : ndarray of int, shape (n_labeled,)
        A label that is the only one of its class is passed over: without it nothing can vote for the class.
    """
    counted = ~only_of_class(codes)
    if not counted.any():
        return np.zeros(len(left_out))
    scores, given = left_out[:, counted], codes[counted]
    spreads = scores.std(axis=(1, 2), keepdims=True)
    scaled = scores / np.where(spreads > 0, spreads, 1)
    of_given = np.arange(len(given)), given
    losses = [-log_softmax(s * scaled, axis=2)[:, *of_given].sum(axis=1) for s in _SHARPNESS]
    errors = (scores.argmax(axis=2) != given).sum(axis=1)
    return np.asarray(np.min(losses, axis=0) + _COST_OF_AN_ERROR * errors)


def candidate_log_weights(
    losses: FloatArray, agreement: FloatArray, shares: FloatArray, counts: IntArray, with_intercept: BoolArray
) -> FloatArray:
    """Return the logarithm of each candidate's weight, up to a constant.

    The likelihood of left-out labels grows with their number, so it decides once there are many. The other terms do
    not grow, and decide while there are few; with one label a class they are all there is.

    Parameters
    ----------
    losses : ndarray of shape (n_candidates,)
        From ``left_out_losses``.
    agreement : ndarray of shape (n_candidates,)
        Of neighbors in their predicted classes, between 0 and 1, from ``NeighborAgreement``.
    shares : ndarray of shape (n_candidates, n_classes)
        Of the predicted classes.
    counts : ndarray of int, shape (n_classes,)
        Labels of each class.
    with_intercept : ndarray of bool, shape (n_candidates,)
    """
    n_classes, n_labels = len(counts), counts.sum()
    expected = (counts + 1) / (n_labels + n_classes)
    ratio = np.log(np.where(shares > 0, shares, 1) / expected)
    divergence = np.sum(shares * ratio, axis=1)
    cost = _COST_OF_UNEQUAL_SHARES * np.minimum(1, _FADING * (1 - agreement))
    structure = n_classes * (np.log(n_classes) * agreement - cost * divergence)
    intercept = _COST_OF_INTERCEPT * max(0.0, 1 - n_labels / n_classes / _LABELS_FOR_INTERCEPT)
    return np.asarray(structure - losses - intercept * with_intercept)


def normalized_weights(log_weights: FloatArray) -> FloatArray:
    """Return weights that sum to 1."""
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())
