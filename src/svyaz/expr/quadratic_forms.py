"""An expression as a polynomial of second degree in given symbols: e = c + Σ cᵢ sᵢ + ½ Σ cᵢⱼ sᵢ sⱼ, cᵢⱼ = cⱼᵢ.

A Lagrangian is read in this way into its mass matrix and its linear part without a single derivative: on a chain of n
links the second derivatives of the kinetic energy visit n⁴ nodes, the squares of the velocities have n³ products.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import symengine as se

from svyaz.expr.calculus import ONE, Expression, add_up
from svyaz.expr.trig import combine

Monomial = tuple
"""() for the constant part, (i,) for sᵢ, (i, j) with i ≤ j for sᵢ sⱼ."""

Polynomial = dict
"""Monomial → coefficient."""

Parts = dict
"""A coefficient in pieces, Σ part · (Σ weights): part → its weights, none of which contains the symbols."""


def quadratic(expression: Expression, symbols: Sequence[se.Symbol]) -> dict[tuple[int, ...], Expression] | None:
    """c, cᵢ, cᵢⱼ (i ≤ j) under (), (i,), (i, j), zeros left out; None when the degree is higher, as far as it shows.

    Coefficients of symbols are brought to the short form of ``combine``, the constant part is left as it was written.
    """
    reader = _QuadraticReader(symbols)
    pieces = reader.sum(expression.args if expression.is_Add else (expression,))
    if pieces is None:
        return None
    for i in range(len(symbols)):
        square = pieces.get((i, i))
        if square:
            pieces[i, i] = {part: [2 * weight for weight in weights] for part, weights in square.items()}
    found = {monomial: reader.short(parts) if monomial else reader.joined(parts) for monomial, parts in pieces.items()}
    return {monomial: coefficient for monomial, coefficient in found.items() if coefficient != 0}


class _QuadraticReader:
    """Reads expressions; equal subexpressions and equal sums are worked out once."""

    def __init__(self, symbols: Sequence[se.Symbol]) -> None:
        self._known: dict[Expression, Polynomial | None] = {s: {(i,): ONE} for i, s in enumerate(symbols)}
        self._sums: dict[tuple, Expression] = {}
        self._short: dict[Expression, Expression] = {}

    def read(self, e: Expression) -> Polynomial | None:
        """The polynomial of an expression; the single entry () when it does not contain the symbols."""
        if e in self._known:
            return self._known[e]
        found = self._known[e] = self._read(e)
        return found

    def _read(self, e: Expression) -> Polynomial | None:
        if e.is_Add:
            pieces = self.sum(e.args)
            if pieces is None:
                return None
            return {(): e} if list(pieces) == [()] else {monomial: self.joined(p) for monomial, p in pieces.items()}
        if e.is_Mul:
            weight, polynomial = self._product(e)
            if polynomial is None:
                return None
            return {(): e} if list(polynomial) == [()] else {m: weight * c for m, c in polynomial.items()}
        parts = [self.read(a) for a in e.args]
        if all(p is not None and list(p) == [()] for p in parts):
            return {(): e}
        if e.is_Pow and e.args[1] == 2 and parts[0] is not None:
            return self._times(parts[0], parts[0])
        return None

    def sum(self, terms: Sequence[Expression]) -> dict[tuple[int, ...], Parts] | None:
        """A sum, with the coefficient of each monomial in pieces."""
        pieces: dict[tuple[int, ...], Parts] = defaultdict(lambda: defaultdict(list))
        for term in terms:
            weight, polynomial = self._product(term) if term.is_Mul else (ONE, self.read(term))
            if polynomial is None:
                return None
            for monomial, coefficient in polynomial.items():
                pieces[monomial][coefficient].append(weight)
        return pieces

    def _product(self, e: Expression) -> tuple[Expression, Polynomial | None]:
        """A product as (what does not contain the symbols, polynomial of the rest)."""
        weights = []
        rest: Polynomial | None = None
        for factor in e.args:
            polynomial = self.read(factor)
            if polynomial is None:
                return ONE, None
            if list(polynomial) == [()]:
                weights.append(factor)
            else:
                rest = polynomial if rest is None else self._times(rest, polynomial)
                if rest is None:
                    return ONE, None
        if rest is None:
            return ONE, {(): e}
        return se.Mul(*weights), rest

    def _times(self, a: Polynomial, b: Polynomial) -> Polynomial | None:
        pieces: dict[tuple[int, ...], Parts] = defaultdict(lambda: defaultdict(list))
        if a is b:
            items = sorted(a.items(), key=lambda item: item[0])
            doubled = [(monomial, 2 * coefficient) for monomial, coefficient in items]
            for place, (monomial, coefficient) in enumerate(items):
                pieces[monomial + monomial][coefficient].append(coefficient)
                for other, factor in doubled[place + 1 :]:
                    pieces[monomial + other][coefficient].append(factor)
        else:
            for monomial, coefficient in a.items():
                for other, factor in b.items():
                    pieces[tuple(sorted(monomial + other))][coefficient].append(factor)
        if any(len(monomial) > 2 for monomial in pieces):
            return None
        return {monomial: self.joined(parts) for monomial, parts in pieces.items()}

    def joined(self, parts: Parts) -> Expression:
        """Σ part · (Σ weights), as it stands."""
        key = tuple((part, *weights) for part, weights in parts.items())
        total = self._sums.get(key)
        if total is None:
            total = self._sums[key] = add_up(part * w for part, weights in parts.items() for w in weights)
        return total

    def short(self, parts: Parts) -> Expression:
        """Σ part · (Σ weights) in the short form: a single product times a sum of weights is not multiplied out."""
        if len(parts) == 1:
            ((part, weights),) = parts.items()
            number, weight = self._common_number(tuple(weights))
            if part not in self._short:
                self._short[part] = combine(part)
            product = self._short[part]
            if not product.is_Add and not weight.is_Mul:
                return se.Mul(number, product) * weight
        return combine(self.joined(parts))

    def _common_number(self, weights: tuple[Expression, ...]) -> tuple[Expression, Expression]:
        """(number, Σ weights/number), the number being that of the first weight."""
        first = weights[0]
        number = first if first.is_Number else first.args[0] if first.is_Mul and first.args[0].is_Number else ONE
        if weights not in self._sums:
            # Divided one by one: a number times a sum would be kept as such a product.
            self._sums[weights] = add_up(w / number for w in weights)
        return number, self._sums[weights]
