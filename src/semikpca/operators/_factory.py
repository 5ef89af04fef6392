"""The only place that maps the name of a back end to an operator."""

from semikpca._typing import Rows
from semikpca.kernels import Kernel, finite_pairwise
from semikpca.operators._base import KernelOperator
from semikpca.operators._dense import DenseOperator

BACKENDS = ("auto", "dense")


def choose_backend(backend: str, n_samples: int) -> str:
    """Return the back end that ``backend`` stands for; a pure function, so that anyone may ask beforehand.

    Examples
    --------
    >>> choose_backend("auto", n_samples=1000)
    'dense'
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {list(BACKENDS)}, got {backend!r}.")
    return "dense"


def make_operator(kernel: Kernel, rows: Rows, backend: str) -> KernelOperator:
    """Return the kernel matrix of the training rows as an operator; ``backend`` comes from ``choose_backend``."""
    makers = {"dense": _dense}
    return makers[backend](kernel, rows)


def _dense(kernel: Kernel, rows: Rows) -> KernelOperator:
    return DenseOperator(finite_pairwise(kernel, rows, rows))
