"""Columns whose cells are lists of numbers, such as embeddings: each of them is one vector, learned from as a whole."""

import json
from collections.abc import Iterable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from semikpca._typing import FloatArray
from semikpca.exceptions import TableError

EMBEDDING = "embedding"  # what a vector is called that comes without a name
ROWS_AT_ONCE = 10_000


def is_list(cell: Any) -> bool:
    """Whether a cell holds several things in an order."""
    return isinstance(cell, list | np.ndarray)


def as_vectors(cells: Iterable[Any]) -> list[Any] | None:
    """Return lists of numbers as arrays of one length, None where a cell is empty; None for other cells altogether."""
    vectors: list[Any] = []
    lengths: set[int] = set()
    for cell in cells:
        vector = None if cell is None else list_of_numbers(cell)
        if vector is not None and len(vector):
            lengths.add(len(vector))
        if (vector is None and cell is not None) or len(lengths) > 1:
            return None
        vectors.append(None if vector is None or not len(vector) else vector)
    return vectors if lengths else None


def lists_in_text(cells: list[Any]) -> list[Any] | None:
    """Return the lists that cells of text have in them, such as [0.1, 0.2]; None where a cell holds something else."""
    first = next((cell for cell in cells if cell is not None), None)
    if not isinstance(first, str) or not first.lstrip().startswith("["):
        return None
    try:
        lists = [None if cell is None else json.loads(cell) for cell in cells]
    except (ValueError, RecursionError):
        return None
    return lists if all(cell is None or is_list(cell) for cell in lists) else None


def list_of_numbers(cell: Any) -> npt.NDArray[Any] | None:
    """Return a list of numbers as an array, NaN where one is missing; None for anything else."""
    if not is_list(cell):
        return None
    try:
        array = np.asarray(cell)
        if array.dtype == object and all(item is None or isinstance(item, Real | Decimal) for item in array):
            array = np.array([np.nan if item is None else float(item) for item in array])
    except (ValueError, TypeError, OverflowError):  # lists in lists of unequal length, and numbers beyond all floats
        return None
    return array if array.ndim == 1 and array.dtype.kind in "fiub" else None


def vector_length(column: pd.Series) -> int | None:
    """Return how many numbers a vector of a column to learn from has; None for a column of another kind."""
    if column.dtype != object:
        return None
    first = next((cell for cell in column if cell is not None), None)
    return len(first) if isinstance(first, np.ndarray) else None


def as_matrix(column: pd.Series, length: int, start: int = 0) -> FloatArray:
    """Return the vectors of a column as rows of float64, NaN where they are missing.

    A cell that is no vector of that length is refused; ``start`` is the number of the first row, for the message.
    """
    cells = column.tolist()
    for row, cell in enumerate(cells):
        if isinstance(cell, np.ndarray) and len(cell) == length:
            continue
        if not (cell is None or cell is pd.NA or (isinstance(cell, float) and np.isnan(cell))):
            found = f"{len(cell):,} numbers" if isinstance(cell, np.ndarray) else repr(cell)[:60]
            raise TableError(
                f"Column {str(column.name)!r}, data row {start + row + 1}: {found}, where the column was learned from "
                f"as vectors of {length:,} numbers. Make all vectors in the same way, or empty the cell."
            )
        cells[row] = np.full(length, np.nan)
    with np.errstate(invalid="ignore"):  # of a NaN that is marked as signaling, as damaged files have them
        return np.array(cells, dtype=np.float64).reshape(len(cells), length)


def with_unfolded_vectors(features: pd.DataFrame, wanted: Iterable[str]) -> pd.DataFrame:
    """Return columns with a vector cut into columns of single numbers, where these are wanted by their names.

    The numbers of a vector ``a`` of length 20 are called ``a_00`` to ``a_19``.
    """
    for name in features.columns:
        if (length := vector_length(features[name])) is not None:
            digits = len(str(length - 1))
            names = [f"{name}_{place:0{digits}d}" for place in range(length)]
            if set(names) & set(wanted):
                numbers = pd.DataFrame(as_matrix(features[name], length), features.index, names)
                features = pd.concat([features.drop(columns=name), numbers], axis=1)
    return features


def vectors_vary(column: pd.Series) -> bool:
    """Whether two vectors of a column differ."""
    present = [cell for cell in column if cell is not None]
    return any(not np.array_equal(cell, present[0], equal_nan=True) for cell in present)


def largest_numbers(column: pd.Series, length: int) -> pd.Series:
    """Return the largest number of each vector of a column, whatever its sign; 0 where it is missing."""
    largest = np.empty(len(column))
    for start in range(0, len(column), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        sizes = np.abs(as_matrix(column.iloc[rows], length, start))
        largest[rows] = np.fmax.reduce(sizes, axis=1, initial=0.0)
    return pd.Series(largest, column.index, name=column.name)
