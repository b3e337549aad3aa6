"""Where expressions jump: sign(a) and a/|a| as the side σ = ±1 of a surface a = 0 on which a state lies.

Away from the surface sign(a) = σ, |a| = σ a and max(a, b) = (a + b + σ (a - b))/2 with σ = sign(a - b); what is left is
smooth in the state while it stays on one side, and linear in σ. Corners that only bend an expression (|a|, min, max, a²
sign(a)) are no jumps and stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import symengine as se
from symengine.lib.symengine_wrapper import Abs, Max, Min, Pow, sign

from svyaz.expr.calculus import HALF, ONE, Expression, cornered_parts, differentiate, is_zero, names_in, substitute


@dataclass(frozen=True)
class Surface:
    """A surface ``expression`` = 0, and the symbol that stands for its ``side``: 1 where the expression is positive."""

    side: se.Symbol
    expression: Expression


def jumping_parts(expressions: Iterable[Expression]) -> list[Expression]:
    """sign(a) and |a| in denominators, each once, inner ones first; parts that are shared are looked at once."""
    found: dict[Expression, None] = {}
    seen: set[Expression] = set()
    asked = [(e, False) for e in expressions]
    while asked:
        e, is_over = asked.pop()
        if is_over:
            if isinstance(e, sign) or _divides(e):
                found[e] = None
        elif e not in seen:
            seen.add(e)
            asked.append((e, True))
            asked += [(part, False) for part in e.args]
    return list(found)


def split(expressions: Sequence[Expression], moving: Collection[str]) -> tuple[list[Expression], tuple[Surface, ...]]:
    """The expressions with sides in place of what jumps where one of the names ``moving`` changes, and the surfaces."""
    current, surfaces, kept = list(expressions), list[Surface](), set[Expression]()
    while True:
        node = next((e for e in jumping_parts(current) if e not in kept), None)
        if node is None:
            return current, tuple(surfaces)
        side, a = se.Symbol(f"side {len(surfaces) + 1}"), _argument(node)
        changed = [on_side(e, a, side) for e in current]
        if names_in(a) & set(moving) and _jump(changed, a, side, moving):
            current = changed
            surfaces.append(Surface(side, a))
        else:
            kept.add(node)


def _divides(e: Expression) -> bool:
    """Is it a power of |a| with a negative exponent?"""
    if not (isinstance(e, Pow) and isinstance(e.args[0], Abs)):
        return False
    return bool(e.args[1].is_Number) and float(e.args[1]) < 0


def _argument(node: Expression) -> Expression:
    return node.args[0] if isinstance(node, sign) else node.args[0].args[0]


def on_side(expression: Expression, a: Expression, side: se.Symbol) -> Expression:
    """The expression on a side of a = 0, linear in the side."""
    put: dict[Expression, Expression] = {}
    seen: set[Expression] = set()
    asked = [expression]
    while asked:
        e = asked.pop()
        if e in seen:
            continue
        seen.add(e)
        asked += e.args
        if isinstance(e, sign | Abs):
            turned = _turned(e.args[0], a)
            if turned is not None:
                put[e] = turned * side if isinstance(e, sign) else a * side
        elif isinstance(e, Pow) and isinstance(e.args[0], Abs) and isinstance(e.args[1], se.Integer):
            if _turned(e.args[0].args[0], a) is not None:
                put[e] = a ** e.args[1] * (side if int(e.args[1]) % 2 else ONE)
        elif isinstance(e, Max | Min) and len(e.args) == 2:
            turned = _turned(e.args[0] - e.args[1], a)
            if turned is not None:
                larger = ONE if isinstance(e, Max) else -ONE
                put[e] = HALF * (e.args[0] + e.args[1] + larger * side * a)
    if not put:
        return expression
    found = put_in(expression, put)
    bent = any(side in part.free_symbols for part in cornered_parts(found))
    if not bent and side not in differentiate(found, side).free_symbols:
        return found
    above, below = put_in(found, {side: ONE}), put_in(found, {side: -ONE})
    return HALF * (above + below) + HALF * side * (above - below)


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


def _turned(e: Expression, a: Expression) -> Expression | None:
    """1 for a, -1 for -a, None for anything else."""
    if e == a or is_zero(se.expand(e - a)):
        return ONE
    return -ONE if is_zero(se.expand(e + a)) else None


def _jump(expressions: Iterable[Expression], a: Expression, side: se.Symbol, moving: Collection[str]) -> bool:
    """Does one of them differ on both sides, at the surface itself? In doubt yes."""
    jumps = [differentiate(e, side) for e in expressions]
    jumps = [e for e in jumps if not is_zero(e)]
    for s in sorted(a.free_symbols, key=str):
        slope = differentiate(a, s)
        if str(s) in moving and not is_zero(slope) and not names_in(slope) & set(moving):
            there = {s: se.expand(s - a / slope)}
            return any(not is_zero(se.expand(substitute(e, there))) for e in jumps)
    return bool(jumps)
