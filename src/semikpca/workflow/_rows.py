"""How rows are shown to people: a name to find each by, a line that says what it is about, and a place on a map."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from semikpca._typing import FloatArray, IntArray
from semikpca.estimators import ConvexKernelPCA
from semikpca.tables import ColumnRoles, Table, is_missing, vector_length

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
    columns = [name for name in table.frame.columns if name not in unused and not _is_vector(table, name)]
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


def _is_vector(table: Table, name: str) -> bool:
    return vector_length(table.features[name]) is not None


def _cells(column: pd.Series, most: int) -> list[str]:
    return ["" if is_missing(cell) else shortened(cell, most) for cell in column.tolist()]


def _is_text(cells: list[str]) -> bool:
    """Whether most of the cells that are not empty have several words."""
    lengths = [len(cell.split()) for cell in cells if cell]
    return bool(lengths) and float(np.median(lengths)) > 2


@dataclass(frozen=True)
class RowMap:
    """Places of rows on a plane.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        The rows that have a place, ascending.
    coordinates : ndarray of shape (m, 2)
    kind : str
        What the places are: "components" (kernel PCA), or the name of another layout.
    """

    rows: IntArray
    coordinates: FloatArray
    kind: str = "components"


def row_map(X: FloatArray, *, max_rows: int = 5_000, random_state: int = 0, always: Any = None) -> RowMap:
    """Return the first two kernel principal components of the rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    max_rows : int, default=5_000
        A random sample of this size stands for all rows where there are more.
    random_state : int, default=0
    always : array-like of int, optional
        Rows that are taken first, such as the labeled ones; where there are more than ``max_rows``, a sample of them.
    """
    n = len(X)
    if n <= max_rows:
        rows = np.arange(n)
    else:
        generator = np.random.default_rng(random_state)
        first = np.unique(np.asarray([] if always is None else always, dtype=np.intp))
        first = generator.permutation(first)[:max_rows]
        others = np.setdiff1d(np.arange(n), first)
        rows = np.sort(np.concatenate([first, generator.choice(others, max_rows - len(first), replace=False)]))
    return RowMap(rows, _plane(X[rows]))


def _plane(X: FloatArray) -> FloatArray:
    """Return two coordinates for each row; the second is 0 where one dimension says everything."""
    pca: Any = ConvexKernelPCA
    if (X == X[0]).all():
        return np.zeros((len(X), 2))
    try:
        found = np.asarray(pca(n_components=2, kernel="rbf", center=True).fit_transform(X))
    except ValueError:
        # More than half of the distances are 0: they give no bandwidth, and plain PCA needs none.
        found = np.asarray(pca(n_components=2, kernel="linear", center=True).fit_transform(X))
    return np.hstack([found, np.zeros((len(X), 2 - found.shape[1]))])
