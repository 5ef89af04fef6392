"""From validated rows to a kernel matrix that is one."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from semikpca._typing import FloatArray, Rows
from semikpca.arrays import device_of, is_remote, length, like, taken, to_numpy
from semikpca.kernels import Kernel, Normalized
from semikpca.operators import (
    KernelOperator,
    choose_backend,
    expansion,
    fitted,
    has_room,
    is_in_blocks,
    make_operator,
    remote_rows,
    rows_of,
)
from semikpca.spectrum import require_semidefinite

# Tolerances from which on kernel values in float32 do: they move decisions by a few times 1e-7.
_SINGLE_TOL = 1e-6


def fit_kernel(
    kernel: Kernel, rows: Rows, backend: str, *, tol: float, many_products: bool = False
) -> tuple[Kernel, Rows, str, KernelOperator]:
    """Return a fitted clone of the kernel, the rows where they are needed, the chosen back end, and the matrix."""
    rows = rows_of(_chosen(kernel, rows, backend, many_products), rows)
    fitted_kernel = fitted(kernel, rows)
    return fitted_kernel, rows, *kernel_matrix(fitted_kernel, rows, backend, tol=tol, many_products=many_products)


def kernel_matrix(
    kernel: Kernel, rows: Rows, backend: str, *, tol: float, many_products: bool = False
) -> tuple[str, KernelOperator]:
    """Return the back end that was chosen, and the matrix of a fitted kernel.

    Where the choice is free, kernel values of blocks are computed in float32 if the tolerance allows, and blocks are
    kept if even the whole matrix would fit the memory budget.
    """
    chosen = _chosen(kernel, rows, backend, many_products)
    is_free = backend == "auto" and is_in_blocks(chosen)
    dtype = np.float32 if is_free and tol >= _SINGLE_TOL else None
    operator = make_operator(kernel, rows, chosen, dtype, keep=is_free and has_room(rows.shape[0], rows.dtype))
    if not kernel.is_definite:
        require_semidefinite(operator)
    return chosen, operator


def stores_matrix(kernel: Kernel, rows: Rows, backend: str) -> bool:
    """Return whether the matrix of a kernel will be stored as it is."""
    return _chosen(kernel, rows, backend, many_products=False) == "dense"


def _chosen(kernel: Kernel, rows: Rows, backend: str, many_products: bool) -> str:
    on_vectors, on_tensors = kernel.input_kind == "vectors", device_of(rows) is not None
    return choose_backend(
        backend,
        rows.shape[0] if hasattr(rows, "shape") else len(rows),
        kernel.is_sparse,
        not on_tensors and kernel.is_low_rank_on(rows),
        n_features=int(rows.shape[1]) if on_vectors else 1,
        on_vectors=on_vectors,
        many_products=many_products,
        on_tensors=on_tensors,
        on_cluster=is_remote(rows),
    )


class Expansion:
    """The function x ↦ Σ c_i k(x, x_i) over training rows, prepared when it is first asked for.

    ``coefficients`` have shape (n,) or (n, n_columns). With ``far_is_zero`` a row so far away that a normalized kernel
    has no value there gets 0; otherwise it is an error.
    """

    def __init__(self, kernel: Kernel, rows: Rows, coefficients: FloatArray, *, far_is_zero: bool = False) -> None:
        self.kernel, self.rows, self.coefficients, self.far_is_zero = kernel, rows, coefficients, far_is_zero

    @property
    def takes_lazy(self) -> bool:
        """Whether it may be called with a lazy array: where the training rows are held elsewhere."""
        return is_remote(self.rows)

    @cached_property
    def _prepared(self) -> Callable[[Rows], FloatArray]:
        if is_remote(self.rows):
            return remote_rows(self.rows).expansion(self.kernel, self.coefficients)
        return expansion(self.kernel, self.rows, self._as_rows(self.coefficients))

    def __call__(self, rows: Rows) -> FloatArray:
        """Return its values at new rows, as an array; lazily for a lazy array."""
        if is_remote(self.rows):
            return self._prepared(rows)
        if self.far_is_zero and isinstance(self.kernel, Normalized):
            near = np.flatnonzero(self.kernel.reaches(rows))
            values = np.zeros((length(rows), *self.coefficients.shape[1:]))
            if near.size:
                values[near] = self._prepared(taken(rows, near))
            return values
        return np.asarray(to_numpy(self._prepared(self._as_rows(rows))))

    def _as_rows(self, values: Rows) -> Rows:
        """Return values on the device of the training rows, where these are on one."""
        return values if device_of(self.rows) is None else like(values, self.rows)

    def __getstate__(self) -> dict[str, object]:
        """Leave behind what was prepared, here or on a cluster: it is prepared again."""
        return {name: value for name, value in self.__dict__.items() if name != "_prepared"}
