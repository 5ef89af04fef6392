"""Products of kernel matrices with a few columns on torch tensors, without storing the matrix.

Two ways lead to K(A, B) @ coefficients. :class:`ChunkedProduct` evaluates the kernel in blocks of rows, for any kernel
whose ``pairwise`` takes tensors, on any device. :class:`FusedProduct` (``_triton.py``) does it tile by tile in one pass
on the GPU, for the formulas and sizes it knows. :func:`prepare_product` chooses.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import torch

from semikpca.arrays import slices
from semikpca.kernels import Kernel, product_factors, values_of_products

if TYPE_CHECKING:
    from semikpca.operators.products._triton import FusedProduct

Tensor: TypeAlias = Any
Precision: TypeAlias = Literal["tf32", "float16", "float32", "float64"]
PreparedProduct: TypeAlias = "ChunkedProduct | FusedProduct"
PRECISIONS: tuple[str, ...] = get_args(Precision)

# What one block of kernel values may take where the caller sets no limit; larger ones are no faster.
_BLOCK_BYTES = {"cuda": 1 << 30, "cpu": 1 << 26}
# A kernel evaluated as a whole may need more than its values: distances in float64, beside a copy in float32.
_COPIES = 4

_PROBE_ROWS = 64
_PROBE_SEED = 0
_PROBE_BLOCK_BYTES = 1 << 28
# Errors of unseen columns and rows may be larger than those of the probes.
_PROBE_MARGIN = 2.0
# Rounding of a product in float64, which nothing here could measure: exponents up to 16, each off by a few eps.
_FLOAT64_PRECISION = 1e-14
# The largest error of one product that passes as the asked precision; beyond it the next one is tried.
_LARGEST_ERROR = {"tf32": 2e-3, "float16": 2e-3, "float32": 2e-5}

_log = logging.getLogger(__name__)


def torch_cross_product(
    kernel: Kernel, A: Tensor, B: Tensor, coefficients: Tensor, precision: Precision = "tf32"
) -> Tensor:
    """Return K(A, B) @ coefficients for a fitted kernel, as a new tensor; all of them are on one device.

    Coefficients have shape (len(B),) or (len(B), n_columns).
    """
    product, _ = prepare_product(kernel, B, precision)
    if coefficients.ndim == 1:
        return product.multiply(coefficients[:, None], A)[:, 0]
    return product.multiply(coefficients, A)


def prepare_product(kernel: Kernel, rows: Tensor, precision: Precision = "tf32") -> tuple[PreparedProduct, float]:
    """Return the fastest product of the asked precision, and the relative error that was measured for it.

    Where rows are so far apart that the asked precision would not hold (the exponents then are differences of large
    numbers), the next better one is taken: tf32 or float16, float32, and at last blocks from differences of rows.
    The error is that of :func:`measured_error`.
    """
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {list(PRECISIONS)}, got {precision!r}.")
    modes = () if precision == "float64" or rows.dtype == torch.float64 else fused_modes(kernel, rows, precision)
    for mode in modes:
        from semikpca.operators.products._triton import FusedProduct

        product = FusedProduct(kernel, rows, mode)
        error = measured_error(product) if product.is_in_range else float("inf")
        if error <= _LARGEST_ERROR[mode]:
            return product, error
        _log.info("precision %s is off by %.1e on these rows; a better one is used", mode, error)
    chunked = ChunkedProduct(kernel, rows)
    return chunked, measured_error(chunked)


def fused_modes(kernel: Kernel, rows: Tensor, precision: Precision) -> tuple[str, ...]:
    """Return the precisions to try with the fused product, best first; none where it does not apply."""
    if not rows.is_cuda:
        return ()
    try:
        from semikpca.operators.products._triton import is_fusible
    except ImportError:  # torch without Triton: the blocks give the same answer, later
        _log.info("triton is not installed; products are computed in blocks")
        return ()
    if not is_fusible(kernel, rows):
        return ()
    return ("float32",) if precision == "float32" else (precision, "float32")


class ChunkedProduct:
    """K(A, rows) @ coefficients in blocks of rows of A, for a fitted kernel whose ``pairwise`` takes tensors.

    A block of kernel values may take ``block_bytes``: 1 GB on a GPU and 64 MB on a CPU unless given.
    """

    mode = "chunked"

    def __init__(self, kernel: Kernel, rows: Tensor, block_bytes: int | None = None) -> None:
        self.kernel = kernel
        self.rows = rows
        self.block_bytes = block_bytes or _BLOCK_BYTES.get(rows.device.type, _BLOCK_BYTES["cpu"])

    def multiply(self, coefficients: Tensor, new_rows: Tensor | None = None) -> Tensor:
        """Return K(new_rows, rows) @ coefficients, or K(rows, rows) @ coefficients, as a new tensor."""
        A, B, kernel = (self.rows if new_rows is None else new_rows), self.rows, self.kernel
        coefficients = coefficients.to(B.dtype)
        with torch.no_grad(), full_float32():
            product = coefficients.new_empty((A.shape[0], coefficients.shape[1]))
            formula = kernel.formula
            factors = None if formula is None else product_factors(formula, kernel.factor(A), kernel.factor(B))
            if formula is None or factors is None:
                for block in self._blocks(A.shape[0], _COPIES):
                    product[block] = kernel.pairwise(A[block], B) @ coefficients
                return product
            left, right = factors
            if formula.is_linear:  # nothing is done to a product of two rows, so the columns can go first
                return values_of_products(formula, left @ (right.T @ coefficients))
            for block in self._blocks(A.shape[0]):
                values = values_of_products(formula, left[block] @ right.T)
                torch.matmul(values, coefficients, out=product[block])
            return product

    def _blocks(self, n_rows: int, copies: int = 1) -> list[slice]:
        row_bytes = self.rows.shape[0] * self.rows.element_size() * copies
        return slices(0, n_rows, max(1, self.block_bytes // row_bytes))

    @property
    def nbytes(self) -> int:
        """Nothing is kept."""
        return 0


@contextmanager
def full_float32() -> Iterator[None]:
    """Compute float32 products in float32, whatever the process allows, and put its setting back afterwards."""
    settings = torch.backends.cuda.matmul
    # Since torch 2.9 a second name for the setting exists, and reading the old one may raise.
    name, exact = ("fp32_precision", "ieee") if hasattr(settings, "fp32_precision") else ("allow_tf32", False)
    before = getattr(settings, name)
    if before == exact:
        yield
        return
    setattr(settings, name, exact)
    try:
        yield
    finally:
        setattr(settings, name, before)


def measured_error(product: PreparedProduct) -> float:
    """Return how far a product is off, measured on these very rows, in units of the norm of the matrix.

    A seeded sample of rows of K is multiplied with four columns (a constant, the first feature, two of random signs,
    each of unit length) by ``product`` and in float64; the largest norm of a difference is divided by the largest norm
    of a product, which for kernels with positive values is close to that of K. Doubled, since other columns may fare
    worse.
    """
    kernel, rows = product.kernel, product.rows
    if rows.dtype == torch.float64:
        return _FLOAT64_PRECISION
    n = rows.shape[0]
    generator = torch.Generator().manual_seed(_PROBE_SEED)
    chosen = torch.randperm(n, generator=generator)[:_PROBE_ROWS].sort().values.to(rows.device)
    signs = torch.randint(0, 2, (n, 2), generator=generator).to(rows) * 2 - 1
    feature = rows[:, :1] - rows[:, :1].mean()
    probes = torch.hstack([torch.ones_like(feature), feature, signs])
    probes /= torch.linalg.vector_norm(probes, dim=0).clamp_min(torch.finfo(rows.dtype).tiny)
    with torch.no_grad():
        found = product.multiply(probes, rows[chosen]).double()
        sample, exact = rows[chosen].double(), torch.zeros_like(found)
        step = max(1, _PROBE_BLOCK_BYTES // (8 * max(_PROBE_ROWS, rows.shape[1])))
        for block in slices(0, n, step):
            exact += kernel.pairwise(sample, rows[block].double()) @ probes[block].double()
    scale = float(torch.linalg.vector_norm(exact, dim=0).max())
    error = float(torch.linalg.vector_norm(found - exact, dim=0).max())
    if not error < float("inf"):
        return float("inf")
    return max(_PROBE_MARGIN * error / scale if scale > 0 else 0.0, float(torch.finfo(rows.dtype).eps))
