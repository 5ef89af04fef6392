"""Which matrix? A kernel object answers, and nothing else does.

Every kernel clones and takes ``get_params`` / ``set_params`` like a scikit-learn estimator, so ``kernel__gamma``
works in a grid search. Strings are shorthands for kernels with their defaults; see :func:`as_kernel`.
"""

from semikpca.kernels._bandwidth import median_distance
from semikpca.kernels._base import Kernel, ProductKernel, SparseFactor
from semikpca.kernels._callable import CallableKernel
from semikpca.kernels._finite import finite_pairwise
from semikpca.kernels._graph import NeighborGraph, fit_graphs
from semikpca.kernels._low_rank import LowRankFactor
from semikpca.kernels._normalized import Normalized
from semikpca.kernels._nystroem import Nystroem
from semikpca.kernels._pairwise import RBF, Cosine, Laplacian, Linear, Polynomial
from semikpca.kernels._precomputed import Precomputed
from semikpca.kernels._registry import kernel_classes
from semikpca.kernels._shorthand import KernelLike, as_kernel

__all__ = [
    "RBF",
    "CallableKernel",
    "Cosine",
    "Kernel",
    "KernelLike",
    "Laplacian",
    "Linear",
    "LowRankFactor",
    "NeighborGraph",
    "Normalized",
    "Nystroem",
    "Polynomial",
    "Precomputed",
    "ProductKernel",
    "SparseFactor",
    "as_kernel",
    "finite_pairwise",
    "fit_graphs",
    "kernel_classes",
    "median_distance",
]
