"""Appell's form: the Gibbs function itself, against ½ Σ m a² of particles."""

from __future__ import annotations

import numpy as np
import pytest
import symengine as se

from svyaz import System
from svyaz.expr.calculus import evaluate
from svyaz.forms.named.appell import gibbs_function
from svyaz.forms.named.multipliers import with_multipliers
from svyaz.forms.quasi import basis
from svyaz.forms.reduction import velocity_rows


def dumbbell() -> System:
    """Two particles on a rod, the first of them on a blade along the rod, written by their positions."""
    return System(
        coordinates=["x", "y", "phi"],
        kinetic="m1/2*(x'^2 + y'^2) + m2/2*(x2'^2 + y2'^2)",
        potential="m1*g*x + m2*g*x2",
        definitions={"x2": "x + l*cos(phi)", "y2": "y + l*sin(phi)"},
        parameters={"m1": 1, "m2": 2, "l": 0.7, "g": 3},
        constraint=[{"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi)"}],
        quasi={"u": "x'*cos(phi) + y'*sin(phi)", "w": "phi'"},
        initial={"phi": 0.4},
    )


def test_gibbs_function_is_half_the_sum_of_m_a_squared() -> None:
    """Accelerations of the particles by hand: u̇ along, u w across for the first, plus ẇ l across and -w² l along."""
    system = dumbbell()
    origin = with_multipliers(system)
    chosen = basis("appell", origin, velocity_rows("appell", system.constraints, system.coordinates), None)
    function = gibbs_function(system, chosen.kinematics(system.coordinates), chosen)
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = {n: rng.uniform(-1, 1) for n in ("x", "y", "phi", "u", "w", "u'", "w'")} | system.constants
        u, w, du, dw = (values[n] for n in ("u", "w", "u'", "w'"))
        m1, m2, arm = values["m1"], values["m2"], values["l"]

        def energy(du: float, dw: float, u=u, w=w, m1=m1, m2=m2, arm=arm) -> float:
            first = du**2 + (u * w) ** 2
            second = (du - w**2 * arm) ** 2 + (u * w + dw * arm) ** 2
            return m1 / 2 * first + m2 / 2 * second

        at_rest = function.xreplace({se.Symbol("u'"): se.Integer(0), se.Symbol("w'"): se.Integer(0)})
        found = evaluate(function, values) - evaluate(at_rest, values)
        assert found == pytest.approx(energy(du, dw) - energy(0, 0), abs=1e-12)


def test_equations_of_the_dumbbell() -> None:
    """(m1 + m2) u̇ = m2 l w² - (m1 + m2) g cosφ;  m2 l (l ẇ + u w) = m2 g l sinφ."""
    equations = dumbbell().derive("appell")
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = {n: rng.uniform(-1, 1) for n in ("x", "y", "phi", "u", "w")} | equations.system.constants
        rows = np.array([[evaluate(e, values) for e in row] for row in equations.mass_matrix])
        found = np.linalg.solve(rows, [-evaluate(e, values) for e in equations.bias])
        m1, m2, arm, g = (values[n] for n in ("m1", "m2", "l", "g"))
        u, w, phi = values["u"], values["w"], values["phi"]
        expected = [
            m2 * arm * w**2 / (m1 + m2) - g * np.cos(phi),
            (g * np.sin(phi) - u * w) / arm,
        ]
        assert found == pytest.approx(expected, abs=1e-12)
