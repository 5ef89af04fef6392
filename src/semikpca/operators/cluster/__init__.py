"""All that knows Dask: rows on a cluster, products and sums where the rows are, and lazy arrays of answers.

Importing this package imports dask and distributed; ``semikpca.operators`` has functions that do so when they are
called.
"""

from semikpca.operators.cluster._lazy import checked_rows, gathered, lazy_rows, map_parts, mapped
from semikpca.operators.cluster._operator import DaskOperator
from semikpca.operators.cluster._rows import ClusterRows
from semikpca.operators.cluster._workers import Cluster

__all__ = [
    "Cluster",
    "ClusterRows",
    "DaskOperator",
    "checked_rows",
    "gathered",
    "lazy_rows",
    "map_parts",
    "mapped",
]
