"""From validated rows to a kernel matrix that is one."""

from sklearn.base import clone

from semikpca._typing import Rows
from semikpca.kernels import Kernel
from semikpca.operators import KernelOperator, choose_backend, make_operator
from semikpca.spectrum import require_semidefinite


def fit_kernel(kernel: Kernel, rows: Rows, backend: str) -> tuple[Kernel, str, KernelOperator]:
    """Return a fitted clone of the kernel, the back end that was chosen, and the kernel matrix of the rows."""
    n_samples = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    chosen = choose_backend(backend, n_samples, kernel.is_sparse)
    fitted: Kernel = clone(kernel).fit(rows)
    operator = make_operator(fitted, rows, chosen)
    if not fitted.is_definite:
        require_semidefinite(operator)
    return fitted, chosen, operator
