"""The few directions in which rows differ most."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh
from sklearn.utils.extmath import randomized_svd

from semikpca._typing import FloatArray, Rows
from semikpca.arrays import one_blas_thread, slices
from semikpca.kernels._vectors import as_float, dense, unit_of

_ROWS_TO_LEARN_FROM = 2_000
_MOST_FEATURES_MADE_DENSE = 2_000
_LEAST_VARIANCE = 1e-6  # of the largest; less is rounding, whichever the type of the rows is
# In units of the largest entry, numbers that differ at all do so by 1e-16 or more. What varies by less than 1e-18 is
# the rounding of the mean of equal rows.
_NO_VARIANCE = 1e-36
_NUMBERS_AT_ONCE = 2**20
_FEW_ROWS_OF_A_MATRIX = 800  # of which all eigenvectors are as fast as a few
_POWERS = 4  # of a matrix of distances, whose leading components are looked for
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
    def of(cls, rows: Rows, distances: FloatArray | None = None) -> "LeadingComponents":
        """Learn the components from rows, from a seeded sample of 2,000 where they are more.

        There are 20, or fewer where rows differ in fewer directions; what varies by rounding does not count.
        ``distances`` are the squared distances between the rows, where somebody has them: of rows with more columns
        than there are rows, components follow from them.
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
        inner = None
        if distances is not None and tells_components(distances, n_features):
            inner = distances * (-0.5 / unit**2)
        origin, sums_of_squares, directions = _principal_directions(rows, count, inner)
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


def tells_components(distances: FloatArray, n_features: int) -> bool:
    """Return whether squared distances between rows tell their components as well as the rows do, with less work."""
    # In float32 they have too few digits for a variance that is a millionth of another.
    n_rows = len(distances)
    return distances.dtype == np.float64 and n_rows < n_features and n_rows <= _ROWS_TO_LEARN_FROM


def coordinates_by(distances: FloatArray) -> FloatArray:
    """Return coordinates of rows along their leading components, as far as these vary, from squared distances.

    A few products with a random, seeded block find components that stand out. Those that do not, as in a cloud of
    noise, are found as far as that is worth: any of them is as good as another.
    """
    count, inner = min(LeadingComponents.most, len(distances) - 1), _centered(-0.5 * distances)
    # The blocks are too narrow for more threads of BLAS, which wait for each other where a core is busy.
    with one_blas_thread():
        if len(inner) <= _FEW_ROWS_OF_A_MATRIX:
            sums, vectors = leading_eigenpairs(inner, count)
        else:
            vectors, sums, _ = randomized_svd(inner, count, n_iter=_POWERS, random_state=_SEED)
    return np.asarray(vectors[:, sums > max(_LEAST_VARIANCE * float(sums[0]), np.finfo(np.float64).tiny)])


def _principal_directions(
    rows: Rows, count: int, inner: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of rows, and sums of squares along their leading principal directions, with these as rows.

    ``inner`` are the inner products of the rows, where they are known; from whichever origin they are counted.
    """
    n_rows, n_features = rows.shape
    origin = np.asarray(rows.mean(axis=0)).reshape(-1)
    if not sparse.issparse(rows):
        rows = rows - origin
        rest = rows.mean(axis=0)  # the mean was off by rounding, of which equal rows would make a direction
        rows, origin = rows - rest, origin + rest
        if n_features <= n_rows:
            sums, vectors = leading_eigenpairs(rows.T @ rows, count)
            return origin, sums, vectors.T
    sums, vectors = kernel_components(dense(rows @ rows.T) if inner is None else inner, count)
    sizes = np.sqrt(np.maximum(sums, np.finfo(np.float64).tiny))
    # The columns of ``vectors`` sum to 0, so that the mean of the rows is of no account.
    return origin, sums, np.asarray((rows.T @ vectors / sizes).T)


def kernel_components(K: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the leading eigenvalues of a kernel matrix ``K`` that is centered in its feature space, and eigenvectors.

    There are ``count`` of them, the largest first; an eigenvector is a column.
    """
    return leading_eigenpairs(_centered(K), count)


def _centered(K: FloatArray) -> FloatArray:
    means = K.mean(axis=1)  # along rows, NumPy sums up with next to no rounding
    return np.asarray(K - means - means[:, np.newaxis] + means.mean())


def leading_eigenpairs(matrix: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues of a symmetric matrix, the largest first, and the eigenvectors as columns."""
    n = len(matrix)
    if n <= _FEW_ROWS_OF_A_MATRIX or not matrix.any():  # ARPACK has no answer for a matrix of zeros
        values, vectors = eigh(matrix, subset_by_index=[n - count, n - 1])
    else:
        values, vectors = eigsh(matrix, count, which="LA", v0=np.random.default_rng(_SEED).standard_normal(n))
    return values[::-1], vectors[:, ::-1]
