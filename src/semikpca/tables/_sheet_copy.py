"""A copy of the sheet that a table came from, with new columns beside the old ones."""

import io
import warnings
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import Any

import pandas as pd

from semikpca._typing import IntArray
from semikpca.tables._excel import SheetOrigin
from semikpca.tables._features import is_missing

NARROWEST_NEW_COLUMN = 12.0  # characters


def can_be_copied(origin: SheetOrigin, frame: pd.DataFrame, lines: IntArray) -> bool:
    """Whether a table has all rows and columns of the sheet that it came from, which is not too large."""
    return (
        origin.has_formats
        and frame.index.equals(pd.RangeIndex(len(lines)))
        and set(origin.columns) <= set(frame.columns)
    )


def copied_sheet(
    origin: SheetOrigin, frame: pd.DataFrame, lines: IntArray, path: Path, as_excel: Callable[[Any, str], Any]
) -> bytes:
    """Return a workbook with the sheet as it was, but for cells that have changed, and with more columns at its end.

    Titles, widths, formats and frozen panes stay; a formula stands as its value. Other sheets are left out, and with
    them whatever refers to them.
    """
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about extensions that cannot be copied
        book = load_workbook(io.BytesIO(origin.content), data_only=True, keep_links=False)
    sheet = book[origin.sheet]
    for other in [title for title in book.sheetnames if title != origin.sheet]:
        del book[other]
    book.active = 0
    sheet.sheet_state = "visible"  # a workbook without a visible sheet cannot be opened
    book.defined_names.clear()
    validations = sheet.data_validations
    validations.dataValidation = [rule for rule in validations.dataValidation if "!" not in f"{rule.formula1}"]
    places = {name: place for place, name in enumerate(origin.columns, start=1)}
    model = sheet.cell(origin.header_row, len(places))
    for name in frame.columns:
        where = f"{path.name}, column {name!r}"
        if name not in places:
            places[name] = place = len(places) + 1
            header = sheet.cell(origin.header_row, place)
            _write(header, as_excel(str(name), where))
            header._style = copy(model._style)
            width = sheet.column_dimensions[header.column_letter].width
            sheet.column_dimensions[header.column_letter].width = max(NARROWEST_NEW_COLUMN, width, len(str(name)) + 2.0)
        for line, value in zip(lines, frame[name].tolist(), strict=True):
            cell = sheet.cell(int(line), places[name])
            if not _is_same(cell.value, value):
                _write(cell, as_excel(value, f"{where}, row {line}"))
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _is_same(stored: Any, value: Any) -> bool:
    if is_missing(value) and not isinstance(value, str):
        return stored is None
    return type(stored) is type(value) and bool(stored == value)


def _write(cell: Any, value: Any) -> None:
    cell.value = value
    if cell.data_type == "f":  # a text, though it begins as a formula does
        cell.data_type, cell.quotePrefix = "s", True
