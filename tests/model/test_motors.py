"""DC drives: the current as a state, the voltage as an input, the torque among the forces."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from svyaz import System, loads
from svyaz.expr import ModelError
from svyaz.motion import simulate
from svyaz.show.equations import text_lines

DRIVE = {
    "name": "drive",
    "current": "I",
    "voltage": "e",
    "inductance": "La",
    "resistance": "Ra",
    "back_emf": "Ka",
    "supply": "k2",
    "torque": "k3",
    "shaft": "theta'",
    "on": "theta",
}
WHEEL = {
    "coordinates": ["theta"],
    "kinetic": "J/2*theta'^2",
    "parameters": {"J": 0.02, "b": 0.1, "La": 0.5, "Ra": 2.0, "Ka": 0.3, "k2": 1.5, "k3": 0.4},
    "forces": {"theta": "-b*theta'"},
    "motor": [DRIVE],
}


def test_the_current_is_a_state_and_the_voltage_an_input() -> None:
    system = System(**WHEEL)
    assert system.states == ("theta", "theta'", "I")
    assert system.inputs["e"].value == 0.0
    assert [m.name for m in system.motors] == ["drive"]
    assert not system.warnings


def test_a_wheel_on_a_motor_moves_as_the_linear_system_it_is() -> None:
    system = System(**WHEEL, inputs={"e": 3.0}, initial={"I": 0.2})
    motion = simulate(system, method="dop853", rtol=1e-12, until=2.0)
    matrix = np.array([[0, 1, 0, 0], [0, -5, 20, 0], [0, -0.6, -4, 9], [0, 0, 0, 0]])
    exact = expm(2.0 * matrix) @ [0, 0, 0.2, 1]
    assert motion.states[-1] == pytest.approx(exact[:3], abs=1e-9)


def test_the_equations_show_the_torque_and_the_circuit() -> None:
    lines = text_lines(System(**WHEEL).derive())
    assert "k3*I" in lines[0]
    assert lines[-1].startswith("I' = ")


def test_a_motor_drives_a_constrained_system() -> None:
    """A bead on a circle, driven along y by a motor: against the pendulum angle integrated by SciPy."""
    numbers = {"inductance": 0.1, "resistance": 1, "back_emf": 2, "supply": 1, "torque": 3}
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        parameters={"R": 1.0},
        constraint=[{"equation": "x^2 + y^2 = R^2"}],
        motor=[{**DRIVE, **numbers, "shaft": "y'", "on": "y"}],
        inputs={"e": 1.0},
        initial={"x": 1.0},
    )
    motion = simulate(system, form="multipliers", method="dop853", rtol=1e-11, until=1.0, stabilize=5.0)

    def rates(t, s):
        a, v, i = s
        return [v, (-9.81 + 3 * i) * np.cos(a), (-i - 2 * np.cos(a) * v + 1.0) / 0.1]

    exact = solve_ivp(rates, (0, 1), [0, 0, 0], method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    assert motion.column("y")[-1] == pytest.approx(np.sin(exact[0]), abs=1e-7)
    assert motion.column("I")[-1] == pytest.approx(exact[2], abs=1e-7)


def test_the_rate_of_a_current_may_stand_in_a_force() -> None:
    plain = System(**WHEEL, inputs={"e": 2.0})
    shaken = System(**{**WHEEL, "forces": {"theta": "-b*theta' + 0.01*I'"}}, inputs={"e": 2.0})
    values = {
        "J": 0.02,
        "b": 0.1,
        "La": 0.5,
        "Ra": 2.0,
        "Ka": 0.3,
        "k2": 1.5,
        "k3": 0.4,
        "theta'": 0.7,
        "I": 0.3,
        "e": 2.0,
    }
    from svyaz.expr.calculus import evaluate

    rate = (-2.0 * 0.3 - 0.3 * 0.7 + 1.5 * 2.0) / 0.5
    difference = evaluate(shaken.forces["theta"], values) - evaluate(plain.forces["theta"], values)
    assert difference == pytest.approx(0.01 * rate, rel=1e-14)


def test_a_voltage_is_set_by_its_name_and_limited_among_the_inputs() -> None:
    assert System(**WHEEL).with_settings({"e": 12}).inputs["e"].value == 12
    limited = System(**WHEEL, inputs={"e": {"value": 1, "low": -24, "high": 24}})
    assert (limited.inputs["e"].low, limited.inputs["e"].high) == (-24, 24)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"on": "phi"}, "a motor acts on a coordinate; 'phi' is none"),
        ({"current": "theta"}, "the name 'theta' is used twice"),
        ({"inductance": 0}, "has no inductance"),
        ({"shaft": "I"}, "not in the speed of a shaft"),
        ({"torq": 1}, "there is no key 'torq'"),
    ],
)
def test_mistakes_in_a_motor_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        System(**{**WHEEL, "motor": [{**DRIVE, **change}]})


@pytest.mark.parametrize("key", ["current", "voltage", "shaft", "on", "torque"])
def test_what_a_motor_lacks_is_named(key: str) -> None:
    drive = {k: v for k, v in DRIVE.items() if k != key}
    with pytest.raises(ModelError, match=f"the motor 'drive' has no '?{key}"):
        System(**{**WHEEL, "motor": [drive]})


def test_the_rate_of_a_current_cannot_be_given() -> None:
    with pytest.raises(ModelError, match="follows from its motor"):
        System(**WHEEL, rates={"I": 0})


def test_a_motor_does_not_go_with_plain_rates() -> None:
    text = 'states = ["x"]\n[rates]\nx = "-x"\n[[motor]]\nname = "m"\n'
    with pytest.raises(ModelError, match="'motor' does not go with a model that is given by"):
        loads(text)
