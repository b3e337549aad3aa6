"""One LLVM function as text, with what all of them call: solvers of linear systems, sines and cosines.

The solvers of linear systems that native programs call; their text is in ``solver.ll``, which tells the method.

Storage of a system of size n with s sides: n rows of ``row_length`` numbers, the matrix in columns 0..n-1, the sides
from column ``padded(n)`` on; the padding is zero, so that rows are handled four numbers at a time.

Functions that all native programs share, compiled once: solvers of linear systems, sines and cosines.

Sines and cosines in LLVM text, four angles at a time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from importlib.resources import files

from svyaz.program.llvm_sincos import sincos_of_four
from svyaz.program.tape import Program


def padded(count: int) -> int:
    """The count rounded up to whole vectors."""
    return -(-count // LANES) * LANES


def row_length(size: int, sides: int) -> int:
    """Numbers in a row of the storage of a system."""
    return padded(size) + padded(sides)


SOLVERS = ("svyaz_solve_pivoted", "svyaz_solve_symmetric")
SOLVER_DECLARATIONS = "".join(f"declare i32 @{name}(ptr, ptr, i64, i64, i64) nounwind\n" for name in SOLVERS)


SINCOS = "svyaz_sincos"
SINCOS_RESULT = "{ <4 x double>, <4 x double> }"
SUPPORT = (*SOLVERS, SINCOS)
SUPPORT_DECLARATIONS = (
    f"{SOLVER_DECLARATIONS}declare {SINCOS_RESULT} @{SINCOS}(double, double, double, double) nounwind\n"
)


def support_text() -> str:
    """The module of the shared functions."""
    solver = files("svyaz.program").joinpath("solver.ll").read_text(encoding="utf-8")
    return "\n".join([solver, sincos_of_four(SINCOS)])


LANES, LOOKED_AT = 4, 64
"""Angles that are computed at once, and among how many of those that wait they are looked for."""


class Angles:
    """Writes sines and cosines of the step part.

    Where one is first needed, the angles of others that are known by then are taken along: one call gives sines and
    cosines of four angles in little more time than the C library takes for one sine.
    """

    def __init__(
        self,
        program: Program,
        needed: list[bool],
        function: FunctionText,
        names: list[str],
        name: Callable[[int], str],
    ) -> None:
        self.program = program
        self.function = function
        self.names = names
        self.name = name
        self.kinds: dict[int, set[str]] = {}
        for index, node in enumerate(program.nodes):
            if node[0] in ("sin", "cos") and needed[index] and not program.constant_part[index]:
                self.kinds.setdefault(node[1], set()).add(node[0])
        self.order, self.first = list(self.kinds), 0
        self.waiting = set(self.kinds)
        self.results: dict[tuple[str, int], str] = {}

    def value(self, op: str, angle: int) -> str:
        """The sine or cosine of an angle that is known."""
        if (op, angle) not in self.results:
            self._compute(self._group(angle))
        return self.results[op, angle]

    def _group(self, first: int) -> list[int]:
        """The angle and up to three others that can be computed now, in the order of the tape."""
        group = [first]
        self.waiting.remove(first)
        while self.first < len(self.order) and self.order[self.first] not in self.waiting:
            self.first += 1
        for angle in self.order[self.first : self.first + LOOKED_AT]:
            if len(group) == LANES:
                break
            if angle in self.waiting and self._known(angle):
                group.append(angle)
        self.waiting.difference_update(group)
        return group

    def _known(self, angle: int) -> bool:
        """Has the angle a value already? An input can be loaded at any time."""
        node = self.program.nodes[angle]
        if not self.names[angle] and node[0] == "input":
            self.names[angle] = self.function.load("%x", node[1])
        return bool(self.names[angle])

    def _compute(self, group: list[int]) -> None:
        function = self.function
        if len(group) == 1 and len(self.kinds[group[0]]) == 1:
            (op,) = self.kinds[group[0]]
            self.results[op, group[0]] = function.value(f"call double @{op}(double {self.name(group[0])})")
            return
        lanes = [*group, *group[:1] * (LANES - len(group))]
        arguments = ", ".join(f"double {self.name(angle)}" for angle in lanes)
        both = function.value(f"call {SINCOS_RESULT} @{SINCOS}({arguments})")
        for place, op in enumerate(("sin", "cos")):
            vector = function.value(f"extractvalue {SINCOS_RESULT} {both}, {place}")
            for lane, angle in enumerate(group):
                if op in self.kinds[angle]:
                    result = function.value(f"extractelement <4 x double> {vector}, i64 {lane}")
                    self.results[op, angle] = result


def literal(value: float) -> str:
    """A double exactly, in LLVM's hexadecimal notation."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


class FunctionText:
    """Lines of one LLVM function; values are numbered, which LLVM reads faster than names."""

    def __init__(self, head: str) -> None:
        self.lines = [head, "entry:"]
        self.count = 0
        self.block = "entry"

    def value(self, instruction: str) -> str:
        """Append an instruction that has a value; its number."""
        name = f"%{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Append an instruction without a value."""
        self.lines.append(f"  {instruction}")

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.block = label

    def load(self, base: str, index: int) -> str:
        """base[index], which nobody changes during the call."""
        if index == 0:
            return self.value(f"load double, ptr {base}, align 8")
        at = self.value(f"getelementptr inbounds double, ptr {base}, i64 {index}")
        return self.value(f"load double, ptr {at}, align 8")

    def store(self, value: str, base: str, index: int) -> None:
        """base[index] = value."""
        at = self.value(f"getelementptr inbounds double, ptr {base}, i64 {index}")
        self.do(f"store double {value}, ptr {at}, align 8")

    def smaller(self, a: str, b: str) -> str:
        """The smaller of two, by one instruction of the processor."""
        less = self.value(f"fcmp olt double {a}, {b}")
        return self.value(f"select i1 {less}, double {a}, double {b}")

    def magnitude(self, a: str) -> str:
        """|a|."""
        return self.value(f"call double @llvm.fabs.f64(double {a})")

    def mul(self, a: str, b: str) -> str:
        """a · b."""
        return self.value(f"fmul contract double {a}, {b}")

    def add(self, a: str, b: str) -> str:
        """a + b."""
        return self.value(f"fadd contract double {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        """a - b."""
        return self.value(f"fsub contract double {a}, {b}")

    def div(self, a: str, b: str) -> str:
        """a / b."""
        return self.value(f"fdiv double {a}, {b}")

    def number(self, value: float) -> str:
        """A double."""
        return literal(value)

    def negated(self, a: str) -> str:
        """-a."""
        return self.value(f"fneg double {a}")

    def is_positive(self, a: str) -> str:
        """a > 0."""
        return self.value(f"fcmp ogt double {a}, 0.0")

    def is_not_negative(self, a: str) -> str:
        """a ≥ 0."""
        return self.value(f"fcmp oge double {a}, 0.0")

    def both(self, a: str, b: str) -> str:
        """Do both conditions hold?"""
        return self.value(f"and i1 {a}, {b}")

    def text(self) -> str:
        """The whole function."""
        return "\n".join([*self.lines, "}", ""])
