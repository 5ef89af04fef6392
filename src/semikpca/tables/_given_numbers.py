"""The numbers that a table came with."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from semikpca._typing import FloatArray
from semikpca._words import counted
from semikpca.exceptions import TableError
from semikpca.labels import UNLABELED
from semikpca.tables._features import STYLES, as_numbers, as_text, is_missing, is_too_large, number_style
from semikpca.tables._label_kind import label_cells
from semikpca.tables._labels import DATE
from semikpca.tables._spellings import is_doubtful, marks_as_no_number, without_marks
from semikpca.tables._table import ColumnRoles, Table, refuse_roles

_COMMAS = {"thousands": "thousands are set off by commas", "decimal comma": "the comma is the decimal sign"}


def given_numbers(
    table: Table, roles: ColumnRoles, *, allow_all: bool = False, allow_fewer: bool = False
) -> FloatArray:
    """Return the number of each row, or NaN where it has none.

    Cells that are empty, or hold a word such as "n/a", "?" or "unknown", have none. Numbers may be written with a
    decimal comma, or with commas between thousands, in the same way in all cells. In .npy and .npz files NaN marks a
    row without a number, and -1 is a number; only in an array of whole numbers, which has no NaN, -1 marks such a row.

    Parameters
    ----------
    table : Table
    roles : ColumnRoles
    allow_all : bool, default=False
        Allow that every row has a number, as when they are to be checked.
    allow_fewer : bool, default=False
        Allow any number of them, also none, as on a page where they are given one by one.

    Returns
    -------
    ndarray of shape (n_rows,)

    Raises
    ------
    TableError
        If a cell is no number or an infinite one, if there are fewer than two different numbers, or none to find.
    """
    refuse_roles(table, ColumnRoles(roles.label))
    where = f"the column {roles.label!r} of {table.file_of(roles.label)}"
    cells, marks, style = _read(table, roles)
    column = pd.Series(cells, dtype=object)
    values = as_numbers(column, style).to_numpy(dtype=np.float64)
    is_given = np.array([cell is not None for cell in cells], dtype=bool)
    _refuse_cells(table, cells, values, is_given, where)
    values = np.where(is_given, values, np.nan)
    different = np.unique(values[is_given])
    marked = "".join(f" {note}" for note in marks_as_no_number(marks, roles.label))
    if allow_fewer:
        return values
    if not len(different):
        raise TableError(f"There is no number in {where}. Fill in a few rows, and leave the others empty.{marked}")
    if len(different) == 1:
        raise TableError(
            f"All numbers in {where} are {as_text(float(different[0]))}. Fill in at least one row with another number."
            f"{marked}"
        )
    if is_given.all() and not allow_all:
        n_marks = int((values == UNLABELED).sum()) if table.is_array else 0
        hint = f" -1 ({counted(n_marks, 'row')}) is a number here: NaN marks a row without one." if n_marks else ""
        raise TableError(
            f"Every row has a number in {where}, so that none is left to find. Empty the cells of the rows to be "
            f"predicted.{hint}"
        )
    return values


def number_cells(table: Table, roles: ColumnRoles, values: Iterable[float]) -> list[Any]:
    """Return numbers as cells of the label column: in a text file as texts, with the decimal sign that it has."""
    if table.format not in ("csv", "tsv"):
        return [float(value) for value in values]
    has_comma = roles.label in table.frame.columns and _read(table, roles)[2] == "decimal comma"
    texts = (as_text(float(value)) for value in values)
    return [text.replace(".", ",") if has_comma else text for text in texts]


def number_notes(table: Table, roles: ColumnRoles) -> list[str]:
    """Return what was assumed of the numbers, in words."""
    cells, marks, style = _read(table, roles)
    notes = marks_as_no_number(marks, roles.label)
    example = next((cell for cell in cells if isinstance(cell, str) and "," in cell), None)
    if style in _COMMAS and example is not None:
        value = float(as_numbers(pd.Series([example], dtype=object), style).iloc[0])
        if np.isfinite(value):
            notes.append(f"In {roles.label!r} {_COMMAS[style]}: {example!r} is read as {value:.12g}.")
    return notes


def _read(table: Table, roles: ColumnRoles) -> tuple[list[Any], Counter[str], str]:
    """Return the cells, None where there is no number, the words that say so, and how the numbers are written."""
    cells = label_cells(table, roles)
    if table.is_array and not pd.api.types.is_integer_dtype(table.frame[roles.label].dtype):
        column = table.frame[roles.label].tolist()
        cells = [
            cell if seen is None and not is_missing(cell) else seen for cell, seen in zip(column, cells, strict=True)
        ]
    cells, marks = without_marks(cells)
    doubtful = Counter(cell for cell in cells if isinstance(cell, str) and _says_nothing(cell))
    cells = [None if isinstance(cell, str) and cell in doubtful else cell for cell in cells]
    present = pd.Series([cell for cell in cells if cell is not None], dtype=object)
    style = number_style(present)
    if style is None or style == "truth":  # the style in which most cells are numbers tells best which are not
        style = max(STYLES[:3], key=lambda style: int(as_numbers(present, style).notna().sum()))
    return cells, marks + doubtful, style


def _says_nothing(cell: str) -> bool:
    """Whether a word can only mean "no number" among numbers; -1 is one."""
    return is_doubtful(cell) and not cell.startswith("-")


def _refuse_cells(table: Table, cells: list[Any], values: FloatArray, is_given: Any, where: str) -> None:
    is_truth = np.array([isinstance(cell, bool) for cell in cells], dtype=bool)
    strange = np.flatnonzero(is_given & (np.isnan(values) | is_truth))
    if len(strange):
        row = int(strange[0])
        cell = as_text(cells[row])
        more = f" ({len(strange):,} such cells in all)" if len(strange) > 1 else ""
        remedy = "Correct the cell or empty it, or take each different text as a class with --classes."
        if DATE.fullmatch(cell):
            remedy = (
                "Dates are no numbers: put the days since some date into the column, or, to take each date as a class, "
                "add --classes."
            )
        raise TableError(f"{cell[:100]!r} in {table.line_of(row)} of {where} is no number{more}. {remedy}")
    large = np.flatnonzero(is_given & is_too_large(np.where(is_given, values, 0.0)))
    if len(large):
        row = int(large[0])
        raise TableError(
            f"{as_text(cells[row])!r} in {table.line_of(row)} of {where} is infinite, or too large to compute with. "
            "Empty the cell, or correct it."
        )
