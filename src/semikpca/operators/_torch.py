"""A kernel matrix that is computed when it is multiplied, on torch tensors."""

from dataclasses import replace
from typing import Any

import torch

from semikpca._typing import Rows
from semikpca.arrays import like, slices
from semikpca.kernels import Kernel
from semikpca.operators._base import KernelOperator, Storage
from semikpca.operators._rough import rough_eigenvectors
from semikpca.operators.products._torch import Precision, Tensor, prepare_product

# Where a method asks for the dense matrix, it is made for up to this many rows.
_MOST_DENSE_ROWS = 10_000
# Columns that a fit keeps at the same time: a basis of eigenvectors, its products, and the columns of a solve.
_COLUMNS_OF_A_FIT = 160
_FEW_DIGITS = ("tf32", "float16")
# Whoever takes products of few digits accepts decisions within half a percent of exact ones. That is a bound; what was
# measured is a tenth of it and less.
_ACCEPTED_ERROR = 5e-3
_PADDED_COLUMNS = 16  # products are padded to this many columns
_SPARE_BYTES = 1 << 30  # blocks of kernel values, and what torch needs for itself


class TorchOperator(KernelOperator):
    """A kernel matrix in O(n) memory on a GPU (or a CPU): products compute its entries and keep none of them.

    Rows that are a tensor stay on their device. An array goes to the GPU if there is one; there float64 becomes float32
    unless ``precision="float64"``. ``precision`` is what products on a GPU are computed in: see ``docs/gpu.md`` for the
    error and the time of each. On a CPU, and for float64 tensors, products are computed in the type of the rows.
    ``mode`` says what they are computed in: the asked precision, a better one where that does not hold on these rows,
    or "chunked" for blocks of kernel values.
    """

    xp: Any = torch

    def __init__(self, kernel: Kernel, rows: Rows, precision: Precision = "tf32") -> None:
        self.rows = as_rows(rows, precision)
        self.kernel = kernel
        super().__init__(self.rows.shape[0], self.rows.dtype)
        self.device = self.rows.device
        check_memory(self.rows)
        self._check_range()
        self._product, error = prepare_product(kernel, self.rows, precision)
        self.mode = self._product.mode
        self.facts = replace(
            self.facts,
            storage=Storage.NOTHING,
            product_cost=float(self.n) ** 2 * int(self.rows.shape[1]),
            precision=error,  # measured on a sample of these rows
            product_error=error,
            accepted_error=_ACCEPTED_ERROR if self.mode in _FEW_DIGITS else 0.0,
            can_be_dense=self.n <= _MOST_DENSE_ROWS,
            block_columns=_PADDED_COLUMNS,
            is_estimate=kernel.is_approximate,
        )

    def matmat(self, block: Tensor) -> Tensor:
        """Return the product with ``block``, shape (n, n_columns), as a new tensor."""
        self.log.n_products += 1
        return self._product.multiply(self.block(block))

    def columns(self, rows: Any) -> Tensor:
        """Return the columns of the matrix at row numbers, shape (n, len(rows))."""
        chosen = self.rows[torch.as_tensor(rows, device=self.device)]
        columns = self.rows.new_empty((self.n, chosen.shape[0]))
        step = max(1, _SPARE_BYTES // (8 * 4 * max(chosen.shape[0], self.rows.shape[1])))
        with torch.no_grad():
            for block in slices(0, self.n, step):
                columns[block] = self.kernel.pairwise(self.rows[block], chosen)
        return columns

    def diag(self) -> Tensor:
        """Return the diagonal."""
        with torch.no_grad():
            return self.kernel.diag(self.rows)

    def to_dense(self) -> Tensor:
        """Return the whole matrix, unless it is too large."""
        if not self.facts.can_be_dense:
            raise self.too_large(
                f"on a torch device it is made for up to {_MOST_DENSE_ROWS:,} rows. Ask for fewer eigenpairs, or use "
                "fewer rows."
            )
        with torch.no_grad():
            return self.kernel.pairwise(self.rows, self.rows)

    def rough_eigenvectors(self, m: int) -> Tensor:
        """Return at most m columns that are close to leading eigenvectors: from a sample of the rows."""
        return self.block(rough_eigenvectors(self.kernel, self.rows, m))

    @property
    def nbytes(self) -> int:
        """The rows, and what the product keeps beside them."""
        return int(self.rows.numel() * self.rows.element_size() + self._product.nbytes)

    def block(self, values: Any) -> Tensor:
        """Return values as a tensor beside the rows."""
        return like(values, self.rows)

    def sharper(self) -> KernelOperator:
        """Return the same matrix with products in float32, where they are in less."""
        if self.mode not in _FEW_DIGITS:
            return self
        sharper = TorchOperator(self.kernel, self.rows, "float32")
        sharper.log = self.log
        return sharper

    def _check_range(self) -> None:
        # No entry of a definite matrix exceeds the largest on the diagonal; sums over a row must be numbers too.
        largest = float(self.diag().abs().max()) * self.n
        if not largest < float(torch.finfo(self.dtype).max) / 10:  # written so that NaN fails as well
            raise ValueError(
                f"Values of {self.kernel!r} leave the range of {self.dtype}. Scale the features, for example with "
                "StandardScaler."
            )


def as_rows(rows: Rows, precision: Precision) -> Tensor:
    """Return rows as a float tensor on the device where products are computed."""
    if not isinstance(rows, torch.Tensor):
        device = "cuda" if torch.cuda.is_available() else "cpu"
        rows = torch.as_tensor(rows)
        narrow = device == "cuda" and precision != "float64"
        rows = rows.to(device=device, dtype=torch.float32 if narrow else None)
    if rows.dtype not in (torch.float32, torch.float64):
        rows = rows.to(torch.float32 if rows.is_floating_point() else torch.float64)
    return rows.detach()


def check_memory(rows: Tensor) -> None:
    """Refuse rows that would not leave the GPU enough memory for a fit, and say what it would need."""
    if not rows.is_cuda:
        return
    free, total = torch.cuda.mem_get_info(rows.device)
    free += torch.cuda.memory_reserved(rows.device) - torch.cuda.memory_allocated(rows.device)
    n, n_features = rows.shape
    needed = n * rows.element_size() * (n_features + _COLUMNS_OF_A_FIT) + _SPARE_BYTES
    if needed > free:
        raise MemoryError(
            f"A fit on {n:,} rows with {n_features:,} features needs about {needed / 1e9:.1f} GB of GPU memory beside "
            f"the rows, and {free / 1e9:.1f} of {total / 1e9:.1f} GB are free. Free memory, use fewer rows, or a "
            "Nystroem kernel."
        )
