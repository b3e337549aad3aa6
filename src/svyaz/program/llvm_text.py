"""LLVM text of a program, written straight from the tape.

Three functions::

    void constants(const double *p, double *c)
    int32_t step(const double *x, const double *c, double *out)
    void batch(int64_t n, const double *x, const double *c, int64_t c_stride, double *out, int32_t *status)

and ``batch_part``, like ``batch``, where outputs that need no linear system are asked for alone.

``step`` returns 0, or 1 + k when linear system k is singular; ``batch`` calls it row by row, so that a row gives the
same bits as a single call. Products and sums become fused multiply-adds (see ``llvm_fusing``), nothing is reassociated.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from svyaz.program.compiled import LARGEST_COMPILED, is_interpreted
from svyaz.program.engine import fuses
from svyaz.program.llvm_batch import PARTED, batch_text, is_parted
from svyaz.program.llvm_bytecode import interpreted_text
from svyaz.program.llvm_function import SUPPORT_DECLARATIONS, Angles, FunctionText, literal
from svyaz.program.llvm_fusing import fused
from svyaz.program.llvm_system import clear, emit_looped, emit_unrolled, storages
from svyaz.program.outside import DECLARATION as OUTSIDE_DECLARATION
from svyaz.program.outside import NAME as OUTSIDE
from svyaz.program.tape import ARITHMETIC, Node, Program, constants_nodes, needed_nodes, stored_constants

LIBRARY_UNARY = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log")
"""Functions taken from the C library of the process."""

LARGEST_OPTIMISED = 4_000
"""Nodes of the step part. Beyond this the optimising code generator takes seconds for a gain of a third at most."""
LARGEST_OFTEN = 40_000
"""The same for programs that are evaluated so often that seconds do not matter, and that get lanes up to this length."""
OPTIMISED_BLOCK, BLOCK = 300, 1_000
"""Nodes in a block of a step, optimised or not. The code generator looks at a block at a time, for longer than its length
alone would take, so that the time to compile grows with the number of nodes only if blocks are short; code that is not
optimised keeps the values of a block apart from those of others. They are divided by a jump that is never taken (no output
is stored at address 0)."""

LARGEST_ON_STACK = 16_384
"""Numbers; larger storage for linear systems is taken from the heap: threads may have small stacks."""

_INSTRUCTION = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract", "div": "fdiv"}


def _emit_min(function: FunctionText, comparison: str, a: str, b: str) -> str:
    """The smaller (larger) of two; not a number when either is not."""
    first = function.value(f"fcmp {comparison} double {a}, {b}")
    chosen = function.value(f"select i1 {first}, double {a}, double {b}")
    unordered = function.value(f"fcmp uno double {a}, {b}")
    neither = function.value(f"fadd double {a}, {b}")
    return function.value(f"select i1 {unordered}, double {neither}, double {chosen}")


def _emit_sign(function: FunctionText, a: str) -> str:
    """1, -1 or the argument itself (zero, or not a number)."""
    negative = function.value(f"fcmp olt double {a}, 0.0")
    below = function.value(f"select i1 {negative}, double -1.0, double {a}")
    positive = function.value(f"fcmp ogt double {a}, 0.0")
    return function.value(f"select i1 {positive}, double 1.0, double {below}")


def _emit_outside(function: FunctionText, arguments: list[str]) -> str:
    """A function of Python takes its arguments in a row."""
    row = function.value(f"alloca [{len(arguments)} x double], align 8")
    for place, argument in enumerate(arguments):
        function.store(argument, row, place)
    return function.value(f"call double @{OUTSIDE}(ptr {row}, i64 {len(arguments)})")


def emit_operation(function: FunctionText, node: Node, names: list[str]) -> str:
    """An arithmetic operation or function of earlier values."""
    op = node[0]
    a = names[node[1]]
    if op in ARITHMETIC:
        return function.value(f"{_INSTRUCTION[op]} double {a}, {names[node[2]]}")
    if op == "neg":
        return function.value(f"fneg double {a}")
    if op in LIBRARY_UNARY:
        return function.value(f"call double @{op}(double {a})")
    if op == "sqrt":
        return function.value(f"call double @llvm.sqrt.f64(double {a})")
    if op == "abs":
        return function.value(f"call double @llvm.fabs.f64(double {a})")
    if op == "sign":
        return _emit_sign(function, a)
    if op in ("min", "max"):
        return _emit_min(function, "olt" if op == "min" else "ogt", a, names[node[2]])
    if op == "outside":
        return _emit_outside(function, [names[argument] for argument in node[1:]])
    return function.value(f"call double @{op}(double {a}, double {names[node[2]]})")


def constants_text(program: Program, stored: tuple[int, ...]) -> str:
    """``constants``: from the parameters to the numbers that the step part takes."""
    nodes = program.nodes
    function = FunctionText(
        "define void @constants(ptr noalias readonly %p, ptr noalias %c) noinline optnone nounwind {"
    )
    names = [""] * len(nodes)
    for index in constants_nodes(program, stored):
        node = nodes[index]
        if node[0] == "const":
            names[index] = literal(node[1])
        elif node[0] == "parameter":
            names[index] = function.load("%p", node[1])
        else:
            names[index] = emit_operation(function, node, names)
    for place, index in enumerate(stored):
        function.store(names[index], "%c", place)
    function.do("ret void")
    return function.text()


class TapeText(ABC):
    """Writes a function that computes the nodes of a step in the order of the tape.

    A linear system is solved where its first unknown stands; constants are loaded where they are first used.
    """

    def __init__(
        self,
        program: Program,
        needed: list[bool],
        stored: tuple[int, ...],
        function: FunctionText,
        angles: type[Angles],
    ) -> None:
        self.program, self.needed, self.function = program, needed, function
        self.place = {index: place for place, index in enumerate(stored)}
        self.names = [""] * len(program.nodes)
        self.angles = angles(program, needed, function, self.names, self.name)
        self.unknowns: dict[int, list[str]] = {}
        self.storages, self.storage_size = storages(program.systems)
        # Where a value goes: it is stored as soon as it is known, for values kept to the end would have to be spilled.
        self.targets: dict[int, list[tuple[str, int]]] = {}
        for place, (_, index) in enumerate(program.outputs):
            self.targets.setdefault(index, []).append(("%out", place))

    def name(self, index: int) -> str:
        """The value of a node; numbers stand for themselves."""
        name = self.names[index]
        if not name:
            node = self.program.nodes[index]
            name = literal(node[1]) if node[0] == "const" else self.function.load("%c", self.place[index])
            self.names[index] = name
        return name

    @abstractmethod
    def solved(self, number: int) -> list[str]:
        """The unknowns of a system."""

    def unknown(self, number: int, place: int) -> str:
        """The value of an unknown."""
        if number not in self.unknowns:
            self.unknowns[number] = self.solved(number)
        return self.unknowns[number][place]

    def store(self, index: int) -> None:
        """Store a value wherever it goes."""
        for base, place in self.targets.get(index, ()):
            self.function.store(self.name(index), base, place)

    def store_constants(self) -> None:
        """Store what does not change from step to step."""
        for index in self.targets:
            if self.program.constant_part[index]:
                self.store(index)

    def changing(self) -> list[int]:
        """The nodes that are computed in a step."""
        constant = self.program.constant_part
        return [index for index, needed in enumerate(self.needed) if needed and not constant[index]]

    def compute(self, index: int) -> None:
        """Write a node, and store its value."""
        node, names = self.program.nodes[index], self.names
        op = node[0]
        if op == "input":
            names[index] = self.function.load("%x", node[1])
        elif op == "unknown":
            names[index] = self.unknown(node[1], node[2])
        elif op in ("sin", "cos"):
            names[index] = self.angles.value(op, node[1])
        else:
            for argument in node[1:]:
                if not names[argument]:
                    self.name(argument)
            names[index] = emit_operation(self.function, node, names)
        self.store(index)

    def fuse(self) -> None:
        """Fuse products with sums, where the processor can: for one state and for several alike."""
        if fuses():
            self.function.lines = fused(self.function.lines)


class StepText(TapeText):
    """Writes ``step``."""

    def __init__(
        self,
        program: Program,
        needed: list[bool],
        stored: tuple[int, ...],
        *,
        parted: bool = False,
        largest: int = LARGEST_OPTIMISED,
    ) -> None:
        given = "ptr noalias readonly %x, ptr noalias readonly %c, ptr noalias %out"
        head = f"internal i32 @parted({given}, i1 %part)" if parted else f"i32 @step({given})"
        super().__init__(program, needed, stored, FunctionText(f"define {head} noinline nounwind {{"), Angles)
        self.parted = parted
        self.on_heap = self.storage_size > LARGEST_ON_STACK
        self.large = step_count(program, needed) > largest
        for system, storage in zip(program.systems, self.storages, strict=True):
            if system.order is None:
                for index, place in storage.places(system):
                    if program.nodes[index] != ("const", 0.0):
                        self.targets.setdefault(index, []).append(("%work", place))

    def solved(self, number: int) -> list[str]:
        """The unknowns of a system, by loops or written out; where a part is asked for, it is there before the first."""
        system = self.program.systems[number]
        if self.parted and not self.unknowns:
            self.function.do("br i1 %part, label %known, label %unknown")
            self.function.begin("unknown")
        emit = emit_looped if system.order is None else emit_unrolled
        return emit(self.function, system, number, self.storages[number], self.name)

    def begin_storage(self) -> None:
        """Storage for the solvers, on the stack while it is small; what is constant is stored at once."""
        systems = self.program.systems
        if not systems:
            return
        if self.on_heap:
            self.function.do(f"%work = call ptr @malloc(i64 {8 * self.storage_size})")
        else:
            self.function.do(f"%work = alloca [{self.storage_size} x double], align 64")
        columns = max(storage.first_side for storage in self.storages)
        self.function.do(f"%factors = alloca [{columns} x double], align 64")
        for system, storage in zip(systems, self.storages, strict=True):
            if system.order is None:
                clear(self.function, storage)

    def leave(self, status: int) -> None:
        """Return from the function."""
        if self.on_heap:
            self.function.do("call void @free(ptr %work)")
        self.function.do(f"ret i32 {status}")

    def text(self) -> str:
        """The whole function."""
        function = self.function
        block = BLOCK if self.large else OPTIMISED_BLOCK
        function.do("%never = icmp eq ptr %out, null")
        self.begin_storage()
        self.store_constants()
        for count, index in enumerate(self.changing(), 1):
            if count % block == 0:
                function.do(f"br i1 %never, label %nowhere, label %block{count // block}")
                function.begin(f"block{count // block}")
            self.compute(index)
        self.leave(0)
        for number in self.unknowns:
            function.begin(f"singular{number}")
            self.leave(number + 1)
        self.finish()
        return function.text()

    def finish(self) -> None:
        """Where blocks never jump to, and where a part ends; products fused with sums in a step that is not large."""
        self.function.begin("nowhere")
        self.function.do("ret i32 -1")
        if self.parted:
            self.function.begin("known")
            self.leave(0)
        if not self.large:
            self.fuse()


@dataclass(frozen=True)
class ModuleText:
    """The text of a module, how many constants ``c`` holds, and whether optimising is worth its time."""

    text: str
    constant_count: int
    optimise: bool


def step_count(program: Program, needed: list[bool]) -> int:
    """Nodes that are computed in each step."""
    return sum(1 for wanted, constant in zip(needed, program.constant_part, strict=True) if wanted and not constant)


def module_text(
    program: Program, longest: int = LARGEST_COMPILED, *, in_parts: bool = False, often: bool = False
) -> ModuleText:
    """The module of a program; ``in_parts`` where outputs that need no linear system may be asked for alone, optimised at
    greater length where it is evaluated ``often``.
    """
    largest = LARGEST_OFTEN if often else LARGEST_OPTIMISED
    parted = in_parts and is_parted(program)
    if is_interpreted(program, longest):
        return ModuleText(*interpreted_text(program), optimise=False)
    needed = needed_nodes(program)
    stored = stored_constants(program, needed)
    library = "".join(f"declare double @{name}(double) nounwind memory(none)\n" for name in LIBRARY_UNARY)
    library += "".join(f"declare double @{name}(double, double) nounwind memory(none)\n" for name in ("pow", "atan2"))
    parts = [
        library,
        SUPPORT_DECLARATIONS,
        OUTSIDE_DECLARATION,
        "declare ptr @malloc(i64)\ndeclare void @free(ptr)\n",
        "declare double @llvm.fabs.f64(double)\ndeclare double @llvm.sqrt.f64(double)\n",
        "declare double @llvm.fma.f64(double, double, double)\n",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n",
        constants_text(program, stored),
        StepText(program, needed, stored, parted=parted, largest=largest).text(),
        batch_text(program),
    ]
    if parted:
        parts += [PARTED, batch_text(program, "_part")]
    parts.append('!0 = !{!"branch_weights", i32 1000000, i32 1}\n!1 = !{!"branch_weights", i32 1, i32 1000000}\n')
    return ModuleText("\n".join(parts), len(stored), step_count(program, needed) <= largest)
