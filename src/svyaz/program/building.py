"""From expressions to a program: read into one graph, optimise, write the tape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from typing import TypeVar

from svyaz.expr import Expression, symbols_in, uncollected
from svyaz.program.counts import operations
from svyaz.program.graph import LEAVES, Graph, substituted_symbols
from svyaz.program.lower import Linear, SparseRow, lower, row_entries
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

Key = TypeVar("Key")

MOST_KEPT = 256
_kept: dict[bytes, Program] = {}
"""The programs that were built last, by what was asked for."""

MOST_REMEMBERED = 24
_last: dict[object, Program] = {}
"""A few of them by the very expressions: a model whose values are moved asks for the same ones again and again."""


@dataclass(frozen=True)
class _Request:
    """The outputs of a program, by expressions of inputs, parameters and unknowns of systems."""

    outputs: Sequence[tuple[str, Expression]]
    inputs: Sequence[str]
    parameters: Sequence[str]
    systems: Sequence[Linear] = ()
    first: int = 0

    def read(self, *, split_angles: bool = False) -> tuple[Graph, list[int]]:
        """The graph and its roots: for each system the matrix row by row, then its sides; at last the outputs."""
        graph = Graph(self.parameters, self.inputs)
        graph.split_angles = split_angles
        roots = read_systems(graph, self.systems)
        roots.extend(graph.read(e) for _, e in self.outputs)
        return graph, fold_squares(graph, roots)

    def lower(self, graph: Graph, roots: list[int]) -> Program:
        """The program of a graph."""
        names = [name for name, _ in self.outputs]
        return lower(
            graph,
            roots,
            self.systems,
            names,
            tuple(self.inputs),
            tuple(self.parameters),
            self.first,
        )

    def program(self, nodes: float, operands: float = inf) -> Program:
        """The shortest, or as it was read where the graph has more nodes or operands than these. The last programs are
        cached: equations that are formed again ask for the same expressions, or give the same graph.
        """
        if any(isinstance(row, SparseRow) for system in self.systems for row in system.matrix):
            return self._search(nodes, operands)
        parts = [
            (*(tuple(map(tuple, rows)) for rows in (s.matrix, s.sides, s.unknowns)), s.symmetric) for s in self.systems
        ]
        key = (
            nodes,
            operands,
            tuple(self.outputs),
            tuple(self.inputs),
            tuple(self.parameters),
            tuple(parts),
            self.first,
        )
        return _cached(_last, MOST_REMEMBERED, key, lambda: self._search(nodes, operands))

    def _search(self, nodes: float, operands: float) -> Program:
        graph, roots = self.read()
        if len(graph.nodes) > nodes or sum(map(len, graph.operands)) > operands:
            return self.lower(graph, roots)
        names = [name for name, _ in self.outputs]
        given = (
            graph.nodes,
            roots,
            names,
            [system.shape for system in self.systems],
            list(self.inputs),
            list(self.parameters),
            self.first,
        )
        key = sha256(repr(given).encode()).digest()
        return _cached(_kept, MOST_KEPT, key, lambda: _shortest(self, graph, roots))


def _cached(programs: dict[Key, Program], most: int, key: Key, make: Callable[[], Program]) -> Program:
    """A program by a key, among the ``most`` that were asked for last."""
    found = programs.pop(key, None) or make()
    programs[key] = found
    while len(programs) > most:
        del programs[next(iter(programs))]
    return found


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
    return _Request(outputs, inputs, parameters, _used(outputs, systems), first).program(TOO_LONG)


@uncollected
def build_as_written(
    outputs: Sequence[tuple[str, Expression]],
    *,
    inputs: Sequence[str],
    parameters: Sequence[str],
    systems: Sequence[Linear] = (),
) -> Program:
    """The outputs without a search for the shortest program: for long ones that are evaluated once a step."""
    request = _Request(outputs, inputs, parameters, _used(outputs, systems))
    return request.lower(*request.read())


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
    return _Request(outputs, inputs, parameters, _used(outputs, systems), first).program(longest, 4 * longest)


def _shortest(request: _Request, graph: Graph, roots: list[int]) -> Program:
    """The best of the ways in which the outputs, read into this graph, can be written.

    Of a long program that solves systems for more than it takes to write them down, the way it was read.
    """
    if len(graph.nodes) > LONG and estimate(graph, roots) < sum(map(_solving, request.systems)):
        return request.lower(graph, roots)
    graphs = [(graph, gather_constants(graph, roots))]
    folded = fold_phases(graph, graphs[0][1])
    if folded != graphs[0][1]:
        graphs.append((graph, gather_constants(graph, folded)))
    if _has_angle_sums(graph):
        graph, roots = request.read(split_angles=True)
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
    return min((request.lower(g, share_pairs(g, r, "sum")) for g, r in ways), key=cost)


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


def read_systems(graph: Graph, systems: Sequence[Linear]) -> list[int]:
    """The roots of the systems, matrix row by row and sides; their unknowns become known to the graph."""
    roots: list[int] = []
    for k, system in enumerate(systems):
        places = system.places
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
