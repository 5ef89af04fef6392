"""What may be wrong with the columns of a table, before anything is learned from them."""

import numpy as np
import pandas as pd

from semikpca.exceptions import TableError
from semikpca.tables._encoders import find_encoder
from semikpca.tables._features import LONGEST_CELL, as_numbers, as_text, is_missing, is_too_large, number_style
from semikpca.tables._free_text import DATE, WORDS_OF_A_CATEGORY, mean_words
from semikpca.tables._label_notes import notes_as_taken
from semikpca.tables._left_out import identifier_reason
from semikpca.tables._table import ColumnRoles, Table, feature_columns, listed, refuse_roles
from semikpca.tables._vectors import (
    is_list,
    largest_numbers,
    list_of_numbers,
    lists_in_text,
    vector_length,
    vectors_vary,
)

MANY_CATEGORIES = 1_000
# So many are in a row or two each, and say nothing of other rows; whoever wants their letters compared says so.
TOO_MANY_CATEGORIES = 10_000
_LETTERS_OF_A_CELL = 40  # in a message


def check_roles(table: Table, roles: ColumnRoles, *, allow_many_categories: bool = False) -> list[str]:
    """Refuse roles and columns that nothing can be learned with, and return warnings in words.

    Parameters
    ----------
    table : Table
    roles : ColumnRoles
    allow_many_categories : bool, default=False
        Whether 10,000 categories and more, and lists of unequal lengths, are only warned of: where nobody can say what
        the column is.

    Returns
    -------
    list of str
        What was assumed in reading the file; labels that may be none; columns that have very many categories, lists
        that are no vectors, or do not vary.

    Raises
    ------
    TableError
        For a name that is no column (with the close names), a column with two roles, infinite numbers, lists of unequal
        lengths, 10,000 categories or more, or no column to learn from.
    TextEncoderError
        Where the text encoder is not on this computer.
    """
    refuse_roles(table, roles)
    find_encoder(roles.text_encoder)  # what is missing is said before the work
    names = feature_columns(table, roles)
    if not names:
        raise TableError(f"{table.name} has no column to learn from. Columns: {listed(table.frame.columns)}.")
    warnings = [*table.options.get("notes", ()), *notes_as_taken(table, roles)]
    still: list[str] = []
    for name in names:
        column = table.features[name]
        if (length := vector_length(column)) is not None:
            if name not in roles.text and name not in roles.category:
                _refuse_infinities(table, largest_numbers(column, length))
                warnings += _vector_warnings(column, name)
            still += [] if vectors_vary(column) else [name]
            continue
        if name in roles.category:
            _refuse_many(column, name, table)
        elif name not in roles.text:
            warnings += _list_warnings(table, name, refuses=not allow_many_categories)
        declared = name in roles.text or name in roles.category
        style = None if declared else number_style(column)
        if style is not None:
            column = as_numbers(column, style)
            _refuse_infinities(table, column)
        if column.nunique(dropna=False) < 2:
            still.append(name)
        elif style is None and not declared and not pd.api.types.is_datetime64_any_dtype(column.dtype):
            too_many = np.inf if allow_many_categories else TOO_MANY_CATEGORIES
            warnings += _text_warnings(column.dropna().astype(str), name, table, too_many)
        if style is None:
            warnings += _length_warnings(column, name)
    if still:
        warnings.append(f"Nothing is learned from {listed(still)}: the same in every row, or empty.")
    return warnings


def _refuse_many(column: pd.Series, name: str, table: Table) -> None:
    """Refuse a column of more categories than can be told apart by being the same."""
    distinct = column.dropna().astype(str).nunique()
    if distinct > MANY_CATEGORIES:
        raise TableError(
            f"The column {name!r} of {table.name} has {distinct:,} different values, and at most {MANY_CATEGORIES:,} "
            "are taken as categories. Take it as text or as it was found, or put the values into groups."
        )


def _refuse_infinities(table: Table, column: pd.Series) -> None:
    values = column.to_numpy()
    rows = np.flatnonzero(is_too_large(values))
    if len(rows):
        more = f" ({len(rows):,} cells of the column are)" if len(rows) > 1 else ""
        raise TableError(
            f"{table.name}, {table.line_of(rows[0])}: {values[rows[0]]:g} in the column {column.name!r} is infinite "
            f"or too large{more}. Empty the cell or correct it, or leave the column out with --exclude {column.name!r}."
        )


def _length_warnings(column: pd.Series, name: str) -> list[str]:
    n_long = sum(isinstance(cell, str) and len(cell) > LONGEST_CELL for cell in column)
    if not n_long:
        return []
    cells = "1 cell has" if n_long == 1 else f"{n_long:,} cells have"
    return [
        f"In the column {name!r}, {cells} more than {LONGEST_CELL:,} characters. What comes after them is not learned "
        "from."
    ]


def _vector_warnings(column: pd.Series, name: str) -> list[str]:
    missing = sum(cell is None for cell in column)
    return [f"{missing:,} of {len(column):,} rows have no vector in {name!r}: the mean is taken."] if missing else []


def _list_warnings(table: Table, name: str, *, refuses: bool) -> list[str]:
    """Return what keeps a column of lists from being vectors, or refuse it where their lengths are unequal."""
    if table.frame[name].dtype != object:
        return []
    cells = table.frame[name].tolist()
    if not any(map(is_list, cells)):
        cells = lists_in_text(table.features[name].tolist()) or []
    lengths: dict[int, int] = {}  # a row for each
    for row, cell in enumerate(cells):
        if is_missing(cell):
            continue
        vector = list_of_numbers(cell)
        if vector is None:
            shown = as_text(cell)[:_LETTERS_OF_A_CELL]
            return [
                f"The lists in the column {name!r} are read as text, not as vectors: {table.line_of(row)} has "
                f"something else than a list of numbers ({shown})."
            ]
        if len(vector):
            lengths.setdefault(len(vector), row)
    if len(lengths) < 2:
        return []  # there are none, or they are empty
    (one, row), (other, other_row) = list(lengths.items())[:2]
    found = (
        f"the lists in the column {name!r} have {one:,} numbers in {table.line_of(row)} and {other:,} in "
        f"{table.line_of(other_row)}, and a vector has as many in every row"
    )
    if not refuses:
        return [f"Lists are read as text: {found}."]
    raise TableError(
        f"{table.name}: {found}. Make them equal, leave them out with --exclude {name!r}, or read them as text with "
        f"--text-column {name!r}."
    )


def _text_warnings(present: pd.Series, name: str, table: Table, too_many: float) -> list[str]:
    distinct = int(present.nunique())
    words = mean_words(present)
    if distinct < MANY_CATEGORIES or words > WORDS_OF_A_CATEGORY or DATE.match(present.iloc[0]):
        return []
    if identifier_reason(table.features[name]):
        return []  # somebody was asked about it, and keeps it
    if distinct >= too_many:
        raise TableError(
            f"The column {name!r} of {table.name} has {distinct:,} different values, too many to be categories (fewer "
            f"than {too_many:,} are). Say what it is: --exclude {name!r} leaves it out, --id-column {name!r} if it "
            f"names the rows, --text-column {name!r} takes the values as text."
        )
    return [
        f"The column {name!r} has {distinct:,} different values. They are compared by their letters; if that means "
        f"nothing, leave it out with --exclude {name!r}."
    ]
