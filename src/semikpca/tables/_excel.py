"""Excel workbooks: which sheet, where its table begins, and no more cells than a memory holds."""

import io
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from semikpca.exceptions import TableError
from semikpca.tables._delimited import named_columns
from semikpca.tables._table import close_names, columns_of_cells, damaged, listed, refuse_zip_bombs

Row: TypeAlias = tuple[int, tuple[Any, ...]]  # its number in the sheet, and its cells

MOST_EXCEL_ROWS, MOST_EXCEL_COLUMNS = 1_048_576, 16_384
MOST_CELLS = 10_000_000  # a minute or two, and about a gigabyte
# A copy of a sheet takes half a kilobyte for each cell, and its workbook is unpacked with all sheets.
MOST_CELLS_WITH_FORMATS, MOST_BYTES_WITH_FORMATS = 1_000_000, 100 * 2**20
# Sheets of one value in every cell are packed to a 25th of their size. What is packed closer was made to fill a memory.
MOST_UNPACKED_RATIO, NEVER_TOO_MUCH = 100, 50 * 2**20
MOST_TITLE_ROWS = 20


@dataclass(frozen=True)
class SheetOrigin:
    """Where the cells of a table stood, so that a copy of the sheet can be written."""

    content: bytes
    sheet: str
    header_row: int
    columns: tuple[str, ...]
    has_formats: bool  # whether the sheet is small enough to be copied as a whole


def read_excel(
    path: Path, content: bytes, sheet: str | None = None, header_row: int | None = None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the cells of one sheet of a workbook; rows without any are left out.

    Parameters
    ----------
    path, content
        The file.
    sheet : str or None
        Its name or its number, from 1; the first one by default.
    header_row : int or None
        The row of the sheet that has the column names, from 1. By default the first row that is not empty; titles
        above the column names are passed over where that is clear.
    """
    from openpyxl import load_workbook

    unpacked = _unpacked_size(path, content)
    with _reported_as_damage(path):
        # A formula comes as the value that the spreadsheet program stored with it; nothing is computed here.
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        source = _chosen(path, book.worksheets, sheet)
        rows = list(_rows(path, source))
    where = f"the sheet {source.title!r} of {path.name}"
    others = listed(other.title for other in book.worksheets[1:]) if sheet is None else ""
    another = f" Or read another sheet with --sheet: {others}." if others else ""
    if not rows:
        raise TableError(f"There is no cell in {where}: it needs a row with column names, and rows below.{another}")
    notes: list[str] = []
    if others:
        notes.append(
            f"{path.name} has {len(book.worksheets)} sheets. The first one, {source.title!r}, was read; --sheet takes "
            f"another ({others}). A file that is written has the one that was read."
        )
    rows = rows[_header_place(where, rows, header_row, notes) :]
    if len(rows) == 1:
        raise TableError(f"There are column names in row {rows[0][0]} of {where} and no rows below them.{another}")
    width = max(len(cells) for _, cells in rows)
    names = named_columns(path, ["" if cell is None else str(cell) for cell in _padded(rows[0], width)], notes)
    frame = columns_of_cells(path, names, list(zip(*(_padded(row, width) for row in rows[1:]), strict=True)))
    has_formats = frame.size <= MOST_CELLS_WITH_FORMATS and unpacked <= MOST_BYTES_WITH_FORMATS
    if not has_formats:
        notes.append(
            f"A file that is written will not have the formats and widths of {path.name}: it has {frame.size:,} cells "
            f"and {unpacked / 2**20:,.0f} MiB unpacked, and they are kept up to {MOST_CELLS_WITH_FORMATS:,} cells and "
            f"{MOST_BYTES_WITH_FORMATS / 2**20:,.0f} MiB."
        )
    origin = SheetOrigin(content, source.title, rows[0][0], tuple(names), has_formats)
    return frame, {"lines": np.array([number for number, _ in rows[1:]]), "notes": tuple(notes), "origin": origin}


def _padded(row: Row, width: int) -> tuple[Any, ...]:
    return row[1] + (None,) * (width - len(row[1]))


@contextmanager
def _reported_as_damage(path: Path) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            # About styles, validations and pictures, none of which is read.
            warnings.simplefilter("ignore", UserWarning)
            yield
    except TableError:
        raise
    except Exception as error:  # whatever the parsers of ZIP, XML, dates and numbers raise
        raise damaged(path, "an Excel workbook (.xlsx), or needs a password", error) from None


def _unpacked_size(path: Path, content: bytes) -> int:
    """Return how many bytes a workbook takes unpacked, or refuse one that was made to fill a memory."""
    refuse_zip_bombs(path, content)
    try:
        size = sum(part.file_size for part in zipfile.ZipFile(io.BytesIO(content)).infolist())
    except Exception:  # damaged: for the reader to refuse
        return 0
    if size > max(NEVER_TOO_MUCH, MOST_UNPACKED_RATIO * len(content)):
        raise TableError(
            f"{path.name} has {len(content) / 2**20:.1f} MiB and takes {size / 2**20:,.0f} MiB unpacked, "
            f"{size / len(content):.0f} times as much; up to {MOST_UNPACKED_RATIO} times are usual and allowed. If you "
            "trust it, save the table as .csv."
        )
    return size


def _chosen(path: Path, sheets: list[Any], asked: str | None) -> Any:
    titles = [sheet.title for sheet in sheets]
    if not sheets:
        raise TableError(f"{path.name} has no sheet with cells.")
    if asked is None or asked in titles:
        return sheets[0 if asked is None else titles.index(asked)]
    if asked.isdecimal() and 1 <= int(asked[:9]) <= len(sheets):
        return sheets[int(asked) - 1]
    close = close_names(asked, titles)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise TableError(
        f"--sheet {asked}: {path.name} has no such sheet.{meant} Sheets, by name or number from 1: {listed(titles)}."
    )


def _rows(path: Path, sheet: Any) -> Iterator[Row]:
    """Give the rows that have a cell, and stop at a sheet that is too large."""
    # What the file says of its extent may be wrong, and every row would be made as wide.
    sheet.reset_dimensions()
    n_cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        n_cells += len(row)
        if n_cells > MOST_CELLS or number > MOST_EXCEL_ROWS:
            raise TableError(
                f"{path.name}: the sheet {sheet.title!r} has more than {MOST_CELLS:,} cells or {MOST_EXCEL_ROWS:,} "
                "rows, empty ones counted. Delete the empty rows and columns at its end, or save the table as .csv "
                "or .parquet."
            )
        width = max((place + 1 for place, cell in enumerate(row) if cell is not None), default=0)
        if width:
            yield number, row[:width]


def _header_place(where: str, rows: list[Row], asked: int | None, notes: list[str]) -> int:
    """Return the place, among the rows that are not empty, of the one with the column names."""
    if asked is not None:
        if (place := next((place for place, (number, _) in enumerate(rows) if number == asked), None)) is None:
            raise TableError(
                f"--header-row {asked}: that row of {where} is empty. Its first row with cells is {rows[0][0]}, its "
                f"last {rows[-1][0]}."
            )
        return place
    n_titles = next((place for place, row in enumerate(rows) if _n_filled(row) > 1), 0)
    if not n_titles:  # a table from the first row on, or one of a single column
        return 0
    above = [number for number, _ in rows[:n_titles]]
    shown = f"row {above[0]}" if n_titles == 1 else f"rows {above[0]} to {above[-1]}"
    header = rows[n_titles]
    width = max(len(cells) for _, cells in rows)
    is_full = _n_filled(header) == width and all(isinstance(cell, str) for cell in header[1])
    if n_titles > MOST_TITLE_ROWS or not is_full or n_titles + 1 == len(rows):
        raise TableError(
            f"In {where}, {shown} has a single cell, and rows below have up to {width}: is it a title? Say with "
            f"--header-row which row has the column names, such as --header-row {header[0]}."
        )
    notes.append(
        f"In {where}, {shown} is taken for a title; row {header[0]} has the column names. If that is wrong, name "
        "the row with --header-row."
    )
    return n_titles


def _n_filled(row: Row) -> int:
    return sum(cell is not None for cell in row[1])
