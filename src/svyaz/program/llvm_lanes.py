"""LLVM text of a program for several states at once, a lane of the vector registers each.

    int32_t lanes(const double *x, const double *c, double *out)
    void rows(int64_t groups, const double *x, const double *c, double *out, int32_t *status)

``lanes`` takes and gives numbers lane by lane, entry i of lane l at i·width + l; the answer has a bit for each lane whose
linear system is singular. ``rows`` takes groups of ``width`` rows as ``batch`` does, with constants (lane by lane) that are
common to all. Every lane gives the bits that ``step`` gives: operations and their uses are the same, so that the same products
are fused with sums; where an elimination is not accepted in a lane, all lanes are computed by ``step`` itself.
"""

from __future__ import annotations

import re

from svyaz.program.llvm_function import Angles, FunctionText
from svyaz.program.llvm_sincos import sincos_of_lanes
from svyaz.program.llvm_system import ZERO
from svyaz.program.llvm_text import LARGEST_OFTEN, LARGEST_OPTIMISED, TapeText, module_text, step_count
from svyaz.program.tape import Program, needed_nodes, stored_constants, system_nodes
from svyaz.program.unrolled import Unrolled

SINCOS = "sincos_of_lanes"

_NUMBER = re.compile(r"(?<=[ ,(])(0x[0-9A-F]{16}|-?\d\.\d)(?=[ ,)\]]|$)")
_LIBRARY = re.compile(r"call double @(?!llvm\.)(\w+)\((.*)\)")


def has_lanes(program: Program, *, often: bool = False) -> bool:
    """Can the program be written for several states: short, eliminations written out, nothing of Python in it?"""
    return (
        step_count(program, needed_nodes(program)) <= (LARGEST_OFTEN if often else LARGEST_OPTIMISED)
        and all(system.order is not None and isinstance(system.matrix, tuple) for system in program.systems)
        and all(node[0] != "outside" for node in program.nodes)
    )


def lanes_text(program: Program, width: int, *, often: bool = False) -> str:
    """The module: ``step`` and its helpers, ``lanes`` and ``rows``."""
    single = module_text(program, often=often).text
    fabs = f"declare <{width} x double> @llvm.fabs.v{width}f64(<{width} x double>)\n"
    sqrt = f"declare <{width} x double> @llvm.sqrt.v{width}f64(<{width} x double>)\n"
    inputs, outputs = len(program.inputs), len(program.outputs)
    stored = len(stored_constants(program, needed_nodes(program)))
    parts = [
        single,
        fabs,
        sqrt,
        sincos_of_lanes(width, SINCOS),
        _LanesText(program, width).text(),
        _every_text(width, inputs, stored, outputs),
        _rows_text(width, inputs, outputs),
    ]
    return "\n".join(parts)


class _Lanes(FunctionText):
    """A function whose values are vectors: each instruction for one number is written for all lanes."""

    def __init__(self, head: str, width: int) -> None:
        super().__init__(head)
        self.width = width

    def value(self, instruction: str) -> str:
        called = _LIBRARY.fullmatch(instruction)
        if called is None:
            return super().value(self.packed(instruction))
        arguments = [part.strip().removeprefix("double ") for part in called[2].split(",")]
        kind, result = f"<{self.width} x double>", "poison"
        for lane in range(self.width):
            taken = [
                super(_Lanes, self).value(f"extractelement {kind} {self.packed(f' {a}').strip()}, i64 {lane}")
                for a in arguments
            ]
            one = super().value(f"call double @{called[1]}({', '.join(f'double {a}' for a in taken)})")
            result = super().value(f"insertelement {kind} {result}, double {one}, i64 {lane}")
        return result

    def do(self, instruction: str) -> None:
        super().do(self.packed(instruction))

    def packed(self, instruction: str) -> str:
        """The instruction with vectors in place of numbers."""
        wide = re.sub(r"\bdouble\b", f"<{self.width} x double>", instruction)
        wide = re.sub(r"\bi1\b", f"<{self.width} x i1>", wide)
        return _NUMBER.sub(r"splat (double \1)", wide).replace(".f64(", f".v{self.width}f64(")

    def plain(self, instruction: str) -> str:
        """An instruction as it stands."""
        return super().value(instruction)


class _LaneAngles(Angles):
    """Sines and cosines of lanes: those that ``step`` takes from the library are taken from there too."""

    def _compute(self, group: list[int]) -> None:
        function = self.function
        assert isinstance(function, _Lanes), "lanes are written"
        if len(group) == 1 and len(self.kinds[group[0]]) == 1:
            (op,) = self.kinds[group[0]]
            self.results[op, group[0]] = function.value(f"call double @{op}(double {self.name(group[0])})")
            return
        kind = f"<{function.width} x double>"
        for angle in group:
            both = function.plain(
                f"call {{ {kind}, {kind} }} @{SINCOS}({kind} {function.packed(' ' + self.name(angle)).strip()})"
            )
            for place, op in enumerate(("sin", "cos")):
                if op in self.kinds[angle]:
                    self.results[op, angle] = function.plain(f"extractvalue {{ {kind}, {kind} }} {both}, {place}")


class _LanesText(TapeText):
    """Writes ``lanes``."""

    function: _Lanes

    def __init__(self, program: Program, width: int) -> None:
        head = (
            "define i32 @lanes(ptr noalias readonly %x, ptr noalias readonly %c, ptr noalias %out) noinline nounwind {"
        )
        needed = needed_nodes(program)
        super().__init__(program, needed, stored_constants(program, needed), _Lanes(head, width), _LaneAngles)
        self.width = width
        if program.systems:
            self.function.do(f"%work = alloca [{self.storage_size} x double], align 64")

    def solved(self, number: int) -> list[str]:
        """The unknowns of a system, side by side; see ``emit_unrolled`` for the blocks."""
        system = self.program.systems[number]
        assert system.order is not None, "eliminations are written out"
        assert isinstance(system.matrix, tuple), "sparse ones are not"
        function, n = self.function, system.size
        for node in system_nodes(system):
            self.name(node)
        matrix = [[self.name(node) for node in system.matrix[row * n : (row + 1) * n]] for row in range(n)]
        sides = [[self.name(node) for node in side] for side in system.sides]
        elimination = Unrolled(function, matrix, sides, system.order, symmetric=system.symmetric)
        unknowns = elimination.unknowns()
        good = elimination.accepted(unknowns)
        block = function.block
        bits = function.plain(f"bitcast <{self.width} x i1> {good} to i{self.width}")
        fine = function.plain(f"icmp eq i{self.width} {bits}, -1")
        function.lines.append(f"  br i1 {fine}, label %solved{number}, label %again{number}, !prof !0")
        function.begin(f"again{number}")
        for node, place in self.storages[number].places(system):
            if self.name(node) != ZERO:
                function.store(self.name(node), "%work", place)
        answer = function.plain("call i32 @every(ptr %x, ptr %c, ptr %out, ptr %work)")
        function.lines.append(f"  ret i32 {answer}")
        function.begin(f"solved{number}")
        kind = f"<{self.width} x double>"
        return [
            function.plain(f"phi {kind} [ {function.packed(f' {value}').strip()}, %{block} ]") for value in unknowns
        ]

    def text(self) -> str:
        """The whole function."""
        self.store_constants()
        for index in self.changing():
            self.compute(index)
        function = self.function
        function.lines.append("  ret i32 0")
        self.fuse()
        return function.text()


def _every_text(width: int, inputs: int, constants: int, outputs: int) -> str:
    """``every``: all lanes by ``step``, one after another; a bit for each that is singular."""
    return f"""
define internal i32 @every(ptr %x, ptr %c, ptr %out, ptr %work) noinline nounwind {{
entry:
  %x1 = alloca [{max(1, inputs)} x double], align 8
  %c1 = alloca [{max(1, constants)} x double], align 8
  %out1 = alloca [{max(1, outputs)} x double], align 8
  br label %lane
lane:
  %l = phi i32 [ 0, %entry ], [ %l.next, %lane ]
  %singular = phi i32 [ 0, %entry ], [ %singular.next, %lane ]
  %bit = shl i32 1, %l
  %l.long = zext i32 %l to i64
  call void @taken(ptr %x, ptr %x1, i64 %l.long, i64 {inputs})
  call void @taken(ptr %c, ptr %c1, i64 %l.long, i64 {constants})
  %code = call i32 @step(ptr %x1, ptr %c1, ptr %out1)
  call void @put(ptr %out1, ptr %out, i64 %l.long, i64 {outputs})
  %is.singular = icmp ne i32 %code, 0
  %bit.or.none = select i1 %is.singular, i32 %bit, i32 0
  %singular.next = or i32 %singular, %bit.or.none
  %l.next = add i32 %l, 1
  %end = icmp eq i32 %l.next, {width}
  br i1 %end, label %done, label %lane
done:
  ret i32 %singular.next
}}
{_moved_text("taken", "%i.lane", "%i", width)}
{_moved_text("put", "%i", "%i.lane", width)}
"""


def _moved_text(name: str, source: str, target: str, width: int) -> str:
    """Numbers of one lane to a row, or from a row."""
    return f"""
define internal void @{name}(ptr %from, ptr %to, i64 %l, i64 %n) noinline nounwind {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %first = mul i64 %i, {width}
  %i.lane = add i64 %first, %l
  %source = getelementptr double, ptr %from, i64 {source}
  %value = load double, ptr %source, align 8
  %target = getelementptr double, ptr %to, i64 {target}
  store double %value, ptr %target, align 8
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


def _rows_text(width: int, inputs: int, outputs: int) -> str:
    """``rows``: groups of rows turned into lanes, computed, and turned back, four numbers at a time."""
    function = FunctionText("define void @rows(i64 %groups, ptr %x, ptr %c, ptr %out, ptr %status) nounwind {")
    function.do(f"%wide.x = alloca [{max(1, inputs) * width} x double], align 64")
    function.do(f"%wide.out = alloca [{max(1, outputs) * width} x double], align 64")
    function.do("br label %loop")
    function.begin("loop")
    function.do("%i = phi i64 [ 0, %entry ], [ %i.next, %next ]")
    function.do(f"%x.index = mul i64 %i, {inputs * width}")
    function.do("%x.row = getelementptr double, ptr %x, i64 %x.index")
    function.do(f"%out.index = mul i64 %i, {outputs * width}")
    function.do("%out.row = getelementptr double, ptr %out, i64 %out.index")
    _turn(function, "%x.row", inputs, "%wide.x", width, back=False)
    function.do("%code = call i32 @lanes(ptr %wide.x, ptr %c, ptr %wide.out)")
    _turn(function, "%out.row", outputs, "%wide.out", width, back=True)
    function.do("%status.at = getelementptr i32, ptr %status, i64 %i")
    function.do("store i32 %code, ptr %status.at, align 4")
    function.do("br label %next")
    function.begin("next")
    function.do("%i.next = add i64 %i, 1")
    function.do("%more = icmp slt i64 %i.next, %groups")
    function.do("br i1 %more, label %loop, label %done")
    function.begin("done")
    function.do("ret void")
    return function.text()


def _turn(function: FunctionText, rows: str, count: int, lanes: str, width: int, *, back: bool) -> None:
    """Rows of ``count`` numbers ↔ lanes, in blocks of 4 × 4, of which the last overlaps; fewer than four one by one.

    Lanes are stored as whole vectors: a load that spans two stores would wait for both.
    """
    blocks = [*range(0, count - 3, 4), *([count - 4] if count > 4 and count % 4 else [])]
    for column in blocks:
        parts = []
        for first in range(0, width, 4):
            row_places = [(first + k) * count + column for k in range(4)]
            lane_places = [(column + k) * width + first for k in range(4)]
            taken = [
                _load4(function, lanes if back else rows, place) for place in (lane_places if back else row_places)
            ]
            parts.append(_transposed(function, taken))
            for value, place in zip(parts[-1], row_places, strict=True) if back else ():
                _put(function, value, 4, rows, place)
        for k in () if back else range(4):
            low, high = (part[k] for part in parts)
            whole = function.value(f"shufflevector <4 x double> {low}, <4 x double> {high}, {_order(width)}")
            _put(function, whole, width, lanes, (column + k) * width)
    for column in () if blocks else range(count):
        for lane in range(width):
            row_place, lane_place = lane * count + column, column * width + lane
            source, target = (lane_place, row_place) if back else (row_place, lane_place)
            function.store(function.load(lanes if back else rows, source), rows if back else lanes, target)


def _order(count: int) -> str:
    """A mask that takes so many numbers as they stand."""
    return f"<{count} x i32> <{', '.join(f'i32 {k}' for k in range(count))}>"


def _put(function: FunctionText, value: str, width: int, base: str, place: int) -> None:
    at = function.value(f"getelementptr double, ptr {base}, i64 {place}")
    function.do(f"store <{width} x double> {value}, ptr {at}, align 8")


def _load4(function: FunctionText, base: str, place: int) -> str:
    at = function.value(f"getelementptr double, ptr {base}, i64 {place}")
    return function.value(f"load <4 x double>, ptr {at}, align 8")


def _transposed(function: FunctionText, rows: list[str]) -> list[str]:
    """Four vectors of four numbers, exchanged."""

    def mixed(a: str, b: str, order: tuple[int, int, int, int]) -> str:
        mask = ", ".join(f"i32 {k}" for k in order)
        return function.value(f"shufflevector <4 x double> {a}, <4 x double> {b}, <4 x i32> <{mask}>")

    a, b, c, d = rows
    low_ab, high_ab = mixed(a, b, (0, 4, 2, 6)), mixed(a, b, (1, 5, 3, 7))
    low_cd, high_cd = mixed(c, d, (0, 4, 2, 6)), mixed(c, d, (1, 5, 3, 7))
    return [
        mixed(low_ab, low_cd, (0, 1, 4, 5)),
        mixed(high_ab, high_cd, (0, 1, 4, 5)),
        mixed(low_ab, low_cd, (2, 3, 6, 7)),
        mixed(high_ab, high_cd, (2, 3, 6, 7)),
    ]
