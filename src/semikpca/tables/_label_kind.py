"""Whether a label column has classes or numbers: decided here and nowhere else, with the reason in words."""

import re
from collections import Counter
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from semikpca._typing import FloatArray
from semikpca._words import counted
from semikpca.exceptions import TableError
from semikpca.labels import UNLABELED
from semikpca.tables._features import as_numbers, as_text, is_missing, number_style
from semikpca.tables._spellings import AS_TYPED, without_marks
from semikpca.tables._table import ARRAYS, AUTO_KIND, CLASSES, NUMBERS, ColumnRoles, Table, refuse_roles

MANY_CLASSES = 20  # up to here values that repeat are taken as classes, whatever they look like
# Fewer different whole numbers than these are classes even where none of them repeats: nobody has one age of each.
FEW_WHOLE_NUMBERS = 6
_CODE = re.compile(r"[-+]?0\d+")  # "007" is the name of something


@dataclass(frozen=True)
class LabelKind:
    """What a label column is taken for.

    Attributes
    ----------
    is_number : bool
    reason : str
        A sentence that says so, why, and which option takes it otherwise; "" where there is no doubt, as with text.
    """

    is_number: bool
    reason: str = ""


def label_kind(table: Table, roles: ColumnRoles) -> LabelKind:
    """Return whether the labels of a table are classes or numbers, and why.

    ``roles.labels_as`` decides where it is not "auto". Otherwise text, truth values, codes with leading zeros and two
    different values are classes. Numbers with fractions are numbers, unless they are few and repeat. Whole numbers are
    numbers if there are more than 20 different ones, or at least six that hardly ever repeat and reach over more than
    20; but class numbers without a gap from 0 or 1 on, twice each or more, and numbers that grow from row to row, are
    not.

    Examples
    --------
    >>> cells = pd.DataFrame({"price": ["12.5", "14", "9.75", "11", ""], "digit": ["0", "1", "7", "1", ""]})
    >>> table = Table(cells, cells, None, "csv")
    >>> label_kind(table, ColumnRoles("price")).reason
    "'price' is taken as numbers: 4 different ones, with fractions. --classes takes each of them as a class."
    >>> label_kind(table, ColumnRoles("digit")).reason
    "'digit' is taken as classes: 3 different whole numbers. --numbers takes them by their size."
    """
    refuse_roles(table, ColumnRoles(roles.label))
    if roles.labels_as == NUMBERS:
        if roles.labels_as_typed:
            raise TableError(f"--numbers and {AS_TYPED} contradict each other: what is taken as typed is a class.")
        return LabelKind(True)
    if roles.labels_as == CLASSES or roles.labels_as_typed:
        return LabelKind(False)
    assert roles.labels_as == AUTO_KIND, f"labels_as is {roles.labels_as!r}"
    cells = [cell for cell in without_marks(label_cells(table, roles))[0] if cell is not None]
    values = _numbers_in(cells)
    if values is None or len(set(values)) < 3:
        return LabelKind(False)
    is_number, why = _decided(values, len(set(values)))
    column = repr(roles.label)
    if is_number:
        reason = f"{column} is taken as numbers: {why}. --classes takes each of them as a class."
    else:
        reason = f"{column} is taken as classes: {why}. --numbers takes them by their size."
    return LabelKind(is_number, reason)


def label_cells(table: Table, roles: ColumnRoles) -> list[Any]:
    """Return the label of each row as it stands in the file, without blanks around it; None where there is none."""
    return [_cell(cell, table.format) for cell in table.frame[roles.label].tolist()]


def _cell(cell: Any, format_: str) -> Any:
    # Whole numbers of an array know no empty cell, so that UNLABELED marks one.
    if is_missing(cell) or (format_ in ARRAYS and isinstance(cell, Real) and cell == UNLABELED):
        return None
    if isinstance(cell, str):
        return cell.strip()
    return cell if isinstance(cell, Real) else as_text(cell)


def _numbers_in(cells: list[Any]) -> FloatArray | None:
    """Return the numbers that all cells are, without infinite ones, or None where some are something else or codes."""
    if any(isinstance(cell, bool) or (isinstance(cell, str) and _CODE.fullmatch(cell)) for cell in cells):
        return None
    column = pd.Series(cells, dtype=object)
    style = number_style(column)
    if style is None or style == "truth":
        return None
    values = as_numbers(column, style).to_numpy(dtype=np.float64)
    return np.asarray(values[np.isfinite(values)])  # an infinite one among numbers is refused where they are read


def _decided(values: FloatArray, n_different: int) -> tuple[bool, str]:
    """Return whether values are numbers, and why, in words."""
    hardly_repeat = 2 * n_different > len(values)
    if (values != np.floor(values)).any():
        if n_different > MANY_CLASSES or hardly_repeat:
            return True, f"{n_different:,} different ones, with fractions"
        return False, f"{n_different:,} different values that repeat, {_times(values, n_different)}"
    whole = counted(n_different, "different whole number")
    if n_different > MANY_CLASSES:
        if (np.diff(values) > 0).all():
            return False, f"{whole} that grow from row to row, as the names of rows do"
        if _without_gap(values) and not hardly_repeat:
            return False, f"{whole} without a gap between them, as class numbers have, {_times(values, n_different)}"
        return True, f"{whole}, from {values.min():,.0f} to {values.max():,.0f}"
    is_wide = values.max() - values.min() > MANY_CLASSES
    if n_different >= FEW_WHOLE_NUMBERS and hardly_repeat and is_wide:
        return True, f"{whole}, from {values.min():,.0f} to {values.max():,.0f}, that hardly repeat"
    return False, whole


def _without_gap(values: FloatArray) -> bool:
    different = np.unique(values)
    return bool(different[0] in (0, 1) and different[-1] - different[0] == len(different) - 1)


def _times(values: FloatArray, n_different: int) -> str:
    return f"{len(values) / n_different:.1f} times each on the mean"


def has_fractions(labels: Counter[Any]) -> bool:
    """Whether all of some labels are numbers, and some of them are not whole."""
    values = _numbers_in(list(labels))
    return values is not None and bool((values != np.floor(values)).any())
