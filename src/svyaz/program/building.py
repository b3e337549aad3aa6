"""From expressions to a program: read into one graph, optimise, write the tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import overload

import symengine as se

from svyaz.expr import ZERO, Expression, symbols_in, uncollected
from svyaz.program.counts import operations
from svyaz.program.graph import LEAVES, Graph, substituted_symbols
from svyaz.program.lower import Shape, lower
from svyaz.program.optimise import factor_sums, gather_constants, open_products, reachable
from svyaz.program.sharing import share_pairs
from svyaz.program.tape import Program
from svyaz.program.trigonometry import fold_phases, fold_squares

TRIG_COST = 20
"""One sine or cosine costs about as much as this many additions on present machines."""

SMALL = 400
"""For graphs with fewer nodes every way of writing is followed to its end; for larger ones the estimate decides."""

LONG = 2000
"""What is only looked at is not shortened beyond this number of nodes, or four times as many operands."""

HUGE = 10_000
"""In graphs with more nodes products are not opened: it takes longer than what it saves."""

TOO_LONG = 40_000
"""Graphs with more nodes are not shortened at all: it would take minutes."""

LARGEST_WHOLE, SPARSE = 48, 0.2
"""The matrix of a larger system is kept by its entries when these are less than this part of all."""

MOST_KEPT = 256
_kept: dict[bytes, Program] = {}
"""The programs that were built last, by what was asked for."""

MOST_REMEMBERED = 24
_last: dict[object, Program] = {}
"""A few of them by the very expressions: a model whose values are moved asks for the same ones again and again."""


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


Asked = tuple[str, Sequence[tuple[str, Expression]], Sequence[str], Sequence[str], Sequence[Linear], int]


@uncollected
def build(
    outputs: Sequence[tuple[str, Expression]],
    *,
    inputs: Sequence[str],
    parameters: Sequence[str],
    systems: Sequence[Linear] = (),
    first: int = 0,
) -> Program:
    """The shortest program found for the outputs.

    sin² + cos² is 1. Several ways of writing are tried: sines of sums kept or split, a cos + b sin of constants a, b left
    or folded into one shifted cosine; constants gathered first, then common factors taken out of sums or not; products
    opened and shared first, factors taken out afterwards. The one with the least weighted number of operations is
    returned; one of very many operations is left as it was read. A system whose unknowns nobody uses is left out. The
    ``first`` outputs, which contain no unknowns, are computed before any system is solved. The last programs are kept:
    equations that are formed again give the same graph.

    >>> import symengine, svyaz
    >>> x, a = symengine.symbols("x a")
    >>> svyaz.build([("y", a**2 * x)], inputs=["x"], parameters=["a"]).parameters
    ('a',)
    """
    systems = _used(outputs, systems)

    def make() -> Program:
        graph, roots = _read(outputs, inputs, parameters, systems, split_angles=False)
        write = _as_read if len(graph.nodes) > TOO_LONG else _kept_shortest
        return write(graph, roots, outputs, inputs, parameters, systems, first)

    return _remembered(("shortest", outputs, inputs, parameters, systems, first), make)


def _remembered(asked: Asked, make: Callable[[], Program]) -> Program:
    """The program for just these expressions, where it was among the last that were made."""
    way, outputs, inputs, parameters, systems, first = asked
    if any(isinstance(row, SparseRow) for system in systems for row in system.matrix):
        return make()
    parts = [(*(tuple(map(tuple, rows)) for rows in (s.matrix, s.sides, s.unknowns)), s.symmetric) for s in systems]
    key = (way, tuple(outputs), tuple(inputs), tuple(parameters), tuple(parts), first)
    found = _last.pop(key, None) or make()
    _last[key] = found
    while len(_last) > MOST_REMEMBERED:
        del _last[next(iter(_last))]
    return found


def _kept_shortest(
    graph: Graph,
    roots: list[int],
    outputs: Sequence[tuple[str, Expression]],
    inputs: Sequence[str],
    parameters: Sequence[str],
    systems: Sequence[Linear],
    first: int,
) -> Program:
    names = [name for name, _ in outputs]
    asked = (graph.nodes, roots, names, shapes_of(systems), list(inputs), list(parameters), first)
    key = sha256(repr(asked).encode()).digest()
    if key not in _kept:
        while len(_kept) >= MOST_KEPT:
            del _kept[next(iter(_kept))]
        _kept[key] = _shortest(graph, roots, outputs, inputs, parameters, systems, first)
    return _kept[key]


@uncollected
def build_as_written(
    outputs: Sequence[tuple[str, Expression]],
    *,
    inputs: Sequence[str],
    parameters: Sequence[str],
    systems: Sequence[Linear] = (),
) -> Program:
    """The outputs without a search for the shortest program: for long ones that are evaluated once a step."""
    systems = _used(outputs, systems)
    graph, roots = _read(outputs, inputs, parameters, systems, split_angles=False)
    return _as_read(graph, roots, outputs, inputs, parameters, systems)


@uncollected
def build_to_look(
    outputs: Sequence[tuple[str, Expression]],
    *,
    inputs: Sequence[str],
    parameters: Sequence[str],
    systems: Sequence[Linear] = (),
    first: int = 0,
    longest: int = LONG,
) -> Program:
    """A program for what is looked at now and then: one with more nodes than the ``longest`` is not worth a search for the
    shortest.
    """
    systems = _used(outputs, systems)

    def make() -> Program:
        graph, roots = _read(outputs, inputs, parameters, systems, split_angles=False)
        long = len(graph.nodes) > longest or sum(map(len, graph.operands)) > 4 * longest
        write = _as_read if long else _kept_shortest
        return write(graph, roots, outputs, inputs, parameters, systems, first)

    return _remembered((f"to look, {longest}", outputs, inputs, parameters, systems, first), make)


def _as_read(
    graph: Graph,
    roots: list[int],
    outputs: Sequence[tuple[str, Expression]],
    inputs: Sequence[str],
    parameters: Sequence[str],
    systems: Sequence[Linear],
    first: int = 0,
) -> Program:
    names = [name for name, _ in outputs]
    return lower(graph, roots, shapes_of(systems), names, tuple(inputs), tuple(parameters), first)


def shapes_of(systems: Sequence[Linear]) -> list[Shape]:
    """What the systems are like, for ``lower``."""
    return [Shape(len(s.matrix), len(s.sides), s.symmetric, _places(s)) for s in systems]


def _places(system: Linear) -> tuple[tuple[int, int], ...] | None:
    """Of a large system with few entries, where these are."""
    size = len(system.matrix)
    if size <= LARGEST_WHOLE:
        return None
    found = tuple((i, j) for i, row in enumerate(system.matrix) for j, _ in sorted(row_entries(row)))
    return found if len(found) < SPARSE * size * size else None


def _shortest(
    graph: Graph,
    roots: list[int],
    outputs: Sequence[tuple[str, Expression]],
    inputs: Sequence[str],
    parameters: Sequence[str],
    systems: Sequence[Linear],
    first: int,
) -> Program:
    """The best of the ways in which the outputs, read into this graph, can be written.

    Of a long program that solves systems for more than it takes to write them down, the way it was read.
    """
    if len(graph.nodes) > LONG and estimate(graph, roots) < sum(map(_solving, systems)):
        return _as_read(graph, roots, outputs, inputs, parameters, systems, first)
    graphs = [(graph, gather_constants(graph, roots))]
    folded = fold_phases(graph, graphs[0][1])
    if folded != graphs[0][1]:
        graphs.append((graph, gather_constants(graph, folded)))
    if _has_angle_sums(graph):
        graph, roots = _read(outputs, inputs, parameters, systems, split_angles=True)
        graphs.append((graph, gather_constants(graph, roots)))
    large = len(graph.nodes) > SMALL
    if large:
        graphs = [min(graphs, key=lambda g: estimate(*g))]
    ways = [way for g in graphs for way in (g, _factored(*g))]
    if large:
        ways = [min(ways, key=lambda g: estimate(*g))]
    if len(graph.nodes) <= HUGE:
        ways.append((graph, factor_sums(graph, share_pairs(graph, open_products(graph, roots), "product"))))
    ways = [(g, share_pairs(g, r, "product")) for g, r in ways]
    if large:
        ways = [min(ways, key=lambda g: estimate(*g))]
    names = [name for name, _ in outputs]
    programs = [
        lower(g, share_pairs(g, r, "sum"), shapes_of(systems), names, tuple(inputs), tuple(parameters), first)
        for g, r in ways
    ]
    return min(programs, key=cost)


def cost(program: Program) -> int:
    """Weighted number of operations in the step part."""
    counts = operations(program)
    return (
        counts["add"]
        + counts["mul"]
        + counts["angle_sum"]
        + 8 * counts["div"]
        + TRIG_COST * (counts["trig"] + counts["other"])
    )


def _solving(system: Linear) -> int:
    """The number of operations that eliminate n unknowns, n³/3 of a symmetric matrix, and find them for each side."""
    n = len(system.matrix)
    return (1 if system.symmetric else 2) * n**3 // 3 + 2 * n**2 * len(system.sides)


def _used(outputs: Sequence[tuple[str, Expression]], systems: Sequence[Linear]) -> list[Linear]:
    """The systems whose unknowns occur in the outputs or in later systems that are used themselves."""
    if not systems:
        return []
    plain = {e for _, e in outputs if e.is_Symbol}
    if len(systems) == 1 and any(not plain.isdisjoint(side) for side in systems[0].unknowns):
        return list(systems)
    present = symbols_in([e for _, e in outputs])
    kept: list[Linear] = []
    for number, system in reversed(list(enumerate(systems))):
        if all(present.isdisjoint(side) for side in system.unknowns):
            continue
        kept.append(system)
        if number > 0:
            present |= symbols_in([e for row in (*system.matrix, *system.sides) for _, e in row_entries(row)])
    return kept[::-1]


def _has_angle_sums(graph: Graph) -> bool:
    return any(
        node[0] in ("sin", "cos") and graph.nodes[node[1]][0] == "sum" and len(graph.nodes[node[1]][1]) > 1
        for node in graph.nodes
    )


def _read(
    outputs: Sequence[tuple[str, Expression]],
    inputs: Sequence[str],
    parameters: Sequence[str],
    systems: Sequence[Linear],
    *,
    split_angles: bool,
) -> tuple[Graph, list[int]]:
    """The graph and its roots: for each system the matrix row by row, then its sides; at last the outputs."""
    graph = Graph(parameters, inputs)
    graph.split_angles = split_angles
    roots = read_systems(graph, systems)
    roots.extend(graph.read(e) for _, e in outputs)
    return graph, fold_squares(graph, roots)


def read_systems(graph: Graph, systems: Sequence[Linear]) -> list[int]:
    """The roots of the systems, matrix row by row and sides; their unknowns become known to the graph."""
    roots: list[int] = []
    for k, system in enumerate(systems):
        places = _places(system)
        if places is None:
            roots.extend(graph.read(e) for row in system.matrix for e in row)
        else:
            roots.extend(graph.read(system.matrix[i][j]) for i, j in places)
        roots.extend(graph.read(e) for side in system.sides for e in side)
        flat = [symbol for side in system.unknowns for symbol in side]
        substituted_symbols(graph, {symbol: graph.intern(("unknown", k, i)) for i, symbol in enumerate(flat)})
    return roots


def _factored(graph: Graph, roots: list[int]) -> tuple[Graph, list[int]]:
    return graph, gather_constants(graph, factor_sums(graph, roots))


def estimate(graph: Graph, roots: list[int]) -> int:
    """Weighted number of operations of the step part before anything is shared between sums or products."""
    total = 0
    for number in reachable(graph, roots):
        node = graph.nodes[number]
        if graph.constant[number] or node[0] in LEAVES:
            continue
        if node[0] == "sum":
            total += len(node[1]) - 1 + sum(abs(c) != 1.0 for c, _ in node[1])
        elif node[0] == "product":
            total += sum(abs(p) if p > 0 else 8 for _, p in node[1]) - 1
        else:
            total += TRIG_COST
    return total
