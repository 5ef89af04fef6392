"""Parquet, JSON lines and embeddings in .npy and .npz: cells with types of their own."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from semikpca.exceptions import TableError
from semikpca.tables._delimited import decoded, named_columns
from semikpca.tables._table import columns_of_cells, damaged, refuse_zip_bombs
from semikpca.tables._vectors import EMBEDDING

LARGEST_FLOAT = 8  # bytes; pandas has no place for more


def read_parquet(path: Path, content: bytes) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the cells of a Parquet file, and its types, in which it can be written again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        arrow = pq.read_table(pa.BufferReader(content))
        notes: list[str] = []
        arrow = arrow.rename_columns(named_columns(path, arrow.column_names, notes))
        # Whole numbers beside empty cells stay whole numbers; an index that pandas stored is a column like the others.
        frame = arrow.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    except TableError:
        raise
    except Exception as error:  # of Arrow, and of Python where damaged cells are no text or no dates
        raise damaged(path, "a Parquet file", error) from None
    return frame, {"schema": arrow.schema.remove_metadata(), "notes": tuple(notes)}


def read_jsonl(path: Path, content: bytes, encoding: str | None) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the cells of a file with one JSON object in each line; a key that an object lacks is an empty cell."""
    text, encoding = decoded(path, content, encoding)
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # of the syntax, or of a number with thousands of digits
            hint = " The file has to have one whole object in each line." if number == 1 else ""
            raise TableError(f"{path.name}, line {number} is not JSON: {error}.{hint}") from None
        if not isinstance(record, dict):
            raise TableError(f'{path.name}, line {number} is not a JSON object, such as {{"color": "red", "size": 3}}.')
        records.append(record)
        lines.append(number)
    if not records:
        raise TableError(f"{path.name} is empty: it needs one JSON object in each line.")
    names = list(dict.fromkeys(name for record in records for name in record))
    notes: list[str] = []
    shown = named_columns(path, names, notes)
    frame = columns_of_cells(path, shown, [[record.get(name) for record in records] for name in names])
    return frame, {"encoding": encoding, "lines": np.array(lines), "notes": tuple(notes)}


def read_npy(path: Path, content: bytes) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return one 2-D array as a column of vectors."""
    array = _loaded(path, content)
    if not isinstance(array, np.ndarray):
        raise damaged(path, "an .npy file")
    return _embedding(path, EMBEDDING, array), {}


def read_npz(path: Path, content: bytes) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return one 2-D array as a column of vectors, after the 1-D arrays beside it."""
    refuse_zip_bombs(path, content)
    arrays = _loaded(path, content)
    if not isinstance(arrays, dict):
        raise damaged(path, "an .npz file")
    wide = [name for name, array in arrays.items() if array.ndim == 2]
    if len(wide) != 1:
        shapes = ", ".join(f"{name!r} {array.shape}" for name, array in arrays.items()) or "none"
        raise TableError(f"{path.name} must have one 2-D array, the embeddings, and has {len(wide)}. Arrays: {shapes}.")
    frame = _embedding(path, wide[0], arrays.pop(wide[0]))
    for name, array in arrays.items():
        if array.shape != (len(frame),):
            raise TableError(
                f"{path.name}: the array {name!r} has the shape {array.shape}. A column beside {len(frame):,} "
                f"embeddings has the shape ({len(frame)},)."
            )
    return pd.concat([pd.DataFrame(arrays, index=frame.index), frame], axis=1), {}


def _loaded(path: Path, content: bytes) -> Any:
    try:
        loaded = np.load(io.BytesIO(content), allow_pickle=False)
        arrays = loaded if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
    except Exception as error:  # whatever its parsers of headers and ZIP raise, and shapes that no memory holds
        if "allow_pickle" in str(error) or "pickled" in str(error):
            raise TableError(
                f"{path.name} is no NumPy file, or it holds Python objects, which can run code and are not read. Store "
                "arrays of numbers, or of text with a fixed width (array.astype(str))."
            ) from None
        raise damaged(path, "a NumPy file", error) from None
    for array in [arrays] if isinstance(arrays, np.ndarray) else arrays.values():
        if array.dtype.kind == "f" and array.dtype.itemsize > LARGEST_FLOAT:
            raise TableError(
                f"{path.name} has numbers of the type {array.dtype}, and tables take float64 at most. Store "
                "array.astype(np.float64)."
            )
    return arrays


def _embedding(path: Path, name: str, array: npt.NDArray[Any]) -> pd.DataFrame:
    if array.ndim != 2 or not array.size or array.dtype.kind not in "fiu":
        raise TableError(
            f"{path.name}: embeddings are a 2-D array of numbers, a row for each row. This one has the shape "
            f"{array.shape} and the type {array.dtype}."
        )
    return pd.DataFrame({name: pd.Series(list(array), dtype=object)})
