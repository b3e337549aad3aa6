"""Sines and cosines in LLVM text, four angles at a time."""

from __future__ import annotations

from collections.abc import Callable

from svyaz.program.llvm_function import FunctionText
from svyaz.program.llvm_support import SINCOS, SINCOS_RESULT
from svyaz.program.tape import Program

LANES = 4


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
        self.waiting = dict.fromkeys(self.kinds)
        self.results: dict[tuple[str, int], str] = {}

    def value(self, op: str, angle: int) -> str:
        """The sine or cosine of an angle that is known."""
        if (op, angle) not in self.results:
            self._compute(self._group(angle))
        return self.results[op, angle]

    def _group(self, first: int) -> list[int]:
        """The angle and up to three others that can be computed now, in the order of the tape."""
        group = [first]
        for angle in self.waiting:
            if len(group) == LANES:
                break
            if angle != first and self._known(angle):
                group.append(angle)
        for angle in group:
            del self.waiting[angle]
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
