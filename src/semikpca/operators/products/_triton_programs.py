"""The tile programs of the fused product, and how the work is cut for them.

For each tile of rows a program walks over the tiles of columns: a matrix product of the factors gives exponents (or
bases), a function of each entry gives kernel values P, and a second matrix product adds P @ coefficients to the result.
``_triton.py`` says in which numbers, and why.
"""

from dataclasses import dataclass

import triton
import triton.language as tl

_LOW_SCALE = 2.0**11  # the second float16 number of a pair is what the first one left, scaled up


@triton.jit
def _power(x, DEGREE: tl.constexpr):
    result = x
    for _ in tl.static_range(DEGREE - 1):
        result = result * x
    return result


@triton.jit
def _decay(
    s, ROOT: tl.constexpr, DEGREE: tl.constexpr,
    C0: tl.constexpr, C1: tl.constexpr, C2: tl.constexpr, C3: tl.constexpr,
):  # fmt: skip
    """Return p(t) e^(−t) of a distance; between equal rows it may be less than 0 by rounding."""
    t = tl.maximum(s, 0.0)
    if ROOT:
        t = tl.sqrt(t)
    decay = tl.exp2(t * -1.4426950408889634)  # log₂e
    if DEGREE == 0:
        return decay * C0
    elif DEGREE == 1:
        return decay * (C1 * t + C0)
    elif DEGREE == 2:
        return decay * ((C2 * t + C1) * t + C0)
    else:
        return decay * (((C3 * t + C2) * t + C1) * t + C0)


@triton.jit
def _add_product(
    acc, acc_low, values, columns, columns_low, first, n_right, unit,
    COLUMNS: tl.constexpr, TILE: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """Add the product of a tile of kernel values with the coefficients from row ``first`` on."""
    channels = tl.arange(0, COLUMNS).to(tl.int64)
    at = channels[:, None] * n_right + (first + tl.arange(0, TILE))[None, :]
    v = tl.trans(tl.load(columns + at))
    high = values.to(tl.float16)
    if SPLIT:
        # The compiler would take a plain sum for one to be made by tensor cores, which cut off digits; ``unit`` is 1.
        acc += tl.dot(high, v) * unit
        v_low = tl.trans(tl.load(columns_low + at))
        low = ((values - high.to(tl.float32)) * 2048.0).to(tl.float16)
        acc_low = tl.dot(high, v_low, acc_low)
        acc_low = tl.dot(low, v, acc_low)
    else:
        acc = tl.dot(high, v, acc)
    return acc, acc_low


@triton.jit
def _kernel_values(
    a, a_low, norms_a, shifts_a, right, right_low, right_norms, first, WIDTH: tl.constexpr, TILE: tl.constexpr,
    PROFILE: tl.constexpr, DEGREE: tl.constexpr, ROOT: tl.constexpr,
    C0: tl.constexpr, C1: tl.constexpr, C2: tl.constexpr, C3: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """Return the kernel values of a tile of rows against TILE rows of the right factor from row ``first`` on."""
    inside = tl.arange(0, TILE)
    at = inside[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    start = tl.cast(first, tl.int64) * WIDTH
    b = tl.load(right + start + at)
    x = tl.dot(a, tl.trans(b), input_precision="tf32")
    if SPLIT:
        b_low = tl.load(right_low + start + at)
        low = tl.dot(a_low, tl.trans(b))
        low = tl.dot(a, tl.trans(b_low), low)
        x += low * 0.00048828125  # 1 / _LOW_SCALE
    if PROFILE == "exponential":
        return tl.exp2(x)
    else:
        norms_b = tl.load(right_norms + first + inside)
        if PROFILE == "gaussian":
            return tl.exp2(x + norms_a[:, None] + norms_b[None, :])
        elif PROFILE == "decay":
            return _decay(-(x + norms_a[:, None] + norms_b[None, :]), ROOT, DEGREE, C0, C1, C2, C3)
        else:
            return _power(x * norms_b[None, :] * norms_a[:, None] + shifts_a[:, None], DEGREE)


@triton.jit
def _store(out, total, total_low, rows, n_left, COLUMNS: tl.constexpr, SPLIT: tl.constexpr):
    """Write the sums of a program to its part of the result."""
    if SPLIT:
        total += total_low * 0.00048828125  # 1 / _LOW_SCALE
    part = tl.program_id(1).to(tl.int64) * n_left
    at = (part + rows)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + at, total)


@triton.jit
def _product_kernel(
    left, left_low, left_norms, left_shifts, right, right_low, right_norms,
    columns, columns_low, out, n_left, n_right, tiles_of_program, unit,
    WIDTH: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr, TILES_OF_SUM: tl.constexpr,
    PROFILE: tl.constexpr, DEGREE: tl.constexpr, ROOT: tl.constexpr,
    C0: tl.constexpr, C1: tl.constexpr, C2: tl.constexpr, C3: tl.constexpr,
    HALVES: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """Compute out[part] = P(rows of the left, rows of the right in this part) @ columns.

    Program (i, part) does ROWS rows of the left. With f of the left, g of the right and their vectors of norms, P is

    * exponential: 2^(f·g)
    * gaussian: 2^(f·g + norm_f + norm_g)
    * decay: p(t) e^(−t) with t = −(f·g + norm_f + norm_g), or its root if ROOT; p has the coefficients C0 … C3
    * power: (f·g norm_f norm_g + shift_f)^DEGREE
    """
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = rows.to(tl.int64)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    a = tl.load(left + at)
    a_low = a
    norms_a = tl.zeros([ROWS], dtype=tl.float32)
    shifts_a = norms_a
    if SPLIT:
        a_low = tl.load(left_low + at)
    if PROFILE != "exponential":
        norms_a = tl.load(left_norms + rows)
    if PROFILE == "power":
        shifts_a = tl.load(left_shifts + rows)
    total = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    total_low = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    begin = tl.program_id(1) * tiles_of_program
    end = tl.minimum(begin + tiles_of_program, n_right // TILE)
    HALF: tl.constexpr = TILE // 2
    for of_sum in range(begin, end, TILES_OF_SUM):
        acc = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
        acc_low = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
        for tile in range(of_sum, tl.minimum(of_sum + TILES_OF_SUM, end)):
            first = tile * TILE
            if HALVES:
                # The same work in smaller pieces: fewer registers, so that more programs share a multiprocessor.
                p = _kernel_values(
                    a, a_low, norms_a, shifts_a, right, right_low, right_norms, first,
                    WIDTH, HALF, PROFILE, DEGREE, ROOT, C0, C1, C2, C3, SPLIT,
                )  # fmt: skip
                q = _kernel_values(
                    a, a_low, norms_a, shifts_a, right, right_low, right_norms, first + HALF,
                    WIDTH, HALF, PROFILE, DEGREE, ROOT, C0, C1, C2, C3, SPLIT,
                )  # fmt: skip
                acc, acc_low = _add_product(
                    acc, acc_low, p, columns, columns_low, first, n_right, unit, COLUMNS, HALF, SPLIT
                )
                acc, acc_low = _add_product(
                    acc, acc_low, q, columns, columns_low, first + HALF, n_right, unit, COLUMNS, HALF, SPLIT
                )
            else:
                p = _kernel_values(
                    a, a_low, norms_a, shifts_a, right, right_low, right_norms, first,
                    WIDTH, TILE, PROFILE, DEGREE, ROOT, C0, C1, C2, C3, SPLIT,
                )  # fmt: skip
                acc, acc_low = _add_product(
                    acc, acc_low, p, columns, columns_low, first, n_right, unit, COLUMNS, TILE, SPLIT
                )
        total += acc
        total_low += acc_low
    _store(out, total, total_low, rows, n_left, COLUMNS, SPLIT)


@triton.jit
def _city_block_kernel(
    left, right, columns, columns_low, out, n_left, n_right, n_features, tiles_of_program, unit, shift,
    COLUMNS: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr, TILES_OF_SUM: tl.constexpr,
    PROFILE: tl.constexpr, DEGREE: tl.constexpr, ROOT: tl.constexpr,
    C0: tl.constexpr, C1: tl.constexpr, C2: tl.constexpr, C3: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """Do the same for city-block distances x = ‖f − g‖₁: 2^(shift − x), or p(t) e^(−t) of x if PROFILE is "decay".

    Factors are stored by features, so that neighbors in memory are rows.
    """
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    total_low = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
    begin = tl.program_id(1) * tiles_of_program
    end = tl.minimum(begin + tiles_of_program, n_right // TILE)
    for of_sum in range(begin, end, TILES_OF_SUM):
        acc = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
        acc_low = tl.zeros([ROWS, COLUMNS], dtype=tl.float32)
        for tile in range(of_sum, tl.minimum(of_sum + TILES_OF_SUM, end)):
            first = tile * TILE
            x = tl.zeros([ROWS, TILE], dtype=tl.float32)
            from_left = left + rows
            from_right = right + first + tl.arange(0, TILE)
            for _ in range(n_features):
                x += tl.abs(tl.load(from_left)[:, None] - tl.load(from_right)[None, :])
                from_left += n_left
                from_right += n_right
            if PROFILE == "decay":
                values = _decay(x, ROOT, DEGREE, C0, C1, C2, C3)
            else:
                values = tl.exp2(shift - x)
            acc, acc_low = _add_product(
                acc, acc_low, values, columns, columns_low, first, n_right, unit, COLUMNS, TILE, SPLIT
            )
        total += acc
        total_low += acc_low
    _store(out, total, total_low, rows, n_left, COLUMNS, SPLIT)


@dataclass(frozen=True)
class Tiles:
    """How the work is cut."""

    rows: int  # of a program
    columns: int  # of a tile
    warps: int
    stages: int  # tiles loaded ahead
    halves: bool = False  # whether a tile of columns is worked through in two halves

    def shared_bytes(self, width: int, n_columns: int, mode: str) -> int:
        """Return the shared memory that a program needs, about."""
        row_bytes = width * {"float16": 2, "tf32": 4, "float32": 4}[mode]
        column_bytes = n_columns * {"float16": 2, "tf32": 2, "float32": 4}[mode]
        return self.rows * row_bytes + self.stages * self.columns * (row_bytes + column_bytes)


CITY_BLOCK_TILES = Tiles(64, 128, 4, 2)
# What was fastest on an H200, by the width of the factors up to which it was: the first that fits a GPU is taken.
_TILES = {
    "float16": {128: Tiles(128, 64, 8, 3), 512: Tiles(128, 32, 8, 2)},
    "tf32": {128: Tiles(128, 64, 8, 3), 256: Tiles(64, 32, 4, 3), 512: Tiles(64, 16, 4, 2)},
    "float32": {128: Tiles(64, 64, 4, 2), 256: Tiles(128, 32, 8, 2), 512: Tiles(64, 16, 4, 2)},
}


def choose_tiles(profile: str, width: int, n_columns: int, mode: str, shared_bytes: int) -> Tiles:
    """Return how to cut the work: by what was fastest on an H200, smaller where that does not fit this GPU."""
    if mode == "float16" and width <= 64 and n_columns <= 32 and profile not in ("gaussian", "decay"):
        wanted = Tiles(128, 128, 8, 3, halves=True)
    elif width <= 64 and n_columns > 32:
        wanted = Tiles(64, 128 if mode == "tf32" else 64, 4, 2)
    else:
        wanted = next(tiles for most, tiles in _TILES[mode].items() if width <= most)
    for tiles in (wanted, Tiles(128, 64, 8, 2), Tiles(64, 64, 4, 2), Tiles(64, 32, 4, 2), Tiles(64, 16, 4, 2)):
        if tiles.shared_bytes(width, n_columns, mode) <= shared_bytes:
            return tiles
    return Tiles(16, 16, 4, 1)
