"""Which matrix? A kernel object answers, and nothing else does.

Every kernel clones and takes ``get_params`` / ``set_params`` like a scikit-learn estimator, so ``kernel__gamma``
works in a grid search. Strings are shorthands for kernels with their defaults; see :func:`as_kernel`.
"""

from semikpca.kernels._bandwidth import median_distance
from semikpca.kernels._base import Kernel, ProductKernel, SparseFactor
from semikpca.kernels._components import LeadingComponents, kernel_components
from semikpca.kernels._defaults import NEIGHBORHOOD, DefaultKernels
from semikpca.kernels._evaluation import product_factors, values_of_products
from semikpca.kernels._finite import finite_pairwise, require_finite, require_finite_sums
from semikpca.kernels._formula import ExponentialDecay, Formula, Power
from semikpca.kernels._given import CallableKernel, Precomputed
from semikpca.kernels._graph import NeighborGraph, fit_graphs
from semikpca.kernels._low_rank import LowRankFactor, above_rounding
from semikpca.kernels._normalized import Normalized, normalized_product, positive_degrees, summed_features
from semikpca.kernels._nystroem import Nystroem
from semikpca.kernels._on_columns import OnColumns
from semikpca.kernels._pairwise import RBF, Cosine, Laplacian, Linear, Polynomial
from semikpca.kernels._registry import kernel_classes, shorthands
from semikpca.kernels._row_sums import row_sums
from semikpca.kernels._tiles import BLOCK_COLUMNS, BLOCK_ROWS, FactorTiles, PairwiseTiles, Tiles, tiles_of
from semikpca.kernels._wrapped import KernelLike, as_kernel
from semikpca.kernels.compiled import CompiledTiles

__all__ = [
    "BLOCK_COLUMNS",
    "BLOCK_ROWS",
    "NEIGHBORHOOD",
    "RBF",
    "CallableKernel",
    "CompiledTiles",
    "Cosine",
    "DefaultKernels",
    "ExponentialDecay",
    "FactorTiles",
    "Formula",
    "Kernel",
    "KernelLike",
    "Laplacian",
    "LeadingComponents",
    "Linear",
    "LowRankFactor",
    "NeighborGraph",
    "Normalized",
    "Nystroem",
    "OnColumns",
    "PairwiseTiles",
    "Polynomial",
    "Power",
    "Precomputed",
    "ProductKernel",
    "SparseFactor",
    "Tiles",
    "above_rounding",
    "as_kernel",
    "finite_pairwise",
    "fit_graphs",
    "kernel_classes",
    "kernel_components",
    "median_distance",
    "normalized_product",
    "positive_degrees",
    "product_factors",
    "require_finite",
    "require_finite_sums",
    "row_sums",
    "shorthands",
    "summed_features",
    "tiles_of",
    "values_of_products",
]
