"""Embeddings in .npy and .npz files."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from semikpca.exceptions import TableError
from semikpca.tables._table import damaged, refuse_zip_bombs

EMBEDDING = "embedding"
LARGEST_FLOAT = 8  # bytes; pandas has no place for more


def read_npy(path: Path, content: bytes) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the columns of one 2-D array."""
    array = _loaded(path, content)
    if not isinstance(array, np.ndarray):
        raise damaged(path, "an .npy file")
    return _embedding(path, EMBEDDING, array), {}


def read_npz(path: Path, content: bytes) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the columns of one 2-D array, after the 1-D arrays beside it."""
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
    digits = len(str(array.shape[1] - 1))
    return pd.DataFrame(array, columns=[f"{name}_{place:0{digits}d}" for place in range(array.shape[1])])
