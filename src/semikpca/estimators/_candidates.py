"""Candidates of the automatic classifier: each source fitted to the labels in several ways."""

from dataclasses import dataclass

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.blending import LabelSystem
from semikpca.estimators._sources import Source
from semikpca.labels import LabelCoding

# Noise levels of the fits to the labels, in units of the kernel's mean diagonal at the labeled rows: labels are taken
# at their word, half believed, or only believed together. With the last the fit is Semi-KPCA's own, H y with centered
# targets; an intercept, which does not shrink with the rest, would drown it there.
_NOISE_LEVELS = (0.1, 1.0, 10.0)
_MOST_NOISE_WITH_INTERCEPT = 1.0


@dataclass(frozen=True)
class Candidate:
    """One fit to the labels.

    Attributes
    ----------
    source : Source
    noise : float
    intercept : bool
        Whether the boundary is where the labels put it, or where each class has a mean score of 0.
    coefficients : ndarray of shape (n_labeled, n_classes)
    shift : ndarray of shape (n_classes,)
        What is added to the sum of kernel columns.
    spread : float
        Of the scores over all rows; candidates are blended in units of it.
    left_out : ndarray of shape (n_labeled, n_classes)
        Scores at the labeled rows, each without its own label, in units of the spread.
    codes : ndarray of int, shape (n_samples,)
        The predicted classes of all rows.
    """

    source: Source
    noise: float
    intercept: bool
    coefficients: FloatArray
    shift: FloatArray
    spread: float
    left_out: FloatArray
    codes: IntArray


def fit_candidates(sources: list[Source], labels: LabelCoding) -> list[Candidate]:
    """Fit every source to the labels at every noise level, with an intercept and without."""
    at, n_classes = labels.labeled_rows, labels.n_classes
    targets = np.eye(n_classes)[labels.codes[at]]
    candidates = []
    for source in sources:
        columns = source.columns(at)
        system = LabelSystem(columns[at], columns.mean(axis=0, dtype=np.float64))
        if not system.scale > 0:
            continue  # the kernel says nothing about the labeled rows
        fits = [system.fit(targets, noise) for noise in _NOISE_LEVELS]
        # All levels in one product, a row a class: long rows are fast.
        sums = np.hstack([fit.coefficients for fit in fits]).T @ columns.T
        for noise, fit, scores in zip(_NOISE_LEVELS, fits, np.split(sums, len(fits)), strict=True):
            scores -= fit.center[:, np.newaxis]  # a shift of all rows changes nothing
            # Each class has the mean 0, and so has each row: targets sum to 1, and coefficients to 0.
            spread = float(np.sqrt(np.mean(np.square(scores))))
            if not spread > 0:
                continue
            shifts = [(False, -fit.center, fit.left_out_centered, scores.argmax(axis=0))]
            if noise <= _MOST_NOISE_WITH_INTERCEPT:
                codes = (scores + (fit.center + fit.intercept)[:, np.newaxis]).argmax(axis=0)
                shifts.append((True, fit.intercept, fit.left_out, codes))
            candidates += [
                Candidate(source, noise, intercept, fit.coefficients, shift, spread, left_out / spread, codes)
                for intercept, shift, left_out, codes in shifts
            ]
    return candidates
