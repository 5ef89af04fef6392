"""Products with kernel matrices that are never stored, made of formulas that are data.

``_blocked.py`` makes them on NumPy arrays and CSR matrices, ``_torch.py`` and ``_triton.py`` on tensors; the last two
are imported by whoever has torch. ``_cross.py`` chooses by where the rows are.
"""

from semikpca.operators.products._blocked import (
    KeptTiles,
    product_at,
    rectangular_product,
    rectangular_values,
    symmetric_product,
    two_sided_product,
)
from semikpca.operators.products._cross import cross_product, expansion, fitted, scaled_by_last, weighted_features

__all__ = [
    "KeptTiles",
    "cross_product",
    "expansion",
    "fitted",
    "product_at",
    "rectangular_product",
    "rectangular_values",
    "scaled_by_last",
    "symmetric_product",
    "two_sided_product",
    "weighted_features",
]
