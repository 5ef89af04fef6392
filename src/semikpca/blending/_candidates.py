"""Candidates of the automatic classifier: each source fitted to the labels in several ways."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import allowed_threads, in_threads
from semikpca.blending._columns import Columns
from semikpca.blending._halves import agreement_of_halves
from semikpca.blending._label_fit import LabelSystem
from semikpca.blending._parts import source_columns
from semikpca.blending._sources import Source
from semikpca.blending._structure import RowStructure
from semikpca.blending._weights import (
    Evidence,
    candidate_log_weights,
    labels_are_few,
    left_out_losses,
    normalized_weights,
)
from semikpca.labels import LabelCoding, only_of_class

# Noise levels of the fits to the labels, in units of the kernel's mean diagonal at the labeled rows: labels are taken
# at their word, half believed, or only believed together. With the last the fit is Semi-KPCA's own, H y with centered
# targets; an intercept, which does not shrink with the rest, would drown it there.
_NOISE_LEVELS = (0.1, 1.0, 10.0)
_MOST_NOISE_WITH_INTERCEPT = 1.0
_MOST_SUMS = 2**22  # numbers that are kept for a source until its candidates are weighed, 32 MB


@dataclass(frozen=True)
class Candidate:
    """One fit to the labels."""

    source: Source
    structure: RowStructure  # of what the source sees
    noise: float
    intercept: bool  # whether the boundary is where the labels put it, or where each class has a mean score of 0
    coefficients: FloatArray  # shape (n_labeled, n_classes)
    shift: FloatArray  # what is added to the sum of kernel columns
    spread: float  # of the scores over all rows; candidates are blended in units of it
    left_out: FloatArray  # scores at the labeled rows, each without its own label, in units of the spread
    sums: FloatArray | None  # Σ columns · coefficients at all rows, a row a class; None where that is too much to keep
    codes: IntArray  # of the classes that it predicts for all rows, in the smallest type that holds them
    shares: FloatArray  # of these classes
    agreement: float  # of what it predicts with the neighborhoods of the rows
    separation: float  # of the classes that it predicts, along the components of the rows
    halves: float  # agreement of what it predicts from each half of the labels; 0 where that was not asked


def fit_candidates(
    sources: Sequence[Source], columns: Sequence[Columns], labels: LabelCoding, structures: Sequence[RowStructure]
) -> list[Candidate]:
    """Fit every source to the labels at every noise level, with an intercept and without."""
    fitted: dict[int, list[Candidate]] = {}

    def fit(number: int, thread: int) -> None:
        fitted[number] = _candidates_of(sources[number], columns[number], labels, structures[number])

    in_threads(fit, range(len(sources)), min(allowed_threads(), len(sources)))
    return [candidate for number in range(len(sources)) for candidate in fitted[number]]


def _candidates_of(source: Source, columns: Columns, labels: LabelCoding, structure: RowStructure) -> list[Candidate]:
    at, n_classes = labels.labeled_rows, labels.n_classes
    given = labels.codes[at]
    targets = (given[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)
    system = LabelSystem(columns.own, columns.means)
    if not system.scale > 0:
        return []  # the kernel says nothing about the labeled rows
    fits = [system.fit(targets, noise) for noise in _NOISE_LEVELS]
    # All levels in one product, a row a class: long rows are fast.
    sums = np.ascontiguousarray(columns.times(source, np.hstack([fit.coefficients for fit in fits])).T)
    halves: dict[tuple[float, bool], float] = {}
    if labels_are_few(labels.class_counts) and labels.class_counts.max() > 1:
        halves = agreement_of_halves(source, columns, given, targets, _NOISE_LEVELS)
    candidates = []
    for noise, fit, scores in zip(_NOISE_LEVELS, fits, np.split(sums, len(fits)), strict=True):
        centered = scores - fit.center[:, np.newaxis]  # a shift of all rows changes nothing
        # Each class has the mean 0, and so has each row: targets sum to 1, and coefficients to 0.
        spread = float(np.sqrt(np.mean(np.square(centered))))
        if not spread > 0:
            continue
        shifts = [(False, -fit.center, fit.left_out_centered, centered.argmax(axis=0))]
        if noise <= _MOST_NOISE_WITH_INTERCEPT:
            codes = (scores + fit.intercept[:, np.newaxis]).argmax(axis=0)
            shifts.append((True, fit.intercept, fit.left_out, codes))
        for intercept, shift, left_out, codes in shifts:
            candidates.append(
                Candidate(
                    source=source,
                    structure=structure,
                    noise=noise,
                    intercept=intercept,
                    coefficients=fit.coefficients,
                    shift=shift,
                    spread=spread,
                    left_out=left_out / spread,
                    sums=scores if sums.size <= _MOST_SUMS else None,
                    codes=codes.astype(np.min_scalar_type(n_classes)),
                    shares=np.bincount(codes, minlength=n_classes) / len(codes),
                    agreement=structure.agreement(codes, n_classes),
                    separation=structure.separation(codes, n_classes),
                    halves=halves.get((noise, intercept), 0.0),
                )
            )
    return candidates


def weigh_candidates(
    candidates: list[Candidate], labels: LabelCoding, combine: str
) -> tuple[FloatArray, dict[str, Any]]:
    """Return the weight of each candidate, and a column for each thing that is known of them."""
    given = labels.codes[labels.labeled_rows]
    weights = losses = accuracies = np.array([], dtype=float)
    if candidates:
        left_out = np.stack([candidate.left_out for candidate in candidates])
        losses, accuracies = left_out_losses(left_out, given), _left_out_accuracies(left_out, given)
        log_weights = candidate_log_weights(_evidence(candidates, losses), labels.class_counts)
        weights = normalized_weights(log_weights)
        if combine == "best":
            weights = np.eye(len(candidates))[np.argmax(log_weights)]
    return weights, {
        **source_columns([candidate.source for candidate in candidates]),
        "noise": np.array([c.noise for c in candidates]),
        "intercept": np.array([c.intercept for c in candidates], dtype=bool),
        "left_out_loss": losses,
        "left_out_accuracy": accuracies,
        "agreement": np.array([c.agreement for c in candidates]),
        "separation": np.array([c.separation for c in candidates]),
        "halves": np.array([c.halves for c in candidates]),
        "weight": weights,
    }


def _evidence(candidates: Sequence[Candidate], losses: FloatArray) -> Evidence:
    return Evidence(
        losses=losses,
        agreement=np.array([candidate.agreement for candidate in candidates]),
        separation=np.array([candidate.separation for candidate in candidates]),
        view=np.unique([id(candidate.structure) for candidate in candidates], return_inverse=True)[1],
        halves=np.array([candidate.halves for candidate in candidates]),
        shares=np.stack([candidate.shares for candidate in candidates]),
        by_labels=np.array([candidate.intercept for candidate in candidates]),
        needs_labels=np.array([candidate.source.needs_labels for candidate in candidates]),
        from_labeled_alone=np.array([not candidate.source.learns_from_all_rows for candidate in candidates]),
    )


def _left_out_accuracies(left_out: FloatArray, given: IntArray) -> FloatArray:
    counted = ~only_of_class(given)
    if not counted.any():
        return np.full(len(left_out), np.nan)
    return np.asarray((left_out.argmax(axis=2)[:, counted] == given[counted]).mean(axis=1))
