"""The degree-normalized form of another kernel."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from semikpca._typing import Array, BoolArray, FloatArray, Rows
from semikpca.arrays import is_remote, length
from semikpca.kernels._base import Kernel
from semikpca.kernels._finite import require_finite
from semikpca.kernels._low_rank import LowRankFactor
from semikpca.kernels._row_sums import row_sums
from semikpca.kernels._wrapped import KernelLike, WrappedKernel, as_kernel


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

    def _columns(self, rows: Rows) -> FloatArray:
        columns = self.kernel_.low_rank_factor().columns(rows)
        return np.asarray(columns / np.sqrt(self.degrees_at(rows))[:, np.newaxis])

    def fit(self, rows: Rows) -> Self:
        """Fit the kernel inside and compute the degrees of the training rows, without storing the matrix."""
        if is_remote(rows):
            raise ValueError(
                f"{self!r} needs sums over all pairs of rows, and these are on a cluster. Give them to an estimator, "
                "which has such sums made where the rows are."
            )
        inside = clone(as_kernel(self.kernel)).fit(rows)
        if inside.is_low_rank_on(rows):
            return self.learn_feature_sums(inside, summed_features(rows, inside), rows)
        return self.learn_degrees(inside, row_sums(inside, rows, rows), rows)

    def learn_degrees(self, inside: Kernel, sums: Array, rows: Rows) -> Self:
        """Be fitted, by whoever has the kernel inside fitted and the sums of its values over the training rows."""
        self._forget_matrix()
        self.kernel_ = inside
        self.rows_fit_: Any = rows
        self.feature_sums_: FloatArray | None = None
        self.degrees_: Array = positive_degrees(inside, sums, of_training_rows=True)
        return self

    def learn_matrix(self, inside: Kernel, values: FloatArray, rows: Rows) -> Self:
        """Be fitted, by whoever has the kernel inside fitted and its matrix on the training rows, which is overwritten.

        The matrix is kept for whoever stores it: see :meth:`known_matrix`.
        """
        self.learn_degrees(inside, values.sum(axis=1, dtype=np.float64).astype(values.dtype), rows)
        self._matrix = self._scaled(values, self.degrees_, self.degrees_)
        return self

    def known_matrix(self, rows: Rows) -> FloatArray | None:
        """Return the matrix of the training rows, where the kernel was fitted with it."""
        return getattr(self, "_matrix", None) if rows is self.rows_fit_ else None

    def learn_feature_sums(self, inside: Kernel, feature_sums: FloatArray, rows: Rows | None = None) -> Self:
        """Be fitted where the kernel inside has features: their sum is all that degrees take.

        Without the training rows, which may be on a cluster, degrees come with the rows that they are asked for.
        """
        self._forget_matrix()
        self.kernel_, self.rows_fit_, self.feature_sums_, self.degrees_ = inside, rows, feature_sums, None
        if rows is not None:
            self.degrees_ = positive_degrees(inside, self._sums(rows), of_training_rows=True)
        return self

    def pairwise(self, A: Rows, B: Rows) -> Array:
        """Return the normalized matrix, shape (len(A), len(B))."""
        self._require_fit()
        return self._scaled(self.kernel_.pairwise(A, B), self.degrees_at(A), self.degrees_at(B))

    @staticmethod
    def _scaled(values: Array, left: Array, right: Array) -> Array:
        """Divide values, in place, by the roots of degrees."""
        values /= left[:, None] ** 0.5
        values /= right**0.5
        return values

    def diag(self, A: Rows) -> Array:
        """Return k(a, a) / d(a)."""
        self._require_fit()
        return self.kernel_.diag(A) / self.degrees_at(A)

    def _require_fit(self) -> None:
        if not hasattr(self, "degrees_"):
            raise NotFittedError(f"{self!r} needs the degrees of the training rows: call fit(rows) first.")

    def degrees_at(self, rows: Rows, sums: Array | None = None) -> Array:
        """Return the degrees of rows, from the sums of the kernel inside over the training rows if they are known."""
        self._require_fit()
        if rows is self.rows_fit_:
            return self.degrees_
        return positive_degrees(self.kernel_, self._sums(rows) if sums is None else sums, of_training_rows=False)

    def reaches(self, rows: Rows) -> BoolArray:
        """Return for each row whether it is like any training row at all; a row that is not has no value."""
        self._require_fit()
        return np.asarray(self._sums(rows) > 0)

    def _forget_matrix(self) -> None:
        self.__dict__.pop("_matrix", None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the matrix behind: it comes back from the rows when needed."""
        state: dict[str, Any] = super().__getstate__().copy()
        state.pop("_matrix", None)
        return state

    def _sums(self, rows: Rows) -> Array:
        if self.feature_sums_ is not None:
            return require_finite(self.kernel_, self.kernel_.low_rank_factor().combine(rows, self.feature_sums_))
        return row_sums(self.kernel_, rows, self.rows_fit_)


def positive_degrees(kernel: Kernel, degrees: Array, *, of_training_rows: bool) -> Array:
    """Return degrees, the sums of a kernel over the training rows, or say which row has none.

    The advice depends on whether the rows themselves are the training rows, ``of_training_rows``.
    """
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
    return product / (degrees**0.5).reshape(-1, *([1] * (product.ndim - 1)))


def summed_features(rows: Rows, kernel: Kernel, ignored: None = None) -> FloatArray:
    """Return the sum of the features of rows, whose product with the features of a row is its degree by the kernel.

    What is ignored comes with every chunk of rows on a cluster.
    """
    return kernel.low_rank_factor().project(rows, np.ones((length(rows), 1)))[:, 0]
