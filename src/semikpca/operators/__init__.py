"""Where and how? An operator is a kernel matrix that can be multiplied, however it is stored."""

from semikpca.operators._algebra import CenteredOperator, DeflatedOperator, ScaledOperator, ShiftedOperator
from semikpca.operators._base import KernelOperator, KnownSpectrum, Subspace
from semikpca.operators._blocked import BlockedOperator
from semikpca.operators._dense import DenseOperator
from semikpca.operators._factory import BACKENDS, choose_backend, make_operator, rows_of
from semikpca.operators._low_rank import LowRankOperator
from semikpca.operators._memory import has_room, memory_budget
from semikpca.operators._progress import Progress
from semikpca.operators._remote import (
    RemoteRows,
    checked_lazy_rows,
    gathered,
    goes_to_cluster,
    map_parts,
    map_rows,
    remote_rows,
    values_at,
)
from semikpca.operators._sparse import SparseOperator

__all__ = [
    "BACKENDS",
    "BlockedOperator",
    "CenteredOperator",
    "DeflatedOperator",
    "DenseOperator",
    "KernelOperator",
    "KnownSpectrum",
    "LowRankOperator",
    "Progress",
    "RemoteRows",
    "ScaledOperator",
    "ShiftedOperator",
    "SparseOperator",
    "Subspace",
    "checked_lazy_rows",
    "choose_backend",
    "gathered",
    "goes_to_cluster",
    "has_room",
    "make_operator",
    "map_parts",
    "map_rows",
    "memory_budget",
    "remote_rows",
    "rows_of",
    "values_at",
]
