"""abs, sign and atan2 as SymEngine has them, without the places where it recurses without end or repeats itself.

SymEngine takes a minus sign out of the argument of sign(). For a power of a negated base, such as (-x)^(1/2), what is
left has the same form again, and the process dies of a stack overflow; atan2(a, a) comes to the same by way of sign(a).
"""

from __future__ import annotations

import symengine
from symengine import Basic
from symengine.lib import symengine_wrapper as wrapper

_REAL = (wrapper.Rational, wrapper.RealDouble)


def absolute(expression: Basic) -> Basic:
    """abs(expression); SymEngine would make abs(abs(x)) of abs(-abs(x))."""
    if isinstance(expression, wrapper.Mul) and len(expression.args) == 2 and expression.args[0] == -1:
        expression = -expression
    return symengine.Abs(expression)


def signum(expression: Basic) -> Basic:
    """sign(expression). A power with a numeric exponent that is not whole has the sign of its base, where it is real."""
    if isinstance(expression, wrapper.Mul) and isinstance(expression.args[0], _REAL):
        number, *rest = expression.args
        positive = signum(symengine.Mul(*rest))
        return positive if float(number) > 0 else -positive
    if isinstance(expression, wrapper.Pow) and _is_negated(expression):
        base, exponent = expression.args
        if isinstance(exponent, _REAL):
            return signum(base)
        return expression / symengine.Abs(expression)
    return symengine.sign(expression)


def angle(y: Basic, x: Basic) -> Basic:
    """atan2(y, x). If y = c x with a number c, it is atan(c) for x > 0 and differs from that by pi for x < 0.

    At x = 0 it has no value: the root that is added there is zero elsewhere.
    """
    if not isinstance(x, wrapper.Number) and not isinstance(y, wrapper.Number) and x.free_symbols:
        ratio = y / x
        if not ratio.free_symbols:
            side = signum(x)
            half_turn = symengine.pi / 2 * (1 - side)
            rising = float(ratio.n(53, real=True)) > 0
            undefined = symengine.sqrt(side**2 - 1)
            return symengine.atan(ratio) + undefined + (-half_turn if rising else half_turn)
    return symengine.atan2(y, x)


def _is_negated(expression: Basic) -> bool:
    """Would SymEngine take a minus sign out of this factor?"""
    while isinstance(expression, wrapper.Pow):
        expression = expression.args[0]
    if not isinstance(expression, wrapper.Mul):
        return False
    number = expression.args[0]
    return isinstance(number, _REAL) and float(number) < 0
