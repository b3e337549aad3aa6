"""Power series of programs against SymPy, and series that satisfy equations."""

from __future__ import annotations

import numpy as np
import pytest
import symengine as se
import sympy

from svyaz.program import build
from svyaz.stability.implicit import implicit_series, jacobian
from svyaz.stability.series import series

EXPRESSIONS = [
    "sin(x*y) + cos(x)",
    "exp(x)*log(y)",
    "sqrt(x + y)/y",
    "tan(x) + tanh(y)",
    "asin(x/3) + acos(y/4) + atan(x*y)",
    "x**y",
    "x**-2 + (x + y)**2.5",
    "sinh(x)*cosh(y)",
    "atan2(x, y)",
    "(x - y)**4",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_coefficients_are_those_of_taylor(text: str) -> None:
    s = sympy.Symbol("s")
    x, y = sympy.Rational(7, 10) + s + 3 * s**2 / 10, sympy.Rational(13, 10) - s / 2 + s**3 / 5
    exact = sympy.sympify(text).subs({"x": x, "y": y})
    expected = [float(exact.diff(s, k).subs(s, 0) / sympy.factorial(k)) for k in range(5)]
    program = build([("f", se.sympify(text))], inputs=("x", "y"), parameters=())
    found = series(program, {}, [np.array([0.7, 1, 0.3, 0, 0]), np.array([1.3, -0.5, 0, 0.2, 0])])[0]
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("text", [*EXPRESSIONS, "Abs(x) + sign(y)*Max(x, y)", "Min(x, y)**3 + x**2*y"])
@pytest.mark.parametrize("seed", [None, 5])
def test_many_series_at_once_are_those_one_by_one(text: str, seed: int | None) -> None:
    """Disturbed by a part in 10¹³ as well."""
    program = build([("f", se.sympify(text)), ("g", se.sympify("3"))], inputs=("x", "y"), parameters=())
    x, y = np.random.default_rng(2).uniform(0.4, 0.9, (2, 3, 2, 5))
    many = series(program, {}, [x, y], None if seed is None else np.random.default_rng(seed))
    assert many.shape == (2, 3, 2, 5)
    for place in np.ndindex(3, 2):
        one = series(program, {}, [x[place], y[place]])
        np.testing.assert_allclose(many[:, *place], one, rtol=1e-12 if seed is None else 1e-10, atol=1e-13)


def test_a_corner_has_no_series() -> None:
    program = build([("f", abs(se.Symbol("x"))), ("g", se.sympify("sqrt(x)"))], inputs=("x",), parameters=())
    found = series(program, {}, [np.array([0.0, 1.0, 0.0])])
    assert not np.isfinite(found).all(axis=1).any()


def test_exact_zeros_do_not_scatter_and_differences_do() -> None:
    program = build([("f", se.sympify("x**4")), ("g", se.sympify("0.3*x - sin(0.3*x)"))], inputs=("x",), parameters=())
    line = [np.array([0.0, 1.0, 0.0, 0.0, 0.0])]
    plain = series(program, {}, line)
    noisy = series(program, {}, line, np.random.default_rng(0))
    assert np.all(noisy[0, :4] == 0)
    assert 1e-16 < abs(noisy[1, 1] - plain[1, 1]) < 1e-12


def test_a_circle_as_a_series() -> None:
    """y² + s² = 1 from y = 1: √(1 - s²) = 1 - s²/2 - s⁴/8."""

    def residual(y: np.ndarray) -> np.ndarray:
        k = y.shape[1]
        square = np.convolve(y[0], y[0])[:k]
        return (square + np.eye(1, k, 2)[0] - np.eye(1, k)[0])[None, :]

    found = implicit_series(residual, np.ones(1), jacobian(residual, np.ones(1)), 5)
    assert found[0] == pytest.approx([1, 0, -0.5, 0, -0.125])
