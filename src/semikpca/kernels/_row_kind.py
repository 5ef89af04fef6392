"""What rows of numbers are, told from the rows alone: measurements, directions, or counts."""

from collections.abc import Sequence
from enum import Enum

import numpy as np
from scipy import sparse

from semikpca._typing import Rows
from semikpca.kernels._vectors import as_float, squared_norms, unit_of

_LEAST_FEATURES = 20  # of directions; shorter rows are measurements
_SAME_LENGTH = 1e-3  # relative spread of lengths that is rounding
_SIMILAR_LENGTH = 0.1  # and that of embeddings that nobody scaled to unit length
_LEAST_MEAN = 0.05  # length of the mean row, as a share of the lengths, below which rows were centered before
_ZEROS_OF_COUNTS = 0.95  # share of zeros from which on counts are taken for those of words
_ROWS_TO_LOOK_AT, _NUMBERS_TO_LOOK_AT = 2_000, 2**22


class RowKind(Enum):
    """How rows of numbers are best compared; the values are in words.

    Attributes
    ----------
    MEASUREMENTS
        A table: how much rows differ counts.
    DIRECTIONS
        Embeddings: rows of the same length, or nearly so.
    COUNTS
        Of words: most are 0, and how long a text is must not count.
    """

    MEASUREMENTS = "measurements"
    DIRECTIONS = "directions"
    COUNTS = "counts"


def row_kind(rows: Rows, origin: Sequence[float] | None = None) -> RowKind:
    """Return what rows are; the same whatever their unit is, and whether they are stored as a sparse matrix or not.

    - Counts are at least 0, nearly all of them 0, and differ in length.
    - Directions have one length, up to rounding; or nearly one length, with entries of both signs and a mean that is
      not 0, as embeddings come out of many models. Rows with one number beside 0 are not: a table of categories
      that became ones and zeros has rows of one length too.
    - Everything else, and all that has fewer than 20 columns, is measurements.

    Rows that were moved, by centering them, are looked at from ``origin``, where 0 is now.

    Examples
    --------
    >>> angles = np.linspace(0, 3, 50)[:, np.newaxis] * np.arange(1, 11)
    >>> row_kind(np.hstack([np.cos(angles), np.sin(angles)])).value
    'directions'
    """
    rows = as_float(rows)
    if rows.shape[1] < _LEAST_FEATURES:
        return RowKind.MEASUREMENTS
    n_looked_at = _ROWS_TO_LOOK_AT if sparse.issparse(rows) else max(100, _NUMBERS_TO_LOOK_AT // rows.shape[1])
    rows = rows[:: -(-rows.shape[0] // min(n_looked_at, _ROWS_TO_LOOK_AT))]
    if origin is not None:
        rows = (rows.toarray() if sparse.issparse(rows) else rows) - np.asarray(origin, dtype=rows.dtype)
    rows = rows / unit_of(rows)
    lengths = np.sqrt(np.asarray(squared_norms(rows), dtype=np.float64))
    lengths = lengths[lengths > 0]  # an empty text has none
    if len(lengths) < 2:
        return RowKind.MEASUREMENTS
    spread = float(lengths.std() / lengths.mean())
    entries = rows.data if sparse.issparse(rows) else rows.reshape(-1)
    entries = entries[entries != 0]
    has_signs = bool(entries.min() < 0)
    if spread < _SAME_LENGTH:
        return RowKind.MEASUREMENTS if (entries == entries[0]).all() else RowKind.DIRECTIONS
    share_of_mean = float(np.linalg.norm(np.asarray(rows.mean(axis=0))) / lengths.mean())
    if spread < _SIMILAR_LENGTH and has_signs and share_of_mean > _LEAST_MEAN:
        return RowKind.DIRECTIONS
    share_of_zeros = 1 - len(entries) / (rows.shape[0] * rows.shape[1])
    return RowKind.COUNTS if not has_signs and share_of_zeros > _ZEROS_OF_COUNTS else RowKind.MEASUREMENTS
