"""The columns that labels come in: their names, and how they are known again when a written table is read."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from semikpca._typing import FloatArray
from semikpca.tables._features import as_numbers, as_text, is_missing, number_style
from semikpca.tables._table import ColumnRoles, Table

PREDICTED, CONFIDENCE, WAS_GIVEN, LOOKS_WRONG = "predicted_label", "confidence", "label_was_given", "looks_wrong"
ACCEPTED = "accepted"
PREDICTED_VALUE, LOW, HIGH = "predicted_value", "low", "high"
LABEL_COLUMNS = (PREDICTED, CONFIDENCE, WAS_GIVEN, LOOKS_WRONG, ACCEPTED, PREDICTED_VALUE, LOW, HIGH)
ROW = "row"  # the place of a row in its table, from 1
SUSPICION = "suspicion"
_DIGITS = 4  # of a confidence in a file


def label_columns(
    predicted: Any, confidence: FloatArray, was_given: Any = None, looks_wrong: Any = None, accepted: Any = None
) -> dict[str, Any]:
    """Return labels by the names of their columns; only labels of a table that has some can be given or look wrong.

    Which ones can be accepted is said where that was asked.
    """
    columns = {PREDICTED: predicted, CONFIDENCE: confidence.round(_DIGITS)}
    if was_given is not None:
        columns |= {WAS_GIVEN: was_given, LOOKS_WRONG: looks_wrong}
    return columns if accepted is None else {**columns, ACCEPTED: accepted}


def number_columns(
    predicted: FloatArray, low: FloatArray, high: FloatArray, was_given: Any = None, looks_wrong: Any = None
) -> dict[str, Any]:
    """Return predicted numbers by the names of their columns; an end of an interval that is infinite is left empty."""
    ends = {LOW: np.where(np.isfinite(low), low, np.nan), HIGH: np.where(np.isfinite(high), high, np.nan)}
    columns = {PREDICTED_VALUE: predicted, **ends}
    return columns if was_given is None else {**columns, WAS_GIVEN: was_given, LOOKS_WRONG: looks_wrong}


def with_columns(frame: pd.DataFrame, columns: dict[str, Any]) -> pd.DataFrame:
    """Return a table with more columns at its end; a name that is taken gets an underscore."""
    added = {}
    for wanted, values in columns.items():
        name = wanted
        while name in frame.columns or name in added:
            name += "_"
        added[name] = values
    return pd.concat([frame, pd.DataFrame(added, index=frame.index)], axis=1)


def named_rows(table: Table, id_column: str | None) -> pd.DataFrame:
    """Return what rows are found by, for a table of labels alone: their ids, or else their places."""
    if id_column in table.frame.columns:
        return table.frame[[id_column]]
    return pd.DataFrame({ROW: range(1, len(table) + 1)}, index=table.frame.index)


def earlier_columns(table: Table, roles: ColumnRoles) -> list[str]:
    """Return the columns that an earlier run added, known by their names and by what they hold.

    A column that the roles name for another use is none of them. Common names, such as "confidence", count only beside
    a name that no one else gives; and of several columns of a name, the last ones: ours come at the end of a table.
    """
    named = {roles.label, roles.id, *roles.text, *roles.keep}
    known = _plain_cells(table.frame[roles.label]) if roles.label in table.frame.columns else set()
    found: dict[str, list[str]] = {}
    for name in map(str, table.frame.columns):
        base = name.rstrip("_")
        if base in _HOLDS and name not in named and _HOLDS[base](table.features[name], known):
            found.setdefault(base, []).append(name)
    n_runs = max(len(found.get(sign, ())) for sign in _SIGNS)
    ours = {name for names in found.values() for name in names[max(0, len(names) - n_runs) :]}
    return [name for name in map(str, table.frame.columns) if name in ours]


def replaced_columns(table: Table, roles: ColumnRoles) -> list[str]:
    """Return the columns of an earlier run that a new one writes again."""
    return [name for name in earlier_columns(table, roles) if name.rstrip("_") in LABEL_COLUMNS]


def _plain_cells(column: pd.Series) -> set[str]:
    return {as_text(cell).strip().casefold() for cell in column.tolist() if not is_missing(cell)}


def _are_labels(column: pd.Series, known: set[str]) -> bool:
    cells = _plain_cells(column)
    return not cells or not known or not cells.isdisjoint(known)


def _are_shares(column: pd.Series, known: set[str]) -> bool:
    values = _numbers(column)
    return values is not None and bool(values.between(0, 1).all())


def _are_numbers(column: pd.Series, known: set[str]) -> bool:
    return _numbers(column) is not None


def _are_truths(column: pd.Series, known: set[str]) -> bool:
    return _plain_cells(column) <= {"true", "false", "1", "0"}  # Excel and JSON lines have truth values as numbers


def _are_rows(column: pd.Series, known: set[str]) -> bool:
    values = _numbers(column)
    return values is not None and values.is_unique and bool(((values >= 1) & (values % 1 == 0)).all())


def _numbers(column: pd.Series) -> pd.Series | None:
    if column.isna().all():
        return pd.Series([], dtype=float)
    style = number_style(column)
    return None if style is None else as_numbers(column, style).dropna()


def _is_anything(column: pd.Series, known: set[str]) -> bool:
    return True


_HOLDS: dict[str, Callable[[pd.Series, set[str]], bool]] = {
    PREDICTED: _are_labels,
    CONFIDENCE: _are_shares,
    WAS_GIVEN: _are_truths,
    LOOKS_WRONG: _are_truths,
    ACCEPTED: _are_truths,
    PREDICTED_VALUE: _are_numbers,
    LOW: _are_numbers,
    HIGH: _are_numbers,
    ROW: _are_rows,
    "given": _are_labels,
    "suggested": _are_labels,
    SUSPICION: _are_shares,
    "suggested_probability": _are_shares,
    "nearest": _is_anything,
}
_SIGNS = (PREDICTED, PREDICTED_VALUE, WAS_GIVEN, LOOKS_WRONG, SUSPICION)
