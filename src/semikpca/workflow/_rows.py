"""How rows are shown to people: a name to find each by, and a line that says what it is about."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd

from semikpca.tables import ColumnRoles, Table

_MOST_COLUMNS = 20  # that are looked at for text
_MOST_CELLS = 4  # that stand for a row without text


class TableWithRoles(Protocol):
    """What knows its table and the roles of the columns, such as a labeled table."""

    @property
    def table(self) -> Table:
        """The table."""

    @property
    def roles(self) -> ColumnRoles:
        """What its columns are."""


def printable(text: Any) -> str:
    """Return text in one line without control characters: a cell must not steer a terminal."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in str(text)).split())


def shortened(text: Any, most: int = 60) -> str:
    """Return the beginning of a text in one line."""
    line = printable(str(text)[: 4 * most])  # a cell may hold a book
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def row_names(labeled: TableWithRoles, rows: Sequence[int] | Any) -> list[str]:
    """Return how a user finds rows: by the cell of the id column, or by their place in the file."""
    rows = [int(row) for row in rows]
    places = [labeled.table.line_of(row) for row in rows]
    if labeled.roles.id is None:
        return places
    cells = labeled.table.frame[labeled.roles.id].iloc[rows].tolist()
    return [shortened(cell) or place for cell, place in zip(cells, places, strict=True)]


def row_texts(labeled: TableWithRoles, rows: Sequence[int] | Any, most: int = 60) -> list[str]:
    """Return what rows are about, a line each: their texts, or their first cells where they have none."""
    table, roles = labeled.table, labeled.roles
    unused = {roles.label, roles.id}
    columns = [name for name in table.frame.columns if name not in unused]
    candidates = [name for name in columns if not pd.api.types.is_numeric_dtype(table.frame[name].dtype)]
    looked_at = list(dict.fromkeys([*roles.text, *candidates[:_MOST_COLUMNS], *columns[:_MOST_CELLS]]))
    cells = {name: _cells(table.frame[name].iloc[np.asarray(rows)], most) for name in looked_at}
    texts = list(roles.text) or [name for name in candidates[:_MOST_COLUMNS] if _is_text(cells[name])]
    shown = []
    for place in range(len(rows)):
        parts = [cells[name][place] for name in texts if cells[name][place]]
        if not parts:
            parts = [f"{name}: {cells[name][place]}" for name in looked_at if cells[name][place]][:_MOST_CELLS]
        shown.append(shortened(" · ".join(parts), most))
    return shown


def _cells(column: pd.Series, most: int) -> list[str]:
    return ["" if cell is None or cell != cell else shortened(cell, most) for cell in column.tolist()]


def _is_text(cells: list[str]) -> bool:
    """Whether most of the cells that are not empty have several words."""
    lengths = [len(cell.split()) for cell in cells if cell]
    return bool(lengths) and float(np.median(lengths)) > 2
