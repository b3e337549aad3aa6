"""Is an expression zero identically, whatever the values of its names?

Decided by its values at points chosen at random, which is no proof but errs with probability zero where an expression is
analytic. Corners are not: max(x - 5, 0) is zero at most points that one would choose. So every |a|, sign a, max and min is
first written by the side on which its argument lies, |a| = s a, max(a, b) = (a + b + s (a - b))/2 with s = ±1, and the
expression must vanish on all sides. Points at which it has no real value (a root, a logarithm) say nothing and are passed.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from math import isfinite
from random import Random

import symengine as se
from symengine.lib.symengine_wrapper import Max, Min, sign

from svyaz.expr import HALF, ONE, Expression, corners, evaluate, is_zero, names_in

POINTS = 3
"""So many points of each kind are chosen: positive numbers, numbers of both signs, larger ones."""

TRIES = 12
"""Of each kind so many are tried to find those at which the expression has a value."""

MOST_SIDES = 6
"""With more corners than this no identity is looked for."""


def is_nothing(expression: Expression) -> bool:
    """Is it zero identically?"""
    if is_zero(expression):
        return True
    if expression.is_Symbol or expression.is_Number:
        return False
    if not corners(expression):
        return _is_zero_at_points(expression)
    sides: dict[Expression, Expression] = {}
    smooth = _by_sides(expression, sides)
    return len(sides) <= MOST_SIDES and all(
        _is_zero_at_points(smooth.xreplace(dict(zip(sides.values(), signs, strict=True))))
        for signs in product((ONE, -ONE), repeat=len(sides))
    )


def _by_sides(expression: Expression, sides: dict[Expression, Expression]) -> Expression:
    """The expression with every cornered function written by the sides of its arguments, which are noted."""
    return expression.xreplace({e: _smooth(e, sides) for e in corners(expression)})


def _smooth(e: Expression, sides: dict[Expression, Expression]) -> Expression:
    arguments = [_by_sides(a, sides) for a in e.args]
    if isinstance(e, se.Abs):
        return arguments[0] * _side(arguments[0], sides)
    if isinstance(e, sign):
        return _side(arguments[0], sides)
    if not isinstance(e, Max | Min):
        return se.Symbol(f"value of {e}")  # a function of Python: any number
    larger = ONE if isinstance(e, Max) else -ONE
    return reduce(lambda a, b: HALF * (a + b + larger * (a - b) * _side(a - b, sides)), arguments)


def _side(argument: Expression, sides: dict[Expression, Expression]) -> Expression:
    """The symbol of sign a; that of -a is its opposite."""
    if -argument in sides:
        return -sides[-argument]
    return sides.setdefault(argument, se.Symbol(f"side {len(sides)}"))


def _is_zero_at_points(expression: Expression) -> bool:
    if is_zero(expression):
        return True
    random = Random(11)
    names = sorted(names_in(expression))
    terms = expression.args if expression.is_Add else (expression,)
    passed = 0
    for low, high, signs in ((0.2, 1.3, (1,)), (0.2, 1.3, (-1, 1)), (1.0, 5.0, (-1, 1))):
        found = 0
        for _ in range(TRIES):
            values = {name: random.uniform(low, high) * random.choice(signs) for name in names}
            size = sum(abs(evaluate(term, values)) for term in terms)
            if not isfinite(size):
                continue
            if not abs(evaluate(expression, values)) <= 1e-11 * size:
                return False
            found += 1
            if found == POINTS:
                break
        passed += found
    return passed > 0
