"""Values of expressions that share parts with each other."""

from __future__ import annotations

from collections.abc import Mapping

import symengine as se

from svyaz.expr.calculus import Expression, real_value


class Evaluator:
    """The values of expressions with numbers for their names; ``nan`` where one is complex or undefined.

    SymEngine evaluates an expression as it would stand on paper. Expressions that are composed link by link share their
    parts, and on paper grow exponentially with the number of links: here each part is evaluated once, for all expressions
    that are asked for.
    """

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = values
        self._known: dict[Expression, Expression] = {}
        self._answered: dict[Expression, float] = {}

    def __call__(self, expression: Expression) -> float:
        """The value of an expression; there is a number for every name in it."""
        found = self._answered.get(expression)
        if found is None:
            found = self._answered[expression] = real_value(self._evaluate(expression))
        return found

    def _evaluate(self, expression: Expression) -> Expression:
        asked = [expression]
        while asked:  # without recursion: expressions may be deep
            part = asked[-1]
            unknown = [a for a in part.args if a not in self._known]
            if not unknown:
                self._known[part] = self._number(asked.pop())
            asked += unknown
        return self._known[expression]

    def _number(self, part: Expression) -> Expression:
        """The value of a part of which the values of all parts are known; exact numbers stay so, for they may be exponents."""
        if part.is_Symbol:
            return se.RealDouble(self._values[str(part)])
        if part.is_Number:
            return part
        return se.RealDouble(real_value(part.func(*[self._known[a] for a in part.args]) if part.args else part))
