"""Columns that nothing is learned from unless someone says so: what an earlier run added, and identifiers."""

from dataclasses import replace

import numpy as np
import pandas as pd

from semikpca.tables._added import PREDICTED, PREDICTED_VALUE, earlier_columns
from semikpca.tables._features import as_numbers, number_style
from semikpca.tables._free_text import DATE, WORDS_OF_A_CODE, mean_words
from semikpca.tables._table import ColumnRoles, Table, feature_columns, listed, refuse_roles
from semikpca.tables._vectors import vector_length

FEWEST_ROWS = 20  # below, that all values differ says nothing
SEEN_FIRST = 1_000  # rows that show of most columns that they are no identifiers


def settled_roles(table: Table, roles: ColumnRoles) -> tuple[ColumnRoles, list[str]]:
    """Return roles that also leave out what an earlier run added and what names the rows, and notes that say so.

    Columns of ``roles.keep``, ``roles.text`` and ``roles.category`` stay. Identifiers stay where there is nothing else
    to learn from.

    Raises
    ------
    TableError
        For a role of a column that is not there, or two roles of one.
    """
    refuse_roles(table, roles)
    notes = []
    if earlier := earlier_columns(table, roles):
        notes.append(_from_an_earlier_run(earlier, roles))
    settled = replace(roles, exclude=tuple(dict.fromkeys([*roles.exclude, *earlier])))
    names = feature_columns(table, settled)
    asked_for = {*roles.text, *roles.category, *roles.keep}
    reasons = {name: identifier_reason(table.features[name]) for name in names if name not in asked_for}
    identifiers = [name for name, reason in reasons.items() if reason]
    is_all = len(identifiers) == len(names)
    for name in identifiers:
        use = (
            "It is learned from all the same, for there is no other column."
            if is_all
            else f"Nothing is learned from it; --keep {name!r} takes it back in."
        )
        notes.append(f"The column {name!r} looks like an identifier: {reasons[name]}. {use}")
    return settled if is_all else replace(settled, exclude=(*settled.exclude, *identifiers)), notes


def identifier_reason(column: pd.Series) -> str:
    """Return why a column looks like one that names the rows, or "" where it does not."""
    is_other = pd.api.types.is_datetime64_any_dtype(column.dtype) or vector_length(column) is not None
    if is_other or len(column) < FEWEST_ROWS:
        return ""
    return _reason(column) if _reason(column.iloc[:SEEN_FIRST]) else ""


def _reason(column: pd.Series) -> str:
    if (style := number_style(column)) is not None:
        values = as_numbers(column, style).dropna().to_numpy()
        is_growing = len(values) >= FEWEST_ROWS and (values == np.floor(values)).all() and (np.diff(values) > 0).all()
        return "a number that grows from row to row" if is_growing else ""
    present = column.dropna().astype(str)
    is_code = (
        present.nunique() == len(column) and mean_words(present) <= WORDS_OF_A_CODE and not DATE.match(present.iloc[0])
    )
    return "a value of its own in every row" if is_code else ""


def _from_an_earlier_run(names: list[str], roles: ColumnRoles) -> str:
    predicted = next((name for name in names if name.rstrip("_") in (PREDICTED, PREDICTED_VALUE)), None)
    go_on = f" To go on from predictions that you accept, copy them from {predicted!r} into {roles.label!r}."
    return (
        f"{listed(names)} come from an earlier run of semikpca: nothing is learned from them, and new labels take the "
        f"place of old ones.{go_on if predicted else ''} (--keep NAME learns from a column all the same.)"
    )
