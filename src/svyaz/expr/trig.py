"""Bring a polynomial in sines and cosines to the short form of the books.

    cos a cos b ± sin a sin b = cos(a ∓ b),    sin a cos b ± cos a sin b = sin(a ± b),    cos² a + sin² a = 1

are applied wherever both partners stand in one sum with the same cofactor; then common factors are taken out, so that
the kinetic energy of a chain gives (m2 + m3)*L1*L2*cos(u1 - u2) and not a page of products. The equations of a pendulum
are collected in this way by Kutsenko and Kolochavin (steps 2 and 3 of their method, for any number of links).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations
from math import comb

import symengine as se
from symengine.lib.symengine_wrapper import Cos, Sin

from svyaz.expr.calculus import ONE, ZERO, Expression

Monomial = frozenset
"""A product as a set of (base, integer power); the numerical factor is kept apart."""

LARGEST_EXPANSION = 20_000
"""Sums that would grow beyond this number of terms are left as they are."""

HIGHEST_POWER = 8
"""Sums with a higher power are not multiplied out: thousands of terms say less than the power."""


def combine(expression: Expression) -> Expression:
    """The expression with trigonometric pairs combined and common factors taken out; equal to it identically."""
    if not (expression.is_Add or expression.is_Mul or expression.is_Pow):
        return expression
    if expanded_size(expression) > LARGEST_EXPANSION:
        return expression
    terms = _terms(se.expand(expression))
    if len(terms) > 1:
        _combine_pairs(terms)
    return _collect(terms)


def expanded(expression: Expression, most: int = 5000) -> Expression:
    """The expression multiplied out, unless it would have more terms than that: what cancels in it then is not seen."""
    return se.expand(expression) if expanded_size(expression) <= most else expression


def expanded_size(expression: Expression) -> int:
    """How many terms the expression would have when multiplied out (an upper bound).

    Beyond LARGEST_EXPANSION it is no longer counted: as a tree an expression may be exponentially large.
    """
    if expression.is_Add:
        terms = 0
        for a in expression.args:
            terms += expanded_size(a)
            if terms > LARGEST_EXPANSION:
                return terms
        return terms
    if expression.is_Mul:
        size = 1
        for a in expression.args:
            size *= expanded_size(a)
            if size > LARGEST_EXPANSION:
                return size
        return size
    if expression.is_Pow:
        base, power = expression.args
        if power.is_Integer and base.is_Add and int(power) > 1:
            if int(power) > HIGHEST_POWER:
                return LARGEST_EXPANSION + 1
            return comb(expanded_size(base) + int(power) - 1, int(power))
    return 1


def factors(term: Expression) -> tuple[Expression, dict[Expression, int]]:
    """A product as (number, {base: integer power})."""
    number = ONE
    powers: dict[Expression, int] = {}
    for a in term.args if term.is_Mul else (term,):
        if a.is_Number:
            number = number * a
        elif a.is_Pow and a.args[1].is_Integer:
            base, power = a.args
            powers[base] = powers.get(base, 0) + int(power)
        else:
            powers[a] = powers.get(a, 0) + 1
    return number, powers


def product(number: Expression, powers: Iterable[tuple[Expression, int]]) -> Expression:
    """The inverse of ``factors``."""
    return se.Mul(number, *[base if power == 1 else base**power for base, power in powers])


def _terms(expanded: Expression) -> dict[Monomial, Expression]:
    terms: dict[Monomial, Expression] = {}
    for term in expanded.args if expanded.is_Add else (expanded,):
        number, powers = factors(term)
        key = frozenset(powers.items())
        terms[key] = terms[key] + number if key in terms else number
    return {key: number for key, number in terms.items() if number != ZERO}


def _trig_pairs(key: Monomial) -> list[tuple[Expression, Expression]]:
    """Pairs of trigonometric factors in a monomial; a square is a pair with itself."""
    trig = [(base, power) for base, power in key if isinstance(base, Sin | Cos) and power > 0]
    pairs = [(base, base) for base, power in trig if power >= 2]
    pairs.extend((f, g) for (f, _), (g, _) in combinations(trig, 2))
    return pairs


def _exchange(key: Monomial, out: Iterable[Expression], into: Iterable[Expression]) -> Monomial:
    """The monomial divided by the factors ``out`` and multiplied by the factors ``into``."""
    powers = dict(key)
    for f in out:
        powers[f] -= 1
        if not powers[f]:
            del powers[f]
    for f in into:
        powers[f] = powers.get(f, 0) + 1
    return frozenset((base, power) for base, power in powers.items() if power)


def _combine_pairs(terms: dict[Monomial, Expression]) -> None:
    """Apply the addition theorems until no pair of partners is left. Every application removes a term."""
    queue = [key for key in terms if len(_trig_pairs(key))]
    while queue:
        key = queue.pop()
        if key not in terms:
            continue
        for f, g in _trig_pairs(key):
            joined = _join(terms, key, f, g)
            if joined is not None:
                queue.append(joined)
                break


def _join(terms: dict[Monomial, Expression], key: Monomial, f: Expression, g: Expression) -> Monomial | None:
    """Join ``key`` with its partner with respect to the factors f and g; returns the new monomial."""
    a, b = f.args[0], g.args[0]
    partner = _exchange(key, (f, g), (_other(f), _other(g)))
    if partner == key or partner not in terms:
        return None
    number, other = terms[key], terms[partner]
    if number == other:
        same = True
    elif number == -other:
        same = False
    else:
        return None
    if isinstance(f, Sin) == isinstance(g, Sin):
        value = se.cos(a - b if same else a + b)
        if isinstance(f, Sin) and not same:
            value = -value
    elif same:
        value = se.sin(a + b)
    else:
        value = se.sin(a - b) if isinstance(f, Sin) else se.sin(b - a)
    sign, powers = factors(value)
    rest = _exchange(key, (f, g), ())
    for base, power in powers.items():
        rest = _exchange(rest, (), (base,) * power)
    del terms[key], terms[partner]
    total = terms.get(rest, ZERO) + number * sign
    terms.pop(rest, None)
    if total != ZERO:
        terms[rest] = total
    return rest


def _other(f: Expression) -> Expression:
    return se.cos(f.args[0]) if isinstance(f, Sin) else se.sin(f.args[0])


def _collect(terms: dict[Monomial, Expression]) -> Expression:
    """A sum of (common factor) * (sum), one for each combination of functions in the terms."""
    groups: dict[Monomial, list[tuple[Monomial, Expression]]] = defaultdict(list)
    for key, number in terms.items():
        functions = frozenset((base, power) for base, power in key if not base.is_Symbol)
        groups[functions].append((key, number))
    return se.Add(*[_common_factor_out(group) for group in groups.values()]) if groups else ZERO


def _common_factor_out(group: list[tuple[Monomial, Expression]]) -> Expression:
    if len(group) == 1:
        key, number = group[0]
        return product(number, key)
    common = dict(group[0][0])
    for key, _ in group[1:]:
        powers = dict(key)
        for base in list(common):
            least = min(common[base], powers.get(base, 0))
            if least > 0:
                common[base] = least
            else:
                del common[base]
    number = group[0][1]
    if any(n != number for _, n in group):
        number = ONE
    inner = []
    for key, n in group:
        left = [(base, power - common.get(base, 0)) for base, power in key]
        inner.append(product(n / number, [(base, power) for base, power in left if power]))
    return product(number, common.items()) * se.Add(*inner)
