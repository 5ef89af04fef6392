"""Candidates of the automatic classifier: each source fitted to the labels in several ways."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray
from semikpca.arrays import allowed_threads, in_threads
from semikpca.blending._agreement import NeighborAgreement
from semikpca.blending._label_fit import LabelSystem
from semikpca.blending._sources import Columns, Source
from semikpca.blending._weights import candidate_log_weights, left_out_losses, normalized_weights
from semikpca.convexity import ConvexityCertificate
from semikpca.labels import LabelCoding, only_of_class

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
    shares : ndarray of shape (n_classes,)
        Of the classes in what it predicts for all rows.
    agreement : float
        Of what it predicts with the neighborhoods of the rows.
    """

    source: Source
    noise: float
    intercept: bool
    coefficients: FloatArray
    shift: FloatArray
    spread: float
    left_out: FloatArray
    shares: FloatArray
    agreement: float


def fit_candidates(
    sources: Sequence[Source], columns: Sequence[Columns], labels: LabelCoding, neighbors: NeighborAgreement
) -> list[Candidate]:
    """Fit every source to the labels at every noise level, with an intercept and without."""
    fitted: dict[int, list[Candidate]] = {}

    def fit(number: int, thread: int) -> None:
        fitted[number] = _candidates_of(sources[number], columns[number].values, labels, neighbors)

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
    n_classes = labels.n_classes
    given = labels.codes[labels.labeled_rows]
    counts = np.bincount(given, minlength=n_classes)
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
        log_weights = candidate_log_weights(losses, agreement, shares, counts, intercepts)
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
    candidates: list[Candidate], weights: FloatArray, certificates: Sequence[ConvexityCertificate]
) -> ConvexityCertificate | None:
    """Return the certificate of the use of Semi-KPCA that weighs most, or None where there is none."""
    weight_of = {id(certificate): 0.0 for certificate in certificates}
    for candidate, weight in zip(candidates, weights, strict=True):
        if candidate.source.certificate is not None:
            weight_of[id(candidate.source.certificate)] += float(weight)
    return max(certificates, key=lambda certificate: weight_of[id(certificate)], default=None)
