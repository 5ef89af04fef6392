"""The program of a block of a kernel matrix: its values, and its products, as LLVM instructions.

Rows are taken a few at a time, a *group*, against a few dozen others, a *panel*. Sums over the features of a group with
a panel stay in registers. Then they go to a small array in the first-level cache, of a *stretch* of columns, and become
kernel values there. Each value is multiplied with the coefficients of its column, for the sums of the group, and with
those of its row, for the sums of the columns.
"""

from dataclasses import dataclass
from math import factorial, log
from typing import Any

import numpy as np
from llvmlite import ir

from semikpca.kernels._formula import Pairing, Power, Profile
from semikpca.kernels.compiled._emit import INDEX, Emitter

VALUES, AHEAD, BOTH_SIDES = "values", "ahead", "both_sides"
MOST_COLUMNS = 64  # that sums have memory for
# Of a row of values at a time: a group of them, and the sums that they add to, stay in the first-level cache.
_BYTES_OF_STRETCH = 512
_VECTORS_OF_PANEL = 2


@dataclass(frozen=True)
class Program:
    """What is compiled: a profile of a pairing, in which numbers, for vectors of which size.

    Attributes
    ----------
    pairing : {"inner product", "squared distance", "city-block distance"}
        The second is an inner product of factors that have norms beside them: see ``product_factors``.
    profile : Power or ExponentialDecay
    dtype : str
        float32 or float64: of rows, coefficients and kernel values. Sums over more than a stretch are in float64.
    vector_bytes : int
    n_registers : int
        How many vectors a core holds.
    """

    pairing: Pairing
    profile: Profile
    dtype: str
    vector_bytes: int
    n_registers: int

    @property
    def itemsize(self) -> int:
        """Bytes of a number."""
        return np.dtype(self.dtype).itemsize

    @property
    def lanes(self) -> int:
        """Numbers of a vector."""
        return self.vector_bytes // self.itemsize

    @property
    def panel(self) -> int:
        """Rows of the right side that are compared at a time."""
        return _VECTORS_OF_PANEL * self.lanes

    @property
    def group(self) -> int:
        """Rows of the left side that are compared at a time: what registers hold the sums of."""
        return self.n_registers // 4

    @property
    def stretch(self) -> int:
        """Columns of the matrix that a group is computed and multiplied with at a time."""
        return _BYTES_OF_STRETCH // self.itemsize

    @property
    def most_columns(self) -> int:
        """Columns that a product may have."""
        return MOST_COLUMNS

    @property
    def memory(self) -> int:
        """Numbers that a product needs memory for: values of a group, and sums of the columns that they add to."""
        return self.stretch * (self.group + MOST_COLUMNS)

    def instructions(self) -> str:
        """Return the three functions of the program, as LLVM reads them."""
        module = ir.Module(name="semikpca")
        for name in (VALUES, AHEAD, BOTH_SIDES):
            _Writer(self, module, name).write()
        return str(module)


class _Writer:
    """Writes one function."""

    def __init__(self, program: Program, module: Any, name: str) -> None:
        self.program, self.name = program, name
        number, wide = _type_of(program.dtype), ir.DoubleType()
        arrays = {"left": number, "panels": number}
        if name == VALUES:
            arrays["values"] = number
        else:
            arrays |= {"memory": number, "right_columns": number, "left_sums": wide}
        if name == BOTH_SIDES:
            arrays |= {"left_columns": number, "right_sums": wide}
        sizes = ["n_features", "n_columns", "first_row", "last_row", "first", "last"]
        types = [kind.as_pointer() for kind in arrays.values()] + [INDEX] * len(sizes)
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), types), name)
        self.given: dict[str, Any] = {}
        for argument, meant in zip(function.args, [*arrays, *sizes], strict=True):
            argument.name = meant
            self.given[meant] = argument
            if meant in arrays:
                argument.add_attribute("noalias")
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        # The first block holds the memory of variables alone.
        self.body = function.append_basic_block("body")
        builder.position_at_end(self.body)
        self.emit = Emitter(builder, number, program.lanes)
        self.wide = Emitter(builder, wide, program.lanes)
        self.function = function

    def write(self) -> None:
        """Write the loops over stretches of columns and groups of rows."""
        emit, given, program = self.emit, self.given, self.program
        builder = emit.builder
        if self.name == VALUES:
            with emit.loop(given["first_row"], given["last_row"], program.group) as row:
                # One row of values has last − first numbers.
                width = builder.sub(given["last"], given["first"])
                start = builder.mul(builder.sub(row, given["first_row"]), width)
                with emit.loop(given["first"], given["last"], program.panel) as column:
                    place = builder.add(start, builder.sub(column, given["first"]))
                    self._compute(row, column, given["values"], place, width)
        else:
            self._multiply()
        builder.ret_void()
        with builder.goto_entry_block():
            builder.branch(self.body)

    def _multiply(self) -> None:
        emit, given, program = self.emit, self.given, self.program
        builder, stretch, n_columns = emit.builder, program.stretch, given["n_columns"]
        values = given["memory"]
        back = emit.at(values, emit.place(program.group * stretch)) if self.name == BOTH_SIDES else None
        with emit.loop(given["first"], given["last"], stretch) as first:
            left = builder.sub(given["last"], first)
            is_last = builder.icmp_signed("<", left, emit.place(stretch))
            length = builder.select(is_last, left, emit.place(stretch))
            n_sums = builder.mul(length, n_columns)
            if back is not None:
                with emit.loop(emit.place(0), n_sums, program.lanes) as place:
                    emit.store(emit.constant(0.0), back, place)
            with emit.loop(given["first_row"], given["last_row"], program.group) as row:
                with emit.loop(emit.place(0), length, program.panel) as column:
                    self._compute(row, builder.add(first, column), values, column, emit.place(stretch))
                with emit.loop(emit.place(0), n_columns, program.lanes) as channel:
                    self._add_products(row, first, length, channel, values, back)
            if back is not None:
                start = builder.mul(first, n_columns)
                with emit.loop(emit.place(0), n_sums, program.lanes) as place:
                    self._add_to(given["right_sums"], builder.add(start, place), emit.load(back, place))

    def _compute(self, row: Any, column: Any, values: Any, place: Any, width: Any) -> None:
        """Write the values of a group of rows with a panel of columns into an array with rows of some width."""
        emit, given, program = self.emit, self.given, self.program
        builder, n_features = emit.builder, given["n_features"]
        zero = emit.constant(0.0)
        sums = [[emit.variable(zero) for _ in range(_VECTORS_OF_PANEL)] for _ in range(program.group)]
        panel = builder.mul(column, n_features)
        of_rows = [builder.mul(builder.add(row, emit.place(member)), n_features) for member in range(program.group)]
        with emit.loop(emit.place(0), n_features, 1) as feature:
            start = builder.add(panel, builder.mul(feature, emit.place(program.panel)))
            right = [
                emit.load(given["panels"], builder.add(start, emit.place(vector * program.lanes)))
                for vector in range(_VECTORS_OF_PANEL)
            ]
            for of_row, members in zip(of_rows, sums, strict=True):
                left = emit.spread(given["left"], builder.add(of_row, feature))
                for memory, other in zip(members, right, strict=True):
                    builder.store(self._compared(left, other, builder.load(memory)), memory)
        for member, members in enumerate(sums):
            start = builder.add(place, builder.mul(width, emit.place(member)))
            for vector, memory in enumerate(members):
                emit.store(builder.load(memory), values, builder.add(start, emit.place(vector * program.lanes)))
        with emit.loop(emit.place(0), emit.place(program.group), 1) as member:
            start = builder.add(place, builder.mul(width, member))
            for vector in range(_VECTORS_OF_PANEL):
                here = builder.add(start, emit.place(vector * program.lanes))
                emit.store(_profile(emit, program.profile, emit.load(values, here)), values, here)

    def _compared(self, left: Any, right: Any, total: Any) -> Any:
        if self.program.pairing == "city-block distance":
            builder = self.emit.builder
            return builder.fsub(total, self.emit.absolute(builder.fsub(left, right)))
        return self.emit.add_product(left, right, total)

    def _add_products(self, row: Any, first: Any, length: Any, channel: Any, values: Any, back: Any) -> None:
        """Multiply a group of values with the columns at a channel, on one side or both."""
        emit, given, program = self.emit, self.given, self.program
        builder, n_columns = emit.builder, given["n_columns"]
        members = range(program.group)
        of_rows = [
            builder.add(builder.mul(builder.add(row, emit.place(member)), n_columns), channel) for member in members
        ]
        sums = [emit.variable(emit.constant(0.0)) for _ in members]
        left = [emit.load(given["left_columns"], of_row) for of_row in of_rows] if back is not None else []
        with emit.loop(emit.place(0), length, 1) as column:
            here = builder.add(builder.mul(column, n_columns), channel)
            right = emit.load(given["right_columns"], builder.add(here, builder.mul(first, n_columns)))
            total = emit.load(back, here) if back is not None else None
            for member in members:
                value = emit.spread(values, builder.add(column, emit.place(member * program.stretch)))
                builder.store(emit.add_product(value, right, builder.load(sums[member])), sums[member])
                if back is not None:
                    total = emit.add_product(value, left[member], total)
            if back is not None:
                emit.store(total, back, here)
        for of_row, memory in zip(of_rows, sums, strict=True):
            self._add_to(given["left_sums"], of_row, builder.load(memory))

    def _add_to(self, sums: Any, place: Any, vector: Any) -> None:
        wide = self.wide
        if vector.type != wide.vector:
            vector = wide.builder.fpext(vector, wide.vector)
        wide.store(wide.builder.fadd(wide.load(sums, place), vector), sums, place)


def _profile(emit: Emitter, profile: Profile, x: Any) -> Any:
    """Return kernel values, of inner products or of −scale · distance: ``values_of_products`` in a register."""
    builder = emit.builder
    if isinstance(profile, Power):
        if profile.is_linear:
            return x
        base = builder.fadd(x, emit.constant(profile.shift))
        return _power(emit, base, profile.degree)
    if profile.is_plain:
        return _exponential(emit, x)
    t = builder.fsub(emit.constant(-0.0), x)
    if profile.root:
        t = emit.root(emit.at_least(t, emit.constant(0.0)))  # between equal rows it may be less than 0 by rounding
    *lower, highest = profile.coefficients
    polynomial = emit.constant(highest)
    for coefficient in reversed(lower):
        polynomial = emit.add_product(polynomial, t, emit.constant(coefficient))
    return builder.fmul(polynomial, _exponential(emit, builder.fsub(emit.constant(-0.0), t)))


def _power(emit: Emitter, base: Any, degree: int) -> Any:
    """Return a whole power by squares."""
    result, square = None, base
    while degree:
        if degree & 1:
            result = square if result is None else emit.builder.fmul(result, square)
        degree >>= 1
        if degree:
            square = emit.builder.fmul(square, square)
    return result


def _exponential(emit: Emitter, x: Any) -> Any:
    """Return eˣ to the last digit or two, for x up to a few dozen; 0 where it is below the smallest normal number.

    x = n log 2 + r with a whole n and |r| ≤ log(2)/2, and eˣ = 2ⁿ eʳ. NaN stays NaN.
    """
    builder = emit.builder
    is_single = emit.number == ir.FloatType()
    # The degree is that of Taylor's series, whose next term is below eps / 16.
    digits, bias, degree = (23, 127, 7) if is_single else (52, 1023, 13)
    bound = emit.constant((1 - bias) * log(2.0))
    bounded = emit.at_least(x, bound)
    # To a number this large only whole ones can be added, and they end up in its last digits.
    large = 1.5 * 2.0**digits
    shifted = emit.add_product(bounded, emit.constant(1 / log(2.0)), emit.constant(large))
    n = builder.fsub(shifted, emit.constant(large))
    high, low = _logarithm_of_two(is_single)
    r = emit.add_product(n, emit.constant(-low), emit.add_product(n, emit.constant(-high), bounded))
    series = emit.constant(1 / factorial(degree))
    for power in reversed(range(degree)):
        series = emit.add_product(series, r, emit.constant(1 / factorial(power)))
    whole = builder.add(builder.bitcast(shifted, emit.whole_vector), emit.whole_constant(bias))
    two_to_n = builder.bitcast(builder.shl(whole, emit.whole_constant(digits)), emit.vector)
    value = builder.fmul(series, two_to_n)
    return builder.select(builder.fcmp_ordered("<", x, bound), emit.constant(0.0), value)


def _logarithm_of_two(is_single: bool) -> tuple[float, float]:
    """Return log 2 in two parts, the first with so few digits that its product with a whole number is not rounded."""
    if is_single:
        high = float(np.float32(np.round(log(2.0) * 2**15) / 2**15))
        return high, float(np.float32(log(2.0) - high))
    high = np.round(log(2.0) * 2**41) / 2**41
    # Beyond what log(2.0) has: log 2 = 0.693147180559945309417232121458…
    return float(high), float(log(2.0) - high) + 2.3190468138462996e-17


def _type_of(dtype: str) -> Any:
    return ir.FloatType() if dtype == "float32" else ir.DoubleType()
