"""From the graph of n-ary sums and products to the tape of single operations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import symengine as se

from svyaz.expr import ZERO, Expression
from svyaz.program.graph import Graph
from svyaz.program.optimise import reachable
from svyaz.program.tape import LinearSystem, Node, Program, Sparse

LARGEST_WHOLE, SPARSE = 48, 0.2
"""The matrix of a larger system is kept by its entries when these are less than this part of all."""


@dataclass(frozen=True)
class SparseRow(Sequence[Expression]):
    """A row of a matrix of which few entries are not zero, by their columns."""

    entries: Mapping[int, Expression]
    width: int

    def __len__(self) -> int:
        return self.width

    @overload
    def __getitem__(self, place: int) -> Expression: ...

    @overload
    def __getitem__(self, place: slice) -> list[Expression]: ...

    def __getitem__(self, place: int | slice) -> Expression | list[Expression]:
        if isinstance(place, slice):
            return [self.entries.get(k, ZERO) for k in range(*place.indices(self.width))]
        if not -self.width <= place < self.width:
            raise IndexError(place)
        return self.entries.get(place % self.width, ZERO)


def row_entries(row: Sequence[Expression]) -> Iterable[tuple[int, Expression]]:
    """(column, entry) of what is not zero in a row."""
    if isinstance(row, SparseRow):
        return row.entries.items()
    return [(column, entry) for column, entry in enumerate(row) if entry is not ZERO]


@dataclass(frozen=True)
class Linear:
    """A linear system whose unknowns may be used in later systems and in the outputs.

    matrix · unknowns[s] = sides[s] for every side s; the unknowns are symbols.
    """

    matrix: Sequence[Sequence[Expression]]
    sides: Sequence[Sequence[Expression]]
    unknowns: Sequence[Sequence[se.Symbol]]
    symmetric: bool = False

    @property
    def places(self) -> tuple[tuple[int, int], ...] | None:
        """Of a large matrix with few entries, (row, column) of these."""
        size = len(self.matrix)
        if size <= LARGEST_WHOLE:
            return None
        found = tuple((i, j) for i, row in enumerate(self.matrix) for j, _ in sorted(row_entries(row)))
        return found if len(found) < SPARSE * size * size else None

    @property
    def shape(self) -> tuple[object, ...]:
        """All but its entries."""
        return len(self.matrix), len(self.sides), self.symmetric, self.places


def lower(
    graph: Graph,
    roots: Sequence[int],
    systems: Sequence[Linear],
    names: Sequence[str],
    inputs: tuple[str, ...],
    parameters: tuple[str, ...],
    first: int = 0,
) -> Program:
    """Write the tape. ``roots``: the entries of the systems, then the outputs.

    The ``first`` outputs are written before the systems.
    """
    writer = _Writer(graph, roots)
    solved = []
    position = 0
    for root in roots[len(roots) - len(names) :][:first]:
        writer.write(root)
    for system in systems:
        size, places = len(system.matrix), system.places
        entries = size**2 if places is None else len(places)
        matrix = tuple(writer.write(r) for r in roots[position : position + entries])
        position += entries
        columns = []
        for _ in system.sides:
            columns.append(tuple(writer.write(r) for r in roots[position : position + size]))
            position += size
        whole: tuple[int, ...] | Sparse = matrix
        if places is not None:
            known = tuple((i, j, node) for (i, j), node in zip(places, matrix, strict=True))
            whole = Sparse(size, writer.emit("const", 0.0), known)
        solved.append(LinearSystem(size, whole, tuple(columns), system.symmetric))
    outputs = tuple((name, writer.write(r)) for name, r in zip(names, roots[position:], strict=True))
    return Program(parameters, inputs, tuple(writer.tape), outputs, tuple(solved))


class _Writer:
    """The tape under construction, with its own interning of single operations."""

    def __init__(self, graph: Graph, roots: Sequence[int]) -> None:
        self.graph = graph
        self.tape: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._written: dict[int, int] = {}
        order = reachable(graph, roots)
        self._divisors = Counter(
            n for number in order if graph.nodes[number][0] == "product" for n, p in graph.nodes[number][1] if p < 0
        )

    def emit(self, *node: object) -> int:
        """The tape number of a single operation."""
        number = self._numbers.get(node)
        if number is None:
            number = len(self.tape)
            self._numbers[node] = number
            self.tape.append(node)
        return number

    def write(self, root: int) -> int:
        """Write a node of the graph after everything that it needs."""
        stack = [root]
        while stack:
            number = stack[-1]
            if number in self._written:
                stack.pop()
                continue
            missing = [c for c in self.graph.operands[number] if c not in self._written]
            if missing:
                stack.extend(missing)
                continue
            self._written[number] = self._write_one(self.graph.nodes[number])
            stack.pop()
        return self._written[root]

    def _write_one(self, node: tuple) -> int:
        kind, *rest = node
        if kind == "num":
            return self.emit("const", rest[0])
        if kind in ("parameter", "input", "unknown"):
            return self.emit(*node)
        if kind == "sum":
            return self._sum(rest[0])
        if kind == "product":
            return self._product(rest[0])
        return self.emit(kind, *(self._written[n] for n in rest))

    def _sum(self, terms: Sequence[tuple[float, int]]) -> int:
        by_size: dict[float, list[tuple[bool, int]]] = defaultdict(list)
        for c, n in terms:
            if self.graph.nodes[n] == ("num", 1.0):
                by_size[1.0].append((c > 0, self.emit("const", abs(c))))
            else:
                by_size[abs(c)].append((c > 0, self._written[n]))
        parts = []
        for size, members in by_size.items():
            if size == 1.0:
                parts.extend(members)
            else:
                positive, value = self._signed_sum(members)
                parts.append((positive, self.emit("mul", self.emit("const", size), value)))
        positive, value = self._signed_sum(parts)
        return value if positive else self.emit("neg", value)

    def _signed_sum(self, parts: Sequence[tuple[bool, int]]) -> tuple[bool, int]:
        """(sign, magnitude) of a sum of signed values: a leading plus is preferred, to change signs rarely."""
        plus = [value for positive, value in parts if positive]
        minus = [value for positive, value in parts if not positive]
        positive = bool(plus)
        if not positive:
            plus, minus = minus, plus
        value = plus[0]
        for other in plus[1:]:
            value = self.emit("add", value, other)
        for other in minus:
            value = self.emit("sub", value, other)
        return positive, value

    def _product(self, factors: Sequence[tuple[int, int]]) -> int:
        above = []
        below = []
        # What is constant comes first, so that it is multiplied in the constants part.
        for n, p in sorted(factors, key=lambda factor: not self.graph.constant[factor[0]]):
            power = self._power(self._written[n], abs(p))
            if p > 0:
                above.append(power)
            elif self.graph.constant[n] or self._divisors[n] > 1:
                above.append(self.emit("div", self.emit("const", 1.0), power))
            else:
                below.append(power)
        value = self._chain(above) if above else self.emit("const", 1.0)
        return self.emit("div", value, self._chain(below)) if below else value

    def _chain(self, values: Sequence[int]) -> int:
        value = values[0]
        for other in values[1:]:
            value = self.emit("mul", value, other)
        return value

    def _power(self, base: int, power: int) -> int:
        """base^power by repeated squaring."""
        result = None
        square = base
        while power:
            if power & 1:
                result = square if result is None else self.emit("mul", result, square)
            power >>= 1
            if power:
                square = self.emit("mul", square, square)
        assert result is not None
        return result
