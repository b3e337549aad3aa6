"""Fewer operations: passes over the graph of n-ary sums and products. Each keeps every value, up to rounding.

1. what depends on parameters alone is gathered, so that it is computed once, in the constants part;
2. a factor common to several terms of a sum is taken out: a*x + a*y = a*(x + y), or the other way round.

Then pairs of factors or terms that occur in several products or sums are computed once: ``svyaz.program.sharing``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from svyaz.program.graph import LEAVES, Graph


def reachable(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Numbers of the nodes that the roots need, in an order of evaluation (children are interned before parents)."""
    seen = set(roots)
    stack = list(seen)
    operands = graph.operands
    while stack:
        for child in operands[stack.pop()]:
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return sorted(seen)


def rebuild(
    graph: Graph,
    roots: Sequence[int],
    rewrite: Callable[[tuple], int],
    stays: Callable[[tuple], bool] = lambda _: False,
) -> list[int]:
    """Rewrite every node, children first. ``rewrite`` gets the node with its children already rewritten.

    A node that ``stays`` as it is need not be rewritten while its children stay.
    """
    new: dict[int, int] = {}
    for number in reachable(graph, roots):
        node = graph.nodes[number]
        kind = node[0]
        if kind in LEAVES or (stays(node) and all(new[n] == n for n in graph.operands[number])):
            new[number] = number
            continue
        if kind == "sum":
            node = ("sum", tuple([(c, new[n]) for c, n in node[1]]))
        elif kind == "product":
            node = ("product", tuple([(new[n], p) for n, p in node[1]]))
        else:
            node = (kind, *[new[n] for n in node[1:]])
        new[number] = rewrite(node)
    return [new[root] for root in roots]


def gather_constants(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Make one node of the constant operands of each sum and product."""
    constant = graph.constant

    def gathered_product(factors: Sequence[tuple[int, int]]) -> int:
        fixed = [f for f in factors if constant[f[0]]]
        free = [f for f in factors if not constant[f[0]]]
        if len(free) == 0 or (len(fixed) <= 1 and all(p == 1 for _, p in fixed)):
            return graph.product(factors)
        coefficient = graph.product(fixed)
        # interned directly: graph.product would flatten the coefficient again
        return graph.intern(("product", tuple(sorted([*free, (coefficient, 1)]))))

    def gathered_term(c: float, number: int) -> tuple[float, int]:
        """A numerical coefficient joins the constant factor of its product."""
        node = graph.nodes[number]
        if abs(c) == 1.0 or node[0] != "product":
            return c, number
        for factor, power in node[1]:
            if constant[factor] and power == 1:
                scaled = graph.sum([(abs(c), factor)])
                rest = [f for f in node[1] if f[0] != factor]
                joined = graph.intern(("product", tuple(sorted([*rest, (scaled, 1)]))))
                return (1.0 if c > 0 else -1.0), joined
        return c, number

    def rewrite(node: tuple) -> int:
        kind, *rest = node
        if kind == "product":
            return gathered_product(rest[0])
        if kind == "sum":
            terms = [gathered_term(c, n) for c, n in rest[0]]
            fixed = [term for term in terms if constant[term[1]]]
            if 1 < len(fixed) < len(terms):
                offset = graph.sum(fixed)
                terms = [term for term in terms if not constant[term[1]]] + [(1.0, offset)]
            return graph.sum(terms)
        return graph.intern(node)

    return rebuild(graph, roots, rewrite)


def open_products(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Multiply out: a*(x + y) = a*x + a*y where the bracket, of two terms, is the only sum in the product.

    Sines and cosines of split angles are such brackets. Opened, their terms can be shared and factored in other ways.
    """
    opened: set[int] = set()

    def rewrite(node: tuple) -> int:
        if node[0] == "sum":
            terms: list[tuple[float, int]] = []
            for c, n in node[1]:
                terms.extend([(c * d, m) for d, m in graph.nodes[n][1]] if n in opened else [(c, n)])
            return graph.sum(terms)
        if node[0] != "product":
            return graph.intern(node)
        brackets = [(n, p) for n, p in node[1] if graph.nodes[n][0] == "sum" and not graph.constant[n]]
        if len(brackets) != 1 or brackets[0][1] != 1 or len(graph.nodes[brackets[0][0]][1]) != 2:
            return graph.product(node[1])
        rest = [factor for factor in node[1] if factor != brackets[0]]
        number = graph.sum([(c, graph.product([*rest, (n, 1)])) for c, n in graph.nodes[brackets[0][0]][1]])
        if graph.nodes[number][0] == "sum":
            opened.add(number)
        return number

    return rebuild(graph, roots, rewrite)


def factor_sums(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Take factors common to several terms out of sums, most frequent first."""

    def rewrite(node: tuple) -> int:
        if node[0] != "sum":
            return graph.intern(node)
        return factored([(c, term_factors(graph, n)) for c, n in node[1]])

    def factored(terms: list[tuple[float, dict[int, int]]]) -> int:
        counts = Counter(n for _, f in terms for n, p in f.items() if p > 0 and graph.nodes[n][0] != "num")
        best = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
        if best[1] < 2:
            return graph.sum([(c, term_node(graph, f)) for c, f in terms])
        common = best[0]
        inside = []
        outside = []
        for c, f in terms:
            if f.get(common, 0) > 0:
                reduced = dict(f)
                reduced[common] -= 1
                inside.append((c, {n: p for n, p in reduced.items() if p}))
            else:
                outside.append((c, f))
        bracket = factored(inside)
        node = graph.nodes[bracket]
        sign = 1.0
        if node[0] == "sum" and len(node[1]) == 1:
            ((sign, bracket),) = node[1]
        group = (sign, {common: 1, bracket: 1} if bracket != common else {common: 2})
        if graph.nodes[bracket] == ("num", 1.0):
            group = (sign, {common: 1})
        return factored([*outside, group]) if outside else graph.sum([(group[0], term_node(graph, group[1]))])

    return rebuild(graph, roots, rewrite)


def term_factors(graph: Graph, number: int) -> dict[int, int]:
    """{factor: power} of a term."""
    node = graph.nodes[number]
    return dict(node[1]) if node[0] == "product" else {number: 1}


def term_node(graph: Graph, factors: dict[int, int]) -> int:
    """The inverse of ``term_factors``."""
    items = sorted((n, p) for n, p in factors.items() if p)
    if not items:
        return graph.number(1.0)
    if len(items) == 1 and items[0][1] == 1:
        return items[0][0]
    return graph.intern(("product", tuple(items)))
