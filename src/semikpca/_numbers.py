"""What counts as a number; imports nothing of the package."""

import math
from numbers import Integral, Real
from typing import TypeGuard


def is_positive_number(value: object) -> TypeGuard[float]:
    """Whether the value is a real number, positive and finite, and its inverse too; True and False are not numbers."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < math.inf:
        return False
    return math.isfinite(1 / float(value))


def is_whole_number(value: object, minimum: int) -> TypeGuard[int]:
    """Whether the value is a whole number that is at least ``minimum``."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= minimum


def require_share(name: str, value: object) -> None:
    """Refuse what is not a number strictly between 0 and 1."""
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value!r}.")
