"""How well labels and probabilities fit the truth: one formula each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from semikpca_benchmarks._typing import FloatArray, IntArray

N_BINS = 15
"""Bins of the confidence, of equal width, over which the calibration error is taken."""


def recalls(hits: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the share of each class that was found, in percent; NaN for a class without a row to be predicted.

    Parameters
    ----------
    hits, truth : ndarray of shape (..., n_classes)
        Rows of each class that were predicted right, and rows of each class.
    """
    shares = np.full(np.broadcast_shapes(hits.shape, truth.shape), np.nan)
    np.divide(100.0 * hits, truth, out=shares, where=np.broadcast_to(truth > 0, shares.shape))
    return shares


def balanced_accuracy(hits: FloatArray, truth: FloatArray) -> FloatArray:
    """Return the mean of the shares of the classes that were found, in percent, shape (...)."""
    return np.asarray(_mean_of_known(recalls(hits, truth)))


def rare_f1(hits: FloatArray, predicted: FloatArray, truth: FloatArray, rare: Sequence[int]) -> FloatArray:
    """Return F1, 2 · hits / (predicted + truth), in percent: the mean over the rare classes, shape (...).

    A class without a row to be predicted has none; a class that was never predicted has 0. NaN without a rare class.
    """
    hits, predicted, truth = (counts[..., list(rare)] for counts in (hits, predicted, truth))
    scores = np.full(np.broadcast_shapes(hits.shape, truth.shape), np.nan)
    np.divide(200.0 * hits, predicted + truth, out=scores, where=np.broadcast_to(truth > 0, scores.shape))
    return np.asarray(_mean_of_known(scores))


@dataclass(frozen=True)
class ProbabilityScores:
    """How well probabilities fit the truth on the unlabeled rows of one draw; all are better the nearer to 0.

    Attributes
    ----------
    calibration_error : float
        From 0 to 1: by how much confidence and accuracy differ, on average.
    brier : float
        From 0 to 2: squared distance from the truth.
    overconfidence : float
        Mean confidence minus accuracy, from −1 (too cautious) to 1 (too sure).
    """

    calibration_error: float
    brier: float
    overconfidence: float


def probability_scores(probabilities: FloatArray, labels: IntArray, truth: IntArray) -> ProbabilityScores:
    """Return the scores of probabilities.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
    labels : ndarray of shape (n_rows,)
        What was predicted; the probability of it is the confidence.
    truth : ndarray of shape (n_rows,)
    """
    rows = np.arange(len(truth))
    confidence, right = probabilities[rows, labels], labels == truth
    squares = (probabilities**2).sum(axis=1) - 2 * probabilities[rows, truth] + 1
    return ProbabilityScores(
        calibration_error=calibration_error(confidence, right.astype(np.float64)),
        brier=float(squares.mean()),
        overconfidence=float(confidence.mean() - right.mean()),
    )


def calibration_error(confidence: FloatArray, right: FloatArray) -> float:
    """Return the expected calibration error: |accuracy − mean confidence| of 15 bins, each weighed by its rows.

    The bins are (0, 1/15], (1/15, 2/15], …, (14/15, 1]; a confidence of 0 is in the first one.
    """
    bins = np.clip(np.ceil(confidence * N_BINS).astype(np.intp) - 1, 0, N_BINS - 1)
    gaps = np.bincount(bins, weights=right - confidence, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(confidence))


def _mean_of_known(values: FloatArray) -> FloatArray:
    """Return means along the last axis without NaN; NaN where there is nothing else."""
    known = ~np.isnan(values)
    counts = known.sum(axis=-1)
    sums = np.where(known, values, 0.0).sum(axis=-1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
