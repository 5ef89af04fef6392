"""What was read from a file, what its columns are for, and words for messages about it."""

import io
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from semikpca.exceptions import TableError
from semikpca.tables._encoders import AUTO

MOST_NAMES = 20
MOST_UNPACKED_BYTES = 2**32
MOST_DIGITS = 308  # of a whole number: what a floating-point number reaches
ARRAYS = ("npy", "npz")  # formats of arrays, not of tables
AUTO_KIND, CLASSES, NUMBERS = "auto", "classes", "numbers"  # what a label column is taken for
PANDAS_INDEX = "__index_level_"  # how pandas names an index without a name in Parquet files


@dataclass(frozen=True)
class Table:
    """A table as it stands in a file, and a copy of its cells to learn from.

    Attributes
    ----------
    frame : DataFrame
        The cells as they were read. In text formats every cell is text, and an empty cell is "".
    features : DataFrame
        The same columns and rows with missing cells marked as missing. Text stays text: what is a number, a date or a
        category is found by :func:`semikpca.tables.make_vectorizer`, once, from the rows that it is fitted to. Lists
        of numbers are arrays. The vectors of array files are only here: nobody wants them in the output.
    path : Path or None
        The file.
    format : {"csv", "tsv", "parquet", "excel", "jsonl", "npy", "npz"}
    options : dict
        What was found in a text file: ``delimiter``, ``encoding``; ``notes``: sentences to tell the user; ``files``:
        the names of other files that columns come from.
    """

    frame: pd.DataFrame
    features: pd.DataFrame
    path: Path | None
    format: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def name(self) -> str:
        """The name of the file, for messages."""
        return "The table" if self.path is None else self.path.name

    def file_of(self, column: str) -> str:
        """Return the name of the file that a column is in, for messages."""
        return str(self.options.get("files", {}).get(column, self.name))

    @property
    def is_array(self) -> bool:
        """Whether the file has an array of numbers, which the output does not repeat."""
        return self.format in ARRAYS

    @property
    def written(self) -> pd.DataFrame:
        """The cells as they are written again; what is left of an array has the number of each row in front, from 1."""
        if not self.is_array or "row" in self.frame.columns:
            return self.frame
        return pd.concat([pd.Series(np.arange(1, len(self) + 1), self.frame.index, name="row"), self.frame], axis=1)

    def line_of(self, row: int) -> str:
        """Return where a row stands, in the words of someone who looks at the file."""
        lines = self.options.get("lines")
        if lines is None:
            return f"row {row + 1}"
        return f"row {lines[row]} of the sheet" if self.format == "excel" else f"line {lines[row]}"


@dataclass(frozen=True)
class ColumnRoles:
    """Which column has the labels, and how the others are used.

    Attributes
    ----------
    label : str
        The column with the labels; where it is empty, a row is unlabeled.
    id : str or None, default=None
        A column that names the rows. Nothing is learned from it.
    text : tuple of str, default=()
        Columns to take as free text, whatever they contain.
    exclude : tuple of str, default=()
        Columns that nothing is learned from.
    labels_as_typed : bool, default=False
        Whether each different text in the label column is a class, also "n/a" and spellings that differ in case only.
    text_encoder : str, default="auto"
        What reads free text, see :func:`semikpca.tables.find_encoder`.
    keep : tuple of str, default=()
        Columns to learn from though they look like identifiers, or like what an earlier run added.
    category : tuple of str, default=()
        Columns to take as categories, also if their cells are numbers: values are the same, or they are not.
    labels_as : {"auto", "classes", "numbers"}, default="auto"
        What the label column is taken for; see :func:`semikpca.tables.label_kind`.
    """

    label: str
    id: str | None = None
    text: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    labels_as_typed: bool = False
    text_encoder: str = AUTO
    keep: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    labels_as: str = AUTO_KIND

    def named(self) -> list[tuple[str, str]]:
        """Return each option of the command line with a column that it names."""
        one = [("--label-column", self.label), *([("--id-column", self.id)] if self.id is not None else [])]
        several = (
            ("--text-column", self.text),
            ("--category-column", self.category),
            ("--exclude", self.exclude),
            ("--keep", self.keep),
        )
        return [*one, *((option, name) for option, names in several for name in names)]


def feature_columns(table: Table, roles: ColumnRoles) -> list[str]:
    """Return the columns to learn from, in their order."""
    left_out = {roles.label, roles.id, *roles.exclude}
    return [name for name in table.features.columns if name not in left_out and not name.startswith(PANDAS_INDEX)]


def refuse_roles(table: Table, roles: ColumnRoles) -> None:
    """Refuse a role for a column that is not there, with the names that may have been meant, and two for one column."""
    columns = list(table.features.columns)
    options: dict[str, str] = {}
    for option, name in roles.named():
        if name not in columns:
            close = close_names(name, columns)
            meant = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            hint = " The first line looks like data: the file needs a line with column names." * _is_data(columns)
            if table.is_array and name == roles.label:
                hint = (
                    " An array has no labels in it: name a table that has as many rows, and the labels in a column "
                    f"{name!r}, with --labels FILE."
                )
            if table.format == "excel":
                hint = " If the names of the columns are in another row, name it with --header-row."
            raise TableError(f"{option}: {table.name} has no column {name!r}.{meant} Columns: {listed(columns)}.{hint}")
        if name not in table.frame.columns and option != "--exclude":
            raise TableError(
                f"{option}: {name!r} are the numbers of an array, which are learned from or left out (--exclude)."
            )
        if (other := options.setdefault(name, option)) != option:
            raise TableError(f"The column {name!r} is named in {other} and in {option}. Leave out one of them.")


def _is_data(columns: list[str]) -> bool:
    def is_number(name: str) -> bool:
        try:
            float(name)
        except ValueError:
            return False
        return True

    return sum(map(is_number, columns)) > len(columns) / 2


def listed(names: Iterable[Any], most: int = MOST_NAMES) -> str:
    """Return names as a list in words, with a count in place of the last ones when there are many."""
    shown = [repr(str(name)) for name in names]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most:,} more" if len(shown) > most else "")


def close_names(name: str, names: Iterable[Any]) -> list[str]:
    """Return the names that someone may have meant, the likeliest first; case and blanks around do not count."""
    plain: dict[str, str] = {}
    for known in map(str, names):
        plain.setdefault(known.strip().casefold(), known)
    return [plain[match] for match in get_close_matches(name.strip().casefold(), plain, n=3, cutoff=0.6)]


def columns_of_cells(path: Path, names: list[str], columns: list[Any]) -> pd.DataFrame:
    """Return cells as Python objects, so that a whole number beside an empty cell is not turned into a fraction."""
    cells = {}
    for name, column in zip(names, columns, strict=True):
        if any(isinstance(cell, int) and abs(cell) >= 10**MOST_DIGITS for cell in column):
            raise TableError(
                f"{path.name}: the column {name!r} has a whole number of more than {MOST_DIGITS} digits. Put it in "
                "quotes if it is a name, or shorten it."
            )
        cells[name] = np.empty(len(column), dtype=object)
        cells[name][:] = column
    return pd.DataFrame(cells)


def damaged(path: Path, what: str, error: Exception | None = None) -> TableError:
    """Return the error for a file that is not what its suffix says."""
    reason = f" ({str(error).splitlines()[0][:200]})" if error is not None and str(error) else ""
    return TableError(f"{path.name} is not {what}, or it is damaged{reason}. Does its suffix tell the true format?")


def refuse_zip_bombs(path: Path, content: bytes) -> None:
    """Refuse an archive that would fill the memory; one that is no archive is for its reader to refuse."""
    try:
        size = sum(part.file_size for part in zipfile.ZipFile(io.BytesIO(content)).infolist())
    except Exception:  # whatever the parser raises of damaged lists, names and versions
        return
    if size > MOST_UNPACKED_BYTES:
        raise TableError(
            f"{path.name} takes {size / 2**30:.1f} GiB unpacked, and {MOST_UNPACKED_BYTES / 2**30:.0f} GiB are "
            "allowed. Split it, or write .parquet."
        )
