"""NumPy arrays and torch tensors by one name, so that a formula is written once for both; rows of any collection."""

import sys
from typing import Any

import numpy as np

from semikpca._typing import Array, IntArray, Rows


def is_tensor(array: object) -> bool:
    """Return whether ``array`` is a torch tensor; torch is not imported for the question."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def device_of(array: object) -> Any:
    """Return the device that a tensor is on; None for NumPy arrays and all other collections."""
    return array.device if is_tensor(array) else None  # type: ignore[attr-defined]  # torch has no types here


def on_device(values: Any, device: Any) -> Any:
    """Return numbers as a tensor on a device, see :func:`device_of`; as they are where the device is None.

    What is no number, such as labels that are texts, has no tensor and stays an array.
    """
    if device is None or values.dtype.kind not in "fiub":
        return values
    return sys.modules["torch"].as_tensor(values, device=device)


def is_lazy(array: object) -> bool:
    """Return whether ``array`` is computed when somebody asks: a Dask array, series or data frame.

    Dask is not imported for the question.
    """
    dask = sys.modules.get("dask.base")
    return dask is not None and bool(dask.is_dask_collection(array))


def is_remote(rows: object) -> bool:
    """Return whether rows are held elsewhere: only a few are fetched at a time, products are made where they are."""
    return bool(getattr(rows, "is_remote", False))


def namespace(array: object) -> Any:
    """Return torch for a tensor and NumPy for everything else."""
    return sys.modules["torch"] if is_tensor(array) else np


def to_numpy(array: Array) -> Any:
    """Return an array in the memory of the computer; a tensor is copied there."""
    return array.detach().cpu().numpy() if is_tensor(array) else np.asarray(array)


def on_host(values: Any) -> Any:
    """Return a tensor as a NumPy array; anything else, also what is computed later, as it is."""
    return to_numpy(values) if is_tensor(values) else values


def like(values: Any, model: Array) -> Array:
    """Return values as an array of the library, type and device of another."""
    if is_tensor(model):
        if isinstance(values, np.ndarray) and not values.flags.writeable:
            values = values.copy()  # a tensor may be written to
        return sys.modules["torch"].as_tensor(values, dtype=model.dtype, device=model.device)
    return np.asarray(values, dtype=model.dtype)


def length(rows: Rows) -> int:
    """Return the number of rows."""
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def taken(rows: Rows, numbers: IntArray) -> Rows:
    """Return the rows with these numbers."""
    return rows[numbers] if hasattr(rows, "shape") else [rows[int(number)] for number in numbers]
