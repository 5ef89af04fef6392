"""Kernel values that are numbers."""

from typing import Any

import numpy as np

from semikpca._typing import FloatArray, Rows
from semikpca.kernels._base import Kernel


def finite_pairwise(kernel: Kernel, A: Rows, B: Rows) -> FloatArray:
    """Return ``kernel.pairwise(A, B)``, or say that its values leave the range of their type.

    Sums over a row must be numbers too: they bound the eigenvalues and make the decisions.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        values = kernel.pairwise(A, B)
        # In a definite matrix no entry exceeds the largest on the diagonal, which is quickly looked through.
        watched = np.diagonal(values) if A is B and kernel.is_definite else values
        largest = max(-float(watched.min()), float(watched.max())) * max(values.shape)
    _require_below_largest(kernel, largest, values.dtype)
    if A is B:
        _require_above_smallest(kernel, largest, values.dtype)
    return values


def require_finite_sums(kernel: Kernel, diagonal: FloatArray, dtype: Any) -> None:
    """Refuse a kernel matrix by its diagonal where sums leave the range of ``dtype``: see ``finite_pairwise``."""
    with np.errstate(over="ignore", invalid="ignore"):
        largest = float(np.abs(diagonal).max()) * len(diagonal)
    _require_below_largest(kernel, largest, dtype)
    _require_above_smallest(kernel, largest, dtype)


def require_finite(kernel: Kernel, product: FloatArray) -> FloatArray:
    """Return a product with kernel values, or say that they left the range of their type."""
    if not np.isfinite(product).all():
        _require_below_largest(kernel, np.inf, product.dtype)
    return product


def _require_below_largest(kernel: Kernel, largest: float, dtype: Any) -> None:
    if not largest < float(np.finfo(dtype).max) / 10:  # written so that NaN fails as well
        raise ValueError(
            f"Values of {kernel!r} leave the range of {np.dtype(dtype)}. Scale the features, for example with "
            "StandardScaler."
        )


def _require_above_smallest(kernel: Kernel, largest: float, dtype: Any) -> None:
    """Refuse a matrix so small that its values have lost digits, and the inverse of its eigenvalues is no number."""
    if 0 < largest < 100 * float(np.finfo(dtype).tiny):
        wider = ", or use float64" if np.dtype(dtype) != np.float64 else ""
        raise ValueError(
            f"Values of {kernel!r} are too small for {np.dtype(dtype)}: their sums do not exceed {largest:.3g}. "
            f"Multiply the features or the kernel matrix by a large number{wider}."
        )
