"""Friction in a plane: the slip is a vector, and Coulomb's force is against it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from svyaz import System
from svyaz.expr import ModelError
from svyaz.motion import simulate

G, MU = 9.81, 0.3
DIRECTIONS = [["1", "0", "0"], ["0", "1", "0"]]


def block(along: object = DIRECTIONS, incline: float = 0.0, **words) -> System:
    friction = {"sliding": MU, "along": along}
    return System(
        coordinates=["x", "y", "z"],
        kinetic="m/2*(x'^2 + y'^2 + z'^2)",
        potential="m*g*(z*cos(i) - x*sin(i))",
        parameters={"m": 2, "g": G, "i": incline, "a": 0.1, "w": 8},
        constraint=[{"name": "floor", "equation": "z = 0", "off": "-lambda_floor", "friction": friction}],
        **words,
    )


@pytest.mark.parametrize("how", [{"rtol": 1e-9}, {"method": "rk4", "step": 0.1}, {"method": "radau"}])
def test_K5_a_block_thrown_over_a_plane_stops_on_a_line(how) -> None:
    """After v²/(2μg) along the line of the throw, at t = v/(μg)."""
    motion = simulate(block(initial={"x'": 3, "y'": 4}), until=3, stabilize="off", **how)
    assert motion.finished, motion.reason
    assert motion.states[-1] == pytest.approx([0.6 * 25 / (2 * MU * G), 0.8 * 25 / (2 * MU * G), 0, 0, 0, 0], abs=1e-9)
    assert [s.start for s in motion.slides] == pytest.approx([5 / (MU * G)] * 2, abs=1e-7)
    assert abs(motion.balance.remainder).max() < 1e-9


@pytest.mark.parametrize(("how", "close"), [({"rtol": 1e-10}, 1e-9), ({"method": "rk4", "step": 0.01}, 1e-8)])
def test_K5_a_block_thrown_across_an_incline_turns_downhill_and_stops(how, close) -> None:
    pull, bound = G * np.sin(0.2), MU * G * np.cos(0.2)

    def rates(t, s):
        return [s[2], s[3], pull - bound * s[2] / np.hypot(*s[2:]), -bound * s[3] / np.hypot(*s[2:])]

    def stops(t, s):
        return np.hypot(*s[2:]) - 1e-8

    stops.terminal = True
    found = solve_ivp(rates, (0, 3), [0, 0, 1, 2], events=stops, rtol=1e-12, atol=1e-13, method="DOP853")
    motion = simulate(block(incline=0.2, initial={"x'": 1, "y'": 2}), until=3, stabilize="off", **how)
    assert motion.finished, motion.reason
    assert motion.states[-1] == pytest.approx([*found.y[:2, -1], 0, 0, 0, 0], abs=close)
    assert motion.slides[0].start == pytest.approx(found.t[-1], abs=1e-7)


def test_K5_a_table_that_moves_in_circles_carries_a_block_or_lets_it_circle() -> None:
    """Beyond a w² = μg friction has the size μg and turns with w: the speed of the block comes to be μg/w."""
    along = {"slips": ["x' + a*w*sin(w*t)", "y' - a*w*cos(w*t)"]}
    lets = simulate(block(along, initial={"y'": 0.8}), until=6, stabilize="off")
    assert lets.finished
    assert not lets.slides
    assert np.hypot(lets.column("x'")[-1], lets.column("y'")[-1]) == pytest.approx(MU * G / 8, abs=1e-3)
    carried = simulate(block(along, initial={"y'": 0.8}).with_(parameters={"a": 0.02}), until=3, stabilize="off")
    assert carried.finished
    assert {s.end for s in carried.slides} == {carried.times[-1]}
    assert carried.states[-1, 3:5] == pytest.approx(0.16 * np.array([-np.sin(24), np.cos(24)]), abs=1e-9)


def test_K5_a_slip_that_begins_slowly_is_followed() -> None:
    """Forces 4t and 1.5t² break the block loose where they reach 2μg; the direction of its slip turns fast at first."""
    start = brentq(lambda t: np.hypot(4 * t, 1.5 * t * t) - 2 * MU * G, 0, 3)

    def rates(t, s):
        return [s[2], s[3], *(np.array([4 * t, 1.5 * t * t]) / 2 - MU * G * s[2:] / np.hypot(*s[2:]))]

    first = np.array([4 * start, 1.5 * start**2])
    begun = [0, 0, *(1e-11 * first / np.hypot(*first))]
    found = solve_ivp(rates, (start, 3), begun, method="Radau", rtol=1e-10, atol=1e-14)
    system = block(forces={"x": "4*t", "y": "1.5*t^2"})
    for how, close in (({"method": "radau"}, 1e-7), ({"rtol": 1e-10}, 1e-6)):
        motion = simulate(system, until=3, stabilize="off", **how)
        assert motion.finished
        assert motion.slides[0].end == pytest.approx(start, abs=1e-7)
        assert motion.states[-1, [0, 1, 3, 4]] == pytest.approx(found.y[:, -1], abs=close)
    coarse = simulate(system, until=3, stabilize="off", method="rk4", step=0.01)
    assert any("slip in a plane begins" in note for note in coarse.notes)


@pytest.mark.parametrize("mu", [0.05, 0.9])
def test_K5_a_spinning_ball_lands_with_friction_against_its_slip(mu) -> None:
    """The impulse of friction is against the slip: what ends it, s/(1/m + R²/J), or μ (1 + e) m |v| of it."""
    floor = {"name": "floor", "equation": "z = R", "on": "R - z", "off": "-lambda_floor"}
    floor |= {"impact": "newton", "restitution": 0.6}
    floor |= {"friction": {"sliding": mu, "along": {"slips": ["x' + R*a'", "y' + R*b'"]}}}
    system = System(
        coordinates=["x", "y", "z", "a", "b"],
        kinetic="x'^2 + y'^2 + z'^2 + J/2*(a'^2 + b'^2)",
        potential=f"2*{G}*z",
        parameters={"R": 0.2, "J": 0.032},
        constraint=[floor],
        initial={"z": 1.2, "x'": 1, "y'": -0.5, "a'": -3, "b'": 7},
    )
    motion = simulate(system, until=0.6, stabilize="off")
    assert motion.finished, motion.reason
    fall, slip = np.sqrt(2 * G), np.array([0.4, 0.9])
    pull = slip / (1 / 2 + 0.04 / 0.032)
    pull *= min(1.0, mu * 2 * 1.6 * fall / np.hypot(*pull))
    after = motion.states[np.flatnonzero(motion.times == motion.phases[1].t)[-1], 5:]
    spins = np.array([-3, 7]) - 0.2 * pull / 0.032
    assert after == pytest.approx([1 - pull[0] / 2, -0.5 - pull[1] / 2, 0.6 * fall, *spins], abs=1e-9)


@pytest.mark.parametrize(
    ("along", "told"),
    [
        ([["1", "0", "0"], ["2", "0", "0"]], "parallel"),
        ([*DIRECTIONS, ["0", "0", "1"]], "two directions"),
        ({"slips": ["x'"]}, "two speeds"),
        ({"slips": ["x'", "y'^2"]}, "linear in the velocities"),
        ([["1", "0"], ["0", "1"]], "3 coordinates"),
    ],
)
def test_K5_a_friction_in_a_plane_is_refused_with_its_reason(along, told) -> None:
    with pytest.raises(ModelError, match=told):
        block(along)
