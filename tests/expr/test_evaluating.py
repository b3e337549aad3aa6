"""Values of expressions that share parts."""

from __future__ import annotations

import math

import pytest
import symengine as se

from svyaz.expr import Evaluator

x, y = se.Symbol("x"), se.Symbol("y")


def test_N3_values_are_those_of_the_formulas() -> None:
    evaluate = Evaluator({"x": -0.5, "y": 2.0})
    assert evaluate(x**2 + 3 * y - se.sqrt(3) / 7) == pytest.approx(0.25 + 6 - math.sqrt(3) / 7, rel=1e-15)
    assert evaluate(se.sin(x) * se.cos(se.pi / 5) + y ** se.Rational(1, 3)) == pytest.approx(
        math.sin(-0.5) * math.cos(math.pi / 5) + 2 ** (1 / 3), rel=1e-15
    )
    assert evaluate(se.Integer(3)) == 3
    assert evaluate(se.sign(x) * abs(x)) == -0.5
    assert math.isnan(evaluate(se.sqrt(x)))
    assert math.isnan(evaluate(y + se.log(x)))
    assert not math.isfinite(evaluate(1 / (x + se.Rational(1, 2))))


def test_L4_what_expressions_share_is_evaluated_once() -> None:
    """A rotation by the same angle a thousand times: entries with 2^1000 terms on paper."""
    first, second = se.Integer(1), se.Integer(0)
    for _ in range(1000):
        first, second = se.cos(x) * first - se.sin(x) * second, se.sin(x) * first + se.cos(x) * second
    evaluate = Evaluator({"x": 0.7})
    assert evaluate(first) == pytest.approx(math.cos(700), abs=1e-12)
    assert evaluate(second) == pytest.approx(math.sin(700), abs=1e-12)
