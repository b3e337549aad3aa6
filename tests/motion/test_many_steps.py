"""Steps of a ``Simulator`` as native calls, alone and many at once: against closed forms, SciPy and single runs."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import ModelError, Simulator, System, load, loads, simulate

CART = """
coordinates = ["x"]
kinetic = "x'^2/2"
[inputs]
F = { value = 0, high = 2 }
[forces]
x = "F - x'"
[limits]
x = [-10, 1]
"""

BLOW_UP = """
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "-x^4/2"
"""

WINDOW = System(
    coordinates=["a", "b", "c", "d"],
    kinetic="(a'^2 + b'^2 + c'^2 + d'^2)/2",
    potential="9.81*b + 9.81*d",
    constraint=[
        {"name": "left", "equation": "a^2 + b^2 = 1"},
        {"name": "right", "equation": "(c - 1)^2 + d^2 = 1"},
        {"name": "top", "equation": "(c - a)^2 + (d - b)^2 = 1"},
    ],
    initial={"b": 1.0, "c": 1.0, "d": 1.0, "a'": 1.0, "c'": 1.0},
)
SPHERE = System(
    coordinates=["theta", "psi"],
    kinetic="(theta'^2 + sin(theta)^2*psi'^2)/2",
    potential="-9.81*cos(theta)",
    initial={"theta": 0.5, "psi": 0.3, "theta'": -1.0, "psi'": 1e-6},
)

ROADS = [
    ("pendulum:2", {}),
    ("pendulum:2", {"method": "rk4", "step": 0.007}),
    ("pendulum:2", {"method": "radau"}),
    ("sleigh", {"stabilize": 10.0}),
    ("sleigh", {"stabilize": "projection"}),
    ("sleigh", {"stabilize": "projection", "method": "rk4", "step": 0.01}),
    ("chain:20", {"method": "rk4", "step": 0.01}),
    ("chain:20", {}),
]


@pytest.mark.parametrize(("name", "asked"), ROADS)
def test_W9_members_are_simulators_alone(name, asked) -> None:
    """Members in lanes, in a native loop or one after another, for every kind of equations: the states of one alone."""
    system, count = load(name), 19
    many, alone = Simulator(system, 0.02, count=count, **asked), Simulator(system, 0.02, **asked)
    place = system.states.index(system.coordinates[-1])
    starts = np.tile(alone.state, (count, 1))
    starts[:, place] += np.linspace(0.0, 0.3, count)
    many.reset(starts)
    for _ in range(4):
        last = many.step()
    assert last.shape == (count, len(system.states))
    assert (many.status == "finished").all()
    for k in (0, 7, count - 1):
        alone.reset(starts[k])
        for _ in range(4):
            expected = alone.step()
        np.testing.assert_allclose(last[k], expected, rtol=1e-12, atol=1e-13)
        assert many["energy"][k] == pytest.approx(alone["energy"], abs=1e-12, rel=1e-12)
        assert many.t == alone.t == 0.08


def test_W9_one_of_many_is_one_alone_to_the_bit() -> None:
    one, alone = Simulator(load("pendulum:2"), 0.01, count=1), Simulator(load("pendulum:2"), 0.01)
    for _ in range(9):
        assert (one.step()[0] == alone.step()).all()


def test_W9_inputs_of_members_are_numbers_or_arrays_within_their_limits() -> None:
    """x' = v, v' = F - v: x + F dt + (v - F)(1 - e), F + (v - F) e with e = exp(-dt)."""
    count = 33
    many = Simulator(loads(CART), dt=0.1, count=count)
    forces = np.linspace(-1.0, 4.0, count)
    x, v = np.zeros(count), np.zeros(count)
    for k in range(6):
        given = forces if k % 2 else 0.5
        many.step({"F": given} if k < 4 else np.broadcast_to(np.reshape(given, (-1, 1)), (count, 1)))
        force, decay = np.minimum(np.broadcast_to(given, count), 2.0), np.exp(-0.1)
        x, v = x + force * 0.1 + (v - force) * (1 - decay), force + (v - force) * decay
        np.testing.assert_allclose(many.state, np.column_stack([x, v]), atol=1e-9)
        np.testing.assert_array_equal(many.inputs["F"], force)
    np.testing.assert_allclose(many["kinetic"], v**2 / 2, atol=1e-9)
    np.testing.assert_allclose(many["x"], x, atol=1e-9)
    many.step({"F": 2.0}, dt=3.0)
    assert many.t == pytest.approx(3.6)
    assert (many.status == "left").all()
    many.reset({"x": np.linspace(0.0, 0.9, count)})
    assert (many.t, set(many.status)) == (0.0, {"finished"})
    np.testing.assert_array_equal(many.inputs["F"], np.zeros(count))


@pytest.mark.parametrize("asked", [{}, {"method": "rk4", "step": 0.001}])
def test_W9_members_that_are_lost_stay_and_the_others_go_on(asked) -> None:
    """x'' = 2 x³ from x' = x² is x = x₀/(1 - x₀ t), beyond all bounds at t = 1/x₀."""
    first = np.array([0.1, 4.0, 0.5, -0.3, 8.0] * 5)
    many = Simulator(loads(BLOW_UP), 0.05, count=len(first), **asked)
    many.reset(np.column_stack([first, first**2]))
    for _ in range(10):
        many.step()
    lost = first > 2.0
    assert (many.status[~lost] == "finished").all()
    assert (many.status[lost] == "diverged").all()
    assert many.t == 0.5
    kept = first[~lost]
    np.testing.assert_allclose(many["x"][~lost], kept / (1 - 0.5 * kept), rtol=1e-6)
    assert np.isfinite(many.state).all()
    before = many.state[lost]
    many.step()
    np.testing.assert_array_equal(many.state[lost], before)
    many.reset()
    assert (many.status == "finished").all()


def test_W9_a_thousand_steps_are_one_run_and_leave_nothing_behind() -> None:
    """The double pendulum with unit masses and lengths by SciPy, up to t = 2; the steps make no objects that stay."""

    def rates(_t, y):
        (a, b, u, v), g = y, 9.81
        c, s = np.cos(a - b), np.sin(a - b)
        mass = np.array([[2.0, c], [c, 1.0]])
        side = [-s * v * v - 2 * g * np.sin(a), s * u * u - g * np.sin(b)]
        return [u, v, *np.linalg.solve(mass, side)]

    system = load("pendulum:2")
    loop = Simulator(system, 0.002)
    assert dict(system.parameters) == {"m1": 1.0, "m2": 1.0, "L1": 1.0, "L2": 1.0, "g": 9.81}
    exact = solve_ivp(rates, (0.0, 2.0), loop.state, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    for _ in range(600):
        loop.step()
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(400):
        loop.step()
    gc.collect()
    assert len(gc.get_objects()) <= before + 20
    np.testing.assert_allclose(loop.state, exact, atol=1e-7)
    np.testing.assert_allclose(loop.state, simulate(system, until=2.0).states[-1], atol=1e-7)


def test_W9_a_step_depends_on_the_state_and_the_inputs_alone() -> None:
    """Not on the steps before; the times differ here, in which equal lengths differ by rounding."""
    loop = Simulator(load("ball-and-beam"), 0.02)
    loop.step({"nu": 1.0})
    for _ in range(20):
        loop.step({"nu": -0.5})
    there, again = loop.state, Simulator(load("ball-and-beam"), 0.02)
    again.reset(there)
    np.testing.assert_allclose(again.step({"nu": 2.0}), loop.step({"nu": 2}), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("count", [0, -1, True, 2.5, "4"])
def test_W9_a_wrong_number_of_members_is_refused(count) -> None:
    with pytest.raises(ModelError, match="'count'"):
        Simulator(loads(CART), count=count)


def test_W9_wrong_calls_name_what_is_wrong_and_change_nothing() -> None:
    alone, many = Simulator(loads(CART)), Simulator(loads(CART), count=5)
    for loop in (alone, many):
        with pytest.raises(ModelError, match="there is no input 'G'"):
            loop.step({"G": 1.0})
        for bad in (float("nan"), float("inf"), "1", None, [1.0, 2.0], np.ones((5, 2))):
            with pytest.raises(ModelError, match="'u', the value of 'F'"):
                loop.step({"F": bad})
        for bad in (np.nan * np.ones(2), [1.0], np.ones((4, 2)), np.ones((5, 3)), "ab"):
            with pytest.raises(ModelError, match="'state'"):
                loop.reset(bad)
        with pytest.raises(ModelError, match="'y' is not among the states"):
            loop.reset({"y": 1.0})
        with pytest.raises(ModelError, match="'state', the value of 'x'"):
            loop.reset({"x": [1.0, 2.0]})
        assert loop.t == 0.0
        assert (np.asarray(loop.inputs["F"]) == 0.0).all()
    with pytest.raises(ModelError, match="'u': 1 inputs expected"):
        many.step(np.ones((4, 1)))


def test_W9_members_pass_branching_positions_as_a_run_does() -> None:
    """A window falls as a pendulum, θ'' = g sin θ, through the position at which it lies flat and could fold."""
    rates = np.array([1.0, 1.3, 0.8])
    many = Simulator(WINDOW, 0.04, count=3)
    many.reset({"a'": rates, "c'": rates})
    for _ in range(25):
        many.step()
    for k, rate in enumerate(rates):
        path = solve_ivp(lambda t, y: [y[1], 9.81 * np.sin(y[0])], (0, 1), [0, rate], method="DOP853", rtol=1e-12)
        angle = path.y[0, -1]
        assert angle > np.pi / 2
        expected = [np.sin(angle), np.cos(angle), 1 + np.sin(angle), np.cos(angle)]
        np.testing.assert_allclose(many.state[k, :4], expected, atol=1e-5)


def test_W9_members_pass_poles_of_coordinates_as_a_run_does() -> None:
    """A spherical pendulum in angles swings past its lowest point at a distance of 10⁻⁷, nearly in a plane."""
    many = Simulator(SPHERE, 0.02, count=2)
    for _ in range(30):
        many.step()
    path = solve_ivp(lambda t, y: [y[1], -9.81 * np.sin(y[0])], (0, 0.6), [0.5, -1.0], method="DOP853", rtol=1e-12)
    angle, theta, psi = path.y[0, -1], many["theta"], many["psi"]
    assert angle < 0
    np.testing.assert_allclose(np.sin(theta) * np.cos(psi), np.sin(angle) * np.cos(0.3), atol=1e-6)
    np.testing.assert_allclose(np.cos(theta), np.cos(angle), atol=1e-6)
