"""A few words for programs on vectors of numbers, written down as LLVM instructions.

A vector has a fixed number of lanes, and LLVM maps it to the registers of whatever processor it compiles for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from llvmlite import ir

INDEX = ir.IntType(64)


@dataclass(frozen=True)
class Emitter:
    """Writes instructions for numbers of ``number`` type in vectors of ``lanes``.

    Attributes
    ----------
    builder : llvmlite.ir.IRBuilder
    number : llvmlite.ir.Type
        float or double.
    lanes : int
    """

    builder: Any
    number: Any
    lanes: int

    @property
    def vector(self) -> Any:
        """The type of a vector."""
        return ir.VectorType(self.number, self.lanes)

    @property
    def whole_vector(self) -> Any:
        """The type of a vector of whole numbers as wide as its lanes."""
        return ir.VectorType(ir.IntType(32 if self.number == ir.FloatType() else 64), self.lanes)

    def constant(self, value: float) -> Any:
        """Return a vector with the same number in all lanes."""
        return ir.Constant(self.vector, [value] * self.lanes)

    def whole_constant(self, value: int) -> Any:
        """Return a vector with the same whole number in all lanes."""
        return ir.Constant(self.whole_vector, [value] * self.lanes)

    def at(self, array: Any, place: Any) -> Any:
        """Return where the entry of an array of numbers at a place lies."""
        return self.builder.gep(array, [place])

    def load(self, array: Any, place: Any) -> Any:
        """Return the vector of the numbers from a place on."""
        address = self.builder.bitcast(self.at(array, place), self.vector.as_pointer())
        return self.builder.load(address, align=self.align(self.number))

    def store(self, vector: Any, array: Any, place: Any) -> None:
        """Write a vector to a place and those after it."""
        address = self.builder.bitcast(self.at(array, place), vector.type.as_pointer())
        self.builder.store(vector, address, align=self.align(vector.type.element))

    def spread(self, array: Any, place: Any) -> Any:
        """Return a vector with the number at a place in all lanes."""
        number = self.builder.load(self.at(array, place))
        first = self.builder.insert_element(ir.Constant(self.vector, ir.Undefined), number, ir.Constant(INDEX, 0))
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(first, ir.Constant(self.vector, ir.Undefined), everywhere)

    def add_product(self, a: Any, b: Any, c: Any) -> Any:
        """Return a · b + c, rounded once where the processor can."""
        return self._intrinsic("llvm.fmuladd", a, b, c)

    def absolute(self, a: Any) -> Any:
        """Return |a|."""
        return self._intrinsic("llvm.fabs", a)

    def root(self, a: Any) -> Any:
        """Return √a."""
        return self._intrinsic("llvm.sqrt", a)

    def at_least(self, a: Any, bound: Any) -> Any:
        """Return a or the bound where a is less; NaN stays NaN."""
        return self.builder.select(self.builder.fcmp_ordered("<", a, bound), bound, a)

    def place(self, value: int) -> Any:
        """Return a whole number as a place in an array."""
        return ir.Constant(INDEX, value)

    def variable(self, value: Any) -> Any:
        """Return memory for one value, which LLVM turns into a register."""
        with self.builder.goto_entry_block():
            memory = self.builder.alloca(value.type)
        self.builder.store(value, memory)
        return memory

    @contextmanager
    def loop(self, start: Any, stop: Any, step: int) -> Iterator[Any]:
        """Repeat what is written inside, for each place from start up to stop."""
        builder = self.builder
        counter = self.variable(start)
        head, body, end = (builder.append_basic_block(name) for name in ("head", "body", "end"))
        builder.branch(head)
        builder.position_at_end(head)
        place = builder.load(counter)
        builder.cbranch(builder.icmp_signed("<", place, stop), body, end)
        builder.position_at_end(body)
        yield place
        builder.store(builder.add(place, self.place(step)), counter)
        builder.branch(head)
        builder.position_at_end(end)

    @staticmethod
    def align(number: Any) -> int:
        """Return the bytes of a number: arrays begin at a multiple of these and of nothing more."""
        return 4 if number == ir.FloatType() else 8

    def _intrinsic(self, name: str, *values: Any) -> Any:
        kind = values[0].type
        lane = "f32" if kind.element == ir.FloatType() else "f64"
        function = f"{name}.v{kind.count}{lane}"
        module = self.builder.module
        known = module.globals.get(function)
        if known is None:
            known = ir.Function(module, ir.FunctionType(kind, [kind] * len(values)), function)
        return self.builder.call(known, values)
