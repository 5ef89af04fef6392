"""A fit on rows of a cluster by way of features: one pass over the rows, then a small problem on the client."""

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from sklearn.base import clone

from semikpca import labels as coding
from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import is_dask, is_remote
from semikpca.estimators._compressed import CompressedRows, OnFeatures, Summary, joined, summary
from semikpca.estimators._decisions import logger
from semikpca.estimators._few_labels import FewLabels, labels_on_cluster
from semikpca.estimators._validation import check_same_length
from semikpca.exceptions import KernelRankError, SingleClassWarning
from semikpca.kernels import Kernel, Nystroem
from semikpca.operators import fitted, weighted_features
from semikpca.operators._cluster_rows import ClusterRows
from semikpca.operators._cluster_sums import reduced

# Rows that the client keeps as they are, to know how decisions are spread: all, or a fixed sample of many.
_MOST_SAMPLED_ROWS = 20_000
_MOST_SAMPLED_NUMBERS = 4_000_000
_SAMPLE_SEED = 0


@dataclass
class ClusterFit:
    """What a model has learned of rows that stay on a cluster.

    Attributes
    ----------
    rows : ClusterRows
    compressed : CompressedRows
    labels : FewLabels
    sample : ndarray of shape (n_sampled, n_features)
        Rows by which the spread of the decisions is known: all of them, or a fixed sample of many.
    small : classifier
        The same model, fitted on the small rows of ``compressed`` by the code that fits any others.
    """

    rows: ClusterRows
    compressed: CompressedRows
    labels: FewLabels
    sample: FloatArray
    small: Any

    @classmethod
    def of(cls, estimator, kernel: Kernel, rows: ClusterRows, y) -> "ClusterFit":
        """Fit: labels first, then the kernel from a few rows, one pass over all rows, and the small problem."""
        rows = rows if is_remote(rows) else ClusterRows.of(rows)
        labels = labels_on_cluster(y, rows.client) if is_dask(y) else FewLabels.of(coding.encode(y))
        check_same_length(rows, labels.codes)
        if labels.n_classes == 1:
            warnings.warn(SingleClassWarning(labels.classes[0]), stacklevel=6)
        fitted = fitted_kernel(kernel, rows)
        sampled = sampled_rows(*rows.shape)
        kept = np.union1d(labels.labeled_rows, sampled)
        start = time.perf_counter()
        whole = summed(rows, fitted, kept)
        if estimator.verbose:
            n_rows, n_chunks = rows.shape[0], len(rows.bounds) - 1
            logger.info(
                "%s rows in %d chunks summed up in %.1f s", f"{n_rows:,}", n_chunks, time.perf_counter() - start
            )
        labeled = whole.kept[np.searchsorted(kept, labels.labeled_rows)]
        compressed = CompressedRows.of(fitted, whole.gram, labels.labeled_rows, labeled)
        sample = whole.kept[np.searchsorted(kept, sampled)]
        return cls(rows, compressed, labels, sample, solved(estimator, compressed, labels))

    def lazy_arrays(self) -> dict[str, da.Array]:
        """Return what every training row has beside its decision, by the names of the attributes of a model."""
        functions = {"alpha_": self.alpha(), "dual_coef_": self.dual_coef()}
        if hasattr(self.small, "eigenvectors_"):
            functions["eigenvectors_"] = self.eigenvectors()
        return {name: self.over_all_rows(function) for name, function in functions.items()}

    def with_labels(self, estimator, labels: FewLabels) -> "ClusterFit":
        """Return the fit with other labels: rows that get their first one are fetched, the others are not read."""
        new = np.setdiff1d(labels.labeled_rows, self.compressed.numbers)
        compressed = self.compressed.with_rows(new, self.rows[new]) if len(new) else self.compressed
        return ClusterFit(self.rows, compressed, labels, self.sample, solved(estimator, compressed, labels))

    # -- functions of a row ------------------------------------------------------------------------------------

    @property
    def weights(self) -> FloatArray:
        """Φᵀ (I − VVᵀ) α: w of the model, shape (n_features, n_columns)."""
        return self._projected(self.small.dual_coef_)

    def _projected(self, over_small_rows: FloatArray) -> FloatArray:
        return np.asarray(self.small.X_fit_.T @ over_small_rows.reshape(len(over_small_rows), -1))

    def decision(self) -> "RowFunction":
        """Return f without class offsets."""
        return self._function(self.weights)

    def alpha(self) -> "RowFunction":
        """Return the multipliers: a row without a target has ±γ f, those that are kept have their own."""
        return self._function(self._unlabeled_alpha, self.small.alpha_)

    def dual_coef(self) -> "RowFunction":
        """Return (I − VVᵀ) α: for a row without a target another function of its features."""
        V = getattr(self.small, "eigenvectors_", np.empty((len(self.small.X_fit_), 0)))
        along = self._eigenvector_weights() @ (V.T @ self.small.alpha_.reshape(len(V), -1))
        return self._function(self._unlabeled_alpha - along, self.small.dual_coef_)

    def eigenvectors(self) -> "RowFunction":
        """Return V: v = K v / λ = φ(x) · (Φᵀ v / λ)."""
        return self._function(self._eigenvector_weights())

    def _eigenvector_weights(self) -> FloatArray:
        V = getattr(self.small, "eigenvectors_", None)
        if V is None:
            return np.empty((self.small.X_fit_.shape[1], 0))
        return np.asarray(self._projected(V) / self.small.eigenvalues_[: V.shape[1]])

    @property
    def _unlabeled_alpha(self) -> FloatArray:
        return np.asarray(self.small._alpha_sign * self.small.error_weight_ * self.weights)

    def _function(self, weights: FloatArray, over_small_rows: FloatArray | None = None) -> "RowFunction":
        values = weighted_features(self.compressed.kernel, weights)
        numbers: IntArray = np.empty(0, dtype=np.intp)
        own: FloatArray = np.empty((0, weights.shape[1]))
        if over_small_rows is not None:
            numbers = self.compressed.numbers
            own = over_small_rows.reshape(-1, weights.shape[1])[: len(numbers)]
        return RowFunction(values, weights.shape[1], np.dtype(self.rows.dtype), numbers, own)

    def over_all_rows(self, function: "RowFunction") -> da.Array:
        """Return the values at all training rows as a lazy Dask array of shape (n, n_columns)."""
        array = self.rows.array
        return da.map_blocks(
            function.in_chunk,
            array,
            bounds=self.rows.bounds,
            dtype=function.dtype,
            chunks=(array.chunks[0], (function.n_columns,)),
            meta=np.empty((0, 0), dtype=function.dtype),
        )

    # -- readings ----------------------------------------------------------------------------------------------

    def left_out_decisions(self, rows: IntArray, rtol: float | None) -> FloatArray:
        """Return decisions at labeled rows, each without its own label and before class offsets."""
        unlabeled = np.setdiff1d(rows, self.labels.labeled_rows)
        if unlabeled.size:
            raise ValueError(f"Row {unlabeled[0]} has no label to be left out.")
        return np.asarray(self.small.left_out_decisions(self.compressed.places(rows), rtol))


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

    def in_chunk(self, chunk: FloatArray, bounds: IntArray, block_id: tuple[int, ...]) -> FloatArray:
        """Return the values of a chunk of the training rows."""
        values = self(chunk)
        start, stop = bounds[block_id[0]], bounds[block_id[0] + 1]
        first, last = np.searchsorted(self.numbers, [start, stop])
        values[self.numbers[first:last] - start] = self.own[first:last]
        return values


def fitted_kernel(kernel: Kernel, rows: ClusterRows) -> Kernel:
    """Return a fitted clone of the kernel: what it learns of the rows it learns from a few of them."""
    inside = kernel
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


def summed(rows: ClusterRows, kernel: Kernel, kept: IntArray) -> Summary:
    """Return the summary of all rows: one pass over the chunks."""
    cuts = np.searchsorted(kept, rows.bounds)
    places = [kept[cuts[i] : cuts[i + 1]] - start for i, start in enumerate(rows.bounds[:-1])]
    whole: Summary = reduced(rows.client, rows.array, summary, joined, kernel, places)
    return whole


def solved(estimator, compressed: CompressedRows, labels: FewLabels) -> Any:
    """Return the model of the small problem, fitted by the local code."""
    rows = compressed.small_rows
    codes = np.full(len(rows), coding.UNLABELED)
    codes[: len(compressed.numbers)] = labels.codes[compressed.numbers]
    small = clone(estimator).set_params(kernel=OnFeatures(compressed.kernel.is_approximate), backend="low-rank")
    if "class_prior" in small.get_params(deep=False):
        small.set_params(class_prior=None)  # shares are those of all rows, which the small ones do not have
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingleClassWarning)  # which would name the number of the class
        try:
            return small.fit(rows, codes)
        except KernelRankError as error:
            raise KernelRankError(error.requested, error.removed, error.rank, len(labels.codes)) from None
