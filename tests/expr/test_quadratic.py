"""Reading an expression as a polynomial of second degree, against its derivatives by SymPy."""

from __future__ import annotations

import numpy as np
import pytest
import symengine as se
import sympy

from svyaz.expr.quadratic_forms import quadratic

NAMES = ("v", "w")

POLYNOMIALS = (
    "0",
    "a",
    "v",
    "3*v*w",
    "a*(v + w)**2/2 + b*v + sin(a)",
    "(a*v + b*w + c)**2 - (v - a)*(w + b)",
    "a*(cos(x)*v + cos(y)*w)**2 + a*(sin(x)*v + sin(y)*w)**2",
    "m/2*((v*cos(x) + w)**2 + (v*sin(x))**2) + n/2*((v*cos(x) + w)**2 + (v*sin(x))**2)",
    "(m*a + m*b)*v**2/6 + m*b*v**2/2",
    "v*(w*(a + b) + c)/(a + b)",
    "(v - v*a)**2 - v**2*(1 - a)**2",
    "exp(a)*v**2/sqrt(b) + abs(c)*w",
)


@pytest.mark.parametrize("text", POLYNOMIALS)
def test_coefficients_are_the_derivatives_at_zero(text) -> None:
    expression = sympy.sympify(text)
    symbols = sympy.symbols(NAMES)
    at_zero = dict.fromkeys(symbols, 0)
    found = quadratic(se.sympify(expression), [se.Symbol(name) for name in NAMES])
    assert found is not None
    expected = {(): expression.subs(at_zero)}
    for i, s in enumerate(symbols):
        expected[(i,)] = expression.diff(s).subs(at_zero)
        for j in range(i, len(symbols)):
            expected[i, j] = expression.diff(s, symbols[j]).subs(at_zero)
    for monomial, value in expected.items():
        read = found.get(monomial, se.Integer(0))
        assert sympy.simplify(sympy.sympify(str(read)) - value) == 0, monomial


@pytest.mark.parametrize(
    "text", ["v**3", "v*w*(v + a)", "sin(v)", "a/v", "sqrt(v)", "v**a", "(v + w)**2*(v - w)", "abs(v)"]
)
def test_other_degrees_are_not_read(text) -> None:
    assert quadratic(se.sympify(text), [se.Symbol(name) for name in NAMES]) is None


def test_short_forms_of_the_books() -> None:
    symbols = [se.Symbol(name) for name in NAMES]
    text = "m/2*((a*cos(x)*v + b*cos(y)*w)**2 + (a*sin(x)*v + b*sin(y)*w)**2) + n/2*((a*cos(x)*v)**2 + (a*sin(x)*v)**2)"
    a, b, m, n, x, y = se.symbols("a b m n x y")
    found = quadratic(se.sympify(text), symbols)
    assert found is not None
    assert found[0, 0] == a**2 * (m + n)
    assert found[0, 1] in (a * b * m * se.cos(x - y), a * b * m * se.cos(y - x))
    assert found[1, 1] == b**2 * m


def test_squares_of_many_links_are_multiplied_by_their_turns() -> None:
    """Columns c (cos a, ± sin a) in either order, and some that only look so, against plain derivatives at a point."""
    count = 28
    v, u = ([se.Symbol(f"{letter}{k}") for k in range(count)] for letter in "vu")
    kinds = [
        lambda a: (2 * se.cos(a), 2 * se.sin(a)),
        lambda a: (-se.sin(a), se.cos(a)),
        lambda a: (se.sin(3 * a), -se.sin(3 * a)),
        lambda a: (se.cos(a), se.cos(a) * se.sin(a)),
        lambda a: (3 * se.cos(a + 1) * se.sin(a + 1), 3 * se.sin(a + 1) ** 2),
        lambda a: (-se.sin(2 * a), -se.cos(2 * a)),
    ]
    columns = [kinds[k % len(kinds)](u[k]) for k in range(count)]
    energy = se.Add(
        *(
            (k + 1) * (sum(x * w for (x, _), w in part) ** 2 + sum(y * w for (_, y), w in part) ** 2)
            for k in range(count)
            for part in [list(zip(columns[: k + 1], v, strict=False))]
        )
    )
    found = quadratic(energy, v)
    assert found is not None
    at = {s: 0.3 + 0.1 * k for k, s in enumerate(u)}
    xy = np.array([[float(c.subs(at)) for c in column] for column in columns])
    shares = np.array([sum(range(k + 1, count + 1)) for k in range(count)])
    wanted = 2 * xy @ xy.T * shares[np.maximum.outer(np.arange(count), np.arange(count))]
    for i in range(count):
        for j in range(i, count):
            assert float(found.get((i, j), se.Integer(0)).subs(at)) == pytest.approx(wanted[i, j], abs=1e-9)
