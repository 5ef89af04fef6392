"""All distances between the training rows, for whatever in a fit is made of them."""

import numpy as np

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import allowed_threads, in_threads, slices
from semikpca.kernels._distances import TIE, pair_starts, squared_distances
from semikpca.kernels._evaluation import keeps_digits, values_of_squared
from semikpca.kernels._formula import Formula
from semikpca.kernels._product_distances import Pairs, ProductDistances, search_pairs

_ROWS_AT_ONCE = 64
_SHARE_OF_A_TIE = 0.01


class DistanceMatrix:
    """The squared distances between all training rows, from one product of matrices in their own type.

    Neighbors, the median rule and every kernel that is a function of the distance are read off it.
    """

    def __init__(self, points: FloatArray) -> None:
        self.points = points
        self._products = ProductDistances(points, points.dtype)
        self.squared = self._products.matrix()

    @classmethod
    def of(cls, points: Rows) -> "DistanceMatrix | None":
        """Return the distances between rows; None where products cannot give them."""
        if not isinstance(points, np.ndarray) or points.dtype not in (np.float32, np.float64):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            matrix = cls(points)
        return matrix if matrix._products.is_in_range else None

    @property
    def largest_error(self) -> float:
        """How far off a squared distance is at most."""
        return self._products.largest_error

    def near(self, queries: FloatArray, count: int) -> Pairs:
        """Return pairs of each training row with all that may be among its ``count`` nearest, ties included."""
        assert queries is self.points, "the distances of other rows are not here"
        nothing = np.zeros(len(self.squared))

        def limited(strip: slice) -> tuple[FloatArray, FloatArray]:
            values = self.squared[strip]
            return values, self._products.limits(values, nothing[strip], self._products.norms[strip], count)

        return search_pairs(limited, len(self.squared), len(self.squared), count)

    def distances(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the squared distances of pairs as differences give them, far below what counts as a tie.

        Where rounding of the products may be more, as between rows that are equal or nearly so, they are differences.
        """
        squared = self.squared[rows, columns].astype(np.float64)
        norms = self._products.norms
        error = self._products.error * (norms[rows] + norms[columns]) + self._products.underflow
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
        if not keeps_digits(formula, self._products.largest_norm):
            return None
        values: FloatArray = np.empty_like(self.squared)

        def fill(strip: slice, thread: int) -> None:
            values[strip] = values_of_squared(formula, self.squared[strip].copy())

        strips = slices(0, len(values), _ROWS_AT_ONCE)
        in_threads(fill, strips, min(allowed_threads(), len(strips)))
        return values
