"""Linear systems in LLVM text: unrolled in a chosen order (see ``unrolled.py``), or handed to the pivoted solver.

What of an unrolled elimination is not accepted is solved again by the pivoted solver, which also judges whether the system
is singular.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from svyaz.program.llvm_function import FunctionText, literal, padded, row_length
from svyaz.program.tape import LinearSystem, Program, cells, system_nodes
from svyaz.program.unrolled import Unrolled

ZERO = literal(0.0)

Name = Callable[[int], str]
"""From a node to its value in the function."""


@dataclass(frozen=True)
class Storage:
    """Where a system is stored for the solvers: numbers from ``start`` on, row by row."""

    start: int
    size: int
    sides: int

    @property
    def first_side(self) -> int:
        """The column of the first side."""
        return padded(self.size)

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return row_length(self.size, self.sides)

    @property
    def numbers(self) -> int:
        """Numbers of the system itself."""
        return self.size * self.width

    def places(self, system: LinearSystem) -> Iterator[tuple[int, int]]:
        """(node, place) of every entry of the matrix and of the sides."""
        for row, column, node in cells(system):
            yield node, self.start + row * self.width + column
        for number, side in enumerate(system.sides):
            for row, node in enumerate(side):
                yield node, self.start + row * self.width + self.first_side + number

    def filled(self, system: LinearSystem, program: Program) -> list[tuple[int, int]]:
        """(node, place) of every entry that is not zero for ever; at least of one."""
        every = list(self.places(system))
        return [pair for pair in every if program.nodes[pair[0]] != ("const", 0.0)] or every[-1:]


def storages(systems: Sequence[LinearSystem]) -> tuple[list[Storage], int]:
    """Storage of each system, one after the other (twice: the symmetric solver works in a copy), and the total."""
    result, start = [], 0
    for system in systems:
        result.append(Storage(start, system.size, len(system.sides)))
        start += 2 * result[-1].numbers
    return result, start


def emit_looped(function: FunctionText, system: LinearSystem, number: int, storage: Storage, name: Name) -> list[str]:
    """Solve a system that is already stored; the values of its unknowns, side by side."""
    unknowns = _call_solver(function, system, number, storage, name)
    function.do(f"br label %solved{number}")
    function.begin(f"solved{number}")
    return unknowns


def emit_unrolled(function: FunctionText, system: LinearSystem, number: int, storage: Storage, name: Name) -> list[str]:
    """Solve a system in its order, and once more with pivoting when that was not good; the unknowns, side by side."""
    # Everything is loaded here, before the ways part: a value must be known on each way that uses it.
    for node in system_nodes(system):
        name(node)
    n = system.size
    whole = list(system.matrix)
    matrix = [[name(node) for node in whole[row * n : (row + 1) * n]] for row in range(n)]
    sides = [[name(node) for node in side] for side in system.sides]
    assert system.order is not None
    elimination = Unrolled(function, matrix, sides, system.order, symmetric=system.symmetric)
    fast = elimination.unknowns()
    good = elimination.accepted(fast)
    fast_block = function.block
    function.do(f"br i1 {good}, label %solved{number}, label %again{number}, !prof !0")
    function.begin(f"again{number}")
    clear(function, storage)
    for node, place in storage.places(system):
        if name(node) != ZERO:
            function.store(name(node), "%work", place)
    slow = _call_solver(function, system, number, storage, name)
    slow_block = function.block
    function.do(f"br label %solved{number}")
    function.begin(f"solved{number}")
    return [
        function.value(f"phi double [ {a}, %{fast_block} ], [ {b}, %{slow_block} ]")
        for a, b in zip(fast, slow, strict=True)
    ]


def clear(function: FunctionText, storage: Storage) -> None:
    """Fill the storage with zeros, the padding too."""
    at = function.value(f"getelementptr double, ptr %work, i64 {storage.start}")
    function.do(f"call void @llvm.memset.p0.i64(ptr {at}, i8 0, i64 {8 * storage.numbers}, i1 false)")


def _call_solver(function: FunctionText, system: LinearSystem, number: int, storage: Storage, name: Name) -> list[str]:
    """Call a solver, leave the function when the system is singular, load the unknowns."""
    solver = "svyaz_solve_symmetric" if _may_be_definite(system, name) else "svyaz_solve_pivoted"
    at = function.value(f"getelementptr double, ptr %work, i64 {storage.start}")
    sizes = f"i64 {storage.size}, i64 {storage.first_side}, i64 {storage.width}"
    status = function.value(f"call i32 @{solver}(ptr {at}, ptr %factors, {sizes})")
    bad = function.value(f"icmp ne i32 {status}, 0")
    function.do(f"br i1 {bad}, label %singular{number}, label %pivoted{number}, !prof !1")
    function.begin(f"pivoted{number}")
    return [
        function.load("%work", storage.start + row * storage.width + storage.first_side + side)
        for side in range(storage.sides)
        for row in range(storage.size)
    ]


def _may_be_definite(system: LinearSystem, name: Name) -> bool:
    """Symmetric, and no diagonal entry is zero for ever."""
    diagonal = [node for row, column, node in cells(system) if row == column]
    return system.symmetric and len(diagonal) == system.size and all(name(node) != ZERO for node in diagonal)
