"""Derivatives across corners, and the short forms of trigonometric polynomials."""

from __future__ import annotations

import math

import numpy as np
import pytest
import symengine as se
from hypothesis import given, settings
from hypothesis import strategies as st

from svyaz.expr import Scope, parse
from svyaz.expr.calculus import differentiate, evaluate, gradient, names_in, real_value, total_derivative
from svyaz.expr.trig import combine

NAMES = ("x", "y", "a", "b")
SCOPE = Scope(symbols={name: se.Symbol(name) for name in NAMES})


def read(text: str) -> se.Basic:
    return parse(text, SCOPE)


@pytest.mark.parametrize(
    "text",
    [
        "abs(x)",
        "abs(x*y - 1)*sin(x)",
        "sign(x - y)*x^2",
        "max(x, y)",
        "min(x, y, a)",
        "max(x^2, y, sin(x), 0.1)",
        "abs(max(x*y, sin(abs(x))) - b*abs(y))",
        "exp(-abs(x))*abs(abs(x) - abs(y))",
        "atan2(abs(x), min(x, y) + 3)",
        "abs(x)^3/(1 + abs(x)) + sqrt(abs(x) + 1)",
        "sin(abs(x))^2 + cos(abs(x))",
    ],
)
def test_derivative_across_corners_equals_differences(text) -> None:
    """Away from the corners the derivative is the ordinary one."""
    expression = read(text)
    random = np.random.default_rng(1)
    h = 1e-6
    for _ in range(20):
        values = {name: random.uniform(-2, 2) for name in NAMES}
        for name in ("x", "y"):
            slope = evaluate(differentiate(expression, se.Symbol(name)), values)
            right, left = (evaluate(expression, {**values, name: values[name] + s * h}) for s in (1, -1))
            assert slope == pytest.approx((right - left) / (2 * h), rel=1e-5, abs=1e-6)


def test_derivative_at_a_corner_is_the_mean_of_both_sides() -> None:
    x = se.Symbol("x")
    assert evaluate(differentiate(read("abs(x)"), x), {"x": 0.0}) == 0.0
    assert evaluate(differentiate(read("max(x, 3*x)"), x), {"x": 0.0}) == 2.0
    assert evaluate(differentiate(read("min(x, 0)"), x), {"x": 0.0}) == 0.5


def test_second_derivative_across_corners() -> None:
    x = se.Symbol("x")
    once = differentiate(read("abs(x)*x"), x)
    assert [evaluate(differentiate(once, x), {"x": v}) for v in (-2.0, 3.0)] == [-2.0, 2.0]


def test_gradient_and_total_derivative() -> None:
    x, y, t = se.symbols("x y t")
    e = x**2 * y + se.sin(t)
    assert gradient(e, [x, y, se.Symbol("z")]) == [2 * x * y, x**2, 0]
    rates = {x: se.Symbol("x'"), y: se.Symbol("y'"), t: se.Integer(1)}
    expected = 2 * x * y * se.Symbol("x'") + x**2 * se.Symbol("y'") + se.cos(t)
    assert se.expand(total_derivative(e, rates) - expected) == 0
    assert names_in(e) == {"x", "y", "t"}


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("cos(x)*cos(y) + sin(x)*sin(y)", "cos(x - y)"),
        ("cos(x)*cos(y) - sin(x)*sin(y)", "cos(x + y)"),
        ("sin(x)*cos(y) - cos(x)*sin(y)", "sin(x - y)"),
        ("sin(x)*cos(y) + cos(x)*sin(y)", "sin(x + y)"),
        ("cos(x)^2 + sin(x)^2", "1"),
        ("a*sin(x)^2 + a*cos(x)^2", "a"),
        ("cos(x)^2 - sin(x)^2", "cos(2*x)"),
        ("(a*sin(x) + b*sin(y))^2 + (a*cos(x) + b*cos(y))^2", "a^2 + b^2 + 2*a*b*cos(x - y)"),
        ("x*(y + 1) - x*y - x", "0"),
    ],
)
def test_short_forms_of_the_books(text, short) -> None:
    assert se.expand(combine(read(text)) - read(short)) == 0


def polynomials() -> st.SearchStrategy[se.Basic]:
    """Random polynomials in sines and cosines, squared and multiplied."""
    x, y, a, b = se.symbols("x y a b")
    leaves = st.sampled_from([se.sin(x), se.cos(x), se.sin(y), se.cos(y), se.sin(x + y), se.cos(x - 2 * y), a, b, x])

    def extend(inner: st.SearchStrategy[se.Basic]) -> st.SearchStrategy[se.Basic]:
        pair = st.tuples(inner, inner)
        return st.one_of(
            pair.map(lambda p: p[0] + p[1]),
            pair.map(lambda p: p[0] - p[1]),
            pair.map(lambda p: p[0] * p[1]),
            inner.map(lambda e: e**2),
            inner.map(lambda e: -3 * e / 2),
            inner.map(lambda e: e / a),
        )

    return st.recursive(leaves, extend, max_leaves=10)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(expression=polynomials(), seed=st.integers(0, 1000))
def test_short_form_has_the_same_value(expression, seed) -> None:
    random = np.random.default_rng(seed)
    values = {name: random.uniform(0.3, 1.5) for name in NAMES}
    value = evaluate(expression, values)
    scale = 1 + max(abs(value), evaluate(se.expand(expression**2), values) ** 0.5)
    assert evaluate(combine(expression), values) == pytest.approx(value, rel=0, abs=1e-10 * scale)


def test_signs_of_numbers_have_values() -> None:
    assert real_value(se.sign(3 * se.pi)) == 1.0
    assert evaluate(2 * se.sign(se.Symbol("x") * se.pi) + se.sign(se.sqrt(2) - 3), {"x": -0.5}) == -3.0
    assert math.isnan(real_value(se.sqrt(se.Integer(-2))))


def test_derivative_of_a_corner_around_a_root_of_a_negated_name() -> None:
    x = se.Symbol("x")
    slope = differentiate(parse("abs(sqrt(-x))", Scope(symbols={"x": x})), x)
    assert evaluate(slope, {"x": -4.0}) == pytest.approx(-0.25, rel=1e-14)


@pytest.mark.parametrize("inner", ["x", "abs(x)"])
def test_parts_that_are_shared_are_looked_at_once(inner) -> None:
    """f = cos(f) + sin(f), 40 times over: 2⁴⁰ places as a tree, 80 expressions as they are shared."""
    expression, value, slope = read(inner), 0.3, 1.0
    for _ in range(40):
        slope *= math.cos(value) - math.sin(value)
        value = math.cos(value) + math.sin(value)
        expression = se.sin(expression) + se.cos(expression)
    derivative = differentiate(expression, se.Symbol("x"))
    assert evaluate(derivative, {"x": 0.3}) == pytest.approx(slope)


def test_gradients_along_many_symbols_are_taken_term_by_term() -> None:
    """Of sums, of products of one long factor and of two, and of functions of sums."""
    x = se.symbols("x0:30")
    long = se.Add(*(k * s**2 for k, s in enumerate(x, 1)))
    expression = 3 * x[0] + 5 * se.cos(x[1]) * long + se.exp(2) * se.Add(*x) / 7 + se.sin(long)
    at = {s: 0.1 * k - 1 for k, s in enumerate(x)}
    for s, slope in zip(x, gradient(expression, x), strict=True):
        assert float(slope.subs(at)) == pytest.approx(float(expression.diff(s).subs(at)), rel=1e-12)
