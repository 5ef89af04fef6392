"""The fused product: kernel values are computed tile by tile on the GPU and multiplied at once; none is stored.

The programs that do it are in ``_triton_programs.py``; here is what they are given, and what their sums are made into.
Both follow from the formula of a kernel, which is data; no kernel is known by name.

Numbers. Tensor cores multiply operands of 11 significant bits, whether they are called tf32 or float16, and add in
float32. So everything that needs more digits or more range is kept out of them:

* Rows are centered, and scaled so that the product of two factors is the exponent of two; squared norms never enter a
  product. Where exponents are small, 2^(f·g − ‖f‖²/2 − ‖g‖²/2) is taken apart: 2^(−‖g‖²/2) goes into the coefficients,
  2^(−‖f‖²/2) into the result, and an entry costs one exponential. Where they are not, norms are added in float32.
* Norms are those of the rows as they were rounded. What is computed is then the kernel of rows moved by 2^-12 of their
  length, and rows close to each other stay close, wherever they are.
* Columns of coefficients are scaled to 2^14 at most, so that float16 holds nine decades of them at full precision.
* "float32" carries each operand as two float16 numbers, 22 bits together: three products instead of one.
* Tensor cores cut off what does not fit into a sum instead of rounding it. Over a million positive terms that made an
  error of 6e-3, so sums are handed to ordinary float32 additions every 2048 terms (every tile, in "float32").

``docs/decisions/0013-the-fused-product.md`` has the measurements.
"""

import math
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
import triton

from semikpca.arrays import slices
from semikpca.kernels import ExponentialDecay, Formula, Kernel, Power, ProductKernel
from semikpca.operators.products._triton_programs import (
    _LOW_SCALE,
    CITY_BLOCK_TILES,
    Tiles,
    _city_block_kernel,
    _product_kernel,
    choose_tiles,
)

MODES = ("tf32", "float16", "float32")
MOST_FEATURES = 512
MOST_COLUMNS = 64  # of one pass; more are split
_SMALLEST_COLUMN = 1e-30  # largest entry of a column of coefficients below which it is not scaled up any more
_TILES_OF_PART = 8  # fewer tiles of columns are not worth a program of their own
_TERMS_OF_SUM = 2048  # added by tensor cores before an ordinary addition takes over
_LEAST_SHARED_BYTES = 99 << 10  # of GPUs that have the tensor cores needed here
LARGEST_DEGREE = 8  # of a power
MOST_COEFFICIENTS = 4  # of the polynomial before an exponential
_PADDING = 256  # rows are padded to a multiple of the largest tile

_LOG2_E = math.log2(math.e)
# Kernel values up to 1 are multiplied by this on their way through float16, whose normal numbers end at 6e-5.
_LIFT = 14
# Exponents (of two) up to which the squared norms are taken out of the tile.
_SMALL_EXPONENT = 8.0
# Norm of a factor up to which its entries, and sums of their squares, are well inside the range of float16 and float32.
LARGEST_NORM = 2.0**12
_FARTHEST = 2.0**14  # entries of new rows beyond that are as good as infinitely far from all rows


@dataclass(frozen=True)
class _Factor:
    """Rows as the tile program wants them, padded with zeros."""

    n: int
    values: Any  # (n_padded, width), or (width, n_padded) for city-block distances
    low: Any  # the second half of the digits ("float32"); otherwise the values again
    norms: Any  # (n_padded,): of the values as they were rounded (squared distances), or of the rows (inner products)
    largest_norm: float

    @property
    def n_padded(self) -> int:
        return int(self.norms.shape[0])

    @property
    def nbytes(self) -> int:
        tensors = {id(tensor): tensor for tensor in (self.values, self.low, self.norms)}.values()
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


@dataclass(frozen=True)
class _Plan:
    """What the tile program is to compute: see ``_product_kernel`` and ``_city_block_kernel``."""

    profile: str
    left_norms: Any
    right_norms: Any
    left_shifts: Any
    degree: int = 1
    root: bool = False
    coefficients: tuple[float, ...] = (0.0,) * MOST_COEFFICIENTS
    column_weights: Any = None  # coefficients are multiplied by it beforehand
    row_weights: Any = 1.0  # and the result afterwards


def is_fusible(kernel: Kernel, rows: Any) -> bool:
    """Return whether the fused product knows the formula of a kernel, the type and the width of the rows."""
    able = not rows.is_cuda or torch.cuda.get_device_capability(rows.device) >= (8, 0)
    known = kernel.formula is not None and _is_known(kernel.formula)
    return bool(known and able and rows.dtype == torch.float32 and rows.shape[1] <= MOST_FEATURES)


def _is_known(formula: Formula) -> bool:
    if isinstance(formula.profile, Power):
        # An inner product and nothing more needs no tiles: the columns go first.
        return not formula.is_linear and formula.profile.degree <= LARGEST_DEGREE
    keeps_digits = formula.profile.is_smooth or formula.pairing == "city-block distance"
    return keeps_digits and len(formula.profile.coefficients) <= MOST_COEFFICIENTS


class FusedProduct:
    """K(A, rows) @ coefficients in one pass over tiles of the kernel matrix, for rows of float32.

    The kernel is fitted, with a formula that ``is_fusible``; ``mode`` is one of ``MODES``. ``tiles`` say how the work
    is cut: by measured rules unless given.
    """

    def __init__(self, kernel: ProductKernel, rows: Any, mode: str = "tf32", tiles: Tiles | None = None) -> None:
        if mode not in MODES:
            raise ValueError(f"mode must be one of {list(MODES)}, got {mode!r}.")
        self.kernel, self.rows, self.mode, self.tiles = kernel, rows, mode, tiles
        with torch.no_grad():
            self._formula = kernel.formula
            self._origin = kernel.factor(rows).mean(dim=0)  # distances do not change under a shift
            self._right = self._factor(rows)

    def multiply(self, coefficients: Any, new_rows: Any | None = None) -> Any:
        """Return K(new_rows, rows) @ coefficients, or K(rows, rows) @ coefficients, as a new tensor."""
        with torch.no_grad():
            left = self._right if new_rows is None else self._factor(new_rows.to(self.rows))
            coefficients = coefficients.to(torch.float32)
            result = coefficients.new_empty((left.n, coefficients.shape[1]))
            for part in slices(0, coefficients.shape[1], MOST_COLUMNS):
                self._multiply_few(left, coefficients[:, part], result[:, part])
        return result

    @property
    def nbytes(self) -> int:
        """The factor of the rows."""
        return self._right.nbytes

    @property
    def is_in_range(self) -> bool:
        """Whether the rows, scaled by the kernel, are inside the range that the numbers here are made for."""
        return self._formula.pairing != "squared distance" or self._right.largest_norm <= LARGEST_NORM

    @property
    def _units(self) -> float:
        """What an exponent is multiplied by, so that 2^x is all there is to compute; a polynomial needs it as it is."""
        profile = self._formula.profile
        return _LOG2_E if isinstance(profile, ExponentialDecay) and profile.is_plain else 1.0

    def _factor(self, rows: Any) -> _Factor:
        formula, rows = self._formula, self.kernel.factor(rows)
        n, n_features = rows.shape
        n_padded = -(-n // _PADDING) * _PADDING
        norms = rows.new_zeros(n_padded)
        if formula.pairing == "city-block distance":
            values = rows.new_zeros((n_features, n_padded))
            values[:, :n] = (rows - self._origin).T
            values *= formula.scale * self._units
            return _Factor(n, values, values, norms, 0.0)
        exact = rows.new_zeros((n_padded, max(16, triton.next_power_of_2(n_features))))
        if formula.pairing == "inner product":
            norms[:n] = torch.linalg.vector_norm(rows, dim=1)
            exact[:n, :n_features] = rows / norms[:n, None].clamp_min(torch.finfo(rows.dtype).tiny)
        else:
            exact[:n, :n_features] = rows - self._origin
            exact *= math.sqrt(2 * formula.scale * self._units)
            exact.clamp_(-_FARTHEST, _FARTHEST)
        values = low = _rounded_to_tf32(exact) if self.mode == "tf32" else exact.half()
        if self.mode == "float32":
            low = ((exact - values) * _LOW_SCALE).half()
            exact = torch.add(values.float(), low, alpha=1 / _LOW_SCALE, out=exact)
        else:
            exact = exact.copy_(values)
        if formula.pairing == "squared distance":
            norms = torch.linalg.vector_norm(exact, dim=1)
        return _Factor(n, values, low, norms, float(norms.max()))

    def _plan(self, left: _Factor) -> _Plan:
        """Return what to compute for K(left, rows)."""
        profile = self._formula.profile
        if isinstance(profile, Power):
            return self._power_plan(left, profile)
        if not profile.is_plain:
            return self._decay_plan(left, profile)
        right, lift = self._right, 2.0**-_LIFT
        if self._formula.pairing == "city-block distance":
            return _Plan("exponential", left.norms, right.norms, left.norms, row_weights=lift)
        left_norms, right_norms = -0.5 * left.norms.square(), -0.5 * right.norms.square()
        if left.largest_norm * right.largest_norm > _SMALL_EXPONENT:
            return _Plan("gaussian", left_norms + _LIFT, right_norms, left_norms, row_weights=lift)
        column_weights, row_weights = torch.exp2(right_norms[: right.n, None]), torch.exp2(left_norms[: left.n, None])
        weights = {"column_weights": column_weights, "row_weights": row_weights}
        return _Plan("exponential", left_norms, right_norms, left_norms, **weights)

    def _power_plan(self, left: _Factor, profile: Power) -> _Plan:
        # Divided by its bound for each row, so that a row has all its digits whatever the others are.
        right, degree, slopes = self._right, int(profile.degree), self._formula.scale * left.norms
        bounds = slopes * right.largest_norm + abs(profile.shift)
        bounds = torch.where(bounds > 0, bounds, 1.0)
        up = 2.0 ** (_LIFT / degree)
        slopes, shifts = slopes / bounds * (up * right.largest_norm), profile.shift * up / bounds
        norms = right.norms / (right.largest_norm or 1.0)
        row_weights = 2.0**-_LIFT * bounds[: left.n, None] ** degree
        return _Plan("power", slopes, norms, shifts, degree, row_weights=row_weights)

    def _decay_plan(self, left: _Factor, profile: ExponentialDecay) -> _Plan:
        # tⁿ e^(−t) is largest at t = n, so no value exceeds this sum; divided by it they are at most 1, as others are.
        bound = sum(abs(c) * (n / math.e) ** n for n, c in enumerate(profile.coefficients)) or 1.0
        lifted = [float(c) * 2.0**_LIFT / bound for c in profile.coefficients]
        degree = len(lifted) - 1
        coefficients = (*lifted, *[0.0] * (MOST_COEFFICIENTS - len(lifted)))
        left_norms, right_norms = -0.5 * left.norms.square(), -0.5 * self._right.norms.square()
        row_weights = 2.0**-_LIFT * bound
        return _Plan(
            "decay", left_norms, right_norms, left_norms, degree, profile.root, coefficients, row_weights=row_weights
        )

    def _multiply_few(self, left: _Factor, coefficients: Any, result: Any) -> None:
        """Write K(left, rows) @ coefficients into ``result``, for at most MOST_COLUMNS columns."""
        plan, right, n_columns = self._plan(left), self._right, coefficients.shape[1]
        if plan.column_weights is not None:
            coefficients = coefficients * plan.column_weights
        sizes = torch.linalg.vector_norm(coefficients, ord=torch.inf, dim=0).clamp_min(_SMALLEST_COLUMN)
        scaled = (coefficients * (2.0**_LIFT / sizes)).T
        padded_columns = max(16, triton.next_power_of_2(n_columns))
        columns = scaled.new_zeros((padded_columns, right.n_padded), dtype=torch.float16)
        columns[:n_columns, : right.n] = scaled
        columns_low = columns
        if self.mode == "float32":
            columns_low = torch.zeros_like(columns)
            columns_low[:n_columns, : right.n] = (scaled - columns[:n_columns, : right.n]) * _LOW_SCALE
        del scaled
        parts = self._launch(plan, left, columns, columns_low)
        total = parts[0] if parts.shape[0] == 1 else parts.sum(dim=0)
        torch.mul(total[: left.n, :n_columns], sizes * 2.0**-_LIFT, out=result)
        result *= plan.row_weights

    def _launch(self, plan: _Plan, left: _Factor, columns: Any, columns_low: Any) -> Any:
        """Run the tile program; return sums over parts of the columns, (n_parts, n_padded, n_columns)."""
        right, n_columns = self._right, columns.shape[0]
        by_features = self._formula.pairing == "city-block distance"
        width = right.values.shape[0 if by_features else 1]
        tiles = self.tiles or CITY_BLOCK_TILES
        if self.tiles is None and not by_features:
            tiles = choose_tiles(plan.profile, width, n_columns, self.mode, _shared_bytes(self.rows.device))
        n_tiles = right.n_padded // tiles.columns
        row_tiles = left.n_padded // tiles.rows
        # A few rows do not fill a GPU: then the tiles of columns are shared out among more programs.
        n_parts = max(1, min(-(-_wanted_programs(self.rows.device) // row_tiles), n_tiles // _TILES_OF_PART))
        tiles_of_program = -(-n_tiles // n_parts)
        n_parts = -(-n_tiles // tiles_of_program)
        out = torch.empty((n_parts, left.n_padded, n_columns), dtype=torch.float32, device=self.rows.device)
        options = {
            "COLUMNS": n_columns,
            "ROWS": tiles.rows,
            "TILE": tiles.columns,
            "TILES_OF_SUM": max(1, _TERMS_OF_SUM // tiles.columns),
            "SPLIT": self.mode == "float32",
            "PROFILE": plan.profile,
            "DEGREE": plan.degree,
            "ROOT": plan.root,
            **{f"C{number}": coefficient for number, coefficient in enumerate(plan.coefficients)},
            "num_warps": tiles.warps,
            "num_stages": tiles.stages,
        }
        grid = (row_tiles, n_parts)
        with torch.cuda.device(self.rows.device) if self.rows.is_cuda else nullcontext():
            if by_features:
                _city_block_kernel[grid](
                    left.values, right.values, columns, columns_low, out, left.n_padded, right.n_padded, width,
                    tiles_of_program, 1.0, float(_LIFT), **options,
                )  # fmt: skip
            else:
                _product_kernel[grid](
                    left.values, left.low, plan.left_norms, plan.left_shifts, right.values, right.low, plan.right_norms,
                    columns, columns_low, out, left.n_padded, right.n_padded, tiles_of_program, 1.0,
                    WIDTH=width, HALVES=tiles.halves, **options,
                )  # fmt: skip
        return out


def _rounded_to_tf32(values: Any) -> Any:
    """Return float32 numbers of which the last 13 bits are zero, rounded; tensor cores would cut them off."""
    bits = values.view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


@cache
def _shared_bytes(device: Any) -> int:
    if device.type != "cuda":
        return _LEAST_SHARED_BYTES
    properties = torch.cuda.get_device_properties(device)
    return int(getattr(properties, "shared_memory_per_block_optin", _LEAST_SHARED_BYTES))


@cache
def _wanted_programs(device: Any) -> int:
    return 16 * int(torch.cuda.get_device_properties(device).multi_processor_count) if device.type == "cuda" else 4
