"""A blend of candidates that is fitted to numbers, and never changes: other labels or weights make another blend."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import length
from semikpca.blending._blend import no_report
from semikpca.blending._columns import NO_COLUMNS, Columns
from semikpca.blending._folds import label_folds
from semikpca.blending._label_fit import LabelSystem
from semikpca.blending._parts import BlendedSources, expanded, heaviest_certificate
from semikpca.blending._sources import Report, Source, columns_at, most_column_numbers, sources_at_weight
from semikpca.blending._value_candidates import (
    ValueCandidate,
    ValueScale,
    fit_value_candidates,
    weigh_value_candidates,
)
from semikpca.convexity import ConvexityCertificate
from semikpca.decisions import Reach, joined_components
from semikpca.problem import Expansion
from semikpca.targets import TargetValues

Combine = Literal["ensemble", "best"]
# By how much variance grows where sources disagree, beside their disagreement.
_VARIANCE_OF_DISAGREEMENT = 3.0


@dataclass(frozen=True)
class ValuePart:
    """What one source adds to the blend, in the units of its :class:`ValueScale`."""

    number: int  # of the source
    weight: float
    settings: tuple[tuple[float, float, float], ...]  # noise, amplitude and weight of its candidates that count
    expansion: Expansion  # of new rows, without the intercept
    intercept: FloatArray  # shape (n_targets,)
    answer: FloatArray  # on the training rows, bounded


@dataclass(frozen=True)
class ValueBlend(BlendedSources):
    """Candidates from several sources, fitted to numbers, weighed, bounded and added up.

    Made by :meth:`of`. Nothing of it changes afterwards. What one source says is bounded before it is added up, so that
    an answer far outside of the range of the given numbers does not carry the others with it.
    """

    sources: tuple[Source, ...]
    columns: tuple[Columns, ...]  # of each source at the labeled rows
    components: IntArray | None  # pieces that rows fall into by the links of all kernels; None where one links all rows
    targets: TargetValues
    combine: Combine
    reach: Reach
    scale: ValueScale
    weights: FloatArray  # of the candidates
    results: dict[str, Any]  # a column for each thing that is known of the candidates
    certificate: ConvexityCertificate | None  # that of the heaviest use of Semi-KPCA
    parts: tuple[ValuePart, ...]
    scaled_left_out: FloatArray  # answers at the labeled rows, each without its own label; weights are kept

    @classmethod
    def of(
        cls, sources: Sequence[Source], targets: TargetValues, combine: Combine, report: Report = no_report
    ) -> "ValueBlend":
        """Return the blend of these sources for the numbers of the labeled rows."""
        components = joined_components([source.kernel.components() for source in sources])
        unknown = tuple(NO_COLUMNS for _ in sources)
        return cls._fitted(tuple(sources), unknown, components, targets, combine, report)

    @classmethod
    def _fitted(
        cls,
        sources: tuple[Source, ...],
        known: Sequence[Columns],
        components: IntArray | None,
        targets: TargetValues,
        combine: Combine,
        report: Report,
    ) -> "ValueBlend":
        columns = columns_at(sources, known, targets.labeled_rows, report=report)
        scale = ValueScale.of(targets)
        scaled = scale.scaled(targets.given)
        candidates = fit_value_candidates(sources, columns, scaled)
        weights, results = weigh_value_candidates(candidates, scaled, scale, combine)
        parts, left_out = _added_up(sources, columns, candidates, weights, scale, scaled.shape)
        return cls(
            sources=sources,
            columns=columns,
            components=components,
            targets=targets,
            combine=combine,
            reach=Reach.of(components, targets.marks),
            scale=scale,
            weights=weights,
            results=results,
            certificate=heaviest_certificate(sources, [candidate.source for candidate in candidates], weights),
            parts=parts,
            scaled_left_out=left_out,
        )

    # -- another blend -----------------------------------------------------------------------------------------

    def with_labels(self, targets: TargetValues, report: Report = no_report) -> "ValueBlend":
        """Return the blend for other numbers. Kernels and their spectra are shared."""
        return self._fitted(self.sources, self.columns, self.components, targets, self.combine, report)

    def at_weight(self, error_weight: float | str, report: Report = no_report) -> "ValueBlend":
        """Return the blend with Semi-KPCA at one error weight, relative to the bound of each kernel."""
        moved = sources_at_weight(self.sources, error_weight)
        same = {id(source): columns for source, columns in zip(self.sources, self.columns, strict=True)}
        known = [same.get(id(source), NO_COLUMNS) for source in moved]
        return self._fitted(moved, known, self.components, self.targets, self.combine, report)

    # -- readings ----------------------------------------------------------------------------------------------

    @property
    def values(self) -> FloatArray:
        """Answers at all training rows, shape (n_samples, n_targets); the mean of the labels where none reaches."""
        answers = _weighted([part.answer for part in self.parts], self.parts, self.targets.values.shape)
        return self.scale.unscaled(self.reach.hide(answers))

    def values_at(self, rows: Rows) -> FloatArray:
        """Return the answers of new rows, shape (n_rows, n_targets)."""
        return self._with_doubt_at(rows)[0]

    @property
    def dual_coef(self) -> FloatArray:
        """Coefficients of the training rows, of a blend of one source that learns from all of them; 0 without labels.

        With :attr:`intercept` they are the answers, where these are within their bounds.
        """
        if not self.parts:
            return np.zeros(self.targets.values.shape)
        (part,) = self.parts
        return np.asarray(part.expansion.coefficients * self.scale.spread)

    @property
    def intercept(self) -> FloatArray:
        """What is added to the sum over the coefficients, shape (1, n_targets)."""
        total = sum((part.weight * part.intercept for part in self.parts), start=np.zeros(self.targets.n_targets))
        return self.scale.unscaled(total)[np.newaxis]

    def left_out(self, rows: IntArray) -> FloatArray:
        """Return answers at labeled ``rows``, each without its own label, shape (len(rows), n_targets).

        Exact for every candidate; weights, units and bounds stay those of the whole fit. Where no other label reaches
        the row, it is the mean of the other labels.
        """
        unlabeled = np.setdiff1d(rows, self.targets.labeled_rows)
        if unlabeled.size:
            raise ValueError(f"Row {unlabeled[0]} has no label that could be left out; ask for labeled rows.")
        places = np.searchsorted(self.targets.labeled_rows, rows)
        found = self.scale.unscaled(self.scaled_left_out[places])
        given = self.targets.given
        alone = self.reach.alone(rows, self.targets.marks) | (len(given) == 1) | (not self.parts)
        others = (given.sum(axis=0) - given[places]) / max(1, len(given) - 1)
        return np.where(alone[:, np.newaxis], others if len(given) > 1 else np.nan, found)

    # -- how sure ----------------------------------------------------------------------------------------------

    def deviations(self, factor: float, rows: Rows | None = None) -> tuple[FloatArray, FloatArray]:
        """Return answers and their standard deviations, of all training rows or of new ones.

        The variance is ``factor`` (see :meth:`deviation_factor`) times the squared left-out error plus three times the
        disagreement of the sources. Where no label reaches, it is the variance of the labels.
        """
        if rows is None:
            doubt = self.reach.hide(self._doubt([part.answer for part in self.parts]))
            values, reached = self.values, ~self.reach.out
        else:
            values, doubt, reached = self._with_doubt_at(rows)
        variance = np.where(reached[:, np.newaxis], factor * (self._left_out_variance + doubt), 1.0)
        return values, np.sqrt(variance) * self.scale.spread

    def deviation_factor(self) -> float:
        """Return the factor with which variances are, on the mean, the squared errors at labels that were held out.

        Blends without the labels of each of 20 folds answer at their rows. NaN where there is one label.
        """
        at = self.targets.labeled_rows
        if len(at) == 1:
            return float("nan")
        squares = expected = 0.0
        for fold in label_folds(len(at)):
            without = self.with_labels(self.targets.without(at[fold]))
            missed = self.scale.scaled(without.values[at[fold]]) - self.scale.scaled(self.targets.given[fold])
            doubt = without._doubt([part.answer[at[fold]] for part in without.parts])
            in_these_units = np.square(without.scale.spread / self.scale.spread)
            squares += float(np.square(missed).sum())
            expected += float((self._left_out_variance + doubt * in_these_units).sum())
        return squares / expected if expected > 0 else 1.0

    @property
    def _left_out_variance(self) -> FloatArray:
        """The mean squared error at left-out labels, in scaled units, shape (n_targets,)."""
        scaled = self.scale.scaled(self.targets.given)
        return np.asarray(np.mean(np.square(self.scaled_left_out - scaled), axis=0))

    def _doubt(self, answers: Sequence[FloatArray]) -> FloatArray:
        """Return what disagreement of the sources adds to the variance, in scaled units."""
        if not answers:
            return np.zeros((1, self.targets.n_targets))
        mean = _weighted(answers, self.parts, answers[0].shape)
        squares = [np.square(answer - mean) for answer in answers]
        return _VARIANCE_OF_DISAGREEMENT * _weighted(squares, self.parts, mean.shape)

    def _with_doubt_at(self, rows: Rows) -> tuple[FloatArray, FloatArray, Any]:
        """Return answers, doubt and whether a label reaches, for new rows."""
        n, n_targets = length(rows), self.targets.n_targets
        answers = [self.scale.bounded(part.expansion(rows) + part.intercept) for part in self.parts]
        total, doubt = _weighted(answers, self.parts, (n, n_targets)), self._doubt(answers)
        reached = np.ones(n, dtype=bool)
        if self.reach.out.any():
            touched = [source.kernel.touches(rows, ~self.reach.out) for source in self.sources]
            reached = np.any(touched, axis=0)
        return self.scale.unscaled(np.where(reached[:, np.newaxis], total, 0.0)), doubt, reached

    # -- one more label ----------------------------------------------------------------------------------------

    def covariances(self, rows: IntArray) -> Iterator[tuple[float, float, FloatArray]]:
        """Yield for each candidate that counts its weight, its noise, and the covariance of all rows with ``rows``.

        A candidate is a Gaussian process, given the labels: its covariances and its noise (a variance) do not depend on
        the numbers but for the unit, which is that of the scaled targets. Shape (n_samples, len(rows)).
        """
        at = self.targets.labeled_rows
        for part in self.parts:
            source = self.sources[part.number]
            columns = self.columns[part.number].moved(source, at, most_column_numbers(len(self.sources)))
            asked = columns.moved(source, rows).values
            known, system = partial(columns.times, source), LabelSystem(columns.own, columns.means)
            for noise, amplitude, weight in part.settings:
                covariance = system.covariance(noise, known, asked, at)
                yield weight, amplitude * noise * system.scale, amplitude * covariance


def _added_up(
    sources: Sequence[Source],
    columns: Sequence[Columns],
    candidates: Sequence[ValueCandidate],
    weights: FloatArray,
    scale: ValueScale,
    shape: tuple[int, ...],
) -> tuple[tuple[ValuePart, ...], FloatArray]:
    """Return the parts of the blend, and its answers at the labeled rows without their own labels."""
    left_out = np.zeros(shape)
    sums: dict[int, FloatArray] = {}
    intercepts: dict[int, FloatArray] = {}
    settings: dict[int, list[tuple[float, float, float]]] = {}
    shares: dict[int, float] = {}
    for number, source in enumerate(sources):
        used = [(c, float(w)) for c, w in zip(candidates, weights, strict=True) if c.source is source and w > 0]
        if not used:
            continue
        shares[number] = share = sum(weight for _, weight in used)
        sums[number] = np.sum([weight / share * c.coefficients for c, weight in used], axis=0)
        intercepts[number] = np.sum([weight / share * c.intercept for c, weight in used], axis=0)
        settings[number] = [(c.noise, c.amplitude, weight) for c, weight in used]
        left_out += share * scale.bounded(np.sum([weight / share * c.left_out for c, weight in used], axis=0))
    parts = []
    for number, (expansion, answer) in expanded(sources, columns, sums).items():
        bounded = scale.bounded(answer + intercepts[number])
        parts.append(ValuePart(number, shares[number], tuple(settings[number]), expansion, intercepts[number], bounded))
    return tuple(parts), left_out


def _weighted(answers: Sequence[FloatArray], parts: Sequence[ValuePart], shape: tuple[int, ...]) -> FloatArray:
    """Return Σ weight · answer over the parts."""
    total = np.zeros(shape)
    for answer, part in zip(answers, parts, strict=True):
        total = total + part.weight * answer
    return total
