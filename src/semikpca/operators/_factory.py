"""The only place that maps the name of a back end to an operator."""

from semikpca._typing import Rows
from semikpca.kernels import Kernel, finite_pairwise
from semikpca.operators._base import KernelOperator
from semikpca.operators._dense import DenseOperator
from semikpca.operators._sparse import SparseOperator

BACKENDS = ("auto", "dense", "sparse")


def choose_backend(backend: str, n_samples: int, is_sparse: bool = False) -> str:
    """Return the back end that ``backend`` stands for; a pure function, so that anyone may ask beforehand.

    Parameters
    ----------
    backend : str
        One of ``BACKENDS``.
    n_samples : int
    is_sparse : bool, default=False
        Whether the kernel can say its matrix by a sparse factor (``Kernel.is_sparse``).

    Examples
    --------
    >>> choose_backend("auto", n_samples=1000)
    'dense'
    >>> choose_backend("auto", n_samples=1000, is_sparse=True)
    'sparse'
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {list(BACKENDS)}, got {backend!r}.")
    if backend == "auto":
        return "sparse" if is_sparse else "dense"
    if backend == "sparse" and not is_sparse:
        raise ValueError(
            "backend='sparse' needs a kernel whose matrix is sparse, such as NeighborGraph(). Use backend='auto'."
        )
    return backend


def make_operator(kernel: Kernel, rows: Rows, backend: str) -> KernelOperator:
    """Return the kernel matrix of the training rows as an operator; ``backend`` comes from ``choose_backend``."""
    makers = {"dense": _dense, "sparse": _sparse}
    return makers[backend](kernel, rows)


def _dense(kernel: Kernel, rows: Rows) -> KernelOperator:
    return DenseOperator(finite_pairwise(kernel, rows, rows))


def _sparse(kernel: Kernel, rows: Rows) -> KernelOperator:
    return SparseOperator(kernel.sparse_factor())
