"""From validated rows to a kernel matrix that is one."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from sklearn.base import clone

from semikpca._typing import FloatArray, Rows
from semikpca.kernels import Kernel
from semikpca.operators import KernelOperator, choose_backend, make_operator
from semikpca.spectrum import require_semidefinite

# Tolerances from which on kernel values in float32 do: they move decisions by a few times 1e-7.
_SINGLE_TOL = 1e-6


def fit_kernel(
    kernel: Kernel, rows: Rows, backend: str, *, tol: float, many_products: bool = False
) -> tuple[Kernel, str, KernelOperator]:
    """Return a fitted clone of the kernel, the back end that was chosen, and the kernel matrix of the rows."""
    _chosen(kernel, rows, backend, many_products)  # refused before anything is computed
    fitted: Kernel = clone(kernel).fit(rows)
    return fitted, *kernel_matrix(fitted, rows, backend, tol=tol, many_products=many_products)


def kernel_matrix(
    kernel: Kernel, rows: Rows, backend: str, *, tol: float, many_products: bool = False
) -> tuple[str, KernelOperator]:
    """Return the back end that was chosen, and the matrix of a fitted kernel.

    Where the choice is free and the tolerance allows, kernel values that are not kept are computed in float32.
    """
    chosen = _chosen(kernel, rows, backend, many_products)
    single = backend == "auto" and chosen == "blocked" and tol >= _SINGLE_TOL
    operator = make_operator(kernel, rows, chosen, np.float32 if single else None)
    if not kernel.is_definite:
        require_semidefinite(operator)
    return chosen, operator


def _chosen(kernel: Kernel, rows: Rows, backend: str, many_products: bool) -> str:
    on_vectors = kernel.input_kind == "vectors"
    return choose_backend(
        backend,
        rows.shape[0] if hasattr(rows, "shape") else len(rows),
        kernel.is_sparse,
        kernel.is_low_rank_on(rows),
        n_features=int(rows.shape[1]) if on_vectors else 1,
        on_vectors=on_vectors,
        many_products=many_products,
    )


class Expansion:
    """The function x ↦ Σ c_i k(x, x_i) over training rows, prepared when it is first asked for."""

    def __init__(self, kernel: Kernel, rows: Rows, coefficients: FloatArray) -> None:
        self.kernel, self.rows, self.coefficients = kernel, rows, coefficients

    @cached_property
    def _prepared(self) -> Callable[[Rows], FloatArray]:
        return self.kernel.expansion(self.rows, self.coefficients)

    def __call__(self, rows: Rows) -> FloatArray:
        """Return its values at new rows."""
        return self._prepared(rows)
