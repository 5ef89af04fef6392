"""The only place that knows what the name of a back end means."""

from typing import Any

import numpy as np
from scipy import sparse

from semikpca._typing import Rows
from semikpca.arrays import is_remote
from semikpca.kernels import Kernel, Normalized, finite_pairwise
from semikpca.operators._algebra import ScaledOperator
from semikpca.operators._base import KernelOperator
from semikpca.operators._blocked import BlockedOperator
from semikpca.operators._dense import DenseOperator
from semikpca.operators._low_rank import LowRankOperator
from semikpca.operators._memory import memory_budget, require_memory
from semikpca.operators._sparse import SparseOperator

# After the colon: what products on a GPU are computed in. docs/gpu.md has the error and the time of each.
_TORCH = ("torch", "torch:float16", "torch:float32", "torch:float64")
REMOTE_BACKEND = "dask"  # the one that multiplies where rows are held
# Back ends whose kernel values are computed for each product on CPUs, in a type that may be chosen.
_IN_BLOCKS = ("blocked", REMOTE_BACKEND)
BACKENDS = ("auto", "dense", "blocked", *_TORCH, "sparse", "low-rank", REMOTE_BACKEND)

# Up to this many rows a stored matrix is as fast as any other back end, and has all digits.
_FEW_ROWS = 2_500
# With this many features and more it takes longer to compute a kernel value again than to read it from memory.
_MANY_FEATURES = 128


def choose_backend(
    backend: str,
    n_samples: int,
    is_sparse: bool = False,
    is_low_rank: bool = False,
    *,
    n_features: int = 1,
    on_vectors: bool = True,
    many_products: bool = False,
    on_tensors: bool = False,
    on_cluster: bool = False,
    budget: int | None = None,
) -> str:
    """Return the back end that ``backend`` stands for, from its arguments alone, so that anyone may ask beforehand.

    Parameters
    ----------
    backend : str
        One of ``BACKENDS``.
    n_samples : int
    is_sparse : bool, default=False
        Whether the kernel has a sparse factor of its matrix (``Kernel.is_sparse``).
    is_low_rank : bool, default=False
        Whether the kernel has few features of these rows, whose products are the matrix (``Kernel.is_low_rank_on``).
    n_features : int, default=1
        Number of features of the rows; the cost of a kernel value grows with it.
    on_vectors : bool, default=True
        Whether rows are vectors. Otherwise (given kernel matrices, functions of objects) the matrix is stored.
    many_products : bool, default=False
        Whether more than a few products are to be made, as LS-SVM does: it then pays to store a matrix that fits the
        budget.
    on_tensors : bool, default=False
        Whether rows are torch tensors.
    on_cluster : bool, default=False
        Whether rows are a Dask array or data frame.
    budget : int, optional
        Bytes that a stored matrix may take. If it is not given, scikit-learn's setting is read: see
        :func:`memory_budget`.

    Examples
    --------
    >>> choose_backend("auto", n_samples=1000)
    'dense'
    >>> choose_backend("auto", n_samples=100_000)
    'blocked'
    >>> choose_backend("auto", n_samples=1000, is_sparse=True)
    'sparse'
    >>> choose_backend("auto", n_samples=1000, is_low_rank=True)
    'low-rank'
    >>> choose_backend("auto", n_samples=1000, on_cluster=True)
    'dask'
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {list(BACKENDS)}, got {backend!r}.")
    if on_tensors and (is_sparse or is_low_rank or not on_vectors or backend not in ("auto", *_TORCH)):
        raise ValueError(
            f"backend={backend!r} with this kernel does not take torch tensors: they need a kernel between vectors, "
            "such as RBF(), and backend='torch' or 'auto'. Pass X.cpu().numpy() to compute elsewhere."
        )
    if on_cluster and (is_sparse or not on_vectors):
        raise ValueError(
            "Dask collections need a kernel between vectors, such as RBF(), whose matrix workers can make in blocks; "
            "neighbor graphs, given matrices and functions of objects are for the client. Pass X.compute() to it."
        )
    if on_cluster and backend not in ("auto", "dask"):
        raise ValueError(
            f"backend={backend!r} does not take Dask collections. Use backend='dask' or 'auto', or pass X.compute() to "
            "compute on the client."
        )
    if backend == "auto":
        if on_cluster:
            return "dask"
        if on_tensors:
            return "torch"
        if is_low_rank:
            return "low-rank"
        if is_sparse:
            return "sparse"
        fits = 8 * n_samples**2 <= (memory_budget() if budget is None else budget)
        pays = n_samples <= _FEW_ROWS or n_features >= _MANY_FEATURES or many_products
        return "dense" if not on_vectors or (fits and pays) else "blocked"
    if backend == "low-rank" and not is_low_rank:
        raise ValueError(
            "backend='low-rank' needs a kernel of low rank, such as Nystroem(), or Linear() on many more rows than "
            "features. Use backend='auto'."
        )
    if backend == "sparse" and not is_sparse:
        raise ValueError(
            "backend='sparse' needs a kernel whose matrix is sparse, such as NeighborGraph(). Use backend='auto'."
        )
    if backend in (*_IN_BLOCKS, *_TORCH) and (is_sparse or not on_vectors):
        raise ValueError(
            f"backend={backend!r} needs a kernel between vectors, such as RBF(), which it can make again and again in "
            "blocks. Use backend='auto'."
        )
    return backend


def is_in_blocks(backend: str) -> bool:
    """Return whether a back end computes kernel values for each product, in a type that ``make_operator`` takes."""
    return backend in _IN_BLOCKS


def is_on_cluster(backend: str, rows: Rows) -> bool:
    """Return whether this back end, or "auto" with these rows, computes on a cluster."""
    return backend == REMOTE_BACKEND or (backend == "auto" and is_remote(rows))


def make_operator(kernel: Kernel, rows: Rows, backend: str, dtype: Any = None, *, keep: bool = False) -> KernelOperator:
    """Return the kernel matrix of the training rows as an operator; ``backend`` comes from ``choose_backend``.

    ``dtype`` is what kernel values of the back ends "blocked" and "dask" are computed in; by default the type of the
    rows. With ``keep``, "blocked" keeps its blocks.
    """
    if backend == "dense":
        require_memory(rows.shape[0] if hasattr(rows, "shape") else len(rows), getattr(rows, "dtype", np.float64))
        known = kernel.known_matrix(rows)
        return DenseOperator(finite_pairwise(kernel, rows, rows) if known is None else known, kernel.is_approximate)
    if backend == "sparse":
        return SparseOperator(kernel.sparse_factor(), kernel.is_approximate)
    if backend == "low-rank":
        return LowRankOperator(kernel, rows)
    if isinstance(kernel, Normalized):
        inside = make_operator(kernel.kernel_, rows, backend, dtype, keep=keep)
        return ScaledOperator(inside, 1 / kernel.degrees_**0.5)
    if backend in _TORCH:
        from semikpca.operators._torch import TorchOperator

        return TorchOperator(kernel, rows, torch_precision(backend))
    if backend == "dask":
        rows = rows_of(backend, rows)
        from semikpca.operators.cluster import DaskOperator

        return DaskOperator(kernel, rows, dtype)
    assert backend == "blocked", f"{backend!r} is a name that choose_backend never returns"
    return BlockedOperator(kernel, rows, dtype, keep)


def torch_precision(backend: str) -> Any:
    """Return what products on a GPU are computed in; tf32 unless the name of the back end says otherwise."""
    return backend.partition(":")[2] or "tf32"


def rows_of(backend: str, rows: Rows) -> Rows:
    """Return rows where the back end needs them: on the GPU, if there is one, for torch; on the workers for dask."""
    if backend not in ("dask", *_TORCH):
        return rows
    extra = "dask" if backend == "dask" else "gpu"
    try:
        if backend == "dask":
            from semikpca.operators.cluster import ClusterRows
        else:
            from semikpca.operators._torch import as_rows
    except ImportError as error:
        raise ImportError(
            f"backend={backend!r} needs {'dask and distributed' if extra == 'dask' else 'torch'}: install it with pip "
            f"install 'semikpca[{extra}]', or use backend='auto'."
        ) from error
    if sparse.issparse(rows):
        raise ValueError(f"backend={backend!r} takes dense rows only. Use backend='blocked', or X.toarray().")
    if backend == "dask":
        return (rows if is_remote(rows) else ClusterRows.of(rows)).persisted()
    return as_rows(rows, torch_precision(backend))
