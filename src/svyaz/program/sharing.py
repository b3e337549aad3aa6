"""Pairs of factors or terms that occur in several products or sums are computed once (greedy, most frequent first)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from svyaz.program.graph import LEAVES, Graph, children
from svyaz.program.optimise import reachable

LONGEST_SEARCHED = 120
"""Sums and products with more operands than this are not searched for shared pairs (the search is quadratic)."""

Pair = tuple
"""Two operands of a sum, (coefficient, node) each, or of a product, (node, power) each."""


def share_pairs(graph: Graph, roots: Sequence[int], kind: str) -> list[int]:
    """Compute pairs that occur in several products (or sums, by ``kind``) once."""
    operands = {n: list(graph.nodes[n][1]) for n in reachable(graph, roots) if graph.nodes[n][0] == kind}
    search = _Search(graph, kind, operands)
    search.run()
    return _rebuilt_with(graph, roots, {n: tuple(items) for n, items in operands.items()}, kind)


class _Search:
    """Which pair occurs where, kept true while pairs are replaced by single operands."""

    def __init__(self, graph: Graph, kind: str, operands: dict[int, list]) -> None:
        self.graph = graph
        self.kind = kind
        self.operands = operands
        self.normal = _normal_term_pair if kind == "sum" else _normal_factor_pair
        self.where: dict[Pair, set[int]] = defaultdict(set)
        for n, items in operands.items():
            if len(items) <= LONGEST_SEARCHED:
                for i, a in enumerate(items):
                    for b in items[i + 1 :]:
                        self.where[self.normal(a, b)].add(n)

    def run(self) -> None:
        """Replace pairs, those that occur most often first, until none occurs twice."""
        levels: dict[int, list[Pair]] = defaultdict(list)
        for pair, places in self.where.items():
            if len(places) > 1:
                levels[len(places)].append(pair)
        while levels:
            level = max(levels)
            for pair in sorted(levels.pop(level)):
                count = len(self.where[pair])
                touched = self._replaced(pair) if count == level else {pair: None}
                for other in touched:
                    if len(self.where[other]) > 1:
                        levels[len(self.where[other])].append(other)

    def _replaced(self, pair: Pair) -> dict[Pair, None]:
        """Replace a pair in all its places; returns the pairs that now occur more often."""
        joint = self.graph.intern((self.kind, pair))
        touched: dict[Pair, None] = {}
        for n in sorted(self.where[pair]):
            items = self.operands[n]
            a, b = pair
            sign = 1.0
            if a not in items or b not in items:
                a, b = ((-c, m) for c, m in pair)
                sign = -1.0
            joined = (sign, joint) if self.kind == "sum" else (joint, 1)
            place = 1 if self.kind == "sum" else 0
            alone = len(items) == 2 and sign > 0
            if alone or any(item[place] == joint for item in items):
                continue
            rest = [item for item in items if item not in (a, b)]
            self.where[pair].discard(n)
            for item in rest:
                self.where[self.normal(a, item)].discard(n)
                self.where[self.normal(b, item)].discard(n)
                new = self.normal(joined, item)
                self.where[new].add(n)
                touched[new] = None
            self.operands[n] = [*rest, joined]
        return touched


def _normal_factor_pair(a: tuple, b: tuple) -> Pair:
    """Two factors in order."""
    return (a, b) if a < b else (b, a)


def _normal_term_pair(a: tuple, b: tuple) -> Pair:
    """Two terms in the order of their nodes, the first coefficient positive."""
    if a[1] > b[1]:
        a, b = b, a
    return (a, b) if a[0] > 0 else ((-a[0], a[1]), (-b[0], b[1]))


def _rebuilt_with(graph: Graph, roots: Sequence[int], table: dict[int, tuple], kind: str) -> list[int]:
    """The roots with the operands of some nodes replaced."""
    new: dict[int, int] = {}

    def visit(start: int) -> int:
        stack = [start]
        while stack:
            n = stack[-1]
            if n in new:
                stack.pop()
                continue
            node, operands = graph.nodes[n], graph.operands[n]
            if n in table:
                node = (kind, table[n])
                operands = children(node)
            missing = [child for child in operands if child not in new]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if node[0] in LEAVES:
                new[n] = n
            elif node[0] == "sum":
                items = tuple(sorted(((c, new[m]) for c, m in node[1]), key=lambda item: item[1]))
                new[n] = items[0][1] if items == ((1.0, items[0][1]),) else graph.intern(("sum", items))
            elif node[0] == "product":
                items = tuple(sorted((new[m], p) for m, p in node[1]))
                new[n] = items[0][0] if items == ((items[0][0], 1),) else graph.intern(("product", items))
            else:
                new[n] = graph.intern((node[0], *(new[m] for m in node[1:])))
        return new[start]

    return [visit(root) for root in roots]
