"""Rows of any collection: arrays, sparse matrices, tensors, rows held elsewhere, lists of objects."""

from semikpca._typing import IntArray, Rows


def length(rows: Rows) -> int:
    """Return the number of rows."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def taken(rows: Rows, numbers: IntArray) -> Rows:
    """Return the rows with these numbers."""
    return rows[numbers] if hasattr(rows, "shape") else [rows[int(number)] for number in numbers]
