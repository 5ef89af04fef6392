"""Blocks of a kernel matrix, and products with them, by a compiled program; without its compiler there are none."""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from semikpca._typing import FloatArray, IntArray, Rows
from semikpca.arrays import OwnMemory
from semikpca.kernels._evaluation import product_factors
from semikpca.kernels._formula import Formula, Power

if TYPE_CHECKING:
    from semikpca.kernels.compiled._machine import Functions

SWITCH_VARIABLE = "SEMIKPCA_FAST"
# Of the matrix, from which on a program pays: to load one takes 0.06 s, what it saves in a fit of 8,000 rows.
FEWEST_ENTRIES = 2**24
# scale · ‖·‖₁ up to which rows may be rounded before differences are taken: those of exponents are then below 16 eps.
_LARGEST_EXPONENT = 16.0


@dataclass(frozen=True)
class CompiledTiles:
    """Blocks of profile(pairing(L, R)) by a compiled program.

    Rows are followed by zeros up to a multiple of what the program takes at a time, and so are columns that it
    multiplies with and the sums that it adds to.

    Attributes
    ----------
    functions : Functions
    left : array of shape (n_rows_padded, n_features)
    panels : array of shape (n_panels, n_features, rows of a panel)
    shape : tuple of int
        Of the matrix.
    """

    functions: "Functions"
    left: FloatArray
    panels: FloatArray
    shape: tuple[int, int]
    _memory: OwnMemory = field(default_factory=OwnMemory, init=False, repr=False, compare=False)

    def __call__(self, rows: slice | IntArray, columns: slice) -> FloatArray:
        """Return the block of some rows and columns."""
        program = self.functions.program
        first, last = columns.start // program.panel * program.panel, _up(columns.stop, program.panel)
        left, start = self.left, 0
        if isinstance(rows, slice) and rows.start % program.group == 0:
            start, n_rows = rows.start, rows.stop - rows.start
        else:
            n_rows = rows.stop - rows.start if isinstance(rows, slice) else len(rows)
            left = _padded(self.left[rows], program.group)
        stop = start + _up(n_rows, program.group)
        block: FloatArray = self._memory.block("tile", (stop - start, last - first), self.left.dtype)
        self.functions.values(*_addresses(left, self.panels, block), left.shape[1], 0, start, stop, first, last)
        return block[:n_rows, columns.start - first : columns.stop - first]

    @property
    def nbytes(self) -> int:
        """Both factors."""
        return self.left.nbytes + self.panels.nbytes

    @property
    def lanes(self) -> int:
        """Columns that are multiplied at a time."""
        return self.functions.program.lanes

    @property
    def most_columns(self) -> int:
        """Columns that a product may have."""
        return self.functions.program.most_columns

    @property
    def padded_shape(self) -> tuple[int, int]:
        """Rows on both sides, with zeros: those of columns and sums."""
        return self.left.shape[0], self.panels.shape[0] * self.panels.shape[2]

    def add_ahead(self, rows: slice, columns: slice, right_columns: FloatArray, left_sums: FloatArray) -> None:
        """Add K[rows, columns] @ right_columns[columns] to left_sums[rows].

        Slices begin at multiples of BLOCK_ROWS; columns and sums are padded, the first in the type of values, the
        second in float64.
        """
        self.functions.ahead(
            *_addresses(self.left, self.panels, self._work(), right_columns, left_sums),
            *self._sizes(rows, columns, right_columns),
        )

    def add_both_sides(
        self,
        rows: slice,
        columns: slice,
        right_columns: FloatArray,
        left_sums: FloatArray,
        left_columns: FloatArray,
        right_sums: FloatArray,
    ) -> None:
        """Do the same, and add K[rows, columns].T @ left_columns[rows] to right_sums[columns]."""
        self.functions.both_sides(
            *_addresses(self.left, self.panels, self._work(), right_columns, left_sums, left_columns, right_sums),
            *self._sizes(rows, columns, right_columns),
        )

    def _work(self) -> FloatArray:
        """Return memory that this thread works in."""
        return self._memory.block("work", (1, self.functions.program.memory), self.left.dtype)

    def _sizes(self, rows: slice, columns: slice, right_columns: FloatArray) -> tuple[int, ...]:
        program = self.functions.program
        assert rows.start % program.group == 0, f"rows begin at {rows.start}, no multiple of {program.group}"
        assert columns.start % program.panel == 0, f"columns begin at {columns.start}, no multiple of {program.panel}"
        stops = _up(rows.stop, program.group), _up(columns.stop, program.panel)
        return self.left.shape[1], right_columns.shape[1], rows.start, stops[0], columns.start, stops[1]


def compiled_tiles(formula: Formula, A: Rows, B: Rows, dtype: Any) -> CompiledTiles | None:
    """Return blocks of a formula's matrix of A and B by a compiled program; None where there is none for them.

    Values are of type ``dtype``. There is no program for sparse rows, for rows so far apart that values need their
    differences with all digits, for small matrices, and without the compiler.
    """
    is_dense = isinstance(A, np.ndarray) and isinstance(B, np.ndarray)
    if not is_dense or A.shape[0] * B.shape[0] < FEWEST_ENTRIES or os.environ.get(SWITCH_VARIABLE) == "0":
        return None
    factors = _factors(formula, A, B)
    functions = None if factors is None else _functions(formula, dtype)
    if factors is None or functions is None:
        return None
    return tiles_of_factors(functions, *factors)


def tiles_of_factors(functions: "Functions", left: FloatArray, right: FloatArray) -> CompiledTiles:
    """Return blocks of a program's matrix of two factors, which are rounded to the type of its numbers."""
    program, shape = functions.program, (left.shape[0], right.shape[0])
    # Rounded only now: what was taken off the rows was taken off with all their digits.
    multiple = max(program.panel, program.group)
    left, right = (_padded(factor.astype(program.dtype, copy=False), multiple) for factor in (left, right))
    panels = right.reshape(-1, program.panel, right.shape[1]).transpose(0, 2, 1)
    return CompiledTiles(functions, left, np.ascontiguousarray(panels), shape)


def _functions(formula: Formula, dtype: Any) -> "Functions | None":
    try:
        from semikpca.kernels.compiled._machine import functions_of, vector_registers
        from semikpca.kernels.compiled._programs import Program
    except ImportError:
        return None
    return functions_of(Program(formula.pairing, formula.profile, np.dtype(dtype).name, *vector_registers()))


def _factors(formula: Formula, A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return L and R so that the matrix is profile(L Rᵀ), or that of −‖l − r‖₁; None if digits are lost."""
    with np.errstate(over="ignore", invalid="ignore"):
        if formula.pairing != "city-block distance":
            factors = product_factors(formula, A, B)
            if factors is None or not isinstance(formula.profile, Power) or formula.scale == 1:
                return factors
            return formula.scale * factors[0], factors[1]
        # Distances do not change under a shift, but the rounding of rows does.
        origin = B.mean(axis=0)
        left, right = formula.scale * (A - origin), formula.scale * (B - origin)
        largest = max(float(np.abs(rows).sum(axis=1).max()) for rows in (left, right))
        return (left, right) if largest < _LARGEST_EXPONENT else None


def _addresses(*arrays: FloatArray) -> list[int]:
    return [array.ctypes.data for array in arrays]


def _up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def _padded(rows: FloatArray, multiple: int) -> FloatArray:
    """Return rows in one piece of memory, with rows of zeros up to a multiple."""
    n_more = _up(rows.shape[0], multiple) - rows.shape[0]
    if n_more:
        return np.vstack([rows, np.zeros((n_more, rows.shape[1]), rows.dtype)])
    return np.ascontiguousarray(rows)
