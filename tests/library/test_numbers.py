"""Equations as functions of numbers, against closed forms and independent integration."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import svyaz

CART = {
    "name": "cart with a pendulum",
    "coordinates": ["x", "u"],
    "kinetic": "M/2*x'^2 + m/2*(x'^2 + 2*l*cos(u)*x'*u' + l^2*u'^2)",
    "potential": "-m*g*l*cos(u)",
    "parameters": {"M": 2.0, "m": 0.5, "l": 0.8, "g": 9.81},
    "inputs": {"F": {"value": 0.0}},
    "forces": {"x": "F"},
    "draw": [{"point": ["x + l*sin(u)", "-l*cos(u)"], "name": "bob"}],
}


def rates(x, force, M=2.0, m=0.5, length=0.8, g=9.81):
    """The cart by hand."""
    _, u, v, w = x
    matrix = np.array([[M + m, m * length * np.cos(u)], [m * length * np.cos(u), m * length**2]])
    side = np.array([force + m * length * np.sin(u) * w**2, -m * g * length * np.sin(u)])
    return np.concatenate([[v, w], np.linalg.solve(matrix, side)])


@pytest.fixture(scope="module")
def f() -> svyaz.NumericEquations:
    return svyaz.System(**CART).derive().function()


def test_P1_rates_are_those_written_by_hand(f) -> None:
    random = np.random.default_rng(1)
    x, u = random.normal(size=(6, 4)), random.normal(size=6)
    assert f.states == ("x", "u", "x'", "u'")
    assert f.inputs == ("F",)
    by_hand = np.array([rates(row, force) for row, force in zip(x, u, strict=True)])
    assert np.abs(f(0.0, x, {"F": u}) - by_hand).max() < 1e-12
    assert np.abs(f(0.0, x, u[:, None]) - by_hand).max() < 1e-12
    assert np.abs(f(0.0, x[0], [u[0]]) - by_hand[0]).max() < 1e-12
    heavier = f(0.0, x[0], [u[0]], {"M": 3.0, "g": 1.6})
    assert np.abs(heavier - rates(x[0], u[0], M=3.0, g=1.6)).max() < 1e-12
    assert np.abs(f(0.0, x[0], [u[0]]) - by_hand[0]).max() < 1e-12, "other values were for that call alone"


def test_P1_slopes_are_those_of_differences(f) -> None:
    x, h = np.array([0.3, 1.1, -0.4, 0.7]), 1e-6
    by_differences = np.array([(rates(x + d, 0.2) - rates(x - d, 0.2)) / (2 * h) for d in h * np.eye(4)]).T
    assert np.abs(f.jacobian(0.0, x, [0.2]) - by_differences).max() < 1e-8
    by_input = (rates(x, 0.2 + h) - rates(x, 0.2 - h)) / (2 * h)
    assert np.abs(f.input_jacobian(0.0, x, [0.2])[:, 0] - by_input).max() < 1e-8


def test_P1_terms_energies_and_points(f) -> None:
    q = np.array([0.3, 1.1])
    c = 0.5 * 0.8 * np.cos(1.1)
    assert np.allclose(f.mass_matrix(q), [[2.5, c], [c, 0.32]], atol=1e-15)
    x = np.array([0.3, 1.1, -0.4, 0.7])
    kinetic = 0.5 * x[2:] @ f.mass_matrix(q) @ x[2:]
    energies = f.observed(x)["energies"]
    assert energies["kinetic"] == pytest.approx(kinetic, abs=1e-14)
    assert energies["potential"] == pytest.approx(-0.5 * 9.81 * 0.8 * np.cos(1.1), abs=1e-14)
    ((name, point),) = f.points(np.tile(q, (3, 1)))
    assert name == "bob"
    assert np.allclose(point, [[[0.3 + 0.8 * np.sin(1.1), -0.8 * np.cos(1.1)]]] * 3)


def test_P1_it_goes_into_solve_ivp() -> None:
    system = svyaz.load("sleigh")
    f = system.derive().function()
    found = solve_ivp(f, (0.0, 2.0), f.initial, rtol=1e-10, atol=1e-12)
    own = system.simulate(until=2.0, method="dop853", rtol=1e-11, stabilize="off")
    assert np.abs(found.y[:, -1] - own.states[-1]).max() < 1e-7
    accelerated = f(0.0, f.initial)[3:]
    pushed = f.mass_matrix(f.initial) @ accelerated + f.bias(f.initial)
    assert np.allclose(pushed, f.constraint_jacobian(f.initial).T @ f.multipliers(0.0, f.initial), atol=1e-12)
    assert np.allclose(f.constraint_jacobian(f.initial) @ accelerated + f.constraint_bias(f.initial), 0.0, atol=1e-12)


@pytest.mark.parametrize("shape", [(4,), (3, 4)])
def test_what_a_singular_position_leaves_open_is_not_a_number(shape) -> None:
    circle = {"name": "circle", "equation": "x^2 + y^2 = 1"}  # its gradient vanishes in the middle
    bead = svyaz.System(coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", potential="y", constraint=[circle])
    f = bead.derive().function()
    middle = np.zeros(shape)
    assert np.isnan(f(0.0, middle)).any()
    assert f(0.0, middle).shape == shape
    assert np.isnan(f.multipliers(0.0, middle)).all()
    assert np.isnan(f.jacobian(0.0, middle)).any()
    assert np.all(f.mass_matrix(middle) == np.eye(2))
    assert np.isfinite(f(0.0, middle + np.array([1.0, 0.0, 0.0, 0.0]))).all()


def test_wrong_shapes_and_names_are_refused(f) -> None:
    with pytest.raises(svyaz.ModelError, match="x has 4 entries"):
        f(0.0, [1.0, 2.0, 3.0])
    with pytest.raises(svyaz.ModelError, match="there is no input 'G'"):
        f(0.0, np.zeros(4), {"G": 1.0})
    with pytest.raises(svyaz.ModelError, match="1 values expected, one for each input"):
        f(0.0, np.zeros(4), [1.0, 2.0])
    with pytest.raises(svyaz.ModelError, match="there is no parameter 'k'"):
        f(0.0, np.zeros(4), p={"k": 1.0})


def test_equations_solved_by_formula_equal_the_numbers() -> None:
    import symengine as se

    equations = svyaz.System(**CART).derive()
    x = dict(zip(equations.states, (0.3, 1.1, -0.4, 0.7), strict=True))
    at = {se.Symbol(name): value for name, value in {**x, **CART["parameters"], "F": 0.2}.items()}
    by_formula = [float(rate.subs(at).evalf()) for rate in equations.rhs.values()]
    assert np.abs(np.array(by_formula) - rates(np.array(list(x.values())), 0.2)).max() < 1e-13
    slopes = [[float(entry.subs(at).evalf()) for entry in row] for row in equations.jacobian(["F"])]
    assert slopes[2][0] == pytest.approx(equations.function().input_jacobian(0.0, list(x.values()))[2, 0], abs=1e-13)
