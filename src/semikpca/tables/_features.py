"""From the cells of a file to columns that can be learned from, without a look at what they mean."""

import datetime
import json
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd


def features_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the same columns with empty cells marked as missing, and columns of Python objects given one type."""
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
        return pd.Series([cell if cell.strip() else None for cell in column], column.index, object, column.name)
    cells = [None if is_missing(cell) else cell for cell in column]
    present = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, Real | Decimal | np.bool_) for cell in present):
        return pd.Series([np.nan if cell is None else float(cell) for cell in cells], column.index, name=column.name)
    if all(isinstance(cell, datetime.date) for cell in present):
        try:
            return pd.to_datetime(pd.Series(cells, column.index, name=column.name))
        except (ValueError, TypeError):  # with and without a time zone, or a year that nanoseconds do not reach
            pass
    return pd.Series([None if cell is None else as_text(cell) for cell in cells], column.index, object, column.name)


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
