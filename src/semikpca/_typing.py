"""Array types that every layer speaks; imports nothing of the package."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

Array: TypeAlias = Any
"""An array of NumPy's or a tensor of torch's, of which only what both can do is asked.

It is Any, since nothing narrower covers both: torch is optional, so that the type checker never sees its types, and a
union would ask every line which of the two it has. Base classes say ``FloatArray``, so that their users are checked
against NumPy's side; a method that may return a tensor says this.
"""

Rows: TypeAlias = Any
"""What a kernel compares: a float matrix, a CSR matrix, or any sequence of objects that can be sliced."""
