"""From a table to a file."""

import datetime
import io
import json
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semikpca._files import write_whole
from semikpca.exceptions import TableError
from semikpca.tables._excel import MOST_EXCEL_COLUMNS, MOST_EXCEL_ROWS
from semikpca.tables._features import as_text, features_of, is_missing, number_style
from semikpca.tables._formulas import is_formula, with_apostrophe
from semikpca.tables._reading import USUAL_DELIMITER, format_of
from semikpca.tables._sheet_copy import can_be_copied, copied_sheet
from semikpca.tables._table import Table

SEEN_FOR_STYLE = 1_000  # rows that show how the numbers of a table are written
# What an Excel sheet cannot hold. openpyxl cuts longer cells off without a word.
CONTROL_CHARACTER = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
LONGEST_EXCEL_CELL = 32_767


def write_table(frame: pd.DataFrame, path: str | Path, like: Table | None = None, *, raw_cells: bool = False) -> int:
    """Write a table in the format that the suffix says: whole or not at all.

    In CSV and TSV files, a cell or a column name that a spreadsheet program would run as a formula gets an apostrophe
    in front, which :func:`read_table` takes off again. Everything comes back from there as it was; only that a sheet
    knows one kind of line break within a cell.

    Parameters
    ----------
    frame : DataFrame
    path : path-like
        With one of the suffixes that :func:`read_table` knows, other than .npy and .npz.
    like : Table or None, default=None
        The table that the rows come from: a file of its format gets its delimiter and encoding, its Parquet types,
        or its sheet with titles, widths, formats and frozen panes.
        Fractions in a text file get a decimal comma where those of that table have one.
    raw_cells : bool, default=False
        Whether cells of text files are written without apostrophes, formulas or not.

    Returns
    -------
    int
        How many cells got an apostrophe.

    Raises
    ------
    TableError
        If the format cannot hold the cells, or the file cannot be written there.
    """
    path = Path(path)
    check_output(path)
    content, n_changed = encoded_table(frame, path, like, raw_cells=raw_cells)
    try:
        write_whole(path, content)
    except PermissionError:
        raise TableError(f"{path} may not be written: the permission is missing. Choose another folder.") from None
    return n_changed


def encoded_table(
    frame: pd.DataFrame, path: str | Path, like: Table | None = None, *, raw_cells: bool = False
) -> tuple[bytes, int]:
    """Return the content of the file that :func:`write_table` would write, and how many cells got an apostrophe."""
    path = Path(path)
    kind = _written_format(path)
    options = like.options if like is not None and like.format == kind else {}
    n_changed = 0
    if kind in USUAL_DELIMITER:
        frame = _as_texts(frame, decimal=_decimal(like))
        if not raw_cells:
            frame, n_changed = _without_formulas(frame)
    return WRITERS[kind](frame, path, dict(options)), n_changed


def check_output(path: str | Path) -> str:
    """Return the format of a file to be written, or refuse one that cannot be: before any work is done for it."""
    path = Path(path)
    kind = _written_format(path)
    if path.is_dir():
        raise TableError(f"{path} is a folder. Name a file.")
    if not path.parent.is_dir():
        raise TableError(f"{path} cannot be written: there is no folder {path.parent}.")
    return kind


def _written_format(path: Path) -> str:
    kind = format_of(path)
    if kind not in WRITERS:
        raise TableError(f"{path.name}: predictions are a table, not an array. Choose .csv, .xlsx or .parquet.")
    return kind


def _as_texts(frame: pd.DataFrame, decimal: str) -> pd.DataFrame:
    """Return all cells as a text file has them, fractions with this decimal sign."""
    texts = {name: texts_of(frame[name]) for name in frame.columns}
    for name in frame.columns:
        if pd.api.types.is_float_dtype(frame[name].dtype):
            texts[name] = [text.replace(".", decimal) for text in texts[name]]
    return pd.DataFrame({str(name): pd.Series(cells, dtype=object) for name, cells in texts.items()})


def _decimal(like: Table | None) -> str:
    """Return the decimal sign that the numbers of a text file have; a point where there is no telling."""
    if like is None or like.format not in USUAL_DELIMITER:
        return "."
    seen = like.features.iloc[:SEEN_FOR_STYLE]
    styles = {name: number_style(seen[name]) for name in seen.columns}
    plain = [seen[name].astype(str) for name in seen.columns if styles[name] == "plain"]
    has_points = any(column.str.contains(".", regex=False).any() for column in plain)
    return "," if "decimal comma" in styles.values() and not has_points else "."


def _without_formulas(texts: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Return cells and names that no spreadsheet program runs, and how many of them had to be changed."""
    n_changed = 0
    safe = {}
    for name in texts.columns:
        before = [name, *texts[name]]
        safe_name, *cells = map(with_apostrophe, before)
        safe[safe_name] = pd.Series(cells, dtype=object)
        n_changed += sum(one != other for one, other in zip(before, [safe_name, *cells], strict=True))
    return pd.DataFrame(safe), n_changed


def _write_delimited(frame: pd.DataFrame, path: Path, options: dict[str, Any]) -> bytes:
    delimiter = options.get("delimiter", USUAL_DELIMITER[format_of(path)])
    # Not Python's csv.writer: with "\n" between lines it does not quote a cell with "\r", which then ends a line.
    special = re.compile(f'["\r\n{re.escape(delimiter)}]')

    def line(cells: Iterable[str]) -> str:
        quoted = ['"' + cell.replace('"', '""') + '"' if special.search(cell) else cell for cell in cells]
        return (delimiter.join(quoted) or '""') + "\n"  # a single empty cell is no blank line

    columns = [frame[name] for name in frame.columns]
    lines = [line(frame.columns), *map(line, zip(*columns, strict=True))]
    return _encoded("".join(lines), path, options)


def _write_jsonl(frame: pd.DataFrame, path: Path, options: dict[str, Any]) -> bytes:
    names = [str(name) for name in frame.columns]
    cells = zip(*(frame[name].tolist() for name in frame.columns), strict=True)
    records = (dict(zip(names, map(_as_json, row), strict=True)) for row in cells)
    # Bytes, spans of time and the like stand as the text that they have in a text file.
    lines = (json.dumps(record, ensure_ascii=False, default=as_text) for record in records)
    return _encoded("".join(f"{line}\n" for line in lines), path, options)


def _write_parquet(frame: pd.DataFrame, path: Path, options: dict[str, Any]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = options.get("schema")
    types = {} if schema is None else {field.name: field.type for field in schema}
    arrays = [_arrow_column(frame[name], types.get(name)) for name in frame.columns]
    sink = pa.BufferOutputStream()
    try:
        pq.write_table(pa.Table.from_arrays(arrays, names=[str(name) for name in frame.columns]), sink)
    except pa.ArrowException as error:
        raise TableError(
            f"{path.name}: a Parquet file cannot hold these cells ({error}). Write .jsonl or .csv."
        ) from None
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _arrow_column(column: pd.Series, known: Any) -> Any:
    import pyarrow as pa

    for type_ in (known, None):
        try:
            return pa.Array.from_pandas(column, type=type_)
        except (pa.ArrowException, TypeError, OverflowError):  # the last for whole numbers of more than 64 bits
            continue
    # Numbers and text in one column, which Excel and JSON have and Parquet has not.
    return pa.array([None if is_missing(cell) else as_text(cell) for cell in column], type=pa.string())


def _write_excel(frame: pd.DataFrame, path: Path, options: dict[str, Any]) -> bytes:
    from openpyxl import Workbook

    if len(frame) + 1 > MOST_EXCEL_ROWS or frame.shape[1] > MOST_EXCEL_COLUMNS:
        raise TableError(
            f"{path.name}: a sheet holds {MOST_EXCEL_ROWS - 1:,} rows and {MOST_EXCEL_COLUMNS:,} columns, and the "
            f"table has {len(frame):,} and {frame.shape[1]:,}. Write .csv or .parquet."
        )
    origin = options.get("origin")
    if origin is not None and can_be_copied(origin, frame, options["lines"]):
        return copied_sheet(origin, frame, options["lines"], path, _as_excel)
    columns = []
    for name in frame.columns:
        place = f"{path.name}, column {name!r}"
        cells = [_as_excel(cell, f"{place}, row {row}") for row, cell in enumerate(frame[name].tolist(), start=1)]
        columns.append([_as_excel(str(name), place), *cells])
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1" if origin is None else origin.sheet)
    for row in zip(*columns, strict=True):
        sheet.append([_as_text_cell(sheet, cell) for cell in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _as_text_cell(sheet: Any, value: Any) -> Any:
    """Return a value for a sheet; text that looks like a formula as a cell that stays text, also when it is edited."""
    from openpyxl.cell import WriteOnlyCell

    if not isinstance(value, str) or not is_formula(value):
        return value
    cell = WriteOnlyCell(sheet, value)
    cell.data_type, cell.quotePrefix = "s", True
    return cell


def _as_excel(cell: Any, place: str) -> Any:
    if is_missing(cell) and not isinstance(cell, str):
        return None
    if isinstance(cell, bool | int | float):
        return cell
    if isinstance(cell, datetime.date | datetime.time) and getattr(cell, "tzinfo", None) is None:
        return cell
    text = as_text(cell)
    if len(text) > LONGEST_EXCEL_CELL:
        raise TableError(
            f"{place} has {len(text):,} characters, and a cell of a sheet holds {LONGEST_EXCEL_CELL:,}. Write .csv or "
            ".parquet."
        )
    if found := CONTROL_CHARACTER.search(text):
        raise TableError(
            f"{place} has the control character {found[0]!r}, which a sheet cannot hold. Write .csv or .parquet."
        )
    return text


def texts_of(column: pd.Series) -> list[str]:
    """Return the cells of a column as a text file has them; "" where they are missing."""
    if column.dtype == object and isinstance(next((c for c in column if not is_missing(c)), None), datetime.date):
        column = features_of(column.to_frame()).iloc[:, 0]
    if isinstance(column.dtype, np.dtype) and column.dtype.kind == "M":
        return _dates(column.to_numpy())
    return [cell if isinstance(cell, str) else "" if is_missing(cell) else as_text(cell) for cell in column.tolist()]


def _dates(values: Any) -> list[str]:
    """Return points in time in one ISO format, as exact as the most exact of them."""
    present = values[~np.isnat(values)]
    unit = next(unit for unit in ("D", "s", "ms", "us", "ns") if (present.astype(f"M8[{unit}]") == present).all())
    texts = np.datetime_as_string(values.astype(f"M8[{unit}]"))
    return ["" if text == "NaT" else str(text) for text in texts]


def _as_json(cell: Any) -> Any:
    if is_missing(cell) and not isinstance(cell, str):
        return None
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, np.generic | np.ndarray):
        return cell.tolist()
    return float(cell) if isinstance(cell, Decimal) else cell


def _encoded(text: str, path: Path, options: dict[str, Any]) -> bytes:
    encoding = options.get("encoding", "utf-8")
    try:
        return text.encode(encoding)
    except UnicodeEncodeError as error:
        raise TableError(
            f"{path.name}: the character {text[error.start]!r} does not exist in {encoding}. Write .parquet or .xlsx, "
            "or save the input as UTF-8."
        ) from None


WRITERS: dict[str, Callable[[pd.DataFrame, Path, dict[str, Any]], bytes]] = {
    **dict.fromkeys(USUAL_DELIMITER, _write_delimited),
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
    "excel": _write_excel,
}
