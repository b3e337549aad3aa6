"""The compass walker against an implementation of its own: two angles, pivots that change, momenta kept at touch-down."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import cos, radians, sin

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from svyaz import gallery, loads
from svyaz.motion import simulate

HIP, LEG, A, B, G, SLOPE = 10.0, 5.0, 0.5, 0.5, 9.81, radians(3)
L = A + B
STEPS = 10
START = np.array([-0.3234, 0.2187, -0.3772, -1.0918])
"""Angles of the swinging and the standing leg from the vertical, and their rates, just after a touch-down."""

PAIRS = {"left": ("left ground", "left grip"), "right": ("right ground", "right grip")}


def swing(t: float, y: np.ndarray) -> np.ndarray:
    """M q̈ + N q̇ + G = 0 of a double pendulum that stands on its foot (Goswami, Thuilot, Espiau 1998)."""
    ns, s, w_ns, w_s = y
    c, d = LEG * L * B * cos(s - ns), LEG * L * B * sin(s - ns)
    mass = np.array([[LEG * B**2, -c], [-c, (HIP + LEG) * L**2 + LEG * A**2]])
    force = np.array(
        [
            -d * w_s**2 - LEG * B * G * sin(ns),
            d * w_ns**2 + (HIP * L + LEG * A + LEG * L) * G * sin(s),
        ]
    )
    return np.concatenate([[w_ns, w_s], np.linalg.solve(mass, force)])


def along(angle: float) -> np.ndarray:
    """From the hip down a leg."""
    return np.array([sin(angle), -cos(angle)])


def across(angle: float) -> np.ndarray:
    return np.array([cos(angle), sin(angle)])


def turn(r: np.ndarray, v: np.ndarray) -> float:
    return float(r[0] * v[1] - r[1] * v[0])


def momenta(angles: np.ndarray, rates: np.ndarray, pivot: int, about: int, alone: int) -> np.ndarray:
    """Angular momenta: of all about the foot ``about``, and of the leg ``alone`` about the hip; foot ``pivot`` stands."""
    hip = -L * across(angles[pivot]) * rates[pivot]
    masses = [(HIP, np.zeros(2), hip)]
    masses += [(LEG, B * along(angles[k]), hip + B * across(angles[k]) * rates[k]) for k in (0, 1)]
    foot = L * along(angles[about])
    whole = sum(m * turn(r - foot, v) for m, r, v in masses)
    _, place, speed = masses[1 + alone]
    return np.array([whole, LEG * turn(place, speed)])


def touch_down(y: np.ndarray) -> np.ndarray:
    """The state after touch-down, roles of the legs exchanged: both momenta are kept."""
    angles = y[:2]
    before = momenta(angles, y[2:], pivot=1, about=0, alone=1)
    map_after = np.column_stack([momenta(angles, unit, pivot=0, about=0, alone=1) for unit in np.eye(2)])
    rates = np.linalg.solve(map_after, before)
    return np.array([angles[1], angles[0], rates[1], rates[0]])


@cache
def walked() -> tuple[list[float], list[np.ndarray]]:
    """Moments of touch-down and states just after them."""

    def lands(t: float, y: np.ndarray) -> float:
        return float(y[0] + y[1] + 2 * SLOPE)

    lands.terminal, lands.direction = True, -1  # type: ignore[attr-defined]
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13}
    now, state, moments, states = 0.0, START, [], []
    for _ in range(STEPS):
        passing = solve_ivp(swing, (now, now + 0.5), state, **options)  # legs pass each other: scuffing is ignored
        landing = solve_ivp(swing, (now + 0.5, now + 2), passing.y[:, -1], events=lands, **options)
        now, state = float(landing.t[-1]), touch_down(landing.y[:, -1])
        moments.append(now)
        states.append(state)
    return moments, states


@cache
def biped(**options):
    return simulate(loads(gallery.find("biped")), until=7.5, **options)


def state_after(motion, number: int) -> np.ndarray:
    """Swinging and standing leg just after an event, as ``walked`` has them."""
    row = int(np.flatnonzero(motion.times == motion.phases[number].t)[1])
    names = ["right", "left"] if "left ground" in motion.phases[number].active else ["left", "right"]
    return np.array([motion.column(name)[row] for name in [*names, *(f"{name}'" for name in names)]])


def test_T6_ten_steps_agree_with_the_two_coordinate_gait() -> None:
    moments, states = walked()
    motion = biped()
    assert motion.finished
    assert [phase.t for phase in motion.phases[1:]] == pytest.approx(moments, abs=1e-8)
    for k, expected in enumerate(states):
        assert state_after(motion, k + 1) == pytest.approx(expected, abs=1e-7)


def test_T6_it_walks_with_the_published_period() -> None:
    steps = np.diff([phase.t for phase in biped().phases])
    assert len(steps) == STEPS
    assert steps[-1] == pytest.approx(0.734, abs=0.0005)
    assert np.all(np.abs(steps - 0.734) < 0.002)


def test_T6_phases_alternate_for_ten_steps() -> None:
    phases = biped().phases
    feet = [next(foot for foot, names in PAIRS.items() if phase.active == names) for phase in phases]
    assert feet == ["left", "right"] * (STEPS // 2) + ["left"]
    for before, after in pairwise(phases):
        assert (after.on, after.off) == (after.active, before.active)


def test_T6_energy_never_rises_at_touch_down_and_stays_between() -> None:
    phases = biped().phases
    for phase in phases[1:]:
        assert phase.energy_after < phase.energy_before
        assert phase.kinetic_after < phase.kinetic_before
    for before, after in pairwise(phases[1:]):
        assert after.energy_before == pytest.approx(before.energy_after, abs=1e-8)
    # a step down the slope gives what an impact takes, once the gait has settled
    lost = phases[-1].energy_before - phases[-1].energy_after
    places = [float(biped().column("x")[np.flatnonzero(biped().times == p.t)[0]]) for p in phases[-2:]]
    fallen = (places[1] - places[0]) * np.tan(SLOPE)
    assert lost == pytest.approx((HIP + 2 * LEG) * G * fallen, rel=1e-3)


@pytest.mark.parametrize("options", [{}, {"stabilize": 20}, {"method": "rk4", "step": 0.002}], ids=str)
def test_T6_new_constraints_hold_to_rounding_after_touch_down(options) -> None:
    motion = biped(**options)
    assert len(motion.phases) == STEPS + 1
    for phase in motion.phases[1:]:
        row = int(np.flatnonzero(motion.times == phase.t)[1])
        for name in phase.active:
            assert abs(motion.residuals[name][row]) < 1e-12
            assert abs(motion.hidden[name][row]) < 1e-12


def test_T6_the_touched_point_becomes_the_anchor() -> None:
    motion = biped()
    foot = {side: motion.column("x") + np.sin(motion.column(side)) for side in ("left", "right")}  # legs of length 1
    for phase in motion.phases[1:]:
        side = next(side for side, names in PAIRS.items() if phase.active == names)
        touched, anchored = np.flatnonzero(motion.times == phase.t)
        place = float(motion.column(f"{side}_at")[anchored])
        assert place * cos(SLOPE) == pytest.approx(float(foot[side][touched]), abs=1e-12)
    assert motion.column("left_at")[-1] - motion.column("right_at")[-1] == pytest.approx(0.5354, abs=1e-3)
    ground = [motion.multipliers[names[0]] for names in PAIRS.values()]
    assert min(np.nanmin(values) for values in ground) > 100  # the ground pushes all the time


def test_T6_an_impact_is_the_mass_orthogonal_projection() -> None:
    """M Δv = Gᵀ Λ: the impulses of the new foot alone change the momentum, along with Carnot's loss."""
    motion = biped()
    phase = motion.phases[1]
    jump = phase.velocity_jump
    total = HIP + 2 * LEG
    row = int(np.flatnonzero(motion.times == phase.t)[1])
    legs = [(motion.column(side)[row], jump[f"{side}'"]) for side in PAIRS]
    momentum = total * np.array([jump["x'"], jump["y'"]]) + sum(LEG * B * across(q) * w for q, w in legs)
    normal, grip = (phase.impulses[name] for name in PAIRS["right"])
    along_slope, upwards = np.array([cos(SLOPE), -sin(SLOPE)]), np.array([sin(SLOPE), cos(SLOPE)])
    assert momentum == pytest.approx(normal * upwards + grip * along_slope, abs=1e-9)
    assert normal > 0


def test_feet_that_leave_when_the_ground_would_pull_walk_the_same_gait() -> None:
    """`off` by the sign of the reaction: at touch-down the other foot would have to be held down, so it is let go."""
    text = gallery.find("biped")
    for side, other in (("left", "right"), ("right", "left")):
        text = text.replace(f'off = "{other}_lands"', f'off = "-lambda_{side}_ground"')
    motion = simulate(loads(text), until=3)
    expected = [phase.t for phase in biped().phases][:5]
    assert [phase.t for phase in motion.phases] == pytest.approx(expected, abs=1e-9)
    assert [phase.active for phase in motion.phases] == [phase.active for phase in biped().phases[:5]]
