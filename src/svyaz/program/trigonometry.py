"""Sines and cosines that need not be computed: passes over the graph like those of ``optimise``.

1. r sin² x + r cos² x = r, whatever r is;
2. a cos x + b sin x = √(a² + b²) cos(x - φ), φ = atan2(b, a), for a and b that depend on parameters alone: one product
   less, and one function less where sin x and cos x are not wanted elsewhere. Its derivative, b cos x - a sin x, is
   -√(a² + b²) sin(x - φ) with the same φ.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from svyaz.program.graph import Graph
from svyaz.program.optimise import reachable, rebuild, term_factors, term_node

Factors = tuple[tuple[int, int], ...]
"""The factors of a term with their powers, in order."""

Pair = tuple[tuple[float, int], tuple[float, int]]
"""Constant coefficients of a cosine and of a sine, each a number times a node."""

Shape = tuple[int, int, float, int]
"""(x, a, ratio, b) of a wave a cos x + ratio b sin x without common factors."""


def fold_squares(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Use sin² + cos² = 1 in every sum, until it helps no more."""

    def stays(node: tuple) -> bool:
        if node[0] != "sum":
            return True
        kinds = [graph.nodes[n] for _, n in node[1]]
        return not any(kind[0] == "product" and any(_is_square(graph, n, p) for n, p in kind[1]) for kind in kinds)

    def rewrite(node: tuple) -> int:
        if node[0] == "product":
            return graph.product(node[1])
        if node[0] != "sum":
            return graph.intern(node)
        if stays(node):
            return graph.sum(node[1])
        terms = {tuple(sorted(term_factors(graph, n).items())): c for c, n in node[1]}
        return graph.sum(
            [(c, term_node(graph, dict(factors))) for factors, c in _without_squares(graph, terms).items()]
        )

    squared = {
        graph.nodes[n]
        for number in reachable(graph, roots)
        if graph.nodes[number][0] == "product"
        for n, p in graph.nodes[number][1]
        if _is_square(graph, n, p)
    }
    both = {angle for name, angle in squared if name == "sin"} & {angle for name, angle in squared if name == "cos"}
    return rebuild(graph, roots, rewrite, stays) if both else list(roots)


def _is_square(graph: Graph, number: int, power: int) -> bool:
    return power >= 2 and graph.nodes[number][0] in ("sin", "cos")


def _without_squares(graph: Graph, terms: Mapping[Factors, float]) -> dict[Factors, float]:
    """The terms of a sum with every pair r sin² + r cos² joined, each term looked at once, and again when it has changed."""
    found, waiting = dict(terms), deque(terms)
    halves: dict[tuple, Factors] = {}  # terms that wait for their other half; it counts if they are still as they were
    while waiting:
        factors = waiting.popleft()
        c = found.get(factors)
        if c is None:
            continue
        for number, power in factors:
            if not _is_square(graph, number, power):
                continue
            name, angle = graph.nodes[number]
            rest = tuple((n, p - 2 * (n == number)) for n, p in factors if n != number or p > 2)
            other = halves.get((c, angle, rest, "cos" if name == "sin" else "sin"))
            if other is None or found.get(other) != c:
                halves[c, angle, rest, name] = factors
                continue
            del found[factors], found[other]
            total = found.get(rest, 0.0) + c
            if total == 0.0:
                del found[rest]
            else:
                found[rest] = total
                waiting.append(rest)
            break
    return found


def fold_phases(graph: Graph, roots: Sequence[int]) -> list[int]:
    """Fold a cos x + b sin x in every sum into one shifted cosine."""
    known: dict[Shape, tuple[int, int]] = {}

    def rewrite(node: tuple) -> int:
        if node[0] == "product":
            return graph.product(node[1])
        if node[0] != "sum":
            return graph.intern(node)
        waves: dict[tuple, dict[str, tuple[float, int]]] = {}
        others: list[tuple[float, int]] = []
        for c, number in node[1]:
            found = _wave(graph, number)
            if found is None or found[0] in waves.get(found[1], {}):
                others.append((c, number))
            else:
                waves.setdefault(found[1], {})[found[0]] = (c, found[2])
        for (angle, rest), parts in waves.items():
            factor = graph.product(rest) if rest else graph.number(1.0)
            if len(parts) == 2:
                others.append(_folded(graph, known, angle, factor, (parts["cos"], parts["sin"])))
            else:
                ((name, (c, constant)),) = parts.items()
                wave = graph.function(name, angle)
                others.append((c, graph.product([(constant, 1), (wave, 1), (factor, 1)])))
        return graph.sum(others)

    return rebuild(graph, roots, rewrite) if _has_pairs(graph, roots) else list(roots)


def _has_pairs(graph: Graph, roots: Sequence[int]) -> bool:
    """Is there a sum with a cosine and a sine of one angle and the same factors?"""
    for number in reachable(graph, roots):
        node = graph.nodes[number]
        if node[0] != "sum" or graph.constant[number]:
            continue
        seen: dict[tuple, str] = {}
        for _, term in node[1]:
            found = _wave(graph, term)
            if found is not None and seen.setdefault(found[1], found[0]) != found[0]:
                return True
    return False


def _wave(graph: Graph, number: int) -> tuple[str, tuple, int] | None:
    """A term that is constant · sin x · rest or constant · cos x · rest, as (name, (x, rest), constant)."""
    factors = term_factors(graph, number)
    waves = [n for n, p in factors.items() if p == 1 and graph.nodes[n][0] in ("sin", "cos")]
    if len(waves) != 1 or graph.constant[waves[0]]:
        return None
    name, angle = graph.nodes[waves[0]]
    fixed = [(n, p) for n, p in factors.items() if graph.constant[n]]
    rest = tuple(sorted((n, p) for n, p in factors.items() if n != waves[0] and not graph.constant[n]))
    return name, (angle, rest), graph.product(fixed) if fixed else graph.number(1.0)


def _folded(
    graph: Graph, known: dict[Shape, tuple[int, int]], angle: int, factor: int, pair: Pair
) -> tuple[float, int]:
    """factor · (a cos x + b sin x) as a term of a sum.

    Numbers and factors common to a and b are put outside, so that all multiples of a wave share its angle; and so does
    its derivative: of a' cos x + b' sin x = size cos(x - φ) known before, b' cos x - a' sin x = -size sin(x - φ).
    """
    scale, ratio, common, a, b = _shape(graph, pair)
    before = known.get((angle, b, -1.0 / ratio, a))
    if before is not None:
        size, shifted = before
        wave = graph.function("sin", shifted)
        return scale * ratio, graph.product([(size, 1), (wave, 1), (factor, 1), (common, 1)])
    if (angle, a, ratio, b) not in known:
        second = graph.sum([(ratio, b)])
        squares = graph.sum([(1.0, graph.product([(a, 2)])), (1.0, graph.product([(second, 2)]))])
        shifted = graph.sum([(1.0, angle), (-1.0, graph.intern(("atan2", second, a)))])
        known[angle, a, ratio, b] = graph.intern(("sqrt", squares)), shifted
    size, shifted = known[angle, a, ratio, b]
    wave = graph.function("cos", shifted)
    return scale, graph.product([(size, 1), (wave, 1), (factor, 1), (common, 1)])


def _shape(graph: Graph, pair: Pair) -> tuple[float, float, int, int, int]:
    """a and b as scale · common · (a', ratio · b')."""
    (c, a), (d, b) = ((k * n, f) for k, (n, f) in ((k, _flat(graph, node)) for k, node in pair))
    shared = {n: min(p, b[n]) for n, p in a.items() if n in b and p * b[n] > 0}
    first, second = ({n: p - shared.get(n, 0) for n, p in factors.items()} for factors in (a, b))
    return (
        c,
        d / c,
        graph.product(shared.items()) if shared else graph.number(1.0),
        graph.product((n, p) for n, p in first.items() if p),
        graph.product((n, p) for n, p in second.items() if p),
    )


def _flat(graph: Graph, number: int) -> tuple[float, dict[int, int]]:
    """A constant as number times factors, nested products opened."""
    coefficient, factors = 1.0, dict[int, int]()
    waiting = [(number, 1)]
    while waiting:
        n, power = waiting.pop()
        node = graph.nodes[n]
        if node[0] == "product":
            waiting.extend((inner, p * power) for inner, p in node[1])
        elif node[0] == "sum" and len(node[1]) == 1:
            coefficient *= node[1][0][0] ** power
            waiting.append((node[1][0][1], power))
        elif node[0] == "num":
            coefficient *= node[1] ** power
        else:
            factors[n] = factors.get(n, 0) + power
    return coefficient, {n: p for n, p in factors.items() if p}
