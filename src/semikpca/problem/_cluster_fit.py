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
    """A fit that has numbers for the labeled rows; what every other row has is a function of its features.

    Attributes
    ----------
    compressed : CompressedRows
        All rows as the small problem sees them.
    sample : ndarray of shape (n_sampled, n_features)
        Rows by which the spread of the decisions is known: all of them, or a fixed sample of many.
    inside : LocalFit
        The small problem: the labeled rows first, and then those that stand for all others.
    """

    problem: Problem
    rows: Rows
    compressed: CompressedRows
    labels: FewLabels
    sample: FloatArray
    inside: LocalFit

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
        """The kernel whose features the small rows are."""
        return self.compressed.kernel

    @property
    def facts(self) -> Any:
        """Those of the small problem: eigenvalues, certificate and error weight are the same."""
        return self.inside.facts

    @property
    def small(self) -> LocalFit:
        """The small problem."""
        return self.inside

    @property
    def solution(self) -> DualSolution:
        """That of the small problem."""
        return self.inside.answer

    @property
    def n_products(self) -> int:
        """Those of the small problem."""
        return self.inside.n_products

    @property
    def components(self) -> None:
        """None: a kernel with features connects all rows."""
        return None

    @property
    def intercept(self) -> FloatArray:
        """That of the small problem."""
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
        """Return the decisions of the sampled rows."""
        return self.expansion(self.sample)

    def label_codes(self) -> IntArray:
        """Return those of the labeled rows."""
        return np.asarray(self.labels.codes.values)

    def left_out(self, rows: IntArray, rtol: float | None) -> FloatArray:
        """Return decisions at labeled rows, each without its own label, from the small problem."""
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
        answer, V = self.inside.answer, self._small_eigenvectors
        if which == "decision":
            return self._over_all_rows(self.expansion)
        if which == "eigenvectors":
            return self._over_all_rows(self._function(self._eigenvector_weights))
        if which == "alpha":
            return self._over_all_rows(self._function(self._unlabeled_alpha, answer.alpha))
        # (I − VVᵀ) α of a row without a target is another function of its features.
        along = self._eigenvector_weights @ (V.T @ answer.alpha)
        return self._over_all_rows(self._function(self._unlabeled_alpha - along, answer.dual_coef))

    @property
    def expansion(self) -> "RowFunction":
        """F, with the weights w = Φᵀ (I − VVᵀ) α."""
        return self._function(self._weights)

    @property
    def _weights(self) -> FloatArray:
        return self._projected(self.inside.answer.dual_coef)

    def _projected(self, over_small_rows: FloatArray) -> FloatArray:
        return np.asarray(self.inside.rows.T @ over_small_rows)

    @property
    def _small_eigenvectors(self) -> FloatArray:
        removed = getattr(self.facts, "removed", None)
        return np.empty((len(self.inside.rows), 0)) if removed is None else np.asarray(removed.eigenvectors)

    @property
    def _eigenvector_weights(self) -> FloatArray:
        """V as a function of features: v = K v / λ = φ(x) · (Φᵀ v / λ)."""
        V = self._small_eigenvectors
        if not V.shape[1]:
            return np.empty((self.inside.rows.shape[1], 0))
        return np.asarray(self._projected(V) / self.facts.removed.eigenvalues[: V.shape[1]])

    @property
    def _unlabeled_alpha(self) -> FloatArray:
        """The multipliers of rows without a target, ±γ f, as a function of features."""
        return np.asarray(self.problem.alpha_sign * self.facts.error_weight * self._weights)

    def _function(self, weights: FloatArray, over_small_rows: FloatArray | None = None) -> "RowFunction":
        values = weighted_features(self.kernel, weights)
        numbers: IntArray = np.empty(0, dtype=np.intp)
        own: FloatArray = np.empty((0, weights.shape[1]))
        if over_small_rows is not None:
            numbers = self.compressed.numbers
            own = over_small_rows[: len(numbers)]
        return RowFunction(values, weights.shape[1], np.dtype(self.rows.dtype), numbers, own)

    def _over_all_rows(self, function: "RowFunction") -> Array:
        return self.rows.over_all(function.in_chunk, function.n_columns, function.dtype)


@dataclass(frozen=True)
class RowFunction:
    """A function of rows by their features, with values of their own at a few of the training rows.

    Attributes
    ----------
    values : function of rows
        Returns shape (n_rows, n_columns).
    n_columns : int
    dtype : dtype
        Of the answers: that of the rows.
    numbers : ndarray of int
        Training rows that have values of their own, ascending.
    own : ndarray of shape (len(numbers), n_columns)
    """

    values: Callable[[FloatArray], FloatArray]
    n_columns: int
    dtype: Any
    numbers: IntArray
    own: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return the values of rows, whichever they are."""
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
