"""An expression as a polynomial of second degree in given symbols: e = c + Σ cᵢ sᵢ + ½ Σ cᵢⱼ sᵢ sⱼ, cᵢⱼ = cⱼᵢ.

A Lagrangian is read in this way into its mass matrix and its linear part without a single derivative: on a chain of n
links the second derivatives of the kinetic energy visit n⁴ nodes, the squares of the velocities have n³ products.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import symengine as se
from symengine.lib.symengine_wrapper import Cos, Sin

from svyaz.expr.calculus import ONE, Expression, add_up, from_leaves
from svyaz.expr.trig import combine, factors, product

Monomial = tuple
"""() for the constant part, (i,) for sᵢ, (i, j) with i ≤ j for sᵢ sⱼ."""

Polynomial = dict
"""Monomial → coefficient."""

MANY = 24
"""Of more terms and symbols than this squares are multiplied out together."""

Parts = dict
"""A coefficient in pieces, Σ part · (Σ weights): part → its weights, none of which contains the symbols."""


def quadratic(expression: Expression, symbols: Sequence[se.Symbol]) -> dict[tuple[int, ...], Expression] | None:
    """c, cᵢ, cᵢⱼ (i ≤ j) under (), (i,), (i, j), zeros left out; None when the degree is higher, as far as it shows.

    Coefficients of symbols are brought to the short form of ``combine``, the constant part is left as it was written.
    """
    reader = _QuadraticReader(symbols)
    terms = expression.args if expression.is_Add else (expression,)
    squares: list[_Squares] = []
    if len(terms) > MANY and len(symbols) > MANY:
        found_squares = [(term, reader.squares(term)) for term in terms]
        squares = [found for _, found in found_squares if found is not None]
        terms = tuple(term for term, found in found_squares if found is None)
    pieces = reader.sum(terms)
    if pieces is None:
        return None
    reader.add_squares(squares, pieces)
    for i in range(len(symbols)):
        square = pieces.get((i, i))
        if square:
            pieces[i, i] = {part: [2 * weight for weight in weights] for part, weights in square.items()}
    found = {monomial: reader.short(parts) if monomial else reader.joined(parts) for monomial, parts in pieces.items()}
    return {monomial: coefficient for monomial, coefficient in found.items() if coefficient != 0}


def is_quadratic_form(expression: Expression, symbols: Sequence[se.Symbol]) -> bool:
    """Is every term of second degree in the symbols, as it stands? Nothing is multiplied out, so that not all are seen."""
    degrees: dict[Expression, frozenset[int] | None] = {s: frozenset({1}) for s in symbols}
    for e, arguments in from_leaves([expression], degrees):
        degrees[e] = _degrees(e, [degrees[a] for a in arguments])
    return degrees[expression] == frozenset({2})


def _degrees(e: Expression, parts: list[frozenset[int] | None]) -> frozenset[int] | None:
    """The degrees of the terms of an expression from those of its arguments; None for what is no polynomial."""
    free: frozenset[int] = frozenset({0})
    if all(part == free for part in parts):
        return free
    if any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    if e.is_Add:
        return frozenset().union(*known)
    if e.is_Mul or (e.is_Pow and e.args[1] == 2):
        factors = known if e.is_Mul else [known[0], known[0]]
        total = free
        for factor in factors:
            total = frozenset(a + b for a in total for b in factor)
        return total if max(total) <= 2 else None
    return None


_Squares = tuple[Expression, list[dict[int, Expression]]]
"""weight, and the linear forms, by symbol, whose squares are summed."""


_Turn = tuple[Expression, Expression, tuple[type, Expression]]


def _turn(column: Sequence[Expression | None]) -> _Turn | None:
    """(c, a, which) of c (cos a, ± sin a) or c (sin a, ± cos a): such columns have the product c c' cos(a - a')."""
    if len(column) != 2 or column[0] is None or column[1] is None:
        return None
    (number, first), (other, second) = factors(column[0]), factors(column[1])
    turning = [base for base, power in first.items() if isinstance(base, Sin | Cos) and power == 1]
    if len(turning) != 1 or number not in (other, -other):
        return None
    a = turning[0].args[0]
    partner = se.sin(a) if isinstance(turning[0], Cos) else se.cos(a)
    rest = {base: power for base, power in first.items() if base is not turning[0]}
    if {**rest, partner: rest.get(partner, 0) + 1} != second:
        return None
    return product(number, rest.items()), a, (type(turning[0]), other / number)


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

    def squares(self, e: Expression) -> _Squares | None:
        """A term as weight · Σ (linear form)²; None where it is something else."""
        weights, sums = [], None
        for factor in e.args if e.is_Mul else (e,):
            parts = factor.args if factor.is_Add else (factor,)
            if sums is None and all(part.is_Pow and part.args[1] == 2 for part in parts):
                sums = [self.read(part.args[0]) for part in parts]
            elif list(self.read(factor) or ()) == [()]:
                weights.append(factor)
            else:
                return None
        if sums is None or not all(form and all(len(m) == 1 for m in form) for form in sums):
            return None
        return se.Mul(*weights), [{m[0]: c for m, c in form.items()} for form in sums if form is not None]

    def add_squares(self, squares: Sequence[_Squares], pieces: dict[tuple[int, ...], Parts]) -> None:
        """Many squares at once: what they share, as the speeds of one link those of the next, is multiplied once.

        A column is a symbol with its coefficients; the bits of a number tell in which terms it occurs.
        """
        columns: dict[tuple[int, tuple[Expression | None, ...]], int] = defaultdict(int)
        for bit, (_, forms) in enumerate(squares):
            for i in sorted(set().union(*forms)):
                columns[i, tuple(form.get(i) for form in forms)] |= 1 << bit
        ordered = sorted(columns.items(), key=lambda item: item[0][0])
        weights: dict[int, list[Expression]] = {}
        turns = [_turn(column) for (_, column), _ in ordered]
        for place, ((i, own), mask) in enumerate(ordered):
            for ((j, others), other), turn in zip(ordered[place:], turns[place:], strict=True):
                common = mask & other
                if not common:
                    continue
                if common not in weights:
                    weights[common] = [weight for bit, (weight, _) in enumerate(squares) if common >> bit & 1]
                same = i == j and own == others
                pairs = [(a, b) for a, b in zip(own, others, strict=False) if a is not None and b is not None]
                part = add_up(a * b if same else a * (2 * b) for a, b in pairs)
                pieces[i, j][part].extend(weights[common])
                own_turn = turns[place]
                if not same and own_turn is not None and turn is not None and own_turn[2] == turn[2]:
                    self._short[part] = se.Mul(2, own_turn[0], turn[0], se.cos(own_turn[1] - turn[1]))

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
