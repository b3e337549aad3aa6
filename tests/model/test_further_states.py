"""States with rates of their own beside coordinates: what they may enter, and that they move as they should."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import System
from svyaz.expr import ModelError
from svyaz.model import Mechanical
from svyaz.motion import simulate
from svyaz.show.equations import text_lines

OSCILLATOR = {
    "coordinates": ["x"],
    "kinetic": "x'^2/2",
    "potential": "x^2/2",
    "states": ["w"],
    "rates": {"w": "x'^2"},
    "forces": {"x": "-0.1*w*x'"},
    "initial": {"x": 1},
}


def test_a_mechanical_system_carries_further_states_after_its_velocities() -> None:
    system = System(**OSCILLATOR)
    assert isinstance(system.law, Mechanical)
    assert system.states == ("x", "x'", "w")
    motion = simulate(system, method="dop853", rtol=1e-11, until=3.0, stabilize="off")

    def rates(t, s):
        return [s[1], -s[0] - 0.1 * s[2] * s[1], s[1] ** 2]

    exact = solve_ivp(rates, (0, 3), [1, 0, 0], rtol=1e-11, atol=1e-12)
    assert motion.states[-1] == pytest.approx(exact.y[:, -1], abs=1e-8)


def test_the_rates_are_written_below_the_equations() -> None:
    assert text_lines(System(**OSCILLATOR).derive())[-1] == "w' = x'^2"


def test_constrained_equations_carry_them_too() -> None:
    """A bead on a straight wire falls freely along it; the state gathers the path."""
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        states=["path"],
        rates={"path": "sqrt(x'^2 + y'^2)"},
        constraint=[{"equation": "y = -x"}],
        initial={"x'": 1e-6, "y'": -1e-6},
    )
    motion = simulate(system, method="dop853", rtol=1e-11, until=1.0, stabilize=5.0)
    fallen = 9.81 / np.sqrt(2) / 2 + np.sqrt(2) * 1e-6
    assert motion.column("path")[-1] == pytest.approx(fallen, rel=1e-9)


def test_a_canonical_system_carries_them_after_its_momenta() -> None:
    words = {"coordinates": ["q"], "momenta": ["p"], "hamiltonian": "(p^2 + q^2)/2", "initial": {"q": 1}}
    system = System(**words, states=["s"], rates={"s": "p^2"})
    assert system.states == ("q", "p", "s")
    motion = simulate(system, method="dop853", rtol=1e-11, until=2.0, stabilize="off")
    assert motion.column("s")[-1] == pytest.approx(1.0 - np.sin(4.0) / 4, abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"constraint": [{"equation": "x = w"}]}, "not in a constraint"),
        ({"rates": {}}, "the state 'w' has no rate"),
        ({"rates": {"w": "1", "x": "1"}}, "there is no state 'x'"),
        ({"kinetic": None, "potential": None, "forces": None}, "'coordinates' does not go with"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message) -> None:
    words = {key: value for key, value in {**OSCILLATOR, **changes}.items() if value is not None}
    with pytest.raises(ModelError) as refused:
        System(**words)
    assert message in str(refused.value)


def test_a_hamiltonian_does_not_contain_them() -> None:
    """Energies may, as masses do; the momenta of a canonical system are variables of their own."""
    System(**OSCILLATOR | {"kinetic": "w*x'^2/2"})
    words = {"coordinates": ["q"], "momenta": ["p"], "hamiltonian": "(p^2 + s*q^2)/2", "states": ["s"]}
    with pytest.raises(ModelError, match="not in an energy"):
        System(**words, rates={"s": "p^2"})


def test_a_definition_of_them_has_no_derivative() -> None:
    words = {**OSCILLATOR, "definitions": {"half": "w/2"}}
    assert System(**{**words, "forces": {"x": "-half"}}).forces["x"] is not None
    with pytest.raises(ModelError):
        System(**{**words, "forces": {"x": "-half'"}})
