"""Distances by products of matrices, which take a fraction of the time of differences and are off by a known amount.

Their rounding tells apart what is equal. So products say which pairs deserve a look, and differences decide.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semikpca._typing import FloatArray, IntArray
from semikpca.arrays import OwnMemory, allowed_threads, in_threads, slices
from semikpca.kernels._distances import TIE, pair_starts

# Sums over so many features at a time in float32: the error of a product grows with the length of its sums. Digits of
# float64 are enough for any.
_FEATURES_AT_ONCE = 256
# Rows and columns of a block of products, 1 MB in float32; and distances of some rows to all others at a time, 16 MB.
_BLOCK_ROWS = 128
_BLOCK_COLUMNS = 2_048
_NUMBERS_A_STRIP, _MOST_ROWS_A_STRIP = 2**22, 256
_NUMBERS_AT_ONCE = 2**16  # of rows that are moved and squared
# Roundings of a distance beside those of its sums: of the rows, their squared norms, and the limit it is held against.
_MORE_ROUNDINGS = 16
# A row that may have more neighbors than this for each one asked for has ties, or products are too coarse for it.
_MOST_CANDIDATES = 8
_MOST_FOLDS = 32


@dataclass(frozen=True)
class Pairs:
    """Pairs of a row and a training row that may be near each other, in order of the rows."""

    rows: IntArray
    columns: IntArray
    too_many: IntArray  # rows whose pairs are not listed: there would be too many, or the row is out of range


@dataclass(frozen=True)
class ErrorBound:
    """How far rough squared distances may be off: by ``error`` · (‖a‖² + ‖b‖²) + ``underflow`` at most."""

    error: float
    underflow: float

    def limits(self, values: FloatArray, added: FloatArray, norms: FloatArray, count: int) -> FloatArray:
        """Return what ``values`` of pairs may be at most that are among the ``count`` nearest of their row.

        ``values`` have a line for each row; with what is to be ``added`` to it they are squared distances. ``norms``
        are the squared norms of the rows.
        """
        nearest = np.partition(_folded(values, count), count - 1, axis=1)[:, count - 1] + added
        # By the formula of ``beyond``, solved for the distance: so far away are ``count`` rows at most.
        radii = (np.maximum(nearest, 0) + self.beyond(norms, 0.0)) / (1 - 2 * self.error)
        return np.asarray(self.beyond(norms, radii * (1 + TIE) ** 2) - added)

    def beyond(self, norms: Any, squared: Any) -> Any:
        """Return the largest squared distance that may be shown where ``squared`` is the true one.

        From the norm of one of the two rows alone: with ‖b‖ ≤ ‖a‖ + d, ‖a‖² + ‖b‖² is at most 3 ‖a‖² + 2 d².
        """
        return (1 + 2 * self.error) * squared + 3 * self.error * norms + self.underflow


class ProductDistances:
    """Squared distances of rows to the training rows, by products of matrices in ``dtype``.

    ``bound`` says how far each is off at most, with norms that are counted from an origin where they are small: the
    mean of the training rows, or 0 where that is about as good and saves a copy of the rows.
    """

    def __init__(self, points: FloatArray, dtype: Any) -> None:
        self.points, self.dtype, self._memory = points, np.dtype(dtype), OwnMemory()
        mean = points.mean(axis=0, dtype=np.float64)
        self._origin: FloatArray | None = None
        if points.dtype == self.dtype:
            self.rows, self.norms = self._seen(points)
        if points.dtype != self.dtype or not 2 * float(mean @ mean) <= self.norms.mean():
            self._origin = mean.astype(np.result_type(points, self.dtype))
            self.rows, self.norms = self._seen(points)
        n_features = points.shape[1]
        self._sums = slices(0, n_features, _FEATURES_AT_ONCE if self.dtype == np.float32 else n_features)
        n_roundings = self._sums[0].stop + len(self._sums) + _MORE_ROUNDINGS
        # Products that are smaller than any number of the type are lost.
        underflow = n_features * float(np.finfo(self.dtype).tiny)
        self.bound = ErrorBound(float(n_roundings * np.finfo(self.dtype).eps / 2), underflow)

    @property
    def largest_norm(self) -> float:
        """The largest squared norm of the training rows, from the origin."""
        return float(self.norms.max(initial=0.0))

    @property
    def largest_error(self) -> float:
        """How far off a distance between training rows is at most."""
        return float(2 * self.bound.error * self.largest_norm + self.bound.underflow)

    @property
    def is_in_range(self) -> bool:
        """Whether no product between training rows leaves the range of its type."""
        return self.largest_norm < self._end_of_range

    @property
    def _end_of_range(self) -> float:
        return float(np.finfo(self.dtype).max) / 100

    # -- all pairs of training rows ----------------------------------------------------------------------------

    def matrix(self, turn: Callable[[FloatArray], FloatArray] | None = None) -> FloatArray:
        """Return the squared distances between all training rows, or what ``turn`` makes of blocks of them."""
        n = len(self.rows)
        matrix: FloatArray = np.empty((n, n), self.dtype)

        def write(strip: slice, columns: slice, block: FloatArray) -> None:
            np.maximum(block, 0, out=block)
            if columns.start == strip.start:
                corner = block[:, : len(block)]
                corner[:] = (corner + corner.T) / 2  # what is added in another order is rounded in another way
                np.fill_diagonal(corner, 0)
            if turn is not None:
                block = turn(block)
            matrix[strip, columns] = block
            matrix[columns, strip] = block.T

        self._use_blocks(write)
        return matrix

    def pairs(self) -> FloatArray:
        """Return the squared distances of all pairs of training rows, in the order of ``pair_starts``."""
        starts = pair_starts(len(self.rows))
        flat: FloatArray = np.empty(starts[-1], self.dtype)

        def write(strip: slice, columns: slice, block: FloatArray) -> None:
            for row, distances in zip(range(strip.start, strip.stop), block, strict=True):
                first = max(columns.start, row + 1)
                to = starts[row] + first - row - 1
                flat[to : to + columns.stop - first] = distances[first - columns.start :]

        self._use_blocks(write)
        return flat

    def _use_blocks(self, use: Callable[[slice, slice, FloatArray], None]) -> None:
        """Call ``use`` with the blocks on the diagonal and to the right of it, on all cores."""
        n, norms = len(self.rows), self.norms.astype(self.dtype)
        strips = slices(0, n, _BLOCK_ROWS)
        # With more features than rows, all that counts is the product, and BLAS knows that one half of it is enough.
        is_whole = len(self._sums) == 1 and self.rows.shape[1] >= n
        whole = self.rows @ self.rows.T if is_whole else None

        def make(strip: slice, thread: int) -> None:
            left = self.rows[strip]
            for columns in slices(strip.start, n, _BLOCK_COLUMNS):
                block = self._memory.block("block", (len(left), columns.stop - columns.start), self.dtype)
                if whole is None:
                    self._multiply(left, columns, block)
                else:
                    np.multiply(whole[strip, columns], -2, out=block)
                block += norms[columns]
                block += norms[strip, np.newaxis]
                use(strip, columns, block)

        in_threads(make, strips, min(allowed_threads(), len(strips)))

    def between(self, queries: FloatArray) -> tuple[FloatArray, float]:
        """Return the squared distances of other rows to the training rows, and their largest squared norm."""
        squared: FloatArray = np.empty((len(queries), len(self.rows)), self.dtype)
        strips = _strips(len(queries), len(self.rows))
        largest = np.zeros(len(strips))

        def fill(number: int, thread: int) -> None:
            strip = strips[number]
            values, norms = self._strip(queries, strip, squared[strip])
            values += norms[:, np.newaxis].astype(self.dtype)
            np.maximum(values, 0, out=values)
            largest[number] = norms.max()

        in_threads(fill, range(len(strips)), min(allowed_threads(), len(strips)))
        return squared, float(largest.max(initial=0.0))

    # -- rows that are near --------------------------------------------------------------------------------------

    def near(self, queries: FloatArray, count: int) -> Pairs:
        """Return pairs of each row with all training rows that may be among its ``count`` nearest, ties included."""

        def limited(strip: slice) -> tuple[FloatArray, FloatArray]:
            values, norms = self._strip(queries, strip)
            return values, self.bound.limits(values, norms, norms, count)

        return search_pairs(limited, len(queries), len(self.rows), count)

    def within(self, queries: FloatArray, radii: FloatArray, count: int) -> Pairs:
        """Return pairs of each row with all training rows that may have it within their own radius.

        Far more than ``count`` of them for a row are too many.
        """
        reach = (self.bound.beyond(0.0, (radii * (1 + TIE)) ** 2)).astype(self.dtype)

        def limited(strip: slice) -> tuple[FloatArray, FloatArray]:
            values, norms = self._strip(queries, strip)
            values -= reach
            return values, self.bound.beyond(norms, 0.0) - norms

        return search_pairs(limited, len(queries), len(self.rows), count)

    def _strip(self, queries: FloatArray, strip: slice, out: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the squared distances of some rows to all training rows less ‖a‖², and ‖a‖²; NaN if out of range."""
        shape = strip.stop - strip.start, len(self.rows)
        values = self._memory.block("strip", shape, self.dtype) if out is None else out
        known = queries is self.points
        left, norms = (self.rows[strip], self.norms[strip]) if known else self._seen(queries[strip])
        norms = np.where(norms < self._end_of_range, norms, np.nan)
        right_norms = self.norms.astype(self.dtype)
        for columns in slices(0, len(self.rows), 2 * _BLOCK_COLUMNS):
            block = values[:, columns]
            self._multiply(left, columns, block)
            block += right_norms[columns]
        return values, norms

    # -- products ------------------------------------------------------------------------------------------------

    def _seen(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rows from the origin in the type of the products, and their squared norms in float64."""
        is_same = self._origin is None and rows.dtype == self.dtype
        seen: FloatArray = rows if is_same else np.empty(rows.shape, self.dtype)
        norms = np.empty(len(rows))

        def take(strip: slice, thread: int) -> None:
            if not is_same:
                seen[strip] = rows[strip] if self._origin is None else rows[strip] - self._origin
            norms[strip] = np.einsum("ij,ij->i", seen[strip], seen[strip], dtype=np.float64)

        strips = slices(0, len(rows), max(1, _NUMBERS_AT_ONCE // max(1, rows.shape[1])))
        in_threads(take, strips, min(allowed_threads(), len(strips) // 4))
        return seen, norms

    def _multiply(self, left: FloatArray, columns: slice, out: FloatArray) -> None:
        """Write the products of rows with some training rows to ``out``, times −2."""
        right, first = self.rows[columns], self._sums[0]
        np.matmul(left[:, first], right[:, first].T, out=out)
        for features in self._sums[1:]:
            part = self._memory.block("part", out.shape, self.dtype)
            out += np.matmul(left[:, features], right[:, features].T, out=part)
        out *= -2


def search_pairs(
    limited: Callable[[slice], tuple[FloatArray, FloatArray]], n_rows: int, n_columns: int, count: int
) -> Pairs:
    """Return the pairs whose value does not exceed the limit of the row, a few rows at a time on each core.

    ``limited`` returns the values of a strip of rows, a line for each, and their limits; NaN where a row cannot be
    searched in this way.
    """
    strips = _strips(n_rows, n_columns)
    found: dict[int, tuple[IntArray, IntArray, IntArray]] = {}

    def search(number: int, thread: int) -> None:
        values, limits = limited(strips[number])
        rows, columns = np.divmod(np.flatnonzero(values <= limits.astype(values.dtype)[:, np.newaxis]), n_columns)
        too_many = np.isnan(limits) | (np.bincount(rows, minlength=len(values)) > _MOST_CANDIDATES * count)
        listed = ~too_many[rows]
        start = strips[number].start
        found[number] = rows[listed] + start, columns[listed], np.flatnonzero(too_many) + start

    in_threads(search, range(len(strips)), min(allowed_threads(), len(strips)))
    parts = zip(*(found[number] for number in range(len(strips))), strict=True)
    return Pairs(*(np.concatenate(part) for part in parts))


def _strips(n_rows: int, n_columns: int) -> list[slice]:
    return slices(0, n_rows, int(np.clip(_NUMBERS_A_STRIP // max(1, n_columns), 16, _MOST_ROWS_A_STRIP)))


def _folded(values: FloatArray, count: int) -> FloatArray:
    """Return fewer numbers a line of which at least ``count`` lines' numbers are no larger than the ``count``-th.

    A line is folded a few times and the smaller number kept where two meet: to look for the smallest of what is left
    takes a fraction of the time.
    """
    n_folds = min(_MOST_FOLDS, values.shape[1] // (16 * count))
    if n_folds < 2:
        return values
    width = values.shape[1] // n_folds
    folded = values[:, :width].copy()
    for part in slices(width, n_folds * width, width):
        np.minimum(folded, values[:, part], out=folded)
    return folded
