"""One file NAME.npz of a folder of the user's: rows X, classes y, and how X is to be scaled."""

import hashlib
import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from semikpca.datasets import Dataset
from semikpca.exceptions import DatasetError
from semikpca_benchmarks._typing import FloatArray, IntArray
from semikpca_benchmarks.datasets._info import Scaling

FEWEST_ROWS_OF_A_CLASS = 2
"""One row with a label and one to be predicted."""

_MOST_BYTES = 4 * 2**30  # of the arrays together, once they are unpacked
_SCALES: tuple[Scaling, ...] = ("standardize", "none")
_AFTER_LABELS = "y has a whole number from 0 on, or a string, for each row of X"


@dataclass(frozen=True)
class ArrayFile:
    """What a file holds: the rows as they are, the scaling that it asks for, if any, and its checksum."""

    data: Dataset
    scaling: Scaling | None
    sha256: str


def read_array_file(path: Path) -> ArrayFile:
    """Return what is in a file, or refuse it with the value that is wrong, the limit and the remedy.

    Parameters
    ----------
    path : Path
        A file NAME.npz with the arrays ``X`` (n_samples × n_features numbers) and ``y`` (n_samples whole numbers from
        0 on, or strings), and, if wanted, ``scale``: "standardize" or "none". Other arrays are not read. Python objects
        are refused, since loading them can run code.
    """
    content = path.read_bytes()
    arrays = _loaded(path, content)
    X, (y, class_names) = _rows(path, arrays["X"]), _classes(path, arrays["y"])
    if len(X) != len(y):
        raise DatasetError(f"{path}: X has {len(X):,} rows and y has {len(y):,} entries. {_AFTER_LABELS}.")
    refuse_small_classes(y, class_names, f"{path}")
    scaling = _scaling(path, arrays["scale"]) if "scale" in arrays else None
    data = Dataset(path.stem, X, y, class_names, str(path))
    return ArrayFile(data, scaling, hashlib.sha256(content).hexdigest())


def refuse_small_classes(y: IntArray, class_names: tuple[str, ...], where: str, remedy: str = "") -> None:
    """Refuse classes in which nothing would be left to predict after one label."""
    sizes = np.bincount(y, minlength=len(class_names))
    if len(sizes) < 2:
        raise DatasetError(f"{where} has {len(sizes)} class; a classifier needs at least 2.")
    smallest = int(sizes.argmin())
    if sizes[smallest] < FEWEST_ROWS_OF_A_CLASS:
        raise DatasetError(
            f"{where} has {sizes[smallest]} of {len(y):,} rows of class {class_names[smallest]!r}; a class needs at "
            f"least {FEWEST_ROWS_OF_A_CLASS}, one to be labeled and one to be predicted. "
            f"{remedy or 'Leave the class out, or put it together with another one.'}"
        )


def _loaded(path: Path, content: bytes) -> dict[str, npt.NDArray[Any]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            n_bytes = sum(member.file_size for member in archive.infolist())
        if n_bytes <= _MOST_BYTES:
            with np.load(io.BytesIO(content), allow_pickle=False) as stored:
                _require(path, stored.files)
                return {name: _array(stored[name]) for name in stored.files if name in ("X", "y", "scale")}
    except DatasetError:
        raise
    except Exception as error:  # whatever the parsers of headers and ZIP raise
        if "allow_pickle" in str(error):
            raise DatasetError(
                f"{path} holds Python objects, which can run code and are not read. Store X as an array of numbers, "
                "and y as whole numbers or as text of a fixed width: y.astype(str)."
            ) from error
        raise DatasetError(
            f"{path} is no .npz file of NumPy, or is damaged ({type(error).__name__}: {error}). Write it with "
            "numpy.savez_compressed(path, X=X, y=y)."
        ) from error
    raise DatasetError(
        f"{path} unpacks to {n_bytes / 2**30:.1f} GiB, and {_MOST_BYTES / 2**30:.0f} are read at most. Store fewer "
        "rows, or X as 16- or 32-bit numbers."
    )


def _array(stored: npt.NDArray[Any] | bytes) -> npt.NDArray[Any]:
    """Return an array; a part of the archive that is none comes as bytes."""
    if isinstance(stored, bytes):
        raise ValueError("one of its arrays has no header")
    return stored


def _require(path: Path, names: Sequence[str]) -> None:
    for name in ("X", "y"):
        if name not in names:
            raise DatasetError(f"{path} has no array {name}; it has {', '.join(names) or 'none'}. It needs X and y.")


def _rows(path: Path, X: npt.NDArray[Any]) -> FloatArray:
    if X.ndim != 2 or not X.size or X.dtype.kind not in "fiub":
        raise DatasetError(
            f"{path}: X must be a table of numbers, rows by features, and has the shape {X.shape} and the type "
            f"{X.dtype}. Store a row for each sample: X.reshape(len(X), -1).astype(float)."
        )
    rows = X.astype(np.float64)
    wrong = ~np.isfinite(rows)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise DatasetError(
            f"{path}: X has {rows[row, column]} in row {row}, column {column} ({wrong.sum():,} of {wrong.size:,} "
            "values are no finite numbers). Fill them in, or leave those rows out."
        )
    return rows


def _classes(path: Path, y: npt.NDArray[Any]) -> tuple[IntArray, tuple[str, ...]]:
    if y.ndim != 1 or y.dtype.kind not in "iubUS":
        remedy = "Store y.astype(int) or y.astype(str)"
        raise DatasetError(f"{path}: {_AFTER_LABELS}; it has the shape {y.shape} and the type {y.dtype}. {remedy}.")
    values = _decoded(path, y) if y.dtype.kind == "S" else y
    missing = values == "" if values.dtype.kind == "U" else values < 0
    if missing.any():
        raise DatasetError(
            f"{path}: y has {values[missing][0].item()!r} in row {np.flatnonzero(missing)[0]} ({missing.sum():,} of "
            f"{len(y):,} rows). {_AFTER_LABELS}; leave rows without a class out."
        )
    classes, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.intp), tuple(str(name) for name in classes.tolist())


def _decoded(path: Path, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    try:
        return np.asarray(np.char.decode(y, "utf-8"))
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: y has bytes that are no UTF-8 ({error}). Store text: y.astype(str).") from error


def _scaling(path: Path, scale: npt.NDArray[Any]) -> Scaling:
    for known in _SCALES:
        if scale.ndim == 0 and str(scale) == known:
            return known
    raise DatasetError(
        f"{path}: scale must be one of {', '.join(map(repr, _SCALES))}, got {scale.tolist()!r}. Leave it out, and the "
        "values of X decide."
    )
