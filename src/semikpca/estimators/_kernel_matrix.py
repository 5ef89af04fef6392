"""From validated rows to a kernel matrix that is one."""

from sklearn.base import clone

from semikpca._typing import Rows
from semikpca.kernels import Kernel
from semikpca.operators import KernelOperator, choose_backend, make_operator
from semikpca.spectrum import require_semidefinite


def fit_kernel(kernel: Kernel, rows: Rows, backend: str) -> tuple[Kernel, str, KernelOperator]:
    """Return a fitted clone of the kernel, the back end that was chosen, and the kernel matrix of the rows."""
    _chosen(kernel, rows, backend)  # refused before anything is computed
    fitted: Kernel = clone(kernel).fit(rows)
    return fitted, *kernel_matrix(fitted, rows, backend)


def kernel_matrix(kernel: Kernel, rows: Rows, backend: str) -> tuple[str, KernelOperator]:
    """Return the back end that was chosen, and the matrix of a fitted kernel."""
    chosen = _chosen(kernel, rows, backend)
    operator = make_operator(kernel, rows, chosen)
    if not kernel.is_definite:
        require_semidefinite(operator)
    return chosen, operator


def _chosen(kernel: Kernel, rows: Rows, backend: str) -> str:
    n_samples = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    return choose_backend(backend, n_samples, kernel.is_sparse)
