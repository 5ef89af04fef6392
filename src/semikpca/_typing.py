"""Array types that every layer speaks; imports nothing of the package."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

Rows: TypeAlias = Any
"""What a kernel compares: a float matrix, a CSR matrix, or any sequence of objects that can be sliced."""
