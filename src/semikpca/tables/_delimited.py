"""CSV and TSV: cells as text, exactly as they stand in the file."""

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from semikpca._typing import IntArray
from semikpca._words import counted
from semikpca.exceptions import TableError
from semikpca.tables._formulas import without_apostrophes
from semikpca.tables._table import listed

DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
ROWS_AT_ONCE = 20_000
SEEN_FOR_DELIMITER = 100_000  # characters
LARGEST_CELL = 2**27  # characters; what Python's csv module allows by default is less than a long document


def read_delimited(
    path: Path, content: bytes, delimiter: str | None, encoding: str | None, usual: str, *, raw_cells: bool = False
) -> tuple[pd.DataFrame, dict[str, object]]:
    """Return the cells of a delimited file and how it was read; raw ones keep the apostrophe before a formula."""
    text, encoding = decoded(path, content, encoding)
    if not text.strip():
        raise TableError(f"{path.name} is empty: it needs a line with column names, and rows below it.")
    notes: list[str] = []
    delimiter = chosen_delimiter(path, text, delimiter, usual, notes)
    del text  # as a stream of characters it would take four times the room of the file
    stream = io.TextIOWrapper(io.BytesIO(content), encoding, newline="")
    frame, lines = parsed(path, stream, delimiter, notes, raw_cells=raw_cells)
    return frame, {"delimiter": delimiter, "encoding": encoding, "lines": lines, "notes": tuple(notes)}


def decoded(path: Path, content: bytes, encoding: str | None) -> tuple[str, str]:
    """Return the text of a file and its encoding; UTF-8 unless told otherwise, or marked as something else."""
    if encoding is None:
        encoding = next((name for mark, name in BYTE_ORDER_MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise TableError(f"--encoding {encoding}: there is no such encoding. Common ones: utf-8, cp1252.") from None
    try:
        return content.decode(encoding), encoding
    except UnicodeDecodeError as error:
        raise TableError(
            f"{path.name} is not {encoding.upper()} text: byte {error.start + 1:,} is 0x{content[error.start]:02X}. "
            "It is likely cp1252 (Windows); read it with --encoding cp1252, or save it as UTF-8."
        ) from None


def chosen_delimiter(path: Path, text: str, given: str | None, usual: str, notes: list[str]) -> str:
    """Return the delimiter that was given, if it can be one, or else what the file uses."""
    if given is None:
        found = _found_delimiter(text[:SEEN_FOR_DELIMITER], usual)
        if found != usual:
            notes.append(f"Cells of {path.name} are separated by {DELIMITERS[found]}, not by {DELIMITERS[usual]}.")
        return found
    if len(given) != 1 or given in '"\r\n':
        raise TableError(f"--delimiter must be one character other than a quote or a line break, got {given!r}.")
    return given


def _found_delimiter(text: str, usual: str) -> str:
    """Return the usual delimiter, or another one where the header is a single column without it.

    Another one must cut all of the first rows into as many cells, two or more.
    """
    with _long_cells():
        if _widths(text, usual)[0] != 1:
            return usual
        for other in DELIMITERS:
            header, *rows = _widths(text, other)
            # The text may have been cut in the middle of the last row.
            if other != usual and header > 1 and all(width == header for width in rows[:-1] or rows):
                return other
    return usual


def _widths(text: str, delimiter: str) -> list[int]:
    """Return into how many cells a delimiter cuts the header and each of the first rows."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return [len(row) for row in islice(reader, 50) if row]


def parsed(
    path: Path, text: Iterable[str], delimiter: str, notes: list[str], *, raw_cells: bool
) -> tuple[pd.DataFrame, IntArray]:
    """Return the rows of a text and the line at which each begins; each must be as long as the header."""
    lines: list[int] = []
    pieces: list[pd.DataFrame] = []
    reader = csv.reader(text, delimiter=delimiter, strict=True)

    def rows() -> Iterator[list[str]]:
        begin = reader.line_num + 1
        for row in reader:
            if row and len(row) != len(names):
                raise TableError(
                    f"{path.name}, line {begin}: {counted(len(row), 'cell')} where the header has {len(names)}. "
                    "Correct the line; a cell that contains the delimiter or a line break must be in double quotes."
                )
            if row:  # blank lines are no rows
                lines.append(begin)
                yield row if raw_cells else without_apostrophes(row)
            begin = reader.line_num + 1

    with _long_cells():
        try:
            header = next(row for row in reader if row)
            names = named_columns(path, header if raw_cells else without_apostrophes(header), notes)
            remaining = rows()
            while piece := list(islice(remaining, ROWS_AT_ONCE)):
                columns = zip(names, zip(*piece, strict=True), strict=True)
                pieces.append(pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns}))
        except csv.Error as error:
            raise TableError(
                f"{path.name}, line {reader.line_num}: {error}. Is a quote opened and not closed, or another "
                "--delimiter needed?"
            ) from None
    if not pieces:
        raise TableError(f"{path.name} has column names and no rows below them: {listed(names)}.")
    return pd.concat(pieces, ignore_index=True), np.array(lines)


def named_columns(path: Path, header: list[str], notes: list[str]) -> list[str]:
    """Return the names of the columns; two of the same name are refused, an empty one gets a name."""
    names = list(header)
    for place, name in enumerate(header):
        if not name.strip():
            names[place] = f"unnamed_{place + 1}"
            notes.append(f"Column {place + 1} of {path.name} has no name and is called {names[place]!r}.")
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        if (first := seen.setdefault(name, place)) != place:
            raise TableError(
                f"{path.name} has two columns named {name!r} (columns {first + 1} and {place + 1}). Rename one of them."
            )
    return names


@contextmanager
def _long_cells() -> Iterator[None]:
    before = csv.field_size_limit(LARGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
