"""Programs as code for the interpreter: independent equal operations side by side, linear systems as operations too.

The operations of a stretch between two linear systems are ordered by how many others they wait for, then by kind; what
comes out is a few long instructions where a system has many equal parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from svyaz.program.llvm_interpreter import END, GUARD, INTERPRET, INTERPRET_BATCH, NUMBERS, OPERANDS, SOLVE
from svyaz.program.llvm_sparse import Eliminated, eliminated
from svyaz.program.llvm_system import Storage
from svyaz.program.tape import (
    LinearSystem,
    Node,
    Program,
    cells,
    constants_nodes,
    needed_nodes,
    solved_nodes,
    stored_constants,
    system_nodes,
)

_LITERAL, _COMPUTED, _SOLVED = 1 << 28, 1 << 29, 1 << 30
"""Numbers of values from here on are literals, results of operations, unknowns of systems; below are inputs and constants."""


class Operations:
    """Operations on numbered values, equal ones once, each with the stretch it belongs to and how many it waits for."""

    def __init__(self, given: int) -> None:
        self.given = given
        self.literals: dict[float, int] = {}
        self.kinds: list[int] = []
        self.operands: list[tuple[int, ...]] = []
        self.stretch: list[int] = []
        self.depth: list[int] = []
        self.unknowns = 0
        self.solved: list[int] = []
        self._known: dict[tuple[object, ...], int] = {}
        self._apart: dict[tuple[object, ...], int] | None = None
        self._least = 0

    def literal(self, value: float) -> int:
        """The number of a constant."""
        key = value if value != 0.0 or str(value) == "0.0" else float("-inf")  # -0.0 is another number than 0.0
        return self.literals.setdefault(key, _LITERAL + len(self.literals))

    def do(self, kind: str, *operands: int) -> int:
        """The number of the result of an operation."""
        key = (kind, *operands)
        found = self._known.get(key)
        if found is None and self._apart is not None:
            found = self._apart.get(key)
        if found is None:
            stretch, depth = self._least, 0
            for operand in operands:
                if operand < _COMPUTED:
                    continue
                where = self.solved[operand - _SOLVED] if operand >= _SOLVED else self.stretch[operand - _COMPUTED]
                waits = 0 if operand >= _SOLVED else self.depth[operand - _COMPUTED] + 1
                if where > stretch:
                    stretch, depth = where, waits
                elif where == stretch and waits > depth:
                    depth = waits
            found = _COMPUTED + len(self.kinds)
            (self._known if self._apart is None else self._apart)[key] = found
            self.kinds.append(NUMBERS[kind])
            self.operands.append(operands)
            self.stretch.append(stretch)
            self.depth.append(depth)
        return found

    @contextmanager
    def apart(self, system: int) -> Iterator[None]:
        """Operations of a stretch that is gone through only where the elimination of a system is not good: not for others."""
        self._apart, self._least = {}, 2 * system + 1
        yield
        self._apart, self._least = None, 0

    def solution(self, number: int, count: int) -> int:
        """The number of the first of the unknowns of a system, which later stretches may use."""
        start = _SOLVED + self.unknowns
        self.unknowns += count
        self.solved.extend([2 * number + 2] * count)
        return start


class _Code:
    """The code of a program under construction."""

    def __init__(self, program: Program, nodes: Sequence[int], given: dict[int, int]) -> None:
        self.program = program
        self.operations = Operations(len(given))
        self.values: dict[int, int] = dict(given)
        self.behind: dict[int, tuple[int, Eliminated | None]] = {}
        for index in nodes:
            if index not in self.values:
                self.values[index] = self._value(program.nodes[index])

    def value(self, index: int) -> int:
        """The number of the value of a node; numbers are literals wherever they are first met."""
        found = self.values.get(index)
        if found is None:
            found = self.values[index] = self._value(self.program.nodes[index])
        return found

    def _value(self, node: Node) -> int:
        if node[0] == "const":
            return self.operations.literal(float(node[1]))
        if node[0] == "unknown":
            return self._solution(node[1]) + node[2]
        return self.operations.do(node[0], *[self.value(a) for a in node[1:]])

    def _solution(self, number: int) -> int:
        if number not in self.behind:
            system = self.program.systems[number]
            done = eliminated(self.operations, system, number, self.value) if system.order is not None else None
            for node in system_nodes(system):  # every number of it has its place before the code is written
                self.value(node)
            start = self.operations.solution(number, system.size * len(system.sides))
            self.behind[number] = (start, done)
        return self.behind[number][0]

    def encoded(
        self, inputs: int, constants: int, outputs: Sequence[int]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """(code, literals)."""
        ops = self.operations
        literals = np.array([0.0 if v == -np.inf else v for v in ops.literals])
        literals[[k for k, v in enumerate(ops.literals) if v == -np.inf]] = -0.0
        first = inputs + constants + len(literals)
        kinds, stretch, depth = (np.array(a, dtype=np.int64) for a in (ops.kinds, ops.stretch, ops.depth))
        order = np.lexsort((kinds, depth, stretch))
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(first, first + len(order))
        solved = first + len(order)

        def placed(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
            """From numbers of values to their places in the row."""
            found = np.where(numbers >= _LITERAL, inputs + constants + numbers - _LITERAL, numbers)
            computed = (numbers >= _COMPUTED) & (numbers < _SOLVED)
            found[computed] = place[numbers[computed] - _COMPUTED]
            found[numbers >= _SOLVED] = solved + numbers[numbers >= _SOLVED] - _SOLVED
            return found

        def places(numbers: Sequence[int]) -> NDArray[np.int64]:
            return placed(np.array(numbers, dtype=np.int64))

        wide = np.zeros((len(order), 3), dtype=np.int64)
        for k, operands in enumerate(ops.operands):
            wide[k, : len(operands)] = operands
        wide = placed(wide)[order]
        cut = np.flatnonzero(np.diff(kinds[order]) | np.diff(depth[order]) | np.diff(stretch[order])) + 1
        edges = [0, *cut.tolist(), len(order)] if len(order) else [0]
        head = [solved + ops.unknowns, inputs, constants, len(literals), len(outputs)]
        pieces = [np.array(head), places(outputs)]
        names = {v: k for k, v in NUMBERS.items()}
        runs: dict[int, list[NDArray[np.int64]]] = {}
        for begin, end in pairwise(edges):
            kind, where = int(kinds[order[begin]]), int(stretch[order[begin]])
            count = OPERANDS.get(names[kind], 1)
            run = [np.array([kind, end - begin, first + begin]), wide[begin:end, :count].ravel()]
            runs.setdefault(where, []).extend(run)
        for number in range(len(self.program.systems)):
            pieces += runs.get(2 * number, [])
            if number in self.behind:
                pieces += self._solving(number, places, runs.get(2 * number + 1, []))
        pieces += runs.get(2 * len(self.program.systems), [])
        return np.concatenate([*pieces, np.array([END, 0, 0])]).astype(np.int32), literals

    def _solving(
        self,
        number: int,
        places: Callable[[Sequence[int]], NDArray[np.int64]],
        correcting: list[NDArray[np.int64]],
    ) -> list[NDArray[np.int64]]:
        """The guard of an elimination, where there is one, its correction with a guard, and the solution by pivoting."""
        system, (start, done) = self.program.systems[number], self.behind[number]
        begin = int(places([start])[0])
        storage = Storage(0, system.size, len(system.sides))
        nodes, where = zip(*storage.filled(system, self.program), strict=True)
        pairs = np.column_stack([places([self.value(node) for node in nodes]), where]).ravel()
        definite = system.symmetric and _diagonal(system, self.program)
        head = [begin, system.size, storage.first_side, storage.width, storage.sides, int(definite), len(nodes)]
        found = [np.concatenate([[SOLVE, len(head) + len(pairs), number + 1], head, pairs])]
        if done is not None and done.corrected is not None:
            found = [*correcting, *self._guard(done.corrected, begin, places, found), *found]
        return [*(self._guard(done, begin, places, found) if done is not None else ()), *found]

    def _guard(
        self,
        done: Eliminated,
        begin: int,
        places: Callable[[Sequence[int]], NDArray[np.int64]],
        behind: list[NDArray[np.int64]],
    ) -> list[NDArray[np.int64]]:
        """Takes the unknowns over, and leaves out what is behind it where they are good."""
        head = np.array([GUARD, len(done.unknowns), begin])
        skipped = np.array([sum(map(len, behind))])
        return [head, places([done.margin, done.exactness]), skipped, places(done.unknowns)]


def _diagonal(system: LinearSystem, program: Program) -> bool:
    """Is no diagonal entry zero for ever?"""
    present = {row for row, column, node in cells(system) if row == column and program.nodes[node] != ("const", 0.0)}
    return len(present) == system.size


def interpreted_text(program: Program) -> tuple[str, int]:
    """The module of a program that is interpreted, and how many constants it takes.

    Beside ``batch`` it has ``batch_part``, which gives the outputs that need no linear system; the others are not numbers.
    """
    needed = needed_nodes(program)
    stored = stored_constants(program, needed)
    first = constants_nodes(program, stored)
    given = {index: program.nodes[index][1] for index in first if program.nodes[index][0] == "parameter"}
    once = _Code(program, first, given)
    once_code = once.encoded(len(program.parameters), 0, [once.value(index) for index in stored])
    inputs = len(program.inputs)
    known = {index: inputs + place for place, index in enumerate(stored)}
    known |= {i: node[1] for i, node in enumerate(program.nodes) if node[0] == "input"}
    constant = program.constant_part
    solved = solved_nodes(program)
    wanted = [i for i, n in enumerate(needed) if n and not constant[i]]
    step = _Code(program, wanted, known)
    step_code = step.encoded(inputs, len(stored), [step.value(index) for _, index in program.outputs])
    plain = needed_nodes(replace(program, outputs=tuple(o for o in program.outputs if not solved[o[1]])))
    part = _Code(program, [i for i in wanted if plain[i]], known)
    nothing = part.operations.literal(float("nan"))
    part_code = part.encoded(
        inputs, len(stored), [nothing if solved[index] else part.value(index) for _, index in program.outputs]
    )
    parts = [
        f"declare i32 @{INTERPRET}(ptr, ptr, ptr, ptr, ptr) nounwind",
        *_data("once", *once_code),
        *_data("each", *step_code),
        *_data("part", *part_code),
        "define void @constants(ptr %p, ptr %c) nounwind {",
        f"  %done = call i32 @{INTERPRET}(ptr @once.code, ptr @once.numbers, ptr %p, ptr %p, ptr %c)",
        "  ret void\n}",
        "define i32 @step(ptr %x, ptr %c, ptr %out) nounwind {",
        f"  %status = call i32 @{INTERPRET}(ptr @each.code, ptr @each.numbers, ptr %x, ptr %c, ptr %out)",
        "  ret i32 %status\n}",
        f"declare void @{INTERPRET_BATCH}(ptr, ptr, i64, ptr, ptr, i64, ptr, ptr) nounwind",
        *(_batch(name, code) for name, code in (("batch", "each"), ("batch_part", "part"))),
    ]
    return "\n".join(parts), len(stored)


def _batch(name: str, code: str) -> str:
    given = "ptr %x, ptr %c, i64 %c.stride, ptr %out, ptr %status"
    return (
        f"define void @{name}(i64 %n, {given}) nounwind {{\n"
        f"  call void @{INTERPRET_BATCH}(ptr @{code}.code, ptr @{code}.numbers, i64 %n, {given})\n  ret void\n}}"
    )


def _data(name: str, code: NDArray[np.int32], literals: NDArray[np.float64]) -> list[str]:
    return [
        f'@{name}.{what} = private constant [{array.nbytes} x i8] c"{_escaped(array)}", align 8'
        for what, array in (("code", code), ("numbers", literals if len(literals) else np.zeros(1)))
    ]


_ESCAPES = np.array([f"\\{byte:02X}" for byte in range(256)], dtype="S3")


def _escaped(array: NDArray[np.generic]) -> str:
    return _ESCAPES[np.frombuffer(array.tobytes(), dtype=np.uint8)].tobytes().decode("ascii")
