"""Constraint blocks: ḧ and ḟ along given motions, multipliers of prescribed motions, signs."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy as sp

from svyaz import System
from svyaz.expr import ModelError
from svyaz.motion import simulate

CURVES = {
    "x": lambda t: mpmath.sin(2 * t) + t**2 / 3,
    "y": lambda t: mpmath.cos(t) * (1 + t / 5),
    "z": lambda t: mpmath.exp(-t / 2) + t**3 / 7,
}
"""An arbitrary smooth motion, along which a constraint is differentiated numerically."""

POSITIONS = [
    "x*cos(w*t) + y*sin(t*x) = l*(1 + t^2)",
    "(x - sin(3*t))^2 + (y + t)^2 + z^2 = l^2",
    "t*x*y = exp(t*z/5)",
    "sqrt(1 + x^2*t) = atan2(y, 2 + z) + t",
]
VELOCITIES = [
    "y'*cos(t*x) = x'*sin(y) + t^2*z'",
    "z' - w*t*x + x*y' = sin(t)",
    "x'^2 + y'^2 + t*z'*x = l",
]


def system(equation: str) -> System:
    return System(
        coordinates=["x", "y", "z"],
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        parameters={"w": 1.7, "l": 0.9},
        constraint=[{"name": "c", "equation": equation}],
    )


def along(equation: str, order: int):
    """h or f along the curves, as a function of time of high precision."""
    names = ["w", "l", "t", *CURVES, *(f"{q}_d" for q in CURVES)]
    left, right = equation.replace("^", "**").replace("'", "_d").split("=")
    h = sp.lambdify(names, sp.sympify(left) - sp.sympify(right), "mpmath")

    def value(t):
        positions = [curve(t) for curve in CURVES.values()]
        speeds = [mpmath.diff(curve, t) for curve in CURVES.values()] if order else [0, 0, 0]
        return h(mpmath.mpf("1.7"), mpmath.mpf("0.9"), t, *positions, *speeds)

    return value


def state_at(t: float) -> tuple[dict[str, float], np.ndarray]:
    state = {"t": t, **{q: float(curve(t)) for q, curve in CURVES.items()}}
    state |= {f"{q}'": float(mpmath.diff(curve, t)) for q, curve in CURVES.items()}
    return state, np.array([float(mpmath.diff(curve, t, 2)) for curve in CURVES.values()])


@pytest.mark.parametrize("equation", POSITIONS)
def test_position_constraint_differentiated_twice(terms, equation) -> None:
    """G q̈ + constraint_bias = d²h/dt²: the mixed term 2 ∂²h/∂q∂t q̇ counts twice."""
    equations = system(equation).derive()
    with mpmath.workdps(40):
        for t in (0.3, 1.1):
            state, acceleration = state_at(t)
            expected = float(mpmath.diff(along(equation, 0), t, 2))
            found = terms(equations, state)
            second = found.jacobian @ acceleration + found.constraint_bias
            assert second[0] == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("equation", VELOCITIES)
def test_velocity_constraint_differentiated_once(terms, equation) -> None:
    equations = system(equation).derive()
    with mpmath.workdps(40):
        state, acceleration = state_at(0.7)
        expected = float(mpmath.diff(along(equation, 1), 0.7))
        found = terms(equations, state)
        assert (found.jacobian @ acceleration + found.constraint_bias)[0] == pytest.approx(
            expected, rel=1e-10, abs=1e-10
        )


def test_rows_are_derivatives_of_left_minus_right(terms) -> None:
    """h = left - right, never the other way round: G of y = 2 x is (-2, 1, 0)."""
    state = dict.fromkeys(("t", "x", "y", "z", "x'", "y'", "z'"), 0.4)
    assert terms(system("y = 2*x").derive(), state).jacobian == pytest.approx(np.array([[-2.0, 1.0, 0.0]]))
    assert terms(system("2*x = y").derive(), state).jacobian == pytest.approx(np.array([[2.0, -1.0, 0.0]]))
    assert terms(system("3*y' = x'*z").derive(), state).jacobian == pytest.approx(np.array([[-0.4, 3.0, 0.0]]))


def test_driven_mass_needs_the_force_of_its_prescribed_motion() -> None:
    """x = A sin(w t) on a spring: λ = m ẍ + k x = (k - m w²) A sin(w t), the force that drives it."""
    driven = System(
        coordinates=["x"],
        kinetic="m/2*x'^2",
        potential="k/2*x^2",
        parameters={"m": 2, "k": 5, "A": 0.3, "w": 4},
        constraint=[{"name": "drive", "equation": "x = A*sin(w*t)"}],
        initial={"x'": "A*w"},
    )
    motion = simulate(driven, rtol=1e-11, until=3)
    assert motion.column("x") == pytest.approx(0.3 * np.sin(4 * motion.times), abs=1e-8)
    assert motion.multipliers["drive"] == pytest.approx((5 - 2 * 16) * 0.3 * np.sin(4 * motion.times), abs=1e-7)


def test_bead_on_a_turning_rod() -> None:
    """y cos(w t) = x sin(w t), no gravity: r̈ = w² r, so r = r₀ cosh(w t)."""
    bead = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        parameters={"w": 1.5, "r0": 0.2},
        constraint=[{"name": "rod", "equation": "y*cos(w*t) = x*sin(w*t)"}],
        initial={"x": "r0", "y'": "w*r0"},
    )
    motion = simulate(bead, rtol=1e-12, until=2)
    t = motion.times
    assert motion.column("x") == pytest.approx(0.2 * np.cosh(1.5 * t) * np.cos(1.5 * t), abs=1e-7)
    assert motion.column("y") == pytest.approx(0.2 * np.cosh(1.5 * t) * np.sin(1.5 * t), abs=1e-7)
    # the force across the rod is 2 w ṙ; the row of G has length 1
    assert motion.multipliers["rod"] == pytest.approx(2 * 1.5 * 0.2 * 1.5 * np.sinh(1.5 * t), abs=1e-6)


def test_forms_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ModelError, match="takes no constraints") as caught:
        system("y = x").derive("lagrange")
    assert caught.value.problems[0].hint == "use the form 'multipliers'"
    with pytest.raises(ModelError, match="there is no form 'lagrang'") as caught:
        system("y = x").derive("lagrang")
    assert caught.value.problems[0].hint == "did you mean 'lagrange'?"
    plain = System(states=["x"], rates={"x": "-x"})
    with pytest.raises(ModelError, match="its rates are taken as they are"):
        plain.derive("lagrange")


def test_hamilton_s_equations() -> None:
    """H = p²/(2m) + k q²/2 + a p: q̇ = p/m + a, ṗ = -k q."""
    canonical = System(
        coordinates=["q"], momenta=["p"], hamiltonian="p^2/(2*m) + k*q^2/2 + a*p", parameters={"m": 2, "k": 3, "a": 1}
    )
    rates = canonical.derive().explicit
    values = {sp.Symbol("q"): 0.3, sp.Symbol("p"): 0.8, sp.Symbol("m"): 2, sp.Symbol("k"): 3, sp.Symbol("a"): 1}
    assert float(rates["q"].subs(values)) == pytest.approx(0.8 / 2 + 1)
    assert float(rates["p"].subs(values)) == pytest.approx(-0.9)
