"""The degree-normalized form of another kernel."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from semikpca._typing import Array, BoolArray, FloatArray, Rows
from semikpca.arrays import is_remote, is_tensor, length, like
from semikpca.kernels._base import Kernel
from semikpca.kernels._low_rank import FeatureExpansion, LowRankFactor
from semikpca.kernels._pairwise import _as_float
from semikpca.kernels._shorthand import KernelLike, as_kernel
from semikpca.kernels._wrapped import WrappedKernel

_BLOCK_ROWS = 256  # a block of kernel rows against all rows stays small beside the rows themselves


class Normalized(WrappedKernel):
    """k(a, b) / sqrt(d(a) d(b)), where the degree d(a) is the sum of k(a, x) over the training rows x.

    On the training rows this is D^-½ K D^-½, the matrix of spectral clustering and Label Spreading; its largest
    eigenvalue is 1. New rows get their degree against the training rows, so that a training row seen again is
    treated as it was.

    Parameters
    ----------
    kernel : Kernel, str or callable, default="rbf"
    """

    def __init__(self, kernel: KernelLike = "rbf") -> None:
        self.kernel = kernel

    @property
    def is_definite(self) -> bool:
        """As the kernel inside: the scaling keeps the signs of the eigenvalues."""
        return self._inside.is_definite

    @property
    def is_approximate(self) -> bool:
        """As the kernel inside."""
        return self._inside.is_approximate

    def is_low_rank_on(self, rows: Rows) -> bool:
        """As the kernel inside: the scaling keeps the rank."""
        return self._inside.is_low_rank_on(rows)

    def low_rank_factor(self) -> LowRankFactor:
        """Return the features of the kernel inside, scaled."""
        self._require_fit()
        return replace(self.kernel_.low_rank_factor(), columns=self._columns)

    def expansion(self, rows: Rows, coefficients: FloatArray) -> Callable[[Rows], FloatArray]:
        """Return the function x ↦ Σ c_i k(x, x_i), with a weight for each feature where the rank is low."""
        if not self.is_low_rank_on(rows):
            return super().expansion(rows, coefficients)
        return FeatureExpansion.of(self, rows, coefficients)

    def weighted_features(self, weights: FloatArray) -> Callable[[Rows], FloatArray]:
        """Return the function x ↦ features(x) @ weights: features of the kernel inside, and the degree beside them."""
        self._require_fit()
        sums = self._sums_by_features
        if not isinstance(sums, FeatureExpansion):
            return super().weighted_features(weights)
        inner = self.kernel_.weighted_features(np.column_stack([weights, sums.weights]))
        return partial(_scaled_by_last, inner=inner, kernel=clone(as_kernel(self.kernel)))

    def _columns(self, rows: Rows) -> FloatArray:
        columns = self.kernel_.low_rank_factor().columns(rows)
        return np.asarray(columns / np.sqrt(self._degrees_of(rows))[:, np.newaxis])

    def fit(self, rows: Rows) -> Self:
        """Fit the kernel inside and compute the degrees of the training rows, without storing the matrix."""
        self.kernel_ = clone(as_kernel(self.kernel)).fit(rows)
        self.rows_fit_: Any = rows
        self._sums_by_features: Callable[[Rows], FloatArray] | None = None
        self.degrees_: Array = None
        if self.kernel_.is_low_rank_on(rows):
            if is_remote(rows):
                # The sum of all features is made where the rows are; degrees then come with the rows, chunk by chunk.
                self._sums_by_features = FeatureExpansion(self.kernel_, rows.summed(summed_features, self.kernel_))
                self.rows_fit_ = None
                return self
            self._sums_by_features = self.kernel_.expansion(rows, np.ones(length(rows)))
        self.degrees_ = self._degrees(rows)
        return self

    def pairwise(self, A: Rows, B: Rows) -> Array:
        """Return the normalized matrix, shape (len(A), len(B))."""
        self._require_fit()
        values = self.kernel_.pairwise(A, B)
        values /= self._degrees_of(A)[:, None] ** 0.5
        values /= self._degrees_of(B) ** 0.5
        return values

    def diag(self, A: Rows) -> Array:
        """Return k(a, a) / d(a)."""
        self._require_fit()
        return self.kernel_.diag(A) / self._degrees_of(A)

    def _require_fit(self) -> None:
        if not hasattr(self, "degrees_"):
            raise NotFittedError(f"{self!r} needs the degrees of the training rows: call fit(rows) first.")

    def _degrees_of(self, rows: Rows) -> Array:
        return self.degrees_ if rows is self.rows_fit_ else self._degrees(rows)

    def reaches(self, rows: Rows) -> BoolArray:
        """Return for each row whether it is like any training row at all; a row that is not has no value."""
        self._require_fit()
        return np.asarray(self._sums(rows) > 0)

    def cross_product(self, A: Rows, B: Rows, coefficients: Array) -> Array:
        """Return ``pairwise(A, B) @ coefficients``: a product with the kernel inside, scaled before and after."""
        self._require_fit()
        scaled = normalized_product(coefficients, self._degrees_of(B))
        return normalized_product(self.kernel_.cross_product(A, B, scaled), self._degrees_of(A))

    def _sums(self, rows: Rows) -> Array:
        if self._sums_by_features is not None:
            return self._sums_by_features(rows)
        if self.input_kind != "vectors":
            n_rows = rows.shape[0] if hasattr(rows, "shape") else len(rows)
            blocks = (rows[start : start + _BLOCK_ROWS] for start in range(0, n_rows, _BLOCK_ROWS))
            return np.concatenate([self.kernel_.pairwise(block, self.rows_fit_).sum(axis=1) for block in blocks])
        B = _as_float(self.rows_fit_)
        A = B if rows is self.rows_fit_ else _as_float(rows)
        ones: Array
        if is_tensor(B):
            ones = like(np.ones((B.shape[0], 1)), B)
        else:
            ones = np.ones((B.shape[0], 1), dtype=np.result_type(A.dtype, B.dtype))
        return self.kernel_.cross_product(A, B, ones)[:, 0]

    def _degrees(self, rows: Rows) -> Array:
        return positive_degrees(self.kernel_, self._sums(rows), of_training_rows=rows is self.rows_fit_)


def positive_degrees(kernel: Kernel, degrees: Array, *, of_training_rows: bool) -> Array:
    """Return degrees, the sums of a kernel over the training rows, or say which row has none."""
    if not (degrees > 0).all():
        row = int(degrees.argmin())
        advice = (
            "Use a kernel with positive values, such as 'rbf' or 'laplacian'."
            if of_training_rows
            else "No training row is like it: drop it, or use a kernel that reaches further (a smaller gamma)."
        )
        raise ValueError(
            f"Normalized({kernel!r}) needs positive degrees, but the kernel values of row {row} sum to "
            f"{degrees[row]:.6g}. {advice}"
        )
    return degrees


def normalized_product(product: Array, degrees: Array) -> Array:
    """Return what belongs to rows, a product with the kernel inside or its coefficients, scaled by their degrees."""
    return product / _column(degrees**0.5, product)


def summed_features(rows: Rows, kernel: Kernel, ignored: None = None) -> FloatArray:
    """Return the sum of the features of rows, whose product with the features of a row is its degree."""
    ones: FloatArray = np.ones((length(rows), 1), dtype=rows.dtype)
    return kernel.low_rank_factor().project(rows, ones)[:, 0]


def _scaled_by_last(rows: Rows, inner: Callable[[Rows], FloatArray], kernel: Kernel) -> FloatArray:
    values = inner(rows)
    degrees = positive_degrees(kernel, values[:, -1], of_training_rows=False)
    return np.asarray(normalized_product(values[:, :-1], degrees))


def _column(values: Array, like: Array) -> Array:
    """Return a vector in a shape that scales the rows of ``like``."""
    return values.reshape(-1, *([1] * (like.ndim - 1)))
