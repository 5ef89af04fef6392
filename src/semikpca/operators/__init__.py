"""Where and how? An operator is a kernel matrix that can be multiplied, however it is stored."""

from semikpca.operators._algebra import CenteredOperator, DeflatedOperator, ScaledOperator, ShiftedOperator
from semikpca.operators._base import KernelOperator, KnownSpectrum, Subspace
from semikpca.operators._blocked import BlockedOperator
from semikpca.operators._dense import DenseOperator
from semikpca.operators._factory import BACKENDS, choose_backend, make_operator, rows_of
from semikpca.operators._low_rank import LowRankOperator
from semikpca.operators._memory import has_room, memory_budget
from semikpca.operators._progress import Progress
from semikpca.operators._sparse import SparseOperator
from semikpca.operators.products import cross_product, expansion, fitted, weighted_features

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
    "ScaledOperator",
    "ShiftedOperator",
    "SparseOperator",
    "Subspace",
    "choose_backend",
    "cross_product",
    "expansion",
    "fitted",
    "has_room",
    "make_operator",
    "memory_budget",
    "rows_of",
    "weighted_features",
]
