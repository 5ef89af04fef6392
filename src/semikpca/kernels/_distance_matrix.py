"""All distances between the training rows, for whatever in a fit is made of them."""

import numpy as np

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import allowed_threads, in_threads, slices
from semikpca.kernels._distances import TIE, pair_starts, squared_distances
from semikpca.kernels._evaluation import keeps_digits, values_of_squared
from semikpca.kernels._formula import Formula
from semikpca.kernels._product_distances import ErrorBound, Pairs, ProductDistances, search_pairs

_ROWS_AT_ONCE = 64
_SHARE_OF_A_TIE = 0.05  # that rounding may be: two distances then differ by a tenth of it at most
# Directions that are known less well than this have so many possible neighbors that products of their own cost less.
_ROUGHEST_DIRECTIONS = 1e-3


class DistanceMatrix:
    """The squared distances between all training rows, from one product of matrices in their own type.

    Neighbors, the median rule, components and every kernel that is a function of the distance are read off it.

    Attributes
    ----------
    points : ndarray of shape (n, n_features)
        The rows, for differences where products do not decide.
    squared : ndarray of shape (n, n)
    norms : ndarray of shape (n,)
        Squared norms of the rows, from where the error is counted.
    bound : ErrorBound
    """

    def __init__(self, points: FloatArray, squared: FloatArray, norms: FloatArray, bound: ErrorBound) -> None:
        self.points, self.squared, self.norms, self.bound = points, squared, norms, bound

    @classmethod
    def of(cls, points: Rows) -> "DistanceMatrix | None":
        """Return the distances between rows; None where products cannot give them."""
        if not isinstance(points, np.ndarray) or points.dtype not in (np.float32, np.float64):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            products = ProductDistances(points, points.dtype)
            if not products.is_in_range:
                return None
            return cls(points, products.matrix(), products.norms, products.bound)

    @property
    def largest_norm(self) -> float:
        """The largest squared norm of a row."""
        return float(self.norms.max(initial=0.0))

    @property
    def largest_error(self) -> float:
        """How far off a squared distance is at most."""
        return 2 * self.bound.error * self.largest_norm + self.bound.underflow

    def of_directions(self, unit_points: FloatArray) -> "DistanceMatrix | None":
        """Return the distances between the directions of rows from their mean; None where they would be too rough.

        ``unit_points`` are these directions: rows less their mean, over their lengths. With d(a, b) squared distances,
        m(a) their mean over all b, and m the mean of all, (a − mean)·(b − mean) = ½ (m(a) + m(b) − m − d(a, b)).
        """
        means = self.squared.mean(axis=1, dtype=np.float64)
        mean = float(means.mean())
        lengths = means - mean / 2  # squared
        shortest, eps = float(lengths.min(initial=np.inf)), float(np.finfo(self.squared.dtype).eps)
        # The inner product is off by 2 errors of a distance, both lengths by 1.5, and 2 − 2 cos by 7 over the shortest;
        # then come a few roundings of sums of means.
        off = 7 * self.largest_error + 8 * eps * float(means.max(initial=0.0))
        if not 0 < off < _ROUGHEST_DIRECTIONS * shortest:
            return None
        sums, scale = (means - mean / 2).astype(self.squared.dtype), (1 / np.sqrt(lengths)).astype(self.squared.dtype)
        squared: FloatArray = np.empty_like(self.squared)

        def fill(strip: slice, thread: int) -> None:
            # In this order all is the same, to the last digit, for two rows and for the same rows the other way around.
            block = self.squared[strip] - (sums + sums[strip, np.newaxis])
            block *= scale * scale[strip, np.newaxis]
            block += 2
            squared[strip] = np.maximum(block, 0, out=block)

        strips = slices(0, len(squared), _ROWS_AT_ONCE)
        in_threads(fill, strips, min(allowed_threads(), len(strips)))
        np.fill_diagonal(squared, 0)
        bound = ErrorBound(off / shortest / 2 + 4 * eps, 0.0)  # directions have the norm 1
        return DistanceMatrix(unit_points, squared, np.ones(len(squared)), bound)

    def near(self, queries: FloatArray, count: int) -> Pairs:
        """Return pairs of each training row with all that may be among its ``count`` nearest, ties included."""
        assert queries is self.points, "the distances of other rows are not here"
        nothing = np.zeros(len(self.squared))

        def limited(strip: slice) -> tuple[FloatArray, FloatArray]:
            values = self.squared[strip]
            return values, self.bound.limits(values, nothing[strip], self.norms[strip], count)

        return search_pairs(limited, len(self.squared), len(self.squared), count)

    def distances(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the squared distances of pairs as differences give them, far below what counts as a tie.

        Where rounding of the products may be more, as between rows that are equal or nearly so, they are differences.
        """
        squared = self.squared[rows, columns].astype(np.float64)
        error = self.bound.error * (self.norms[rows] + self.norms[columns]) + self.bound.underflow
        doubtful = np.flatnonzero(error > _SHARE_OF_A_TIE * TIE * squared)
        squared[doubtful] = squared_distances(self.points, rows[doubtful], self.points, columns[doubtful])
        return squared

    def pairs(self, rows: IntArray | None = None) -> FloatArray:
        """Return the squared distances of all pairs of rows, or of some of them, in the order of ``pair_starts``."""
        squared = self.squared if rows is None else self.squared[np.ix_(rows, rows)]
        starts = pair_starts(len(squared))
        flat: FloatArray = np.empty(starts[-1], squared.dtype)
        for row, distances in enumerate(squared):
            flat[starts[row] : starts[row + 1]] = distances[row + 1 :]
        return flat

    def values(self, formula: Formula) -> FloatArray | None:
        """Return the kernel matrix of a formula as a new array; None where it takes more digits than products have."""
        if not keeps_digits(formula, self.largest_norm):
            return None
        values: FloatArray = np.empty_like(self.squared)

        def fill(strip: slice, thread: int) -> None:
            values[strip] = values_of_squared(formula, self.squared[strip].copy())

        strips = slices(0, len(values), _ROWS_AT_ONCE)
        in_threads(fill, strips, min(allowed_threads(), len(strips)))
        return values
