"""Candidates of the regressors: each source fitted to the given numbers at several levels of noise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray
from semikpca.arrays import allowed_threads, in_threads
from semikpca.blending._columns import Columns
from semikpca.blending._label_fit import LabelSystem
from semikpca.blending._parts import source_columns
from semikpca.blending._sources import Source
from semikpca.blending._value_weights import first_weights, left_out_errors, stacked_weights
from semikpca.targets import TargetValues

# In units of the variance of the labeled rows in feature space: from numbers that are taken at their word to numbers
# of which hardly more than the mean is believed.
_NOISE_LEVELS = (0.001, 0.01, 0.1, 1.0, 10.0)
# An answer may leave the range of the given numbers by this share of the range, on either side. Rows at the edge of a
# graph get answers far outside, which few left-out labels are near enough to show.
_BEYOND_THE_RANGE = 0.5


@dataclass(frozen=True)
class ValueScale:
    """The units in which numbers are fitted: with them the answers follow any change of unit of the targets."""

    mean: FloatArray  # over the labeled rows, shape (n_targets,)
    spread: FloatArray  # the standard deviation; 1 where all numbers are the same
    low: FloatArray  # what no answer is below, in units of the spread from the mean
    high: FloatArray

    @classmethod
    def of(cls, targets: TargetValues) -> "ValueScale":
        """Return the units that suit the given numbers."""
        given = targets.given
        mean, spread = given.mean(axis=0), given.std(axis=0)
        # Numbers that differ by rounding alone are the same.
        varies = spread > 4 * np.finfo(float).eps * np.abs(given).max(axis=0)
        spread = np.where(varies, spread, 1.0)
        scaled = np.where(varies, (given - mean) / spread, 0.0)
        low, high = scaled.min(axis=0), scaled.max(axis=0)
        beyond = _BEYOND_THE_RANGE * (high - low)
        return cls(mean, spread, low - beyond, high + beyond)

    def scaled(self, values: FloatArray) -> FloatArray:
        """Return numbers in these units."""
        return (values - self.mean) / self.spread

    def unscaled(self, values: FloatArray) -> FloatArray:
        """Return what numbers in these units stand for."""
        return self.mean + self.spread * values

    def bounded(self, values: FloatArray) -> FloatArray:
        """Return numbers in these units, moved to the nearest one that is allowed."""
        return np.clip(values, self.low, self.high)


@dataclass(frozen=True)
class ValueCandidate:
    """One fit to the given numbers, in the units of a :class:`ValueScale`."""

    source: Source
    noise: float
    coefficients: FloatArray  # shape (n_labeled, n_targets)
    intercept: FloatArray  # shape (n_targets,)
    left_out: FloatArray  # answers at the labeled rows, each without its own label, not bounded
    amplitude: float  # the variance of the targets in units of the kernel: of the likeliest Gaussian process


def fit_value_candidates(
    sources: Sequence[Source], columns: Sequence[Columns], targets: FloatArray
) -> list[ValueCandidate]:
    """Fit every source to the scaled targets of the labeled rows at every noise level."""
    fitted: dict[int, list[ValueCandidate]] = {}

    def fit(number: int, thread: int) -> None:
        fitted[number] = _candidates_of(sources[number], columns[number], targets)

    in_threads(fit, range(len(sources)), min(allowed_threads(), len(sources)))
    return [candidate for number in range(len(sources)) for candidate in fitted[number]]


def _candidates_of(source: Source, columns: Columns, targets: FloatArray) -> list[ValueCandidate]:
    system = LabelSystem(columns.own, columns.means)
    if not system.scale > 0:
        return []  # the kernel says nothing about the labeled rows, or there is one of them
    candidates = []
    for noise in _NOISE_LEVELS:
        fit = system.fit(targets, noise)
        explained = np.sum(targets * fit.coefficients) / (targets.shape[1] * (len(targets) - 1))
        candidates.append(
            ValueCandidate(source, noise, fit.coefficients, fit.intercept, fit.left_out, float(explained))
        )
    return candidates


def weigh_value_candidates(
    candidates: list[ValueCandidate], targets: FloatArray, scale: ValueScale, combine: str
) -> tuple[FloatArray, dict[str, Any]]:
    """Return the weight of each candidate, and a column for each thing that is known of them."""
    weights = errors = np.array([], dtype=float)
    if candidates:
        left_out = scale.bounded(np.stack([candidate.left_out for candidate in candidates]))
        errors = left_out_errors(left_out, targets)
        if combine == "best":
            weights = np.eye(len(candidates))[np.argmax(first_weights(errors, len(targets)))]
        else:
            weights = stacked_weights(left_out, targets)
    return weights, {
        **source_columns([candidate.source for candidate in candidates]),
        "noise": np.array([candidate.noise for candidate in candidates]),
        "left_out_error": np.sqrt(errors),
        "weight": weights,
    }
