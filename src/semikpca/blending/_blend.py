"""A blend of candidates that is fitted to labels, and never changes: other labels or weights make another blend."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from semikpca._typing import BoolArray, FloatArray, IntArray, Rows
from semikpca.arrays import allowed_threads, in_threads, length, one_blas_thread
from semikpca.blending._accuracy_evidence import AccuracyEvidence, accuracy_by_left_out
from semikpca.blending._agreement import NeighborAgreement, cautious_offsets
from semikpca.blending._candidates import Candidate, fit_candidates, weigh_candidates
from semikpca.blending._columns import NO_COLUMNS, Columns
from semikpca.blending._label_fit import LabelSystem
from semikpca.blending._parts import BlendedSources, expanded, heaviest_certificate
from semikpca.blending._sources import (
    Report,
    Source,
    columns_at,
    most_column_numbers,
    sources_at_weight,
)
from semikpca.blending._structure import RowStructure, structures_of
from semikpca.convexity import ConvexityCertificate
from semikpca.decisions import Reach, joined_components, prior_offsets, resolve_prior
from semikpca.labels import LabelCoding
from semikpca.problem import Expansion


@dataclass(frozen=True)
class BlendSettings:
    """How candidates are put together."""

    combine: Literal["ensemble", "best"] = "ensemble"
    class_prior: Any = "auto"  # or None, "labeled", or an array of shape (n_classes,)

    def prior(self, labels: LabelCoding) -> FloatArray | None:
        """Return the shares that the user asks for, or None; refuse what cannot be one."""
        if isinstance(self.class_prior, str) and self.class_prior not in ("auto", "labeled"):
            raise ValueError(
                f"class_prior must be 'auto', None, 'labeled' or an array of shares, got {self.class_prior!r}."
            )
        asked = None if isinstance(self.class_prior, str) and self.class_prior == "auto" else self.class_prior
        return resolve_prior(asked, labels.codes, labels.n_classes)

    def among(self, kept: BoolArray) -> "BlendSettings":
        """Return the settings where only some of the classes are left: shares that were given are those of these."""
        if self.class_prior is None or isinstance(self.class_prior, str) or kept.all():
            return self
        return replace(self, class_prior=np.asarray(self.class_prior)[kept])


@dataclass(frozen=True)
class Part:
    """What one source adds to the blend."""

    number: int  # of the source
    settings: tuple[tuple[float, bool, float], ...]  # noise, intercept and share of its candidates that count
    expansion: Expansion  # as a function of new rows
    decision: FloatArray  # on the training rows


@dataclass(frozen=True)
class Total:
    """The weighted sum of the candidates; its arrays have a column for each class."""

    parts: tuple[Part, ...]
    constant: FloatArray  # what is added to the sum of the parts
    scores: FloatArray  # at all training rows
    left_out: FloatArray  # at the labeled rows, each without its own label

    @classmethod
    def of(
        cls,
        sources: Sequence[Source],
        columns: Sequence[Columns],
        candidates: Sequence[Candidate],
        weights: FloatArray,
        labels: LabelCoding,
    ) -> "Total":
        """Add up what the sources give with the coefficients of their candidates, each in units of its spread."""
        n_labeled, n_classes = len(labels.labeled_rows), labels.n_classes
        constant, left_out = np.zeros(n_classes), np.zeros((n_labeled, n_classes))
        together: dict[int, FloatArray] = {}  # the coefficients of each source
        sums: dict[int, FloatArray] = {}  # what they make of its columns, where the candidates know it
        used: dict[int, tuple[tuple[float, bool, float], ...]] = {}
        for number, source in enumerate(sources):
            coefficients, settings = np.zeros((n_labeled, n_classes)), []
            for candidate, weight in zip(candidates, weights, strict=True):
                if candidate.source is source and weight > 0:
                    share = float(weight / candidate.spread)
                    coefficients += share * candidate.coefficients
                    if candidate.sums is not None:
                        sums[number] = sums.get(number, 0.0) + share * candidate.sums
                    constant += share * candidate.shift
                    left_out += weight * candidate.left_out
                    settings.append((candidate.noise, candidate.intercept, share))
            if settings:
                together[number], used[number] = coefficients, tuple(settings)
        found = expanded(sources, columns, together, sums)
        parts = tuple(Part(number, used[number], *found[number]) for number in together)
        scores = np.zeros((len(labels.codes), n_classes))
        for part in parts:
            scores += part.decision
        return cls(parts, constant, scores + constant, left_out)


def no_report(step: str, done: int, total: int) -> None:
    """Report to nobody."""


@dataclass(frozen=True)
class Blend(BlendedSources):
    """Candidates from several sources, fitted to the labels, weighed and added up.

    Made by :meth:`of`. Nothing of it changes afterwards, so that a blend can be read while another one is made of it.
    """

    sources: tuple[Source, ...]
    columns: tuple[Columns, ...]  # of each source at the labeled rows
    structures: tuple[RowStructure, ...]  # of what each source sees
    components: IntArray | None  # pieces that rows fall into by the links of all kernels; None where one links all rows
    labels: LabelCoding
    settings: BlendSettings
    reach: Reach
    weights: FloatArray  # of the candidates
    results: dict[str, Any]  # a column for each thing that is known of the candidates
    certificate: ConvexityCertificate | None  # that of the heaviest use of Semi-KPCA
    total: Total
    offsets: FloatArray  # what is added to the scores of each class, for the shares of the classes
    class_shares: FloatArray
    accuracy: AccuracyEvidence | None  # how many of its labels will be right; None where there is one class

    @classmethod
    def of(
        cls,
        sources: Sequence[Source],
        labels: LabelCoding,
        settings: BlendSettings,
        report: Report = no_report,
    ) -> "Blend":
        """Return the blend of these sources for the labels of the training rows."""
        structures = structures_of(sources)
        components = joined_components([source.kernel.components() for source in sources])
        unknown = tuple(NO_COLUMNS for _ in sources)
        return cls._fitted(tuple(sources), unknown, structures, components, labels, settings, report)

    @classmethod
    def _fitted(
        cls,
        sources: tuple[Source, ...],
        known: Sequence[Columns],
        structures: tuple[RowStructure, ...],
        components: IntArray | None,
        labels: LabelCoding,
        settings: BlendSettings,
        report: Report,
    ) -> "Blend":
        prior = settings.prior(labels)  # what cannot be a prior is refused before anything is computed
        reach = Reach.of(components, labels.codes)
        columns = columns_at(sources, known, labels.labeled_rows, report=report)
        candidates = fit_candidates(sources, columns, labels, structures) if labels.n_classes > 1 else []
        weights, results = weigh_candidates(candidates, labels, settings.combine)
        total = Total.of(sources, columns, candidates, weights, labels)
        with one_blas_thread():
            heaviest = sources.index(candidates[int(np.argmax(weights))].source) if candidates else 0
            offsets = _class_offsets(total.scores, prior, labels, settings, reach, structures[heaviest].neighbors)
            evidence = _accuracy_evidence(total, offsets, candidates, weights, labels, structures[heaviest])
        return cls(
            sources=sources,
            columns=columns,
            structures=structures,
            components=components,
            labels=labels,
            settings=settings,
            reach=reach,
            weights=weights,
            results=results,
            certificate=heaviest_certificate(sources, [candidate.source for candidate in candidates], weights),
            total=total,
            offsets=offsets,
            class_shares=_shares(labels) if prior is None else prior,
            accuracy=evidence,
        )

    # -- another blend -----------------------------------------------------------------------------------------

    def with_labels(self, labels: LabelCoding, report: Report = no_report) -> "Blend":
        """Return the blend for other labels; classes may come and go. Kernels and their spectra are shared."""
        return self._fitted(self.sources, self.columns, self.structures, self.components, labels, self.settings, report)

    def prepare(self, rows: IntArray) -> None:
        """Solve beforehand for what labels of a few rows will need; no answer changes."""
        for source in self.sources if len(rows) else ():
            source.prepare(rows)

    def without_labels(self, rows: IntArray) -> "Blend":
        """Return the blend that was not given the labels of these rows; classes that have no other label go."""
        labels = self.labels.without(rows)
        kept = np.isin(self.labels.classes, labels.classes)
        return replace(self, settings=self.settings.among(kept)).with_labels(labels)

    def at_weight(self, error_weight: float | str, report: Report = no_report) -> "Blend":
        """Return the blend with Semi-KPCA at one error weight, relative to the bound of each kernel."""
        moved = sources_at_weight(self.sources, error_weight)
        same = {id(source): columns for source, columns in zip(self.sources, self.columns, strict=True)}
        known = [same.get(id(source), NO_COLUMNS) for source in moved]
        kept = {id(source.kernel): structure for source, structure in zip(self.sources, self.structures, strict=True)}
        structures = tuple(kept[id(source.kernel)] for source in moved)
        return self._fitted(moved, known, structures, self.components, self.labels, self.settings, report)

    # -- readings ----------------------------------------------------------------------------------------------

    @property
    def decision(self) -> FloatArray:
        """Decisions at all training rows, before those out of reach are set to 0, shape (n_samples, n_columns)."""
        return _as_decision(self.total.scores + self.offsets)

    def left_out(self, rows: IntArray) -> FloatArray:
        """Return decisions at labeled ``rows``, each without its own label, shape (len(rows), n_columns).

        Exact for every candidate; weights and offsets stay those of the whole fit.
        """
        unlabeled = np.setdiff1d(rows, self.labels.labeled_rows)
        if unlabeled.size:
            raise ValueError(f"Row {unlabeled[0]} has no label that could be left out; ask for labeled rows.")
        places = np.searchsorted(self.labels.labeled_rows, rows)
        decision = _as_decision(self.total.left_out[places] + self.offsets)
        decision[self.reach.alone(rows, self.labels.codes)] = 0
        return decision

    def label_response(self, rows: IntArray) -> FloatArray:
        """Return how decisions answer to a target at each of ``rows``, shape (n_samples, len(rows)).

        For each unit that the target differs from the decision; weights and offsets stay as they are.
        """
        return self.label_steps(rows)[0]

    def label_steps(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return :meth:`label_response` of ``rows``, and the labels that are foreseen there, (len(rows), n_classes).

        A candidate moves by what a label differs from its own answer, which is 1 for a class that it is certain of.
        Foreseen is the mean of these answers, each with the weight that its candidate has in the response of the row
        itself: there the response to a label, less what is foreseen, is exact.
        """
        at = self.labels.labeled_rows
        targets = np.eye(self.labels.n_classes)[self.labels.codes[at]]
        responses: dict[int, FloatArray] = {}
        sums: dict[int, tuple[FloatArray, FloatArray]] = {}

        def respond(place: int, thread: int) -> None:
            part = self.total.parts[place]
            source = self.sources[part.number]
            columns = self.columns[part.number].moved(source, at, most_column_numbers(len(self.sources)))
            asked = columns.moved(source, rows).values
            known, system = partial(columns.times, source), LabelSystem(columns.own, columns.means)
            responses[place] = np.zeros((len(self.labels.codes), len(rows)))
            answers, weights = np.zeros((len(rows), self.labels.n_classes)), np.zeros((len(rows), 1))
            for noise, intercept, share in part.settings:
                response = share * system.response(noise, known, asked, rows, at, intercept=intercept)
                responses[place] += response
                fit, own = system.fit(targets, noise), response[rows, np.arange(len(rows)), np.newaxis]
                answers += own * (asked[at].T @ fit.coefficients + fit.intercept)
                weights += own
            sums[place] = answers, weights

        places = range(len(self.total.parts))
        in_threads(respond, places, min(allowed_threads(), len(places)))
        response = np.zeros((len(self.labels.codes), len(rows)))
        answers, weights = np.zeros((len(rows), self.labels.n_classes)), np.zeros((len(rows), 1))
        for place in places:
            response += responses[place]
            answers, weights = answers + sums[place][0], weights + sums[place][1]
        # Where a label moves nothing, not even at its own row, it does not matter what is foreseen.
        foreseen = np.divide(answers, weights, out=np.zeros_like(answers), where=weights > 0)
        return response / 2, foreseen  # targets are -1 and 1, class scores 0 and 1

    def decisions_at(self, rows: Rows) -> FloatArray:
        """Return the decisions of new rows, shape (n_rows, n_columns); 0 where no label reaches."""
        scores = np.zeros((length(rows), self.labels.n_classes))
        for part in self.total.parts:
            scores += part.expansion(rows)
        decision = _as_decision(scores + self.total.constant + self.offsets)
        if self.reach.out.any():
            touched = [source.kernel.touches(rows, ~self.reach.out) for source in self.sources]
            decision[~np.any(touched, axis=0)] = 0
        return decision


def _class_offsets(
    scores: FloatArray,
    prior: FloatArray | None,
    labels: LabelCoding,
    settings: BlendSettings,
    reach: Reach,
    agreement: NeighborAgreement,
) -> FloatArray:
    """Return what is added to the scores of each class."""
    if labels.n_classes > 1 and prior is not None:
        return prior_offsets(scores[~reach.out], prior)
    if labels.n_classes > 2 and settings.class_prior is not None:
        return cautious_offsets(scores, reach.out, labels.class_counts, agreement)
    return np.zeros(labels.n_classes)


def _accuracy_evidence(
    total: Total,
    offsets: FloatArray,
    candidates: Sequence[Candidate],
    weights: FloatArray,
    labels: LabelCoding,
    structure: RowStructure,
) -> AccuracyEvidence | None:
    if not candidates:
        return None
    n_classes, given = labels.n_classes, labels.codes[labels.labeled_rows]
    codes = (total.scores + offsets).argmax(axis=1)
    same = [float(np.mean(c.codes == codes)) if weight else 0.0 for c, weight in zip(candidates, weights, strict=True)]
    shares = np.bincount(codes, minlength=n_classes) / len(codes)
    left_out_accuracy, n_left_out = accuracy_by_left_out(total.left_out + offsets, given, shares)
    return AccuracyEvidence(
        consensus=float(weights @ same),
        agreement=structure.agreement(codes, n_classes),
        n_classes=n_classes,
        labels_a_class=len(given) / n_classes,
        left_out_accuracy=left_out_accuracy,
        n_left_out=n_left_out,
    )


def _shares(labels: LabelCoding) -> FloatArray:
    shares = resolve_prior("labeled", labels.codes, labels.n_classes)
    assert shares is not None, "labels always have shares"
    return shares


def _as_decision(scores: FloatArray) -> FloatArray:
    """Return class scores as decision columns: one for two classes, positive for the second."""
    return (scores[:, 1:] - scores[:, :1]) / 2 if scores.shape[1] == 2 else scores
