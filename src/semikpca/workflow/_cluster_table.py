"""A table that the workers of a cluster read: its labels, a sample of its rows, and all of them as lazy numbers.

The functions below the classes are what a worker does with a piece.
"""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from semikpca._files import write_whole
from semikpca._typing import FloatArray, IntArray
from semikpca.exceptions import TableError
from semikpca.tables import (
    ColumnRoles,
    PiecedTable,
    Table,
    empty_rows,
    features_like,
    features_of,
    frame_of,
    given_labels,
    is_missing,
    label_columns,
    label_kind,
    with_columns,
)
from semikpca.workflow._label import NUMBERS, Progress

if TYPE_CHECKING:
    from semikpca.operators.cluster import Cluster

MOST_SAMPLED_ROWS = 20_000  # that kinds of columns, their scales and vocabularies are learned from
MOST_LABELS = 1_000_000
_SHARE_OF_MEMORY = 0.5  # of the workers, that the numbers of all rows may take; otherwise rows are read again
READING = "Reading the table"


class Sample(Table):
    """Some rows of a table, which know where they stand in it."""

    def line_of(self, row: int) -> str:
        return f"data row {self.options['rows'][row] + 1:,}"


@dataclass(frozen=True)
class Reader:
    """What was learned from a sample, to make numbers of a piece."""

    vectorizer: Any
    columns: list[str]
    types: pd.Series


@dataclass(frozen=True)
class ClusterTable:
    """The pieces of a table that have rows, its labels, and the cluster that reads them.

    ``bounds`` has the row number at which each piece begins, and the number of all rows; ``labels`` has the labeled
    rows, whose numbers are ``labeled``, and one more without a label if there is any in the table.
    """

    cluster: "Cluster"
    table: PiecedTable
    pieces: list[Any]
    bounds: IntArray
    labeled: IntArray
    given: npt.NDArray[Any]
    labels: Table

    @classmethod
    def of(cls, cluster: "Cluster", table: PiecedTable, roles: ColumnRoles, progress: Progress) -> "ClusterTable":
        """Read the column of the labels."""
        found: dict[int, tuple[int, IntArray, list[Any]]] = {}
        n_labels = 0

        def take(number: int, answer: tuple[int, IntArray, list[Any]]) -> None:
            nonlocal n_labels
            found[number] = answer
            n_labels += len(answer[2])
            if n_labels > MOST_LABELS:
                raise TableError(
                    f"More than {MOST_LABELS:,} rows of {table.path.name} have a label in {roles.label!r}. So many "
                    "need no others to learn from: empty the cells of most of them."
                )

        asked = [(piece, roles.label) for piece in table.pieces]
        cluster.each_answer(labels_in, asked, take, partial(progress, READING))
        full = [number for number in range(len(table.pieces)) if found[number][0]]
        if not full:
            raise TableError(f"{table.path.name} has no rows.")
        bounds = np.cumsum([0, *(found[number][0] for number in full)])
        labeled = np.concatenate([found[number][1] + start for number, start in zip(full, bounds, strict=False)])
        cells = [cell for number in full for cell in found[number][2]]
        if len(cells) < bounds[-1]:
            cells.append(None)
        column = pd.DataFrame({roles.label: pd.Series(cells, dtype=object)})
        labels = Sample(column, column, table.path, table.format, {"rows": labeled})
        if label_kind(labels, roles).is_number:
            raise TableError(
                f"The column {roles.label!r} of {table.path.name} has numbers, and a cluster predicts classes alone. "
                "Label a part of the table without --scheduler, or take each number as a class with --classes."
            )
        given = given_labels(labels, roles)[: len(labeled)]
        is_label = np.array([label is not None for label in given], dtype=bool)  # "n/a" and the like are none
        labeled, given = labeled[is_label], given[is_label]
        return cls(cluster, table, [table.pieces[number] for number in full], bounds, labeled, given, labels)

    def places(self, rows: IntArray) -> list[IntArray]:
        """Return which of some rows, ascending, are in each piece, counted from its beginning."""
        parts = np.split(rows, np.searchsorted(rows, self.bounds[1:-1]))
        return [part - start for part, start in zip(parts, self.bounds[:-1], strict=True)]

    def sample(self, seed: int, progress: Progress) -> Sample:
        """Fetch rows from all pieces, without their labels: all, or a sample of many."""
        n = int(self.bounds[-1])
        size = min(n, MOST_SAMPLED_ROWS)
        rows = np.sort(np.random.default_rng(seed).choice(n, size, replace=False))
        asked = [(piece, inside) for piece, inside in zip(self.pieces, self.places(rows), strict=True) if len(inside)]
        parts: dict[int, Any] = {}
        self.cluster.each_answer(rows_at, asked, parts.__setitem__, partial(progress, "Fetching a sample"))
        import pyarrow as pa

        frame = frame_of(pa.concat_tables([parts[number] for number in range(len(asked))]))
        frame[self.labels.frame.columns[0]] = None
        options = {"rows": rows, "notes": self.table.notes}
        return Sample(frame, features_of(frame), self.table.path, self.table.format, options)

    @property
    def y(self) -> Any:
        """The labels as a lazy array, None where there is none."""
        given = np.split(self.given, np.searchsorted(self.labeled, self.bounds[1:-1]))
        lengths = np.diff(self.bounds).tolist()
        asked = list(zip(lengths, self.places(self.labeled), given, strict=True))
        return self.cluster.array(labels_of_piece, asked, lengths, None, object)

    def numbers(self, reader: Reader, progress: Progress) -> Any:
        """Return all rows as numbers: held by the workers where their memory allows, otherwise made when needed."""
        shared, n_numbers = self.cluster.shared(reader), int(reader.vectorizer.n_outputs_)
        asked = [(piece, shared) for piece in self.pieces]
        X = self.cluster.array(numbers_of, asked, np.diff(self.bounds).tolist(), n_numbers, np.float32)
        return self.cluster.held(X, _SHARE_OF_MEMORY, partial(progress, NUMBERS))


def unseen(file: Path, folder: Path) -> str:
    """Return what cannot be read or written from here; "" where all can."""
    if not os.access(file, os.R_OK):
        return str(file)
    return "" if os.access(folder, os.W_OK) else f"{folder.parent}, or may not write to it"


def labels_in(piece: Any, column: str) -> tuple[int, IntArray, list[Any]]:
    """Return how many rows a piece has, which of them have a label, and these cells."""
    cells = frame_of(piece.read([column]))[column].tolist()
    places = [place for place, cell in enumerate(cells) if not is_missing(cell)]
    return len(cells), np.array(places, dtype=np.intp), [cells[place] for place in places]


def rows_at(piece: Any, places: IntArray) -> Any:
    """Return some rows of a piece as an Arrow table."""
    return piece.read().take(places)


def labels_of_piece(n: int, places: IntArray, given: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the labels of a piece, None where there is none."""
    labels = np.full(n, None, dtype=object)
    labels[places] = given
    return labels


def numbers_of(piece: Any, reader: Reader) -> FloatArray:
    """Return the rows of a piece as float32."""
    try:
        features = features_like(frame_of(piece.read(reader.columns)), reader.types)
        numbers: FloatArray = reader.vectorizer.transform(features)
    except TableError as error:
        raise TableError(
            f"{piece}: {error} What a column holds was found on {MOST_SAMPLED_ROWS:,} rows at most; --text-column "
            "takes any cell of a column, and --exclude leaves it out."
        ) from None
    return numbers


def write_piece(
    piece: Any,
    codes: IntArray,
    chances: FloatArray,
    classes: npt.NDArray[Any],
    given: IntArray,
    wrong: IntArray,
    path: Path,
    columns: list[str],
    shares: FloatArray,
    replaced: list[str],
) -> tuple[IntArray, FloatArray, int]:
    """Write a piece as it was, with four columns more, in the place of ``replaced`` ones.

    Rows without anything in ``columns`` have the class shares. Returns how many rows each class has, the sums of their
    confidences, and the number of such rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = len(codes)
    arrow = piece.read()
    if arrow.num_rows != n:
        raise TableError(
            f"{piece} had {n:,} rows and now has {arrow.num_rows:,}. Label it again when nobody writes to it."
        )
    confidence = chances[np.arange(n), codes].astype(np.float64)
    empty = empty_rows(frame_of(arrow.select(columns)), columns)
    codes = codes.copy()
    codes[empty], confidence[empty] = shares.argmax(), shares.max()
    places = np.arange(n)
    added = label_columns(classes[codes].tolist(), confidence, np.isin(places, given), np.isin(places, wrong))
    arrow = arrow.drop_columns(replaced)
    names = with_columns(pd.DataFrame(columns=arrow.column_names), {name: [] for name in added}).columns[-len(added) :]
    for name, values in zip(names, added.values(), strict=True):
        arrow = arrow.append_column(name, pa.array(values))
    sink = pa.BufferOutputStream()
    pq.write_table(arrow, sink)
    write_whole(path, sink.getvalue().to_pybytes())
    sums = np.bincount(codes, confidence, len(classes)).astype(np.float64)
    return np.bincount(codes, minlength=len(classes)), sums, len(empty)
