"""A kernel matrix as a product of features, made and used a block of rows at a time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from semikpca._typing import BoolArray, FloatArray, Rows
from semikpca.arrays import allowed_threads, in_threads, length, slices, taken
from semikpca.kernels._vectors import squared_norms

# Numbers in a block of columns: 2 MB in float64, which stays in the cache of a core while it is made and multiplied.
_BLOCK_NUMBERS = 2**18
# Rows whose features are squared at once: enough for BLAS, and a few blocks.
_GRAM_ROWS = 2_048
# Columns of R that are multiplied at once, without the zeros above them.
_STRIP_COLUMNS = 192


@dataclass(frozen=True)
class LowRankFactor:
    """Features Φ = C R of rows, so that K = Φ Φᵀ; no more than a few blocks of C are ever in memory.

    Products with Φ are products with C (the ``columns``) and one with R (the ``mixing``), so that only ``features`` and
    ``gram`` pay for R at each row. With ``parallel``, columns may be made in several threads at once.
    """

    columns: Callable[[Rows], FloatArray]  # C, shape (n_rows, n_columns), in float32 or float64
    # R, shape (n_columns, n_features); None where the columns are the features. Zeros above its diagonal cost nothing.
    mixing: FloatArray | None = None
    parallel: bool = True

    def features(self, rows: Rows) -> FloatArray:
        """Return Φ, shape (n_rows, n_features)."""
        blocks = _Blocks(self, rows)
        return blocks.filled(blocks.features, blocks.n_features)

    def squares(self, rows: Rows) -> FloatArray:
        """Return the squared length of each row of Φ: the diagonal of K."""
        blocks = _Blocks(self, rows)
        return blocks.filled(lambda part: squared_norms(blocks.features(part)))

    def project(self, rows: Rows, block: FloatArray) -> FloatArray:
        """Return Φᵀ @ block in float64, shape (n_features, n_columns); rows of zeros in the block cost nothing."""
        touched = np.flatnonzero(block.any(axis=1))
        if len(touched) < length(rows):
            if not len(touched):
                touched = np.zeros(1, dtype=np.intp)
            rows, block = taken(rows, touched), block[touched]
        blocks = _Blocks(self, rows)
        sums = [np.zeros((blocks.n_columns, block.shape[1])) for _ in range(blocks.n_threads)]

        def add(part: slice, thread: int) -> None:
            sums[thread] += self.columns(rows[part]).T @ block[part]

        in_threads(add, blocks.parts, blocks.n_threads)
        total = np.sum(sums, axis=0)
        return np.asarray(total if self.mixing is None else self.mixing.T @ total)

    def combine(self, rows: Rows, coefficients: FloatArray) -> FloatArray:
        """Return Φ @ coefficients, shape (n_rows, n_columns), or (n_rows,) for a vector."""
        blocks = _Blocks(self, rows)
        mixed = (coefficients if self.mixing is None else self.mixing @ coefficients).astype(blocks.dtype)
        return blocks.filled(lambda part: self.columns(rows[part]) @ mixed, *coefficients.shape[1:])

    def gram(self, rows: Rows) -> tuple[FloatArray, FloatArray]:
        """Return ΦᵀΦ, with sums in float64, and the squared length of each row of Φ."""
        blocks = _Blocks(self, rows, at_once=_GRAM_ROWS)
        squares: FloatArray = np.empty(length(rows), dtype=blocks.dtype)
        # Only the lower triangles are summed.
        sums = [np.zeros((blocks.n_features, blocks.n_features), order="F") for _ in range(blocks.n_threads)]

        def add(part: slice, thread: int) -> None:
            phi: FloatArray = np.empty((part.stop - part.start, blocks.n_features), blocks.dtype)
            for inner in slices(part.start, part.stop, blocks.block_rows):
                phi[inner.start - part.start : inner.stop - part.start] = blocks.features(inner)
            squares[part] = squared_norms(phi)
            if blocks.dtype == np.float64:
                sums[thread] = linalg.blas.dsyrk(1.0, phi.T, beta=1.0, c=sums[thread], lower=True, overwrite_c=True)
            else:
                sums[thread] += linalg.blas.ssyrk(1.0, phi.T, lower=True)

        in_threads(add, blocks.parts, blocks.n_threads)
        lower = np.sum(sums, axis=0)
        return np.tril(lower) + np.tril(lower, -1).T, squares


class _Blocks:
    """Rows in blocks that fit a cache, and threads to work on them while BLAS is held to one."""

    def __init__(self, factor: LowRankFactor, rows: Rows, at_once: int = 0) -> None:
        self.rows, self.columns = rows, factor.columns
        first = factor.columns(rows[:1])
        self.dtype, self.n_columns = first.dtype, int(first.shape[1])
        self.mixing = None if factor.mixing is None else _strips(factor.mixing.astype(self.dtype, copy=False))
        self.n_features = self.n_columns if factor.mixing is None else int(factor.mixing.shape[1])
        self.block_rows = max(16, _BLOCK_NUMBERS // max(1, self.n_columns))
        self.parts = slices(0, length(rows), max(self.block_rows, at_once))
        self.n_threads = min(allowed_threads() if factor.parallel else 1, len(self.parts))

    def filled(self, values_of: Callable[[slice], FloatArray], *width: int) -> FloatArray:
        """Return an array of shape (n_rows, *width) from the values of each part."""
        values: FloatArray = np.empty((length(self.rows), *width), self.dtype)

        def fill(part: slice, thread: int) -> None:
            values[part] = values_of(part)

        in_threads(fill, self.parts, self.n_threads)
        return values

    def features(self, part: slice) -> FloatArray:
        """Return the features of some rows."""
        columns = self.columns(self.rows[part])
        if self.mixing is None:
            return columns
        phi: FloatArray = np.empty((len(columns), self.n_features), self.dtype)
        for first, here, strip in self.mixing:
            np.matmul(columns[:, first:], strip, out=phi[:, here])
        return phi


def above_rounding(eigenvalues: FloatArray, dtype: Any) -> BoolArray:
    """Return which eigenvalues of a definite matrix, known in float64, say something about rows of this ``dtype``.

    Those above n · eps of the largest with the eps of float64, the usual rule for the rank of a matrix, and above eps
    of the largest with that of the rows.
    """
    share = max(len(eigenvalues) * float(np.finfo(np.float64).eps), float(np.finfo(dtype).eps))
    return np.asarray(eigenvalues > share * eigenvalues.max(initial=0.0))


def _strips(mixing: FloatArray) -> list[tuple[int, slice, FloatArray]]:
    """Return strips of columns without the zeros above them, and where they are: of a triangle, little over half."""
    strips = []
    for here in slices(0, mixing.shape[1], _STRIP_COLUMNS):
        first = int(np.argmax(mixing[:, here].any(axis=1)))
        strips.append((first, here, np.ascontiguousarray(mixing[first:, here])))
    return strips
