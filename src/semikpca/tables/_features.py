"""From the cells of a file to columns that can be learned from: missing cells, and numbers as people write them."""

import datetime
import json
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from semikpca._typing import BoolArray, FloatArray, IntArray
from semikpca.tables._vectors import as_vectors, lists_in_text, vector_length

# How the numbers of a column may be written; the first style that fits all of its cells is taken.
STYLES = ("plain", "thousands", "decimal comma", "truth")
# What numbers with commas look like, and what is replaced in them before they are read.
COMMAS = {
    "thousands": (r"[-+]?(\d{1,3}(,\d{3})+|\d+)(\.\d*)?", ((",", ""),)),
    "decimal comma": (r"[-+]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?", ((".", ""), (",", "."))),
}
LONGEST_CELL = 100_000  # characters that are learned from; a book says in its first chapters what it is about
LARGEST_NUMBER = 1e150  # its square is a number still
TRUTHS = {"true": 1.0, "false": 0.0}
MISSING_WORDS = frozenset({"na", "n/a", "#n/a", "nan", "null", "none", "<na>", "-", "--", "?", "..."})


def features_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the same columns with empty cells marked as missing, and columns of Python objects given one type.

    Lists of as many numbers in every cell are vectors: arrays, None where a cell is empty.
    """
    return pd.DataFrame({name: _feature(frame[name]) for name in frame.columns}, index=frame.index)


def is_missing(cell: Any) -> bool:
    """Whether a cell is empty: nothing, not a number, no time, or blanks only."""
    if isinstance(cell, str):
        return not cell.strip()
    return cell is None or cell is pd.NA or cell is pd.NaT or (isinstance(cell, Real) and cell != cell)


def _feature(column: pd.Series) -> pd.Series:
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype if not column.hasnans else object)
    if pd.api.types.is_string_dtype(column.dtype) and column.dtype != object:
        return column.where(column.str.strip() != "", None)
    if column.dtype != object:
        return column.dt.total_seconds() if pd.api.types.is_timedelta64_dtype(column.dtype) else column
    if pd.api.types.infer_dtype(column, skipna=False) == "string":
        texts = [cell if cell.strip() else None for cell in column]
        lists = lists_in_text(texts)
        vectors = None if lists is None else as_vectors(lists)
        return pd.Series(texts if vectors is None else vectors, column.index, object, column.name)
    cells = [None if is_missing(cell) else cell for cell in column]
    present = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, Real | Decimal | np.bool_) for cell in present):
        return pd.Series([np.nan if cell is None else float(cell) for cell in cells], column.index, name=column.name)
    if all(isinstance(cell, datetime.date) for cell in present):
        try:
            return pd.to_datetime(pd.Series(cells, column.index, name=column.name))
        except (ValueError, TypeError):  # with and without a time zone, or a year that nanoseconds do not reach
            pass
    vectors = as_vectors(cells)
    if vectors is None:
        vectors = [None if cell is None else as_text(cell) for cell in cells]
    return pd.Series(vectors, column.index, object, column.name)


def as_text(cell: Any) -> str:
    """Return a cell as the text that a text file would have in its place."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool | np.bool_):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, dict | list):
        return json.dumps(cell, ensure_ascii=False, default=str)
    return str(cell)


def number_style(column: pd.Series) -> str | None:
    """Return how the numbers of a column are written, or None when not all of its cells are numbers.

    Examples
    --------
    >>> number_style(pd.Series(["1.5", "", "2e3", "n/a"])), number_style(pd.Series(["1,5", "20"]))
    ('plain', 'decimal comma')
    >>> number_style(pd.Series(["1,500", "20"])), number_style(pd.Series(["1.5", "two"]))
    ('thousands', None)
    """
    if pd.api.types.is_numeric_dtype(column.dtype):
        return "plain" if column.notna().any() else None
    if vector_length(column) is not None:
        return None
    if not pd.api.types.is_object_dtype(column.dtype) and not pd.api.types.is_string_dtype(column.dtype):
        return None
    # Most columns of text show in their first cell that they are none of numbers.
    first = next((place for place, cell in enumerate(column) if _is_present(cell)), None)
    if first is None or not any(fits(column.iloc[[first]], style) for style in STYLES):
        return None
    return next((style for style in STYLES if fits(column, style)), None)


def fits(column: pd.Series, style: str) -> bool:
    """Whether all cells that are not missing are numbers in that style."""
    doubtful = column[as_numbers(column, style).isna()]
    return not present_cells(doubtful).any()


def as_numbers(column: pd.Series, style: str) -> pd.Series:
    """Return the numbers of a column; a cell that is none becomes NaN."""
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column if column.dtype == np.float32 else column.astype(np.float64)
    if style == "plain":
        return pd.to_numeric(column, errors="coerce").astype(np.float64)
    text = column.astype(str).str.strip()
    if style == "truth":
        return text.str.casefold().map(TRUTHS).astype(np.float64)
    pattern, replaced = COMMAS[style]
    text = text.where(text.str.fullmatch(pattern), None)
    for old, new in replaced:
        text = text.str.replace(old, new, regex=False)
    return pd.to_numeric(text, errors="coerce").astype(np.float64)


def is_too_large(values: FloatArray) -> BoolArray:
    """Return which numbers are infinite, or so large that no variance can be computed with them."""
    return np.abs(values) > min(LARGEST_NUMBER, float(np.finfo(values.dtype).max))


def present_cells(column: pd.Series) -> BoolArray:
    """Return which cells hold something: no blanks, and no word for a missing value."""
    return np.array([_is_present(cell) for cell in column], dtype=bool)


def empty_rows(features: pd.DataFrame, names: Sequence[str]) -> IntArray:
    """Return the rows in which no cell of these columns holds anything, ascending.

    A word for a missing value, such as "n/a", is nothing among numbers; elsewhere it is a category like any other.
    """
    rows: IntArray = np.arange(len(features))
    for name in names:
        rows = rows[~present_cells(features[name].iloc[rows])]  # few are left after the first column
    for name in names if len(rows) else ():
        full = np.array([not is_missing(cell) for cell in features[name].iloc[rows]], dtype=bool)
        if full.any() and number_style(features[name]) is None:
            rows = rows[~full]
    return rows


def _is_present(cell: Any) -> bool:
    return not is_missing(cell) and not (isinstance(cell, str) and cell.strip().casefold() in MISSING_WORDS)
