"""What a worker of a cluster does with a piece of a table."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from semikpca._files import write_whole
from semikpca._typing import FloatArray, IntArray
from semikpca.exceptions import TableError
from semikpca.tables import features_like, frame_of, is_missing
from semikpca.workflow._label import as_numbers
from semikpca.workflow._labeled import rounded, with_columns

MOST_SAMPLED_ROWS = 20_000  # that kinds of columns, their scales and vocabularies are learned from


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


@dataclass(frozen=True)
class Reader:
    """What was learned from a sample, to make numbers of a piece."""

    vectorizer: Any
    columns: list[str]
    types: pd.Series


def numbers_of(piece: Any, reader: Reader) -> FloatArray:
    """Return the rows of a piece as float32."""
    try:
        features = features_like(frame_of(piece.read(reader.columns)), reader.types)
        return as_numbers(reader.vectorizer.transform(features))
    except TableError as error:
        raise TableError(
            f"{piece}: {error} What a column holds was found on {MOST_SAMPLED_ROWS:,} rows at most; --text-column "
            "takes any cell of a column, and --exclude leaves it out."
        ) from None


def write_piece(
    piece: Any,
    codes: IntArray,
    chances: FloatArray,
    classes: npt.NDArray[Any],
    given: IntArray,
    wrong: IntArray,
    path: Path,
) -> tuple[IntArray, FloatArray]:
    """Write a piece as it was, with four columns more."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = len(codes)
    confidence = chances[np.arange(n), codes].astype(np.float64)
    added = {
        "predicted_label": classes[codes].tolist(),
        "confidence": rounded(confidence),
        "label_was_given": np.isin(np.arange(n), given),
        "looks_wrong": np.isin(np.arange(n), wrong),
    }
    arrow = piece.read()
    if arrow.num_rows != n:
        raise TableError(
            f"{piece} had {n:,} rows and now has {arrow.num_rows:,}. Label it again when nobody writes to it."
        )
    names = with_columns(pd.DataFrame(columns=arrow.column_names), {name: [] for name in added}).columns[-len(added) :]
    for name, values in zip(names, added.values(), strict=True):
        arrow = arrow.append_column(name, pa.array(values))
    sink = pa.BufferOutputStream()
    pq.write_table(arrow, sink)
    write_whole(path, sink.getvalue().to_pybytes())
    sums = np.bincount(codes, confidence, len(classes)).astype(np.float64)
    return np.bincount(codes, minlength=len(classes)), sums
