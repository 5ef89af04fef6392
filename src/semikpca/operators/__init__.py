"""Where and how? An operator is a kernel matrix that can be multiplied, wherever and however it is stored."""

from semikpca.operators._algebra import (
    CenteredOperator,
    DeflatedOperator,
    ScaledOperator,
    ShiftedOperator,
    StackedOperator,
)
from semikpca.operators._base import KernelOperator, KnownSpectrum, OperatorFacts, Storage, Subspace
from semikpca.operators._blocked import BlockedOperator
from semikpca.operators._dense import DenseOperator
from semikpca.operators._factory import (
    BACKENDS,
    REMOTE_BACKEND,
    choose_backend,
    is_in_blocks,
    is_on_cluster,
    make_operator,
    rows_of,
)
from semikpca.operators._low_rank import LowRankInverse, LowRankOperator
from semikpca.operators._memory import has_room, memory_budget
from semikpca.operators._progress import ProductLog, Progress
from semikpca.operators._remote import (
    checked_lazy_rows,
    gathered,
    join_cluster,
    map_parts,
    map_rows,
    remote_rows,
    require_cluster_packages,
    values_at,
)
from semikpca.operators._sparse import SparseOperator
from semikpca.operators.products import cross_product, expansion, fitted, weighted_features

__all__ = [
    "BACKENDS",
    "REMOTE_BACKEND",
    "BlockedOperator",
    "CenteredOperator",
    "DeflatedOperator",
    "DenseOperator",
    "KernelOperator",
    "KnownSpectrum",
    "LowRankInverse",
    "LowRankOperator",
    "OperatorFacts",
    "ProductLog",
    "Progress",
    "ScaledOperator",
    "ShiftedOperator",
    "SparseOperator",
    "StackedOperator",
    "Storage",
    "Subspace",
    "checked_lazy_rows",
    "choose_backend",
    "cross_product",
    "expansion",
    "fitted",
    "gathered",
    "has_room",
    "is_in_blocks",
    "is_on_cluster",
    "join_cluster",
    "make_operator",
    "map_parts",
    "map_rows",
    "memory_budget",
    "remote_rows",
    "require_cluster_packages",
    "rows_of",
    "values_at",
    "weighted_features",
]
