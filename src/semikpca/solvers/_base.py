"""The contract of a solver and what it hands back."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum

from semikpca._typing import FloatArray


class Status(Enum):
    """How a solve ended, with advice."""

    SOLVED = "solved to the tolerance"
    NOT_CONVERGED = "stopped at max_iter before the tolerance was met; raise max_iter or lower error_weight"
    ROUNDED = "stopped by the rounding of kernel values before the tolerance was met; pass rows in float64, raise tol \
or lower error_weight"

    def __reduce__(self) -> tuple[type["Status"], tuple[str]]:
        """Go by the name in model files: the advice may be worded otherwise one day."""
        return Status, (self.name,)

    @classmethod
    def _missing_(cls, value: object) -> "Status | None":
        return cls.__members__.get(str(value))


@dataclass(frozen=True)
class Solution:
    """The answer to one system with several right-hand sides.

    Values, and the product, have shape (n, n_columns).
    """

    values: FloatArray
    status: Status
    n_iter: int  # 1 for a direct solve
    residual: float  # the largest norm over the columns, relative to its right-hand side
    product: FloatArray | None = None  # the kernel part of the system times values, where the solve made it on its way


class LinearSolver(ABC):
    """A system that was prepared for solving; one object belongs to one system."""

    @abstractmethod
    def solve(self, targets: FloatArray) -> Solution:
        """Solve for each column of ``targets``, shape (n, n_columns)."""
