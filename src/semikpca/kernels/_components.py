"""The few directions in which rows differ most."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh

from semikpca._typing import FloatArray, Rows
from semikpca.arrays import slices
from semikpca.kernels._vectors import as_float, dense, unit_of

_ROWS_TO_LEARN_FROM = 2_000
_MOST_FEATURES_MADE_DENSE = 2_000
_LEAST_VARIANCE = 1e-6  # of the largest; less is rounding, whichever the type of the rows is
# In units of the largest entry, numbers that differ at all do so by 1e-16 or more. What varies by less than 1e-18 is
# the rounding of the mean of equal rows.
_NO_VARIANCE = 1e-36
_NUMBERS_AT_ONCE = 2**20
_FEW_ROWS_OF_A_MATRIX = 800  # of which all eigenvectors are as fast as a few
_SEED = 0


@dataclass(frozen=True)
class LeadingComponents:
    """Coordinates of rows along their leading principal components, in units of the standard deviation along each.

    The Euclidean distance between such coordinates is the Mahalanobis distance within the components.

    Attributes
    ----------
    unit : float
        Of the entries of rows.
    origin : ndarray of shape (n_features,)
        The mean row, in that unit.
    directions : ndarray of shape (n_components, n_features)
        Of the components, each over the standard deviation along it.
    """

    most: ClassVar[int] = 20

    unit: float
    origin: FloatArray
    directions: FloatArray

    @classmethod
    def of(cls, rows: Rows) -> "LeadingComponents":
        """Learn the components from rows, from a seeded sample of 2,000 where they are more.

        There are 20, or fewer where rows differ in fewer directions; what varies by rounding does not count.
        """
        rows = as_float(rows)
        if rows.shape[0] > _ROWS_TO_LEARN_FROM:
            chosen = np.random.default_rng(_SEED).choice(rows.shape[0], _ROWS_TO_LEARN_FROM, replace=False)
            rows = rows[np.sort(chosen)]
        n_rows, n_features = rows.shape
        unit = unit_of(rows)
        rows = (rows / unit).astype(np.float64)
        if n_features <= _MOST_FEATURES_MADE_DENSE or not sparse.issparse(rows):
            rows = dense(rows)
        count = min(cls.most, n_features, n_rows - 1)
        if count < 1:
            return cls(unit, np.zeros(n_features), np.zeros((0, n_features)))
        origin, sums_of_squares, directions = _principal_directions(rows, count)
        variances = sums_of_squares / (n_rows - 1)
        kept = variances > max(_LEAST_VARIANCE * float(variances[0]), _NO_VARIANCE)
        return cls(unit, origin, directions[kept] / np.sqrt(variances[kept])[:, np.newaxis])

    def at(self, rows: Rows) -> FloatArray:
        """Return the coordinates of rows, shape (n_rows, n_components), in their type.

        Those of a row do not depend on the rows beside it, not even by rounding, as they would in a product of BLAS.
        """
        rows = as_float(rows)
        coordinates: FloatArray = np.empty((rows.shape[0], len(self.directions)), rows.dtype)
        for some in slices(0, rows.shape[0], max(1, _NUMBERS_AT_ONCE // rows.shape[1])):
            scaled = rows[some].astype(np.float64) / self.unit
            if sparse.issparse(scaled):
                coordinates[some] = scaled @ self.directions.T - self.directions @ self.origin
            else:
                differences = np.subtract(scaled, self.origin, order="C")
                coordinates[some] = np.einsum("ij,kj->ik", differences, self.directions)
        return coordinates


def _principal_directions(rows: Rows, count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of rows, and sums of squares along their leading principal directions, with these as rows."""
    n_rows, n_features = rows.shape
    origin = np.asarray(rows.mean(axis=0)).reshape(-1)
    if not sparse.issparse(rows):
        rows = rows - origin
        rest = rows.mean(axis=0)  # the mean was off by rounding, of which equal rows would make a direction
        rows, origin = rows - rest, origin + rest
        if n_features <= n_rows:
            sums, vectors = leading_eigenpairs(rows.T @ rows, count)
            return origin, sums, vectors.T
    sums, vectors = kernel_components(dense(rows @ rows.T), count)
    sizes = np.sqrt(np.maximum(sums, np.finfo(np.float64).tiny))
    # The columns of ``vectors`` sum to 0, so that the mean of the rows is of no account.
    return origin, sums, np.asarray((rows.T @ vectors / sizes).T)


def kernel_components(K: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading eigenvalues of a kernel matrix ``K`` that is centered in its feature space, and eigenvectors.

    There are ``count`` of them, the largest first; an eigenvector is a column.
    """
    means = K.mean(axis=1)  # along rows, NumPy sums up with next to no rounding
    return leading_eigenpairs(K - means - means[:, np.newaxis] + means.mean(), count)


def leading_eigenpairs(matrix: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues of a symmetric matrix, the largest first, and the eigenvectors as columns."""
    n = len(matrix)
    if n <= _FEW_ROWS_OF_A_MATRIX or not matrix.any():  # ARPACK has no answer for a matrix of zeros
        values, vectors = eigh(matrix, subset_by_index=[n - count, n - 1])
    else:
        values, vectors = eigsh(matrix, count, which="LA", v0=np.random.default_rng(_SEED).standard_normal(n))
    return values[::-1], vectors[:, ::-1]
