"""How much memory a kernel matrix may take."""

import os
from typing import Any

import numpy as np
from sklearn import get_config

from semikpca.exceptions import KernelMemoryError


def memory_budget() -> int:
    """Return the bytes that a kernel matrix may take: scikit-learn's ``working_memory``, 1 GiB unless it was changed.

    Examples
    --------
    >>> import sklearn
    >>> with sklearn.config_context(working_memory=100):
    ...     memory_budget() // 2**20
    100
    """
    return int(float(get_config()["working_memory"]) * 2**20)


def has_room(n: int, dtype: Any) -> bool:
    """Return whether a matrix of n rows fits the budget."""
    return bool(n**2 * np.dtype(dtype).itemsize <= memory_budget())


def require_memory(n: int, dtype: Any) -> None:
    """Refuse a matrix of n rows that this computer cannot hold, before it is made."""
    present = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else float("inf")
    needed = n**2 * np.dtype(dtype).itemsize
    if needed > present:
        raise KernelMemoryError("The kernel matrix", n, needed, int(present))


def too_large(what: str, n: int, dtype: Any) -> KernelMemoryError:
    """Return the error for a matrix that does not fit the budget."""
    return KernelMemoryError(what, n, n**2 * np.dtype(dtype).itemsize, memory_budget(), is_budget=True)
