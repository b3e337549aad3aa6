"""From a sequence of named formulas to a program that keeps their structure.

Expressions that are written into each other lose what was shared between them; here each formula stands in terms of the
names above it, and only what saves operations is changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import symengine as se

from svyaz.expr import Expression
from svyaz.program.building import read_systems
from svyaz.program.counts import angles_as_sums
from svyaz.program.graph import Graph, substituted_symbols
from svyaz.program.lower import Linear, lower
from svyaz.program.optimise import factor_sums, gather_constants, reachable, rebuild
from svyaz.program.sharing import share_pairs
from svyaz.program.tape import Program

Cost = Callable[[Program], float]


def build_sequence(
    definitions: Mapping[se.Symbol, Expression],
    outputs: Sequence[tuple[str, Expression]],
    *,
    inputs: Sequence[str],
    parameters: Sequence[str],
    cost: Cost,
    systems: Sequence[Linear] = (),
) -> Program:
    """The cheapest program found for the outputs, which are expressions of inputs, parameters and defined names.

    The entries of linear systems may use defined names too, the outputs also the unknowns of the systems.
    """
    graph = Graph(parameters, inputs)
    for symbol, formula in definitions.items():
        substituted_symbols(graph, {symbol: graph.read(formula)})
    roots = read_systems(graph, systems)
    roots.extend(graph.read(e) for _, e in outputs)
    names = [name for name, _ in outputs]
    programs = (
        angles_as_sums(lower(graph, written, systems, names, tuple(inputs), tuple(parameters)))
        for written in _ways(graph, roots)
    )
    return min(programs, key=cost)


def _ways(graph: Graph, roots: list[int]) -> Iterator[list[int]]:
    """The roots written in several ways."""
    plain = gather_constants(graph, roots)
    merged = gather_constants(graph, collect_terms(graph, merge_sums(graph, plain)))
    factored = gather_constants(graph, factor_sums(graph, merged))
    for way in (plain, merged, factored):
        products = share_pairs(graph, way, "product")
        yield products
        yield share_pairs(graph, products, "sum")


def merge_sums(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Write a sum that is used once, in another sum, into that sum, so that their constants become one."""
    used: Counter[int] = Counter(roots)
    for number in reachable(graph, roots):
        used.update(graph.operands[number])
    single = {n for n, count in used.items() if count == 1 and graph.nodes[n][0] == "sum"}
    opened: dict[int, tuple] = {}
    new: dict[int, int] = {}
    for number in reachable(graph, roots):
        node = graph.nodes[number]
        if node[0] != "sum":
            new[number] = _with_operands(graph, number, node, new)
            continue
        terms: list[tuple[float, int]] = []
        for c, n in node[1]:
            terms.extend([(c * d, m) for d, m in opened[n]] if n in single else [(c, new[n])])
        opened[number] = tuple(terms)
        new[number] = graph.sum(terms)
    return [new[root] for root in roots]


def _with_operands(graph: Graph, number: int, node: tuple, new: Mapping[int, int]) -> int:
    if not graph.operands[number]:
        return number
    if node[0] == "product":
        return graph.product([(new[n], p) for n, p in node[1]])
    return graph.intern((node[0], *(new[n] for n in node[1:])))


def collect_terms(graph: Graph, roots: Sequence[int]) -> list[int]:
    """a*x + b*x = (a + b)*x for constants a and b."""
    constant = graph.constant

    def split(number: int) -> tuple[tuple, list[tuple[int, int]]]:
        node = graph.nodes[number]
        factors = node[1] if node[0] == "product" else ((number, 1),)
        return tuple(f for f in factors if not constant[f[0]]), [f for f in factors if constant[f[0]]]

    def rewrite(node: tuple) -> int:
        if node[0] != "sum":
            return graph.intern(node)
        groups: dict[tuple, list[tuple[float, int]]] = defaultdict(list)
        for c, n in node[1]:
            free, fixed = split(n)
            groups[free].append((c, graph.product(fixed) if fixed else graph.number(1.0)))
        terms = []
        for free, weights in groups.items():
            if not free:
                terms.extend(weights)
            elif len(weights) == 1:
                ((c, weight),) = weights
                terms.append((c, graph.product([*free, (weight, 1)])))
            else:
                terms.append((1.0, graph.product([*free, (graph.sum(weights), 1)])))
        return graph.sum(terms)

    return rebuild(graph, roots, rewrite)
