"""Expressions as one interned graph of n-ary sums and products: the shape in which they are optimised.

A node is a tuple, known by its number, and equal nodes are one node:

    ("num", value)   ("parameter", k)   ("input", k)   ("unknown", system, i)
    ("sum", ((coefficient, node), …))   ("product", ((node, power), …))   (function, node, …)

A sum holds each node once with a numerical coefficient, a product each node once with an integer power; a number in a
sum stands as a coefficient of the node of the number one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import symengine as se
from symengine.lib import symengine_wrapper as wrapper

from svyaz.expr import Expression, real_value

FUNCTIONS = {
    wrapper.Sin: "sin",
    wrapper.Cos: "cos",
    wrapper.Tan: "tan",
    wrapper.ASin: "asin",
    wrapper.ACos: "acos",
    wrapper.ATan: "atan",
    wrapper.Sinh: "sinh",
    wrapper.Cosh: "cosh",
    wrapper.Tanh: "tanh",
    wrapper.Log: "log",
    wrapper.Abs: "abs",
    wrapper.sign: "sign",
    wrapper.ATan2: "atan2",
    wrapper.Max: "max",
    wrapper.Min: "min",
    wrapper.FunctionSymbol: "outside",
}

LEAVES = ("num", "parameter", "input", "unknown")

SHORT, CROWD = 60, 100
"""Parts of an expression that is read by itself, where so many of what is known have one hash."""


class Graph:
    """A table of interned nodes, growing while expressions are read in.

    For each node ``operands`` are the nodes that it is computed from, which stand before it, and ``constant`` says
    whether it depends on parameters and numbers alone.
    """

    def __init__(self, parameters: Iterable[str], inputs: Iterable[str]) -> None:
        self.nodes: list[tuple] = []
        self.operands: list[tuple[int, ...]] = []
        self.constant: list[bool] = []
        self._numbers: dict[tuple, int] = {}
        self.symbols: dict[Expression, int] = {}
        self._known: dict[Expression, int] = {}
        self._crowded, self._looked_at = False, 8 * CROWD
        self.split_angles: bool = False
        self._split: dict[tuple[str, int], int] = {}
        for k, name in enumerate(parameters):
            self.symbols[se.Symbol(name)] = self.intern(("parameter", k))
        for k, name in enumerate(inputs):
            self.symbols[se.Symbol(name)] = self.intern(("input", k))

    def intern(self, node: tuple) -> int:
        """The number of the node, new or old."""
        number = self._numbers.get(node)
        if number is None:
            number = len(self.nodes)
            self._numbers[node] = number
            self.nodes.append(node)
            operands = children(node)
            self.operands.append(operands)
            if operands:
                self.constant.append(all(map(self.constant.__getitem__, operands)))
            else:
                self.constant.append(node[0] in ("num", "parameter"))
        return number

    def number(self, value: float) -> int:
        """The node of a number."""
        return self.intern(("num", float(value)))

    def sum(self, terms: Iterable[tuple[float, int]]) -> int:
        """Σ coefficient · node; sums of several terms inside it are left as they are."""
        nodes = self.nodes
        total: dict[int, float] = {}
        for coefficient, node in terms:
            kind = nodes[node]
            if kind[0] == "sum" and len(kind[1]) == 1:
                ((factor, node),) = kind[1]
                coefficient, kind = coefficient * factor, nodes[node]
            if kind[0] == "num":
                coefficient, node = coefficient * kind[1], self.number(1.0)
            total[node] = total[node] + coefficient if node in total else 0.0 + coefficient
        kept = [(total[node], node) for node in sorted(total) if total[node] != 0.0]
        if not kept:
            return self.number(0.0)
        if len(kept) == 1:
            c, node = kept[0]
            if c == 1.0:
                return node
            if nodes[node][0] == "num":
                return self.number(c * nodes[node][1])
        return self.intern(("sum", tuple(kept)))

    def product(self, factors: Iterable[tuple[int, int]]) -> int:
        """Π node^power; numerical factors and signs are moved into a coefficient outside."""
        nodes = self.nodes
        coefficient = 1.0
        powers: dict[int, int] = {}
        pending = list(factors)
        while pending:
            node, power = pending.pop()
            kind = nodes[node]
            if kind[0] == "num":
                coefficient *= kind[1] ** power
            elif kind[0] == "product":
                pending.extend((inner, p * power) for inner, p in kind[1])
            elif kind[0] == "sum" and len(kind[1]) == 1:
                ((c, inner),) = kind[1]
                coefficient *= c**power
                pending.append((inner, power))
            else:
                powers[node] = powers.get(node, 0) + power
        kept = tuple([(node, powers[node]) for node in sorted(powers) if powers[node]])
        if coefficient == 0.0 or not kept:
            return self.number(coefficient)
        if len(kept) == 1 and kept[0][1] == 1:
            return self.sum([(coefficient, kept[0][0])])
        product = self.intern(("product", kept))
        return product if coefficient == 1.0 else self.intern(("sum", ((coefficient, product),)))

    def function(self, name: str, *arguments: int) -> int:
        """A function of nodes; odd and even functions keep a changed sign outside."""
        if name in ("sin", "cos") and len(arguments) == 1:
            return self._signed(name, arguments[0])
        return self.intern((name, *arguments))

    def _trigonometric(self, name: str, argument: int) -> int:
        kind = self.nodes[argument]
        if not self.split_angles or kind[0] != "sum" or len(kind[1]) < 2:
            return self.intern((name, argument))
        known = self._split.get((name, argument))
        if known is None:  # sines and cosines of all partial sums are asked for twice each
            known = self._split[name, argument] = self._of_sum(name, kind[1])
        return known

    def _of_sum(self, name: str, terms: Sequence[tuple[float, int]]) -> int:
        """sin(a + b) and cos(a + b) by the sines and cosines of a and b."""
        *rest, last = terms
        a, b = self.sum(rest), self.sum([last])
        sin_a, cos_a = self._signed("sin", a), self._signed("cos", a)
        sin_b, cos_b = self._signed("sin", b), self._signed("cos", b)
        if name == "sin":
            return self.sum(
                [(1.0, self.product([(sin_a, 1), (cos_b, 1)])), (1.0, self.product([(cos_a, 1), (sin_b, 1)]))]
            )
        return self.sum([(1.0, self.product([(cos_a, 1), (cos_b, 1)])), (-1.0, self.product([(sin_a, 1), (sin_b, 1)]))])

    def _signed(self, name: str, argument: int) -> int:
        """sin(-a) = -sin(a), cos(-a) = cos(a)."""
        kind = self.nodes[argument]
        if kind[0] == "sum" and len(kind[1]) == 1 and kind[1][0][0] < 0:
            ((c, inner),) = kind[1]
            node = self._trigonometric(name, self.sum([(-c, inner)]))
            return self.sum([(-1.0, node)]) if name == "sin" else node
        return self._trigonometric(name, argument)

    def power(self, base: int, exponent: Expression) -> int:
        """base^exponent for integer, half-integer and general exponents."""
        if exponent.is_Integer:
            return self.product([(base, int(exponent))])
        if exponent.is_Rational and int((2 * exponent).is_Integer):
            return self.product([(self.intern(("sqrt", base)), int(2 * exponent))])
        return self.intern(("pow", base, self.read(exponent)))

    def read(self, expression: Expression) -> int:
        """The node of a SymEngine expression, whose symbols must all be known to the graph."""
        found = self._known.get(expression)
        if found is None and self._crowded:
            found = self._read(expression, {}, SHORT)
        if found is None:
            found = cast("int", self._read(expression, self._known, None))
            self._look_at_hashes()
        return found

    def _look_at_hashes(self) -> None:
        """Now and then: have many of what is known one hash?

        Hashes of SymEngine are poor: all numbers that are no integers have the same, differences of neighbours few. Short
        expressions are read by themselves then, so that a table of thousands is not searched through.
        """
        if not self._crowded and len(self._known) > self._looked_at:
            self._looked_at = 2 * len(self._known)
            self._crowded = max(Counter(map(hash, self._known)).values()) > CROWD

    def _read(self, expression: Expression, known: dict[Expression, int], most: int | None) -> int | None:
        """The node, with those of its parts, which are not more than ``most``; None where they are."""
        stack = [(expression, expression.args)]
        while stack:
            e, arguments = stack[-1]
            numbers = [known.get(a) for a in arguments]
            if None in numbers:
                missing = zip(arguments, numbers, strict=True)
                stack.extend((a, a.args) for a, number in missing if number is None)
                continue
            stack.pop()
            if e not in known:
                known[e] = self._inner(e, arguments, cast("list[int]", numbers)) if arguments else self._leaf(e)
                if most is not None and len(known) > most:
                    return None
        return known[expression]

    def _leaf(self, e: Expression) -> int:
        if e.is_Symbol:
            return self.symbols[e]
        return self.number(float(e) if isinstance(e, se.Rational | se.RealDouble) else real_value(e))

    def _inner(self, e: Expression, arguments: Sequence[Expression], numbers: Sequence[int]) -> int:
        if e.is_Add:
            return self.sum([(1.0, number) for number in numbers])
        if e.is_Mul:
            return self.product([(number, 1) for number in numbers])
        if e.is_Pow:
            base, exponent = arguments
            if base == se.E:
                return self.intern(("exp", numbers[1]))
            return self.power(numbers[0], exponent)
        name = FUNCTIONS[type(e)]
        if name in ("min", "max"):
            node = numbers[0]
            for number in numbers[1:]:
                node = self.intern((name, node, number))
            return node
        return self.function(name, *numbers)


def substituted_symbols(graph: Graph, values: Mapping[Expression, int]) -> None:
    """Let further symbols (unknowns of linear systems) stand for nodes of the graph."""
    graph.symbols.update(values)


def children(node: tuple) -> tuple[int, ...]:
    """Numbers of the nodes that this one is computed from."""
    kind = node[0]
    if kind == "sum":
        return tuple([n for _, n in node[1]])
    if kind == "product":
        return tuple([n for n, _ in node[1]])
    return () if kind in LEAVES else node[1:]
