"""Kernel values that are numbers."""

from typing import TYPE_CHECKING

import numpy as np

from semikpca._typing import FloatArray, Rows

if TYPE_CHECKING:
    from semikpca.kernels._base import Kernel


def finite_pairwise(kernel: "Kernel", A: Rows, B: Rows) -> FloatArray:
    """Return ``kernel.pairwise(A, B)``, or say that its values leave the range of their type.

    Sums over a row must be numbers too: they bound the eigenvalues and make the decisions.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        values = kernel.pairwise(A, B)
        # In a definite matrix no entry exceeds the largest on the diagonal, which is quickly looked through.
        watched = np.diagonal(values) if A is B and kernel.is_definite else values
        largest = max(-float(watched.min()), float(watched.max())) * max(values.shape)
    if not largest < float(np.finfo(values.dtype).max) / 10:  # written so that NaN fails as well
        raise ValueError(
            f"Values of {kernel!r} leave the range of {values.dtype}. Scale the features, for example with "
            "StandardScaler."
        )
    return values
