"""Fewer operations: passes over the graph of n-ary sums and products. Each keeps every value, up to rounding.

1. what depends on parameters alone is gathered, so that it is computed once, in the constants part;
2. a factor common to several terms of a sum is taken out: a*x + a*y = a*(x + y);
3. pairs of factors or terms that occur in several products or sums are computed once (greedy, most frequent first).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush

from svyaz.program.graph import LEAVES, Graph, children

LONGEST_SEARCHED = 120
"""Sums and products with more operands than this are not searched for shared pairs (the search is quadratic)."""


def reachable(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Numbers of the nodes that the roots need, in an order of evaluation (children are interned before parents)."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for child in children(graph.nodes[stack.pop()]):
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return sorted(seen)


def constant_nodes(graph: Graph, order: Sequence[int]) -> set[int]:
    """Those of the nodes that depend on parameters and numbers alone."""
    constant: set[int] = set()
    for number in order:
        node = graph.nodes[number]
        if node[0] in ("num", "parameter"):
            constant.add(number)
        elif node[0] not in LEAVES and all(child in constant for child in children(node)):
            constant.add(number)
    return constant


def rebuild(graph: Graph, roots: Sequence[int], rewrite: Callable[[tuple], int]) -> list[int]:
    """Rewrite every node, children first. ``rewrite`` gets the node with its children already rewritten."""
    new: dict[int, int] = {}
    for number in reachable(graph, roots):
        node = graph.nodes[number]
        kind = node[0]
        if kind in LEAVES:
            new[number] = number
            continue
        if kind == "sum":
            node = ("sum", tuple((c, new[n]) for c, n in node[1]))
        elif kind == "product":
            node = ("product", tuple((new[n], p) for n, p in node[1]))
        else:
            node = (kind, *(new[n] for n in node[1:]))
        new[number] = rewrite(node)
    return [new[root] for root in roots]


def gather_constants(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Make one node of the constant operands of each sum and product."""
    constant = constant_nodes(graph, reachable(graph, roots))

    def is_constant(number: int) -> bool:
        if number not in constant:
            node = graph.nodes[number]
            if node[0] in LEAVES or not all(is_constant(child) for child in children(node)):
                return node[0] in ("num", "parameter")
            constant.add(number)
        return True

    def gathered_product(factors: Sequence[tuple[int, int]]) -> int:
        fixed = [f for f in factors if is_constant(f[0])]
        free = [f for f in factors if not is_constant(f[0])]
        if len(free) == 0 or (len(fixed) <= 1 and all(p == 1 for _, p in fixed)):
            return graph.product(factors)
        coefficient = graph.product(fixed)
        constant.add(coefficient)
        # interned directly: graph.product would flatten the coefficient again
        return graph.intern(("product", tuple(sorted([*free, (coefficient, 1)]))))

    def gathered_term(c: float, number: int) -> tuple[float, int]:
        """A numerical coefficient joins the constant factor of its product."""
        node = graph.nodes[number]
        if abs(c) == 1.0 or node[0] != "product":
            return c, number
        for factor, power in node[1]:
            if is_constant(factor) and power == 1:
                scaled = graph.sum([(abs(c), factor)])
                constant.add(scaled)
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
            fixed = [term for term in terms if is_constant(term[1])]
            if 1 < len(fixed) < len(terms):
                offset = graph.sum(fixed)
                constant.add(offset)
                terms = [term for term in terms if not is_constant(term[1])] + [(1.0, offset)]
            return graph.sum(terms)
        return graph.intern(node)

    return rebuild(graph, roots, rewrite)


def factor_sums(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Take factors common to several terms out of sums, most frequent first."""

    def term_factors(number: int) -> dict[int, int]:
        node = graph.nodes[number]
        if node[0] == "product":
            return dict(node[1])
        return {number: 1}

    def rewrite(node: tuple) -> int:
        if node[0] == "product":
            return graph.intern(node)
        if node[0] != "sum":
            return graph.intern(node)
        return factored([(c, term_factors(n)) for c, n in node[1]])

    def term_node(factors: dict[int, int]) -> int:
        items = sorted((n, p) for n, p in factors.items() if p)
        if not items:
            return graph.number(1.0)
        if len(items) == 1 and items[0][1] == 1:
            return items[0][0]
        return graph.intern(("product", tuple(items)))

    def factored(terms: list[tuple[float, dict[int, int]]]) -> int:
        counts = Counter(n for _, f in terms for n, p in f.items() if p > 0 and graph.nodes[n][0] != "num")
        best = max(counts.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
        if best[1] < 2:
            return graph.sum([(c, term_node(f)) for c, f in terms])
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
        return factored([*outside, group]) if outside else graph.sum([(group[0], term_node(group[1]))])

    return rebuild(graph, roots, rewrite)


def share_pairs(graph: Graph, roots: Sequence[int], kind: str) -> list[int]:
    """Compute pairs that occur in several products (or sums, by ``kind``) once."""
    order = reachable(graph, roots)
    operands = {n: list(graph.nodes[n][1]) for n in order if graph.nodes[n][0] == kind}
    where: dict[tuple, set[int]] = defaultdict(set)
    for n, items in operands.items():
        if len(items) <= LONGEST_SEARCHED:
            for pair in _pairs(items, kind):
                where[pair].add(n)
    heap = [(-len(places), pair) for pair, places in where.items() if len(places) > 1]
    heapify(heap)
    made: dict[int, int] = {}
    while heap:
        count, pair = heappop(heap)
        places = where[pair]
        if len(places) < 2:
            continue
        if len(places) != -count:
            heappush(heap, (-len(places), pair))
            continue
        joint = graph.intern((kind, pair))
        for n in list(places):
            _replace_pair(n, operands, pair, joint, where, heap, kind)
        made[joint] = joint
    table = {n: tuple(items) for n, items in operands.items()}
    return _rebuilt_with(graph, roots, table, kind)


def _pairs(items: Sequence[tuple], kind: str) -> list[tuple]:
    """All pairs of operands in the normal form: sorted, and for sums with the first coefficient positive."""
    ordered = sorted(items, key=lambda item: item[1]) if kind == "sum" else sorted(items)
    found = []
    for i, a in enumerate(ordered):
        for b in ordered[i + 1 :]:
            found.append(_normal((a, b), kind)[0])
    return found


def _normal(pair: tuple, kind: str) -> tuple[tuple, float]:
    if kind == "sum" and pair[0][0] < 0:
        (c1, n1), (c2, n2) = pair
        return ((-c1, n1), (-c2, n2)), -1.0
    return pair, 1.0


def _replace_pair(
    n: int, operands: dict[int, list], pair: tuple, joint: int, where: dict[tuple, set[int]], heap: list, kind: str
) -> None:
    items = operands[n]
    sign = 1.0
    if pair[0] not in items or pair[1] not in items:
        pair = tuple((-c, m) for c, m in pair)
        sign = -1.0
    if len(items) == 2 and sign > 0:
        return
    for old in _pairs(items, kind):
        where[old].discard(n)
    rest = [item for item in items if item not in pair]
    joined = (sign, joint) if kind == "sum" else (joint, 1)
    operands[n] = [*rest, joined]
    for new in _pairs(operands[n], kind):
        places = where[new]
        places.add(n)
        if len(places) > 1:
            heappush(heap, (-len(places), new))


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
            node = graph.nodes[n]
            if n in table:
                node = (kind, table[n])
            missing = [child for child in children(node) if child not in new]
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
