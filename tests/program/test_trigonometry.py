"""sin² + cos² = 1 and phases: fewer operations, the same values, for every form."""

from __future__ import annotations

import numpy as np
import pytest
import symengine as se

from svyaz import System
from svyaz.expr.calculus import evaluate
from svyaz.forms.programs import terms_program
from svyaz.program import compile_program, operations, trigonometry
from svyaz.program.building import build

u, v, w = se.symbols("u v w")
a, b, c = se.symbols("a b c")
INPUTS, PARAMETERS = ("u", "v", "w"), ("a", "b", "c")


def check(expressions: list) -> dict[str, int]:
    """Operations of the program, whose values are those of the expressions."""
    program = build([(f"e{k}", e) for k, e in enumerate(expressions)], inputs=INPUTS, parameters=PARAMETERS)
    native = compile_program(program)
    random = np.random.default_rng(4)
    for _ in range(5):
        parameters, inputs = random.uniform(-1, 1, 3), random.uniform(-3, 3, 3)
        values = dict(zip((*PARAMETERS, *INPUTS), [*parameters, *inputs], strict=True))
        found = native.evaluate(inputs, native.constants(parameters))
        np.testing.assert_allclose(found, [evaluate(e, values) for e in expressions], rtol=1e-12, atol=1e-13)
    return operations(program)


def test_squares_of_sine_and_cosine_are_one() -> None:
    counts = check([a * se.sin(u) ** 2 + a * se.cos(u) ** 2])
    assert sum(counts.values()) == 0
    counts = check([w * (se.sin(u) ** 2 * se.cos(v) ** 2 + se.cos(u) ** 2 * se.cos(v) ** 2 + se.sin(v) ** 2)])
    assert sum(counts.values()) == 0


def test_squares_in_a_long_sum_are_looked_at_once(monkeypatch) -> None:
    """Σ vʲ wᵏ (sin² u + cos² u): 200 pairs, and no look at all terms for each of them."""
    looked, is_square = [], trigonometry._is_square
    monkeypatch.setattr(trigonometry, "_is_square", lambda *term: looked.append(term) or is_square(*term))
    monomials = [v**j * w**k for j in range(1, 21) for k in range(1, 11)]
    counts = check([se.Add(*(m * se.sin(u) ** 2 for m in monomials), *(m * se.cos(u) ** 2 for m in monomials))])
    assert counts["trig"] == 0
    assert len(looked) < 20 * 2 * len(monomials)


def test_squares_stay_where_they_are_needed() -> None:
    counts = check([a * se.sin(u) ** 2 + b * se.cos(u) ** 2, se.sin(u) ** 3 + se.cos(u) ** 2 * se.sin(u)])
    assert counts["trig"] == 2


def test_a_cosine_and_a_sine_become_one_shifted_cosine() -> None:
    counts = check([a * se.cos(u) + b * se.sin(u) + c])
    assert counts == {"add": 1, "mul": 1, "div": 0, "trig": 1, "angle_sum": 1, "other": 0}


def test_the_derivative_shares_the_shift() -> None:
    """a cos u + b sin u and b cos u - a sin u, each several times: one angle, two functions."""
    wave, slope = a * se.cos(u) + b * se.sin(u), b * se.cos(u) - a * se.sin(u)
    counts = check([wave * v + c, slope * w, slope * v * v + wave])
    assert (counts["trig"], counts["angle_sum"]) == (2, 1)
    assert counts["mul"] <= 6


@pytest.mark.parametrize("angle", [u, u + v, 2 * u - v])
def test_factors_are_kept(angle) -> None:
    check([v * w * (a * se.cos(angle) + b * se.sin(angle)), se.cos(angle) - 3 * se.sin(angle), w * se.sin(angle)])


def test_zero_coefficients_do_no_harm() -> None:
    program = build([("e", a * se.cos(u) + b * se.sin(u))], inputs=("u",), parameters=("a", "b"))
    native = compile_program(program)
    assert native.evaluate(np.array([0.3]), native.constants(np.array([0.0, 0.0]))) == pytest.approx([0.0])
    assert native.evaluate(np.array([0.3]), native.constants(np.array([0.0, -2.0]))) == pytest.approx(
        [-2 * np.sin(0.3)]
    )


def test_equations_of_lagrange_are_served() -> None:
    """Energies with an unbalanced wheel: the folded program takes fewer operations than its text has."""
    system = System(
        name="wheel",
        coordinates=["u", "s"],
        kinetic="m/2*(s'^2*(cos(u)^2 + sin(u)^2) + 2*s'*u'*(A*cos(u) + B*sin(u))) + J/2*u'^2",
        potential="m*g*(A*sin(u) - B*cos(u))",
        parameters={"m": 1, "A": 0.3, "B": 0.2, "J": 1, "g": 9.8},
    )
    counts = operations(terms_program(system.derive()))
    assert (counts["trig"], counts["angle_sum"]) == (2, 1)
    assert counts["mul"] <= 5
    assert counts["add"] <= 1
