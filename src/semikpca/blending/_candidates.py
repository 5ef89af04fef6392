"""Candidates of the automatic classifier: each source fitted to the labels in several ways, and how much each counts.

Candidates are weighed by their left-out labels, their agreement with neighborhoods, and a prior. The constants were
chosen on the data sets named in docs/benchmarks.md; docs/decisions/0011 has the trials. Results are flat around all of
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_softmax

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.arrays import allowed_threads, in_threads
from semikpca.blending._agreement import NeighborAgreement
from semikpca.blending._label_fit import LabelSystem
from semikpca.blending._sources import Columns, Source
from semikpca.convexity import ConvexityCertificate
from semikpca.labels import LabelCoding, only_of_class

# Noise levels of the fits to the labels, in units of the kernel's mean diagonal at the labeled rows: labels are taken
# at their word, half believed, or only believed together. With the last the fit is Semi-KPCA's own, H y with centered
# targets; an intercept, which does not shrink with the rest, would drown it there.
_NOISE_LEVELS = (0.1, 1.0, 10.0)
_MOST_NOISE_WITH_INTERCEPT = 1.0

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


@dataclass(frozen=True)
class Candidate:
    """One fit to the labels."""

    source: Source
    noise: float
    intercept: bool  # whether the boundary is where the labels put it, or where each class has a mean score of 0
    coefficients: FloatArray  # shape (n_labeled, n_classes)
    shift: FloatArray  # what is added to the sum of kernel columns
    spread: float  # of the scores over all rows; candidates are blended in units of it
    left_out: FloatArray  # scores at the labeled rows, each without its own label, in units of the spread
    shares: FloatArray  # of the classes in what it predicts for all rows
    agreement: float  # of what it predicts with the neighborhoods of the rows


def fit_candidates(
    sources: Sequence[Source], columns: Sequence[Columns], labels: LabelCoding, neighbors: Sequence[NeighborAgreement]
) -> list[Candidate]:
    """Fit every source to the labels at every noise level, with an intercept and without."""
    fitted: dict[int, list[Candidate]] = {}

    def fit(number: int, thread: int) -> None:
        fitted[number] = _candidates_of(sources[number], columns[number].values, labels, neighbors[number])

    in_threads(fit, range(len(sources)), min(allowed_threads(), len(sources)))
    return [candidate for number in range(len(sources)) for candidate in fitted[number]]


def _candidates_of(
    source: Source, columns: FloatArray, labels: LabelCoding, neighbors: NeighborAgreement
) -> list[Candidate]:
    at, n_classes = labels.labeled_rows, labels.n_classes
    targets = np.eye(n_classes)[labels.codes[at]]
    system = LabelSystem(columns[at], columns.mean(axis=0, dtype=np.float64))
    if not system.scale > 0:
        return []  # the kernel says nothing about the labeled rows
    fits = [system.fit(targets, noise) for noise in _NOISE_LEVELS]
    # All levels in one product, a row a class: long rows are fast.
    sums = np.hstack([fit.coefficients for fit in fits]).T @ columns.T
    candidates = []
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
        for intercept, shift, left_out, codes in shifts:
            shares = np.bincount(codes, minlength=n_classes) / len(codes)
            agreement = neighbors.relative_information(codes, n_classes)
            candidates.append(
                Candidate(
                    source, noise, intercept, fit.coefficients, shift, spread, left_out / spread, shares, agreement
                )
            )
    return candidates


def weigh_candidates(
    candidates: list[Candidate], labels: LabelCoding, combine: str
) -> tuple[FloatArray, dict[str, Any]]:
    """Return the weight of each candidate, and a column for each thing that is known of them."""
    given = labels.codes[labels.labeled_rows]
    agreement = np.array([candidate.agreement for candidate in candidates])
    weights = losses = accuracies = np.array([], dtype=float)
    if candidates:
        left_out = np.stack([candidate.left_out for candidate in candidates])
        losses = left_out_losses(left_out, given)
        counted = ~only_of_class(given)
        found = left_out.argmax(axis=2)[:, counted] == given[counted]
        accuracies = found.mean(axis=1) if counted.any() else np.full(len(candidates), np.nan)
        shares = np.stack([candidate.shares for candidate in candidates])
        intercepts = np.array([candidate.intercept for candidate in candidates])
        log_weights = candidate_log_weights(losses, agreement, shares, labels.class_counts, intercepts)
        weights = normalized_weights(log_weights)
        if combine == "best":
            weights = np.eye(len(candidates))[np.argmax(log_weights)]
    return weights, {
        "kernel": np.fromiter((c.source.kernel for c in candidates), dtype=object, count=len(candidates)),
        "n_components_removed": np.array([c.source.n_components_removed for c in candidates], dtype=object),
        "error_weight": np.array([c.source.error_weight or np.nan for c in candidates]),
        "noise": np.array([c.noise for c in candidates]),
        "intercept": np.array([c.intercept for c in candidates], dtype=bool),
        "left_out_loss": losses,
        "left_out_accuracy": accuracies,
        "agreement": agreement,
        "weight": weights,
    }


def heaviest_certificate(
    sources: Sequence[Source], candidates: list[Candidate], weights: FloatArray
) -> ConvexityCertificate | None:
    """Return the certificate of the use of Semi-KPCA that weighs most, or None where there is none."""

    def total(source: Source) -> float:
        return float(sum(weight for c, weight in zip(candidates, weights, strict=True) if c.source is source))

    certified = [source for source in sources if source.certificate is not None]
    return max(certified, key=total).certificate if certified else None


def left_out_losses(left_out: FloatArray, codes: IntArray) -> FloatArray:
    """Return the loss of each candidate over the left-out labels, in nats; 0 where none can be left out.

    ``left_out`` has class scores at labeled rows, shape (n_candidates, n_labeled, n_classes). A label that is the only
    one of its class is passed over: without it nothing can vote for the class.
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

    ``shares`` are those of the predicted classes, shape (n_candidates, n_classes); ``counts`` the labels of each class.
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
