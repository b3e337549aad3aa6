"""Expressions of SymPy in, matrices of SymPy out."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

import svyaz


@pytest.fixture(scope="module")
def double_pendulum():
    a, b = dynamicsymbols("a b")
    t = dynamicsymbols._t
    m, length, g = sp.symbols("m l g", positive=True)
    kinetic = m * length**2 * (a.diff(t) ** 2 + a.diff(t) * b.diff(t) * sp.cos(a - b) + b.diff(t) ** 2 / 2)
    potential = -m * g * length * (2 * sp.cos(a) + sp.cos(b))
    system = svyaz.System(
        name="double pendulum",
        coordinates=[a, b],
        kinetic=kinetic,
        potential=potential,
        parameters={m: 1, length: sp.Rational(1, 2), g: np.float64(9.81)},
        initial={a: sp.pi / 3, a.diff(t): 0.1},
    )
    return system, kinetic - potential, (a, b)


def test_P1_expressions_of_sympy_state_a_system(double_pendulum) -> None:
    system, lagrangian, q = double_pendulum
    assert system.coordinates == ("a", "b")
    assert system.parameters == {"m": 1.0, "l": 0.5, "g": 9.81}
    assert system.initial == {"a": pytest.approx(np.pi / 3), "a'": 0.1}
    known = LagrangesMethod(lagrangian, list(q))
    known.form_lagranges_equations()
    ours = system.derive().to_sympy(functions=True)
    plain = {symbol: sp.Symbol(symbol.name) for symbol in lagrangian.free_symbols}
    assert sp.simplify(ours.mass_matrix - known.mass_matrix.xreplace(plain)) == sp.zeros(2, 2)
    assert sp.simplify(ours.forcing - known.forcing.xreplace(plain)) == sp.zeros(2, 1)


def test_P1_a_symbolic_matrix_goes_into_lambdify(double_pendulum) -> None:
    system, _, _ = double_pendulum
    equations = system.derive()
    ours = equations.to_sympy()
    compiled = sp.lambdify([*ours.coordinates, *ours.parameters], ours.mass_matrix)
    q = (0.4, -1.1)
    values = [system.parameters[str(p)] for p in ours.parameters]
    assert np.allclose(compiled(*q, *values), equations.function().mass_matrix(q), atol=1e-15)


def test_what_has_no_place_in_a_model_is_refused() -> None:
    a, t = dynamicsymbols("a"), dynamicsymbols._t
    with pytest.raises(svyaz.ModelError, match="a coordinate is differentiated once, by the time"):
        svyaz.System(coordinates=[a], kinetic=a.diff(t, 2) ** 2)
    with pytest.raises(svyaz.ModelError):
        svyaz.System(coordinates=[a], kinetic=sp.Integral(a, t))


def test_expressions_of_symengine_state_a_system() -> None:
    import symengine as se

    u, v = se.Symbol("u"), se.Symbol("u'")
    system = svyaz.System(coordinates=["u"], kinetic=v**2 / 2, potential=1 - se.cos(u), initial={"u": se.pi / 4})
    assert str(system.derive()) == "u'' + sin(u) = 0"
    assert system.initial["u"] == pytest.approx(np.pi / 4)
