"""Where expressions jump: sign(a) and a/|a| as the side σ = ±1 of a surface a = 0 on which a state lies.

With the side known it is put in place of sign(a), and nothing is evaluated that belongs to the other side. Corners that only
bend an expression (|a|, min, max, a² sign(a)) are no jumps and stay as they are. On the surface itself, where both sides have
a limit, the values between them are those on the chord, linear in σ (``interpolate``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import symengine as se
from symengine.lib.symengine_wrapper import Abs, Max, Min, Pow, sign

from svyaz.expr.calculus import HALF, ONE, Expression, corners, differentiate, is_zero, names_in, substitute


@dataclass(frozen=True)
class Surface:
    """A surface ``expression`` = 0, and the symbol that stands for its ``side``: 1 where the expression is positive."""

    side: se.Symbol
    expression: Expression


def jumping_parts(expressions: Iterable[Expression]) -> list[Expression]:
    """sign(a) and |a| in denominators, each once, inner ones first; parts that are shared are looked at once."""
    return [e for e in _parts(expressions) if _argument(e) is not None]


def _parts(expressions: Iterable[Expression]) -> Iterator[Expression]:
    """All parts of the expressions, each once, inner ones first."""
    seen: set[Expression] = set()
    asked = [(e, False) for e in expressions]
    while asked:
        e, is_over = asked.pop()
        if is_over:
            yield e
        elif e not in seen:
            seen.add(e)
            asked.append((e, True))
            asked += [(part, False) for part in e.args]


def split(expressions: Sequence[Expression], moving: Collection[str]) -> tuple[list[Expression], tuple[Surface, ...]]:
    """The expressions with sides in place of what jumps where one of the names ``moving`` changes, and the surfaces.

    They are linear in a side only as far as they were linear in its sign().
    """
    current, surfaces, kept = list(expressions), list[Surface](), set[Expression]()
    while True:
        node = next((e for e in jumping_parts(current) if e not in kept), None)
        if node is None:
            return current, tuple(surfaces)
        side, a = se.Symbol(f"side {len(surfaces) + 1}"), _argument(node)
        changed = [select(e, a, side) for e in current]
        if names_in(a) & set(moving) and _jump(changed, a, side, moving):
            current = changed
            surfaces.append(Surface(side, a))
        else:
            kept.add(node)


def _argument(e: Expression) -> Expression | None:
    """a of sign(a), and of |a| or √(a²) with a negative exponent; None of anything else."""
    if isinstance(e, sign):
        return e.args[0]
    if not isinstance(e, Pow) or not e.args[1].is_Number or not float(e.args[1]) < 0:
        return None
    base, exponent = e.args
    if isinstance(base, Abs):
        return base.args[0]
    is_root = isinstance(base, Pow) and _is_even(base.args[1]) and not isinstance(exponent, se.Integer)
    return base.args[0] if is_root else None


def _is_even(e: Expression) -> bool:
    return isinstance(e, se.Integer) and int(e) % 2 == 0


def select(expression: Expression, a: Expression, side: Expression) -> Expression:
    """The expression on a side of a = 0: its number for sign(a), and in denominators ±a for |a|."""
    put: dict[Expression, Expression] = {}
    parts = dict.fromkeys(_parts([expression]))
    for e in parts:
        inner = _argument(e)
        turned = None if inner is None else _same_direction(inner, a)
        if inner is None or turned is None:
            continue
        if isinstance(e, sign):
            put[e] = turned * side
        else:
            opposite = se.expand(-inner)
            turns = opposite in parts  # so that it cancels what is divided: |a| is that of -a
            put[e] = _quotient(e, opposite if turns else inner, (-turned if turns else turned) * side)
    return put_in(expression, put) if put else expression


def _quotient(e: Expression, a: Expression, side: Expression) -> Expression:
    """|a|^-p as |a|^(k - p)/a^k on a side, with the least integer k that leaves no negative power of |a|."""
    base, exponent = e.args
    power = exponent if isinstance(base, Abs) else exponent * base.args[1]
    k = ceil(-float(power))
    return (side if k % 2 else ONE) * abs(a) ** (power + k) * a**-k


def unfold(expression: Expression, a: Expression, side: Expression) -> Expression:
    """The expression on a side of a = 0 with all its corners there continued smoothly: |a| = σ a, and so min and max.

    Beyond the surface it has other values, which may be as large as one likes.
    """
    put: dict[Expression, Expression] = {}
    for e in _parts([expression]):
        if isinstance(e, Abs):
            turned = _same_direction(e.args[0], a)
            if turned is not None:
                put[e] = turned * side * e.args[0]
        elif isinstance(e, Max | Min) and len(e.args) == 2:
            turned = _same_direction(e.args[0] - e.args[1], a)
            if turned is not None:
                larger = ONE if isinstance(e, Max) else -ONE
                put[e] = HALF * (e.args[0] + e.args[1] + larger * turned * side * (e.args[0] - e.args[1]))
    return put_in(select(expression, a, side), put)


def without_poles(expression: Expression) -> Expression:
    """The expression with (c |a|)^-q as (c |a|)^(2 - q)/((c a)² + 1e-300): the same but at a = 0, where it is zero if q < 2.

    For slopes of √|a| and the like that serve iterations, which need none there.
    """
    put: dict[Expression, Expression] = {}
    for e in _parts([expression]):
        if isinstance(e, Pow) and e.args[1].is_Number and float(e.args[1]) < 0:
            base, exponent = e.args
            if isinstance(base, Abs) or (base.is_Mul and any(isinstance(part, Abs) for part in base.args)):
                put[e] = base ** (exponent + 2) / (base**2 + se.RealDouble(1e-300))
    return put_in(expression, put) if put else expression


def interpolate(expression: Expression, side: se.Symbol) -> Expression:
    """On the surface itself: the chord between the values on both sides (Filippov's convex combination), linear in σ."""
    if side not in expression.free_symbols or _is_linear(expression, side):
        return expression
    above, below = put_in(expression, {side: ONE}), put_in(expression, {side: -ONE})
    return HALF * (above + below) + HALF * side * (above - below)


def _is_linear(expression: Expression, side: se.Symbol) -> bool:
    bent = any(side in part.free_symbols for part in corners(expression))
    return not bent and side not in differentiate(expression, side).free_symbols


def put_in(expression: Expression, values: Mapping[Expression, Expression]) -> Expression:
    """The expression with values in place of parts of it; what holds none of these stays the very same object.

    Long equations share their parts: parts that were made anew would be found equal to the old ones only by looking through
    both, which for parts within parts takes exponentially long.
    """
    changed, same = dict(values), set[Expression]()
    asked = [(expression, False)]
    while asked:
        e, is_over = asked.pop()
        if is_over:
            if any(part in changed for part in e.args):
                changed[e] = e.func(*(changed.get(part, part) for part in e.args))
            else:
                same.add(e)
        elif e not in same and e not in changed:
            asked.append((e, True))
            asked += [(part, False) for part in e.args]
    return changed.get(expression, expression)


def _same_direction(e: Expression, a: Expression) -> Expression | None:
    """1 for a, or a positive number times it, -1 for -a, None for anything else."""
    ratio = ONE if e == a else _ratio(e, a)
    if ratio is None or not is_zero(se.expand(e - ratio * a)):
        return None
    return ONE if float(ratio) > 0 else -ONE


def _ratio(e: Expression, a: Expression) -> Expression | None:
    """The number e/a, as the first of their terms say it."""
    ratio = e / a
    if not ratio.is_Number and e.free_symbols == a.free_symbols:
        s = min(a.free_symbols, key=str)
        slopes = differentiate(e, s), differentiate(a, s)
        ratio = ratio if is_zero(slopes[1]) else slopes[0] / slopes[1]
    return ratio if ratio.is_Number and not is_zero(ratio) else None


def _jump(expressions: Iterable[Expression], a: Expression, side: se.Symbol, moving: Collection[str]) -> bool:
    """Does one of them differ on both sides, at the surface itself? In doubt yes."""
    jumps = [differentiate(interpolate(e, side), side) for e in expressions]
    jumps = [e for e in jumps if not is_zero(e)]
    for s in sorted(a.free_symbols, key=str):
        slope = differentiate(a, s)
        if str(s) in moving and not is_zero(slope) and not names_in(slope) & set(moving):
            there = {s: se.expand(s - a / slope)}
            return any(not is_zero(se.expand(substitute(e, there))) for e in jumps)
    return bool(jumps)
