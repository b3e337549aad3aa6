"""The straight-line program: what every form of the equations becomes before it becomes numbers.

A program is a tape of scalar operations in the order of evaluation. A node is a plain tuple, so that interning is one
dictionary look-up:

====================================  =======================================================================
``("const", value)``                  a number
``("parameter", k)``                  the k-th parameter: constant during a run
``("input", k)``                      the k-th input: changes from step to step (time and state)
``("add" | "sub" | "mul" | "div", a, b)``   arithmetic on earlier nodes a and b
``("neg", a)``                        change of sign
``(name, a)`` for name in UNARY       sin, cos, sqrt, …
``(name, a, b)`` for name in BINARY   pow, atan2, min, max
``("outside", number, which, a, …)``  a function of Python, see ``outside.py``
``("unknown", k, i)``                 the i-th unknown of the k-th linear system (side by side: i = side * size + row)
====================================  =======================================================================

Nodes that depend on parameters alone form the *constants part*, computed once; the rest is the *step part*.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

UNARY = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "abs", "sign")
BINARY = ("pow", "atan2", "min", "max")
ARITHMETIC = ("add", "sub", "mul", "div")
LEAVES = ("const", "parameter", "input")

Node = tuple
"""(operation, argument, ...); see the table in the docstring of this module."""


@dataclass(frozen=True)
class Sparse:
    """The nodes of a matrix (size × size) of which few entries are not zero: (row, column, node) in order.

    Read as a sequence it is whole, row by row; ``zero`` is the node of all other entries.
    """

    size: int
    zero: int
    entries: tuple[tuple[int, int, int], ...]

    def __len__(self) -> int:
        return self.size * self.size

    def __iter__(self) -> Iterator[int]:
        place = 0
        for row, column, node in self.entries:
            here = row * self.size + column
            while place < here:
                yield self.zero
                place += 1
            yield node
            place += 1
        for _ in range(place, len(self)):
            yield self.zero


@dataclass(frozen=True)
class LinearSystem:
    """A linear system solved inside the program: matrix · unknowns = side, for each of the sides.

    ``matrix`` holds node numbers row by row (size × size), ``sides`` one tuple of node numbers per right-hand side; a large
    one with few entries is ``Sparse``.
    ``order`` is an elimination order (pivot rows, pivot columns) chosen from a sample state, or None for pivoting at
    run time; it only affects speed, never the result beyond rounding.
    """

    size: int
    matrix: tuple[int, ...] | Sparse
    sides: tuple[tuple[int, ...], ...]
    symmetric: bool
    order: tuple[tuple[int, ...], tuple[int, ...]] | None = None


@dataclass(frozen=True)
class Program:
    """Inputs, a tape, and named outputs. ``systems`` are referred to by the ``unknown`` nodes.

    ``defaults`` are the values of the parameters where they are known; texts for people and other languages tell them.

    >>> import symengine, svyaz
    >>> x = symengine.Symbol("x")
    >>> program = svyaz.build([("y", x**2 + 1)], inputs=["x"], parameters=[])
    >>> program.inputs, [name for name, _ in program.outputs]
    (('x',), ['y'])
    """

    parameters: tuple[str, ...]
    inputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[tuple[str, int], ...]
    systems: tuple[LinearSystem, ...] = ()
    defaults: tuple[float, ...] = ()

    @cached_property
    def constant_part(self) -> tuple[bool, ...]:
        """For each node: does it depend on parameters and numbers alone?"""
        flags: list[bool] = []
        for node in self.nodes:
            op = node[0]
            if op in ("const", "parameter"):
                flags.append(True)
            elif op in ("input", "unknown"):
                flags.append(False)
            else:
                flags.append(all(flags[a] for a in node[1:]))
        return tuple(flags)


class ProgramError(ValueError):
    """A program that is not well formed, or was given numbers that do not fit it."""


class SingularSystem(ArithmeticError):
    """A linear system inside a program has no unique solution at the state it was evaluated at."""

    def __init__(self, system: int) -> None:
        super().__init__(f"linear system {system} of the program is singular at this state")
        self.system = system


def cells(system: LinearSystem) -> Sequence[tuple[int, int, int]]:
    """(row, column, node) of the entries of a matrix, row by row; of a sparse one those that are not zero for ever."""
    if isinstance(system.matrix, Sparse):
        return system.matrix.entries
    return [(*divmod(place, system.size), node) for place, node in enumerate(system.matrix)]


def system_nodes(system: LinearSystem) -> list[int]:
    """The nodes a linear system is made of."""
    matrix = [node for _, _, node in system.matrix.entries] if isinstance(system.matrix, Sparse) else system.matrix
    return [*matrix, *(node for side in system.sides for node in side)]


def solved_nodes(program: Program) -> list[bool]:
    """For each node: does it need the unknowns of a system?"""
    found: list[bool] = []
    for node in program.nodes:
        leaf = node[0] in LEAVES
        found.append(node[0] == "unknown" or (not leaf and any(found[a] for a in node[1:])))
    return found


def needed_nodes(program: Program) -> list[bool]:
    """For each node: does an output depend on it?"""
    needed = [False] * len(program.nodes)
    for _, output in program.outputs:
        needed[output] = True
    solved: set[int] = set()
    for index in range(len(program.nodes) - 1, -1, -1):
        if not needed[index]:
            continue
        node = program.nodes[index]
        if node[0] == "unknown":
            if node[1] not in solved:
                solved.add(node[1])
                for used in system_nodes(program.systems[node[1]]):
                    needed[used] = True
        elif node[0] not in LEAVES:
            for used in node[1:]:
                needed[used] = True
    return needed


def stored_constants(program: Program, needed: list[bool]) -> tuple[int, ...]:
    """Nodes of the constants part that the step part uses: what ``c`` holds, in the order of the tape."""
    constant, nodes = program.constant_part, program.nodes
    used: set[int] = {output for _, output in program.outputs}
    solved: set[int] = set()
    for index, node in enumerate(nodes):
        if not needed[index] or constant[index]:
            continue
        if node[0] == "unknown":
            if node[1] not in solved:
                solved.add(node[1])
                used.update(system_nodes(program.systems[node[1]]))
        elif node[0] != "input":
            used.update(node[1:])
    return tuple(sorted(index for index in used if constant[index] and nodes[index][0] != "const"))


def constants_nodes(program: Program, stored: tuple[int, ...]) -> list[int]:
    """Nodes that the stored constants are computed from, themselves included, in the order of the tape."""
    wanted = set(stored)
    for index in range(max(stored, default=-1), -1, -1):
        node = program.nodes[index]
        if index in wanted and node[0] not in LEAVES:
            wanted.update(node[1:])
    return sorted(wanted)
