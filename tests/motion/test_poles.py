"""K4: poles of angles are passed in another chart, however near the motion comes to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import System, load
from svyaz.forms import derive
from svyaz.motion import simulate
from svyaz.stabilise.polar_crossing import _Polar
from svyaz.stabilise.poles import poles_of

G = 9.81
TIGHT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
FIXED, FREE = {"method": "rk4", "step": 0.01}, {"method": "dop853", "rtol": 1e-10}

ANGLES = System(
    name="spherical pendulum in angles",
    coordinates=["theta", "psi"],
    kinetic="(theta'^2 + sin(theta)^2*psi'^2)/2",
    potential=f"-{G}*cos(theta)",
)
DISTANCE = System(
    name="the same with its distance",
    coordinates=["r", "theta", "psi"],
    kinetic="(r'^2 + r^2*theta'^2 + r^2*sin(theta)^2*psi'^2)/2",
    potential=f"-{G}*r*cos(theta)",
    constraint=[{"name": "rod", "equation": "r = 1"}],
)
BODY = System(
    name="body about a fixed point",
    coordinates=["psi", "theta", "phi"],
    definitions={
        "w1": "psi'*sin(theta)*sin(phi) + theta'*cos(phi)",
        "w2": "psi'*sin(theta)*cos(phi) - theta'*sin(phi)",
        "w3": "psi'*cos(theta) + phi'",
    },
    kinetic="(w1^2 + 1.6*w2^2 + 0.7*w3^2)/2",
    potential="2*cos(theta)",
)


def place(theta: float, psi: float) -> np.ndarray:
    return np.array([np.sin(theta) * np.cos(psi), np.sin(theta) * np.sin(psi), -np.cos(theta)])


def on_the_sphere(theta: float, psi: float, slope: float, turn: float, times: np.ndarray) -> np.ndarray:
    """Positions in x, y, z, which know no pole."""
    across = np.array([-np.sin(psi), np.cos(psi), 0.0])
    along = np.array([np.cos(theta) * np.cos(psi), np.cos(theta) * np.sin(psi), np.sin(theta)])
    start = np.concatenate([place(theta, psi), slope * along + turn * np.sin(theta) * across])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, v, force = y[:3], y[3:], np.array([0.0, 0.0, -G])
        return np.concatenate([v, force - (v @ v + q @ force) / (q @ q) * q])

    return solve_ivp(rates, (0, times[-1]), start, t_eval=times, **TIGHT).y[:3].T


@pytest.mark.parametrize("turn", [0.0, 1e-9, 1e-6, 0.05])
@pytest.mark.parametrize("how", [FIXED, FREE, {**FREE, "every": 0.5}])
def test_K4_a_spherical_pendulum_in_angles_passes_the_pole(turn: float, how: dict[str, Any]) -> None:
    start = {"theta": 0.5, "psi": 0.3, "theta'": -1.0, "psi'": turn}
    motion = simulate(ANGLES, start=start, until=3, **how)
    assert motion.finished, motion.reason
    found = np.array([place(*state[:2]) for state in motion.states])
    np.testing.assert_allclose(found, on_the_sphere(0.5, 0.3, -1.0, turn, motion.times), atol=1e-7)
    if turn:
        assert "pole theta = 0 of the coordinates, where psi has no meaning" in " ".join(motion.notes)
        energy = motion.states[:, 2] ** 2 / 2 + np.sin(motion.states[:, 0]) ** 2 * motion.states[:, 3] ** 2 / 2
        np.testing.assert_allclose(energy - G * np.cos(motion.states[:, 0]), energy[0] - G * np.cos(0.5), atol=1e-6)


@pytest.mark.parametrize("stabilize", ["off", "auto", "projection"])
def test_K4_a_pole_beside_constraints(stabilize: str) -> None:
    start = {"r": 1.0, "theta": 0.5, "psi": 0.3, "theta'": -1.0, "psi'": 1e-5}
    motion = simulate(DISTANCE, start=start, until=1, stabilize=stabilize, **FIXED)
    assert motion.finished, motion.reason
    found = place(*motion.states[-1, 1:3])
    np.testing.assert_allclose(found, on_the_sphere(0.5, 0.3, -1.0, 1e-5, motion.times)[-1], atol=1e-7)


@pytest.mark.parametrize(("theta", "slope", "turn"), [(0.6, -3.0, 1e-4), (2.4, 1.0, 1e-5)])
def test_K4_eulers_angles_of_a_body_without_symmetry(theta: float, slope: float, turn: float) -> None:
    """I w' = I w × w + g × (0, 0, 2), g' = g × w in axes of the body."""
    inertia = np.array([1.0, 1.6, 0.7])

    def in_body(y: np.ndarray) -> np.ndarray:
        _, a, f, p, s, r = y
        vertical = np.array([np.sin(a) * np.sin(f), np.sin(a) * np.cos(f), np.cos(a)])
        return np.concatenate([p * vertical + [s * np.cos(f), -s * np.sin(f), r], vertical])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        w, g = y[:3], y[3:]
        return np.concatenate([(np.cross(inertia * w, w) + np.cross(g, [0, 0, 2.0])) / inertia, np.cross(g, w)])

    start = np.array([0.2, theta, 0.5, turn, slope, 0.3])
    expected = solve_ivp(rates, (0, 3), in_body(start), **TIGHT).y[:, -1]
    motion = simulate(BODY, start=dict(zip(BODY.states, map(float, start), strict=True)), until=3, **FREE)
    np.testing.assert_allclose(in_body(motion.states[-1]), expected, atol=1e-8)
    assert "the run passed the pole" in " ".join(motion.notes)


def test_K4_polar_coordinates_of_a_plane() -> None:
    """x = cos 2t, y = 1e-6/2 sin 2t."""
    plane = System(name="plane", coordinates=["r", "a"], kinetic="(r'^2 + r^2*a'^2)/2", potential="2*r^2")
    motion = simulate(plane, start={"r": 1.0, "a'": 1e-6}, until=4, **FIXED)
    r, a = motion.states[-1, :2]
    assert [r * np.cos(a), r * np.sin(a)] == pytest.approx([np.cos(8.0), 5e-7 * np.sin(8.0)], abs=1e-7)


def test_a_cone_has_no_chart_at_its_tip_and_a_pendulum_has_no_pole() -> None:
    cone = System(name="cone", coordinates=["r", "a"], kinetic="(r'^2 + r^2*a'^2/2)/2", potential="r^2")
    assert poles_of(derive(cone)) == ()
    assert poles_of(derive(load("pendulum:2"))) == ()
    assert [p.at for p in poles_of(derive(ANGLES))] == [0.0, pytest.approx(np.pi)]


@pytest.mark.parametrize("how", [FIXED, FREE, {**FREE, "every": 0.25}])
@pytest.mark.parametrize("turn", [0.0, 1e-6])
def test_K4_a_pole_in_a_run_with_events(turn: float, how: dict[str, Any]) -> None:
    """A mass on a slack string flies past the pole, is caught, and swings past it again: beside x, y, z with their events."""
    string = {"name": "string", "equation": "r = 1", "on": "r - 1", "off": "lambda_string", "impact": "inelastic"}
    words = {key: word for key, word in DISTANCE.words.items() if key != "constraint"}
    caught = System(**words, constraint=[string])
    start = {"r": 0.9, "theta": 0.3, "psi": 0.3, "theta'": -2.5, "psi'": turn}
    motion = simulate(caught, start=start, until=1.2, stabilize=10, **how)
    assert motion.finished, motion.reason
    across = np.array([-np.sin(0.3), np.cos(0.3), 0.0])
    along = np.array([np.cos(0.3) * np.cos(0.3), np.cos(0.3) * np.sin(0.3), np.sin(0.3)])
    q, v, down = 0.9 * place(0.3, 0.3), 0.9 * (-2.5 * along + turn * np.sin(0.3) * across), np.array([0.0, 0.0, -G])
    flight = np.roots([G**2 / 4, -v[2] * G, v @ v - G * q[2], 2 * q @ v, q @ q - 1])
    taut = min(float(t.real) for t in flight if abs(t.imag) < 1e-12 and t.real > 0)
    q, v = q + v * taut + down * taut**2 / 2, v + down * taut
    v = v - (q @ v) * q

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:3], y[3:]
        return np.concatenate([v, down - (v @ v + q @ down) / (q @ q) * q])

    expected = solve_ivp(rates, (taut, 1.2), np.concatenate([q, v]), **TIGHT).y[:3, -1]
    assert [phase.t for phase in motion.phases] == pytest.approx([0.0, taut], abs=1e-9)
    np.testing.assert_allclose(motion.states[-1, 0] * place(*motion.states[-1, 1:3]), expected, atol=1e-7)


@pytest.mark.parametrize("how", [FIXED, FREE, {**FREE, "every": 0.25}])
@pytest.mark.parametrize("slope", [1.5, -1.5, 0.0])
def test_K4_a_start_at_a_pole(slope: float, how: dict[str, Any]) -> None:
    """A force across the first direction bends the way as soon as it has left the pole: beside x, y, z."""
    pulled = System(**{**ANGLES.words, "potential": f"-{G}*cos(theta) - 2*sin(theta)*sin(psi)"})
    motion = simulate(pulled, start={"theta": 0.0, "psi": 0.3, "theta'": slope}, until=1.5, **how)
    assert motion.finished, motion.reason
    force = np.array([0.0, 2.0, -G])
    first = np.array([0.0, 0.0, -1.0, slope * np.cos(0.3), slope * np.sin(0.3), 0.0])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:3], y[3:]
        return np.concatenate([v, force - (v @ v + q @ force) / (q @ q) * q])

    expected = solve_ivp(rates, (0, 1.5), first, t_eval=motion.times, **TIGHT).y[:3].T
    np.testing.assert_allclose([place(*state[:2]) for state in motion.states], expected, atol=1e-7)


SLIPS = {
    "sx": "x' + a*(cos(theta)*sin(psi)*theta' + sin(theta)*cos(psi)*psi') - r*(theta'*sin(psi) - phi'*sin(theta)*cos(psi))",
    "sy": "y' + a*(-cos(theta)*cos(psi)*theta' + sin(theta)*sin(psi)*psi') + r*(theta'*cos(psi) + phi'*sin(theta)*sin(psi))",
}
"""Of the lowest point of a sphere whose centre of mass is a below its centre."""

TOP = System(
    name="top on a floor",
    coordinates=["x", "y", "z", "psi", "theta", "phi"],
    kinetic="m/2*(x'^2 + y'^2 + z'^2) + A/2*(theta'^2 + sin(theta)^2*psi'^2) + C/2*(phi' + psi'*cos(theta))^2",
    potential="m*g*z",
    parameters={"m": 0.02, "g": G, "r": 0.02, "a": 0.003, "A": 3e-6, "C": 2.8e-6},
    definitions=SLIPS,
    constraint=[
        {
            "name": "floor",
            "equation": "z + a*cos(theta) = r",
            "off": "-lambda_floor",
            "friction": {"sliding": 0.2, "along": {"slips": ["sx", "sy"]}},
        }
    ],
    initial={"z": "r - a*cos(0.05)", "theta": 0.05, "phi'": 80},
)


def test_V1_a_top_that_slips_near_its_pole_is_followed_in_counted_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events in the chart of a pole are located by single steps from those of the passage, which goes no farther than twice the
    way to the next event: the motion is that without the chart, in some thousand evaluations.
    """
    calls = [0]
    rates = _Polar.rates

    def counted(polar: _Polar, t: float, z: np.ndarray) -> np.ndarray:
        calls[0] += 1
        return rates(polar, t, z)

    monkeypatch.setattr(_Polar, "rates", counted)
    how = {"rtol": 1e-8, "until": 0.013, "stabilize": "off"}
    found, expected = simulate(TOP, **how), simulate(TOP, **how, charts="keep")
    assert found.finished, found.reason
    assert any("in another chart" in note for note in found.notes)
    assert found.states[-1] == pytest.approx(expected.states[-1], rel=1e-5, abs=1e-7)
    assert 0 < calls[0] < 40_000


@pytest.mark.parametrize("force", ["-0.3*sign(theta')", "0.4", "-0.3*theta"])
def test_V1_forces_along_a_line_through_the_pole_keep_their_direction(force: str) -> None:
    """A plane motion that swings through the pole moves as the equation of theta alone says, whatever acts along theta: it is
    not reflected with the chart behind the pole.
    """
    start = {"theta": 1.0, "theta'": -0.4}
    system = System(
        name="pendulum in the angles of a sphere",
        coordinates=["theta", "psi"],
        kinetic="(theta'^2 + sin(theta)^2*psi'^2)/2",
        potential=f"-{G}*cos(theta)",
        forces={"theta": force},
        initial={**start, "psi": 0.7},
    )
    motion = simulate(system, until=1.2, **FREE)
    t, y = 0.0, np.array([1.0, -0.4])
    while t < 1.2:  # theta' changes its sign where the dry friction does
        side = -1.0 if (y[1] or -y[0]) < 0.0 else 1.0
        own = {"-0.3*sign(theta')": lambda q, s=side: -0.3 * s, "0.4": lambda q: 0.4, "-0.3*theta": lambda q: -0.3 * q}

        def turns(t: float, y: np.ndarray, side: float = side) -> float:
            return side * y[1]

        turns.terminal, turns.direction = True, -1.0  # type: ignore[attr-defined]
        push = own[force]
        found = solve_ivp(lambda t, y: [y[1], push(y[0]) - G * np.sin(y[0])], (t, 1.2), y, events=turns, **TIGHT)  # noqa: B023
        t, y = float(found.t[-1]), found.y[:, -1]
        y[1] = y[1] if t >= 1.2 else 0.0
    assert motion.finished, motion.reason
    assert motion.column("theta").min() < -0.8
    np.testing.assert_allclose([motion.column("theta")[-1], motion.column("theta'")[-1]], y, atol=1e-7)
