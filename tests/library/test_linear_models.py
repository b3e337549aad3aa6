"""Linear models about any state, and controllers designed elsewhere, against closed forms and python-control."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import svyaz

control = pytest.importorskip("control")


@pytest.fixture(scope="module")
def pendulum() -> svyaz.System:
    return svyaz.System(
        name="pendulum",
        coordinates=["u"],
        kinetic="u'^2/2",
        potential="-4*cos(u)",
        forces={"u": "F - 0.5*u'"},
        inputs={"F": {"value": 0, "low": -3, "high": 3}},
        initial={"u": 0.2},
        outputs={"tip": "2*sin(u)"},
    )


def test_P1_a_state_space_for_bode(pendulum) -> None:
    found = pendulum.linearise({"u": 0.0})
    assert np.allclose(found.A, [[0, 1], [-4, -0.5]])
    assert np.allclose(found.B, [[0], [1]])
    assert np.allclose(found.C, [[2, 0]])
    space = found.to_control()
    assert (space.state_labels, space.input_labels, space.output_labels) == (["u", "u'"], ["F"], ["tip"])
    omega = np.array([0.5, 2.0, 7.0])
    exact = 2 / (4 - omega**2 + 0.5j * omega)
    assert np.allclose(found.frequency_response(omega)[:, 0, 0], exact, rtol=1e-12)
    magnitude, _, _ = control.frequency_response(space, omega)
    assert np.allclose(magnitude, np.abs(exact), rtol=1e-9)
    times = np.linspace(0, 5, 7)
    _, theirs = control.step_response(space, times)
    assert np.allclose(found.step_response(times)[:, 0, 0], theirs, atol=1e-6)


def test_P1_linearised_about_a_state_that_moves(pendulum) -> None:
    found = pendulum.linearise({"u": 1.0, "u'": 2.0, "F": 0.3}, outputs=["u'", "u^2 + F"])
    assert np.allclose(found.A, [[0, 1], [-4 * np.cos(1.0), -0.5]])
    assert np.allclose(found.C, [[0, 1], [2, 0]])
    assert np.allclose(found.D, [[0], [1]])
    with pytest.raises(svyaz.ModelError, match="'v' is neither a state nor an input"):
        pendulum.linearise({"v": 1.0})


def test_P1_a_controller_designed_elsewhere_closes_the_loop(pendulum) -> None:
    filtered = control.StateSpace([[-5.0]], [[2.0]], [[-3.0]], [[-1.0]])
    closed = pendulum.with_controller(filtered, measure=["u"], about={"u": 0.5, "F": 4 * np.sin(0.5)})
    motion = closed.simulate(until=6, method="dop853", rtol=1e-11)

    def rates(_, x):
        u, v, xi = x
        force = np.clip(4 * np.sin(0.5) - 3 * xi - (u - 0.5), -3, 3)
        return [v, -4 * np.sin(u) + force - 0.5 * v, -5 * xi + 2 * (u - 0.5)]

    exact = solve_ivp(rates, (0, 6), [0.2, 0, 0], "DOP853", rtol=1e-12, atol=1e-12)
    assert motion.states[-1] == pytest.approx(exact.y[:, -1], abs=1e-8)


def test_controllers_that_do_not_fit_are_refused(pendulum) -> None:
    gain = control.StateSpace([], [], [], [[-1.0, -2.0]])
    closed = pendulum.with_controller(gain, measure=["u", "u'"])
    assert closed.simulate(until=30)["u"][-1] == pytest.approx(0.0, abs=1e-4)
    with pytest.raises(svyaz.ModelError, match="takes 2 measurements; 1 are named"):
        pendulum.with_controller(gain, measure=["u"])
    with pytest.raises(svyaz.ModelError, match="discrete time"):
        pendulum.with_controller(control.StateSpace([[0.5]], [[1]], [[1]], [[0]], 0.1), measure=["u"])
    with pytest.raises(svyaz.ModelError, match="there is no input 'G'"):
        pendulum.with_controller(gain, measure=["u", "u'"], inputs=["G"])
