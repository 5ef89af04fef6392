"""Rows that are vectors: NumPy arrays, CSR matrices and torch tensors by the same functions."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from semikpca._typing import Array, Rows
from semikpca.arrays import is_remote, is_tensor, namespace


def as_float(rows: Rows) -> Rows:
    """Return rows in float32 or float64; rows held elsewhere are left where they are."""
    if is_remote(rows):
        return rows
    if is_tensor(rows):
        xp = namespace(rows)
        return rows if rows.dtype in (xp.float64, xp.float32) else rows.to(xp.float64)
    rows = rows if sparse.issparse(rows) else np.asarray(rows)
    return rows if rows.dtype in (np.float64, np.float32) else rows.astype(np.float64)


def unit_rows(rows: Rows) -> Rows:
    """Scale rows to unit length; by their largest entries first, so that no square leaves the range of numbers."""
    return _divided_by(_divided_by(rows, largest_entries), lambda scaled: squared_norms(scaled) ** 0.5)


def largest_entries(rows: Rows) -> Array:
    """Return the largest absolute entry of each row."""
    if is_tensor(rows):
        return abs(rows).amax(axis=1)
    return np.asarray(dense(abs(rows).max(axis=1))).reshape(-1)


def unit_of(rows: Rows) -> float:
    """Return the power of two just below the largest absolute entry, 1 where all are 0.

    Rows that are divided by it have entries below 2 and no digit less; their squares stay in the range of numbers.
    """
    largest = max(float(rows.max()), -float(rows.min()))
    return float(np.ldexp(1.0, np.frexp(largest)[1] - 1)) if 0 < largest < np.inf else 1.0


def squared_norms(rows: Rows) -> Array:
    """Return ‖a‖² of each row."""
    return row_products(rows, rows)


def row_products(A: Rows, B: Rows) -> Array:
    """Return a·b of each row of A with the row of B beside it."""
    if sparse.issparse(A):
        return np.asarray(A.multiply(B).sum(axis=1)).reshape(-1)
    return namespace(A).einsum("ij,ij->i", A, B)


def beside(rows: Rows, *columns: Any) -> Rows:
    """Return rows with more columns."""
    if is_tensor(rows):
        return namespace(rows).column_stack([rows, *columns])
    added = np.column_stack(columns).astype(rows.dtype, copy=False)
    if sparse.issparse(rows):
        return sparse.hstack([rows, sparse.csr_array(added)], format="csr")
    return np.hstack([rows, added])


def dense(rows: Any) -> Any:
    """Return rows as a dense array or tensor."""
    return rows.toarray() if sparse.issparse(rows) else rows


def constant(value: float, rows: Rows) -> Array:
    """Return the same number for each row, in their type."""
    if is_tensor(rows):
        return rows.new_full((rows.shape[0],), value)
    return np.full(rows.shape[0], value, dtype=rows.dtype)


def short_indices(rows: Rows) -> Rows:
    """Return CSR rows with the 32-bit indices that scikit-learn's Manhattan distances insist on."""
    if sparse.issparse(rows) and rows.indices.dtype != np.int32:
        indices, starts = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
        return sparse.csr_array((rows.data, indices, starts), shape=rows.shape)
    return rows


def _divided_by(rows: Rows, size: Callable[[Rows], Array]) -> Rows:
    if not sparse.issparse(rows):
        sizes = size(rows)
        return rows / namespace(rows).where(sizes > 0, sizes, 1)[:, None]
    rows = sparse.csr_array(rows, copy=True)
    rows.sum_duplicates()
    sizes = size(rows)
    rows.data /= np.repeat(np.where(sizes > 0, sizes, 1), np.diff(rows.indptr)).astype(rows.dtype)
    return rows
