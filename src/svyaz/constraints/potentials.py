"""The function whose differential a form is: ω = Σ a_i dq_i = dP, found term by term and proved by differentiation.

Antiderivatives are taken by the rules of the first course: powers, the elementary functions of a linear argument,
products of sines and cosines through their sums, parts for xⁿ times such a function, and the rule of the inner
derivative, ∫ f(u) u' dx = ∫ f du. What these do not reach is left alone. No potential is returned that was not
differentiated back.
"""

from __future__ import annotations

from collections.abc import Sequence

import symengine as se
from symengine.lib.symengine_wrapper import Cos, Sin

from svyaz.dynamics import magnitude
from svyaz.expr import (
    HALF,
    ONE,
    ZERO,
    Expression,
    combine,
    differentiate,
    evaluate,
    expanded,
    expanded_size,
    factors,
    is_zero,
    names_in,
    product,
)

LARGEST_SUM = 400
"""Sums with more terms than this are not worked on: the answer would not be readable either."""

ROUNDS = 12
"""The highest degree of a trigonometric polynomial that is brought to single sines and cosines."""

DEPTH = 3
"""How often the rule of the inner derivative and the rule of parts may be used inside each other."""


def potential(coefficients: Sequence[Expression], variables: Sequence[se.Symbol]) -> Expression | None:
    """P with ∂P/∂q_i = a_i identically, or None when it was not found."""
    total = ZERO
    for a, q in zip(coefficients, variables, strict=True):
        rest = flattened(a - differentiate(total, q))
        if vanishes(rest):
            continue
        part = antiderivative(rest, q)
        if part is None:
            return None
        total = total + part
    if all(vanishes(a - differentiate(total, q)) for a, q in zip(coefficients, variables, strict=True)):
        return combine(total)
    return None


def flattened(expression: Expression) -> Expression:
    """Multiplied out, if that does not grow beyond reason."""
    return expanded(expression, 4 * LARGEST_SUM)


def vanishes(expression: Expression) -> bool:
    """Is it zero identically, as far as multiplying out and the addition theorems show?"""
    if is_zero(expression):
        return True
    if _plainly_differs(expression):
        return False
    flat = flattened(expression)
    if is_zero(flat) or is_zero(combine(flat)):
        return True
    cleared = flattened(_cleared(flat))
    return is_zero(cleared) or is_zero(combine(cleared)) or is_zero(fourier(cleared))


def _plainly_differs(expression: Expression) -> bool:
    """Is it not zero at one of two points chosen once for all? Proofs are only tried where this does not tell."""
    names = sorted(names_in(expression))
    for shift in (0.137, 0.411):
        values = {name: 0.4 + (shift + 0.6180339887 * (k + 1)) % 0.7 for k, name in enumerate(names)}
        if abs(evaluate(expression, values)) > 1e-7 * abs(evaluate(magnitude(expression), values)):
            return True
    return False


def fourier(expression: Expression) -> Expression:
    """Products of sines and cosines written as sums of single ones: zero trigonometric polynomials become 0."""
    flat = flattened(expression)
    for _ in range(ROUNDS):
        terms = flat.args if flat.is_Add else (flat,)
        if len(terms) > LARGEST_SUM:
            return flat
        new = se.expand(se.Add(*[_once(term) for term in terms]))
        if new == flat:
            break
        flat = new
    return flat


def _once(term: Expression) -> Expression:
    """One pair of trigonometric factors of a product replaced by a sum."""
    number, powers = factors(term)
    trig = [b for b, p in powers.items() if isinstance(b, Sin | Cos) for _ in range(p)]
    if len(trig) < 2:
        return term
    rest = [(b, p) for b, p in powers.items() if not (isinstance(b, Sin | Cos) and p > 0)]
    return product(number, rest) * _sum_for_pair(trig[0], trig[1]) * se.Mul(*trig[2:])


def _sum_for_pair(f: Expression, g: Expression) -> Expression:
    """2 cos a cos b = cos(a-b) + cos(a+b) and its sisters."""
    a, b = f.args[0], g.args[0]
    if isinstance(f, Sin) and isinstance(g, Sin):
        return HALF * (se.cos(se.expand(a - b)) - se.cos(se.expand(a + b)))
    if isinstance(f, Cos) and isinstance(g, Cos):
        return HALF * (se.cos(se.expand(a - b)) + se.cos(se.expand(a + b)))
    s, c = (a, b) if isinstance(f, Sin) else (b, a)
    return HALF * (se.sin(se.expand(s + c)) + se.sin(se.expand(s - c)))


def _cleared(sum_: Expression) -> Expression:
    """The sum times the powers that stand below in its terms; zero if and only if the sum is."""
    below: dict[Expression, int] = {}
    for term in sum_.args if sum_.is_Add else (sum_,):
        for base, power in factors(_with_sines(term))[1].items():
            if power < 0:
                below[base] = max(below.get(base, 0), -power)
    return product(ONE, below.items()) * _with_sines(sum_) if below else _with_sines(sum_)


def _with_sines(expression: Expression) -> Expression:
    """tan a written as sin a / cos a."""
    tangents = expression.atoms(se.tan)
    return expression.xreplace({f: se.sin(f.args[0]) / se.cos(f.args[0]) for f in tangents}) if tangents else expression


def antiderivative(expression: Expression, x: se.Symbol, depth: int = DEPTH) -> Expression | None:
    """∫ expression dx, or None. The answer is to be differentiated before it is believed."""
    if x not in expression.free_symbols:
        return expression * x
    if depth == 0:
        return None
    flat = flattened(expression)
    if flat.is_Add and len(flat.args) > LARGEST_SUM:
        return None
    total = ZERO
    for term in flat.args if flat.is_Add else (flat,):
        part = _integrated_term(term, x, depth)
        if part is None:
            return None
        total = total + part
    return total


def _integrated_term(term: Expression, x: se.Symbol, depth: int) -> Expression | None:
    number, powers = factors(term)
    outside = product(number, [(b, p) for b, p in powers.items() if x not in b.free_symbols])
    inside = {b: p for b, p in powers.items() if x in b.free_symbols}
    if not inside:
        return term * x
    result = _elementary(inside, x)
    if result is None:
        result = _with_sign(inside, x)
    if result is None:
        result = _trigonometric_product(inside, x, depth)
    if result is None:
        result = _by_parts(inside, x, depth)
    if result is None:
        result = _by_inner_derivative(product(ONE, inside.items()), x, depth)
    return None if result is None else outside * result


def _elementary(inside: dict[Expression, int], x: se.Symbol) -> Expression | None:
    """∫ of one factor: xⁿ, or an elementary function of a linear argument."""
    if len(inside) != 1:
        return None
    ((base, power),) = inside.items()
    if base == x:
        return se.log(x) if power == -1 else x ** (power + 1) / (power + 1)
    slope = _linear_slope(base.args[0], x) if len(base.args) == 1 else None
    if slope is None:
        return None
    u = base.args[0]
    tables = {
        (Sin, 1): lambda: -se.cos(u),
        (Cos, 1): lambda: se.sin(u),
        (Cos, -2): lambda: se.tan(u),
        (Sin, -2): lambda: -se.cos(u) / se.sin(u),
        (type(se.tan(u)), 1): lambda: -se.log(se.cos(u)),
        (type(se.tan(u)), 2): lambda: se.tan(u) - u,
        (type(se.sinh(u)), 1): lambda: se.cosh(u),
        (type(se.cosh(u)), 1): lambda: se.sinh(u),
        (type(se.tanh(u)), 1): lambda: se.log(se.cosh(u)),
        (type(se.log(u)), 1): lambda: u * se.log(u) - u,
    }
    rule = tables.get((type(base), power))
    return None if rule is None else rule() / slope


def _with_sign(inside: dict[Expression, int], x: se.Symbol) -> Expression | None:
    """∫ xⁿ |x|ᵖ (sign x)^q dx: with k = n + p it is xᵏ⁺¹/(k + 1) where p + q is even, else xᵏ |x|/(k + 1)."""
    absolute, side = se.Abs(x), se.sign(x)
    if not inside.keys() <= {x, absolute, side} or not inside.keys() & {absolute, side}:
        return None
    n, p, q = (inside.get(b, 0) for b in (x, absolute, side))
    k = n + p
    if k < 0:
        return None
    return (x if (p + q) % 2 == 0 else absolute) * x**k / (k + 1)


def _linear_slope(u: Expression, x: se.Symbol) -> Expression | None:
    slope = se.expand(differentiate(u, x))
    return None if x in slope.free_symbols or is_zero(slope) else slope


def _trigonometric_product(inside: dict[Expression, int], x: se.Symbol, depth: int) -> Expression | None:
    """A product of sines and cosines is turned into a sum of products with fewer factors."""
    trig = [(b, p) for b, p in inside.items() if isinstance(b, Sin | Cos)]
    if sum(p for _, p in trig) < 2 or any(p < 0 or _linear_slope(b.args[0], x) is None for b, p in trig):
        return None
    return antiderivative(_once(product(ONE, inside.items())), x, depth)


def _by_parts(inside: dict[Expression, int], x: se.Symbol, depth: int) -> Expression | None:
    """∫ xⁿ f dx = xⁿ F - n ∫ xⁿ⁻¹ F dx for n > 0."""
    power = inside.get(x, 0)
    if power <= 0 or power > 12 or len(inside) != 2:
        return None
    ((other, p),) = [(b, q) for b, q in inside.items() if b != x]
    whole = _elementary({other: p}, x)
    if whole is None:
        whole = _by_inner_derivative(other**p, x, 1)
    if whole is None or expanded_size(whole) > 4:
        return None
    rest = antiderivative(x ** (power - 1) * whole, x, depth)
    return None if rest is None else x**power * whole - power * rest


def _by_inner_derivative(term: Expression, x: se.Symbol, depth: int) -> Expression | None:
    """∫ f(u) u' dx = ∫ f du for some part u of the term."""
    dummy = se.Symbol("inner variable")
    for u in _inner_parts(term, x):
        slope = differentiate(u, x)
        if is_zero(slope):
            continue
        # The derivative may stand in the term multiplied out or not, and with a root of u in it.
        for ratio in (term / slope, term / flattened(slope), term * u / flattened(slope * u)):
            outer = flattened(ratio).xreplace({u: dummy})
            if x in outer.free_symbols:
                continue
            inner = _power_of_dummy(outer, dummy)
            result = inner if inner is not None else antiderivative(outer, dummy, depth - 1)
            if result is not None:
                return result.xreplace({dummy: u})
    return None


def _power_of_dummy(outer: Expression, dummy: se.Symbol) -> Expression | None:
    """∫ c uᵖ du for any exponent free of u, also a root; and ∫ c exp(u) du."""
    exponent = se.expand(differentiate(outer, dummy) * dummy / outer) if not is_zero(outer) else ZERO
    if dummy not in exponent.free_symbols:
        if is_zero(exponent + 1):
            return outer * dummy * se.log(dummy)
        return outer * dummy / (exponent + 1)
    if is_zero(se.expand(differentiate(outer, dummy) - outer)):
        return outer
    return None


def _inner_parts(term: Expression, x: se.Symbol) -> list[Expression]:
    """Sub-expressions that contain x and are more than x, the outermost last."""
    found: list[Expression] = []

    def visit(e: Expression) -> None:
        for a in e.args:
            if x in a.free_symbols:
                visit(a)
        if e != x and x in e.free_symbols and e not in found:
            found.append(e)

    visit(term)
    return [u for u in found if u != term or not u.is_Mul][:8]
