"""A fit on rows of a cluster by way of features: one pass over the rows, then a small problem on the client."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semikpca._typing import Array, FloatArray, IntArray, Rows
from semikpca.exceptions import KernelRankError
from semikpca.kernels import Kernel, Nystroem
from semikpca.labels import UNLABELED, LabelCoding
from semikpca.operators import REMOTE_BACKEND, fitted, weighted_features
from semikpca.problem._compressed import CompressedRows, OnFeatures, Summary, joined, summary
from semikpca.problem._few_labels import FewLabels
from semikpca.problem._fit import Fit, LocalFit, Problem
from semikpca.problem._response import DualSolution

# Rows that the client keeps as they are, to know how decisions are spread: all, or a fixed sample of many.
_MOST_SAMPLED_ROWS = 20_000
_MOST_SAMPLED_NUMBERS = 4_000_000
_SAMPLE_SEED = 0

_log = logging.getLogger("semikpca")


@dataclass(frozen=True)
class ClusterFit(Fit):
    """A fit that has numbers for the labeled rows; what every other row has is a function of its features."""

    problem: Problem
    rows: Rows
    compressed: CompressedRows  # all rows as the small problem sees them
    labels: FewLabels
    sample: FloatArray  # rows by which the spread of the decisions is known: all of them, or a fixed sample of many
    inside: LocalFit  # the small problem: the labeled rows first, and then those that stand for all others

    backend = REMOTE_BACKEND

    @classmethod
    def of(
        cls, problem: Problem, kernel: Kernel, rows: Rows, labels: FewLabels, *, verbose: bool = False
    ) -> "ClusterFit":
        """Fit: the kernel from a few rows, one pass over all rows, and the small problem."""
        known = fitted_kernel(kernel, rows)
        sampled = sampled_rows(*rows.shape)
        kept = np.union1d(labels.labeled_rows, sampled)
        start = time.perf_counter()
        whole = summed(rows, known, kept)
        if verbose:
            seconds, n_chunks = time.perf_counter() - start, len(rows.bounds) - 1
            _log.info("%s rows in %d chunks summed up in %.1f s", f"{rows.shape[0]:,}", n_chunks, seconds)
        labeled = whole.kept[np.searchsorted(kept, labels.labeled_rows)]
        compressed = CompressedRows.of(known, whole.gram, labels.labeled_rows, labeled)
        sample = whole.kept[np.searchsorted(kept, sampled)]
        return cls(problem, rows, compressed, labels, sample, _solved(problem, compressed, labels))

    @property
    def kernel(self) -> Kernel:  # type: ignore[override]  # a field of the local fit
        return self.compressed.kernel

    @property
    def facts(self) -> Any:
        """Those of the small problem: eigenvalues, certificate and error weight are the same."""
        return self.inside.facts

    @property
    def small(self) -> LocalFit:
        return self.inside

    @property
    def solution(self) -> DualSolution:
        return self.inside.answer

    @property
    def n_products(self) -> int:
        return self.inside.n_products

    @property
    def components(self) -> None:
        """None: a kernel with features connects all rows."""
        return None

    @property
    def intercept(self) -> FloatArray:
        return self.inside.intercept.astype(self.rows.dtype)

    def local(self) -> LocalFit:
        """Refuse: numbers for every training row would have to come to the client."""
        raise NotImplementedError(
            f"This takes numbers for every one of {self.rows.shape[0]:,} training rows, which stay on the cluster with "
            f"{self.kernel!r}. For the labeled rows alone ask model.small_model_, the same problem on the client; for "
            "suggestions fit a sample of the rows there."
        )

    def label_response(self, rows: IntArray) -> FloatArray:
        """Refuse, as ``local`` does: a column has a number for every training row."""
        return self.local().label_response(rows)

    def typical_decisions(self) -> FloatArray:
        return self.expansion(self.sample)

    def label_codes(self) -> IntArray:
        return np.asarray(self.labels.codes.values)

    def left_out(self, rows: IntArray, rtol: float | None) -> FloatArray:
        unlabeled = np.setdiff1d(rows, self.labels.labeled_rows)
        if unlabeled.size:
            raise ValueError(f"Row {unlabeled[0]} has no label to be left out.")
        return self.inside.left_out(self.compressed.places(rows), rtol)

    def with_labels(self, labels: LabelCoding) -> "ClusterFit":
        """Return the fit to other labels: rows that get their first one are fetched, the others are not read."""
        assert isinstance(labels, FewLabels), "labels of a fit on a cluster stay few"
        new = np.setdiff1d(labels.labeled_rows, self.compressed.numbers)
        compressed = self.compressed.with_rows(new, self.rows[new]) if len(new) else self.compressed
        solved = _solved(self.problem, compressed, labels)
        return replace(self, compressed=compressed, labels=labels, inside=solved)

    # -- functions of a row ------------------------------------------------------------------------------------

    def values(self, which: str) -> Array:
        """Return a lazy array: a function of each row's features, and for the kept rows their own numbers."""
        function = self._row_function(which)
        return self.rows.over_all(function.in_chunk, function.n_columns, function.dtype)

    def _row_function(self, which: str) -> "RowFunction":
        if which == "decision":
            return self.expansion
        V, weights_of_V = self._eigenvectors
        if which == "eigenvectors":
            return self._function(weights_of_V)
        answer = self.inside.answer
        # The multipliers of rows without a target are ±γ f.
        unlabeled_alpha = self.problem.alpha_sign * self.facts.error_weight * self._weights
        if which == "alpha":
            return self._function(unlabeled_alpha, answer.alpha)
        # (I − VVᵀ) α of a row without a target is another function of its features.
        return self._function(unlabeled_alpha - weights_of_V @ (V.T @ answer.alpha), answer.dual_coef)

    @property
    def expansion(self) -> "RowFunction":
        """F, with the weights w = Φᵀ (I − VVᵀ) α."""
        return self._function(self._weights)

    @property
    def _weights(self) -> FloatArray:
        return np.asarray(self.inside.rows.T @ self.inside.answer.dual_coef)

    @property
    def _eigenvectors(self) -> tuple[FloatArray, FloatArray]:
        """V of the small problem, and its weights as a function of features: v = K v / λ = φ(x) · (Φᵀ v / λ)."""
        rows, removed = self.inside.rows, getattr(self.facts, "removed", None)
        if removed is None:
            return np.empty((len(rows), 0)), np.empty((rows.shape[1], 0))
        V = np.asarray(removed.eigenvectors)
        return V, rows.T @ V / removed.eigenvalues[: V.shape[1]]

    def _function(self, weights: FloatArray, over_small_rows: FloatArray | None = None) -> "RowFunction":
        """Return φ(x) · weights, with numbers of their own for the kept rows where these are given."""
        own = np.empty((0, weights.shape[1])) if over_small_rows is None else over_small_rows
        numbers = self.compressed.numbers[: len(own)]
        values = weighted_features(self.kernel, weights)
        return RowFunction(values, weights.shape[1], np.dtype(self.rows.dtype), numbers, own[: len(numbers)])


@dataclass(frozen=True)
class RowFunction:
    """A function of rows by their features, with values of their own at a few of the training rows."""

    values: Callable[[FloatArray], FloatArray]  # of rows; returns shape (n_rows, n_columns)
    n_columns: int
    dtype: Any  # of the answers: that of the rows
    numbers: IntArray  # training rows that have values of their own, ascending
    own: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        return np.asarray(self.values(rows), dtype=self.dtype)

    def in_chunk(self, chunk: FloatArray, start: int) -> FloatArray:
        """Return the values of a chunk of the training rows that begins at row ``start``."""
        values = self(chunk)
        first, last = np.searchsorted(self.numbers, [start, start + len(chunk)])
        values[self.numbers[first:last] - start] = self.own[first:last]
        return values


def fitted_kernel(kernel: Kernel, rows: Rows) -> Kernel:
    """Return a fitted clone of the kernel: what it learns of the rows it learns from a few of them."""
    inside: Any = kernel
    while hasattr(inside, "kernel"):
        if isinstance(inside, Nystroem) and isinstance(inside.landmarks, str) and inside.landmarks == "leverage":
            raise ValueError(
                "landmarks='leverage' scores every row, and these are on a cluster. Use 'k-means++' or 'uniform', or "
                "give landmark rows."
            )
        inside = inside.kernel
    return fitted(kernel, rows)


def sampled_rows(n_rows: int, n_features: int) -> IntArray:
    """Return the rows by which the spread of decisions is known, ascending; the same for the same sizes."""
    size = min(_MOST_SAMPLED_ROWS, max(1_000, _MOST_SAMPLED_NUMBERS // n_features))
    if n_rows <= size:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(_SAMPLE_SEED).choice(n_rows, size, replace=False))


def summed(rows: Rows, kernel: Kernel, kept: IntArray) -> Summary:
    """Return the summary of all rows: one pass over the chunks."""
    cuts = np.searchsorted(kept, rows.bounds)
    places = [kept[cuts[i] : cuts[i + 1]] - start for i, start in enumerate(rows.bounds[:-1])]
    whole: Summary = rows.reduced(summary, joined, kernel, places)
    return whole


def _solved(problem: Problem, compressed: CompressedRows, labels: FewLabels) -> LocalFit:
    """Return the small problem, fitted by the local code."""
    rows = compressed.small_rows
    codes = np.full(len(rows), UNLABELED)
    codes[: len(compressed.numbers)] = labels.codes[compressed.numbers]
    kernel = OnFeatures(compressed.kernel.is_approximate)
    try:
        return LocalFit.of(problem, kernel, rows, "low-rank", LabelCoding(labels.classes, codes))
    except KernelRankError as error:
        raise KernelRankError(error.requested, error.removed, error.rank, len(labels.codes)) from None
