"""Constraints that events switch: moments, impacts, releases, and what is said when they do not fit."""

from __future__ import annotations

import io
from functools import cache
from math import acos, asin, cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

from svyaz import ModelError, System
from svyaz.motion import check, simulate
from svyaz.show import as_json

G = 9.81
POINT = {"coordinates": ["x", "y"], "kinetic": "m/2*(x'^2 + y'^2)", "potential": "m*g*y"}

METHODS = [
    {"method": "euler", "step": 1e-3},
    {"method": "rk2", "step": 1e-3},
    {"method": "rk4", "step": 0.01},
    {"method": "dopri5", "step": 0.01},
    {"method": "rkf45", "rtol": 1e-9},
    {"method": "dopri5", "rtol": 1e-9},
    {"method": "dop853", "rtol": 1e-9},
    {"method": "radau", "rtol": 1e-9},
    {"method": "radau", "step": 0.01},
]


def string(**words) -> System:
    """A weight of 2 kg beside the middle of a string of length 1: it falls from (0.6, 0)."""
    rope = {"name": "string", "equation": "x^2 + y^2 = l^2", "on": "sqrt(x^2 + y^2) - l", "impact": "inelastic"}
    given = {"parameters": {"m": 2, "g": G, "l": 1}, "initial": {"x": 0.6}, "constraint": [rope]}
    return System(**{**POINT, **given, **words})


def moments(motion) -> list[float]:
    return [phase.t for phase in motion.phases]


@pytest.mark.parametrize("how", METHODS, ids=lambda how: "-".join(map(str, how.values())))
def test_a_string_becomes_taut_at_the_right_moment(how) -> None:
    """Free fall is a parabola: exact for all methods but Euler's, whose states lie on t² + h t in place of t²."""
    motion = simulate(string(), until=0.6, stabilize="off", **how)
    moment = sqrt(2 * 0.8 / G)
    if how["method"] == "euler":
        h = how["step"]
        k = int((h + sqrt(h * h + 4 * moment**2)) / (2 * h))  # whole steps: y = -g h² k (k - 1)/2, then a part of one
        moment = k * h + (0.8 - G * h * h * k * (k - 1) / 2) / (G * h * k)
    assert motion.finished
    assert moments(motion) == pytest.approx([0.0, moment], abs=2e-12)
    assert [phase.on for phase in motion.phases] == [(), ("string",)]


def test_the_impact_of_a_taut_string_takes_the_velocity_along_it() -> None:
    motion = simulate(string(), until=0.6)
    event = motion.phases[1]
    speed = sqrt(2 * G * 0.8)
    assert event.kinetic_before == pytest.approx(speed**2, rel=1e-12)  # m = 2
    assert event.kinetic_after == pytest.approx(0.36 * speed**2, rel=1e-12)
    assert event.energy_after - event.energy_before == pytest.approx(-0.64 * speed**2, rel=1e-12)
    # along the string (0.6, -0.8) the velocity is 0.8 v; G = 2 (0.6, -0.8), so M Δv = Gᵀ Λ gives Λ = -0.8 v
    assert event.velocity_jump == pytest.approx({"x'": -0.48 * speed, "y'": 0.64 * speed}, rel=1e-12)
    assert event.impulses["string"] == pytest.approx(-0.8 * speed, rel=1e-12)


def test_both_rows_of_an_event_are_in_the_table() -> None:
    motion = simulate(string(), until=0.6)
    rows = np.flatnonzero(motion.times == motion.phases[1].t)
    assert len(rows) == 2
    before, after = motion.states[rows]
    assert np.allclose(before[:2], after[:2], rtol=0, atol=1e-15)
    assert after[2] * 0.6 + after[3] * -0.8 == pytest.approx(0.0, abs=1e-14)
    assert np.isnan(motion.residuals["string"][rows[0]])
    assert abs(motion.residuals["string"][rows[1]]) < 1e-15
    assert abs(motion.hidden["string"][rows[1]]) < 1e-14
    table = io.StringIO()
    motion.to_csv(table)
    assert sum(line.startswith(repr(float(motion.times[rows[0]]))) for line in table.getvalue().splitlines()) == 2


@pytest.mark.parametrize("stabilize", ["off", "auto", "projection", 20, {"alpha": 20, "beta": 100}])
def test_gains_hold_the_constraint_within_its_phase(stabilize) -> None:
    """After the impact a pendulum of length 1: the energy tells the speed at every angle."""
    motion = simulate(string(), until=3, rtol=1e-10, stabilize=stabilize)
    assert motion.finished
    late = motion.times > motion.phases[1].t
    assert np.nanmax(np.abs(motion.residuals["string"])) < 1e-8
    energy = motion.energy[late]
    assert np.max(np.abs(energy - motion.phases[1].energy_after)) < 1e-7


def test_rows_at_equal_times_and_at_events() -> None:
    fine = simulate(string(), until=1, every=0.05, stabilize="projection")
    moment = fine.phases[1].t
    assert fine.times == pytest.approx(sorted([*np.arange(21) * 0.05, moment, moment]), abs=1e-12)
    whole = simulate(string(), until=1, stabilize="projection")
    assert fine.states[-1] == pytest.approx(whole.states[-1], abs=1e-9)


def test_the_error_is_estimated_in_phases_that_both_runs_share() -> None:
    motion = simulate(string(), until=1, method="rk4", step=0.02, stabilize="projection", halve=True)
    exact = simulate(string(), until=1, method="dop853", rtol=1e-13, stabilize="projection")
    true = np.max(np.abs(motion.states[-1] - exact.states[-1]))
    assert 0.2 * true < motion.trajectory_error < 20 * true


def dome(speed: float = 1.0, **words) -> System:
    """A bead on a dome of radius 1, at its top with a horizontal speed."""
    surface = {"name": "dome", "equation": "sqrt(x^2 + y^2) = R", "off": "-lambda_dome"}
    given = {"parameters": {"m": 3, "g": G, "R": 1}, "constraint": [surface]}
    return System(**{**POINT, **given, "initial": {"y": "R", "x'": speed}, **words})


@pytest.mark.parametrize("how", METHODS[2:], ids=lambda how: "-".join(map(str, how.values())))
def test_a_reaction_that_would_pull_releases_its_constraint(how) -> None:
    """Off the dome where cos φ = (2 + v₀²/(gR))/3; the time by quadrature of φ' = √(v₀² + 2g(1 - cos φ))."""
    motion = simulate(dome(), until=1, stabilize="projection", **how)
    cosine = (2 + 1 / G) / 3
    angles, weights = np.polynomial.legendre.leggauss(60)
    end = acos(cosine)
    phi = end * (angles + 1) / 2
    moment = float(np.sum(weights / np.sqrt(1 + 2 * G * (1 - np.cos(phi)))) * end / 2)
    assert motion.phases[1].off == ("dome",)
    tolerance = 1e-6 if "step" in how else 1e-8
    assert moments(motion) == pytest.approx([0, moment], abs=tolerance)
    row = int(np.flatnonzero(motion.times == motion.phases[1].t)[0])
    assert motion.states[row, 1] == pytest.approx(cosine, abs=tolerance)
    assert motion.multipliers["dome"][row] == pytest.approx(0.0, abs=1e-12)
    assert motion.phases[1].velocity_jump == {}


def test_a_bead_too_fast_for_the_dome_leaves_it_at_once() -> None:
    """At the top λ = m (g - v²/R) < 0 already."""
    motion = simulate(dome(4.0), until=0.5)
    assert [phase.off for phase in motion.phases] == [(), ("dome",)]
    assert moments(motion) == [0.0, 0.0]
    assert motion.states[-1] == pytest.approx([2.0, 1 - G / 8, 4.0, -G / 2], abs=1e-12)


def test_a_bead_leaves_the_dome_and_lands_on_the_floor() -> None:
    floor = {"name": "floor", "equation": "y = 0", "on": "-y", "impact": "inelastic"}
    surface = {"name": "dome", "equation": "sqrt(x^2 + y^2) = R", "off": "-lambda_dome"}
    motion = simulate(dome(constraint=[surface, floor]), until=2, rtol=1e-12, stabilize="projection")
    cosine = (2 + 1 / G) / 3
    speed = sqrt(G * cosine)
    x0, along, down = sin(acos(cosine)), speed * cosine, speed * sin(acos(cosine))
    flight = (-down + sqrt(down**2 + 2 * G * cosine)) / G
    assert motion.phases[2].t - motion.phases[1].t == pytest.approx(flight, abs=1e-9)
    final = as_json(motion)["final"]
    assert final["x"] == pytest.approx(x0 + along * (2 - motion.phases[1].t), abs=1e-9)
    assert (final["y"], final["y'"]) == (pytest.approx(0, abs=1e-14), pytest.approx(0, abs=1e-14))
    assert as_json(motion)["multipliers"]["floor"] == pytest.approx(3 * G, rel=1e-12)


def test_a_latch_catches_an_oscillator_where_it_is() -> None:
    """x = sin t is caught when t = 2 by an anchor, and let go at t = 5."""
    latch = {
        "name": "latch",
        "equation": "x = at",
        "anchor": {"at": "x"},
        "on": "t - 2",
        "off": "t - 5",
        "impact": "inelastic",
    }
    system = System(coordinates=["x"], kinetic="x'^2/2", potential="x^2/2", initial={"x'": 1}, constraint=[latch])
    motion = simulate(system, until=6, rtol=1e-12)
    assert moments(motion) == pytest.approx([0, 2, 5], abs=1e-12)
    final = as_json(motion)["final"]
    assert final == pytest.approx({"x": sin(2) * cos(1), "x'": -sin(2) * sin(1), "at": sin(2)}, abs=1e-9)
    assert motion.phases[1].impulses["latch"] == pytest.approx(-cos(2), abs=1e-9)


def test_times_and_events_in_one_model() -> None:
    """A falling mass is carried by a table from t = 1 on, at rest where it was, and released at 2; it lands on y = -10."""
    table = {"name": "table", "equation": "y = at", "anchor": {"at": "y"}, "from": 1, "until": 2, "impact": "inelastic"}
    floor = {"name": "floor", "equation": "y = -10", "on": "-10 - y", "impact": "inelastic"}
    system = System(
        coordinates=["y"], kinetic="y'^2/2", potential="g*y", parameters={"g": G}, constraint=[table, floor]
    )
    motion = simulate(system, until=4, rtol=1e-12)
    fall = sqrt(2 * (10 - G / 2) / G)
    assert moments(motion) == pytest.approx([0, 1, 2, 2 + fall], abs=1e-9)
    assert [phase.active for phase in motion.phases] == [(), ("table",), (), ("floor",)]
    assert motion.phases[1].impulses["table"] == pytest.approx(G, rel=1e-12)
    assert motion.states[-1][:2] == pytest.approx([-10, 0], abs=1e-12)


def test_a_time_and_an_event_at_the_same_moment() -> None:
    """One is held from t = 2 on, the other by an event that happens then."""
    constraints = [
        {"name": "timed", "equation": "x = x0", "anchor": {"x0": "x"}, "from": 2, "until": 3, "impact": "inelastic"},
        {
            "name": "caught",
            "equation": "y = y0",
            "anchor": {"y0": "y"},
            "on": "t - 2",
            "off": "t - 3",
            "impact": "inelastic",
        },
    ]
    words = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2", "initial": {"x'": 1, "y'": 1}}
    for how in ({"method": "rk4", "step": 0.07}, {"rtol": 1e-9}):
        motion = simulate(System(**words, constraint=constraints), until=4, **how)
        assert motion.finished
        assert moments(motion)[-1] == pytest.approx(3, abs=1e-9)
        assert motion.states[-1][:4] == pytest.approx([2, 2, 0, 0], abs=1e-9)


def test_a_condition_that_is_zero_at_the_start_does_not_count() -> None:
    """A ball thrown upwards from the floor: it lands, it does not begin there; one that sinks at once never lands."""
    floor = {"name": "floor", "equation": "y = 0", "on": "-y", "impact": "inelastic"}
    words = {
        "coordinates": ["y"],
        "kinetic": "y'^2/2",
        "potential": "g*y",
        "parameters": {"g": G},
        "constraint": [floor],
    }
    up = simulate(System(**words, initial={"y'": 3}), until=1)
    assert up.finished
    assert moments(up) == pytest.approx([0, 6 / G], abs=1e-9)
    down = simulate(System(**words, initial={"y'": -3}), until=1)
    assert moments(down) == [0.0]
    assert any("active = true" in note for note in down.notes)
    assert not any("at the start" in note for note in up.notes)
    late = simulate(System(**words, initial={"y": -1, "y'": -3}), until=1)
    assert moments(late) == [0.0]
    assert any("positive at the start" in note for note in late.notes)


def test_a_short_visit_within_one_step_is_seen() -> None:
    """y = t - t²·g/2 touches 0.0509 from below for 0.01 s only; the steps of dop853 on a parabola are as long as the run."""
    top = 1 / (2 * G)
    level = top - G / 2 * 0.005**2
    catch = {
        "name": "catch",
        "equation": "y = at",
        "anchor": {"at": "y"},
        "on": f"y - {level!r}",
        "impact": "inelastic",
    }
    system = System(
        coordinates=["y"], kinetic="y'^2/2", potential="g*y", parameters={"g": G}, initial={"y'": 1}, constraint=[catch]
    )
    motion = simulate(system, until=0.2, method="rk4", step=0.02)
    assert moments(motion) == pytest.approx([0, 1 / G - 0.005], abs=1e-9)


def test_events_at_the_same_moment_happen_together() -> None:
    """Two balls dropped from the same height reach the floor by different formulas; one impact, one entry."""
    floors = [
        {"name": "first", "equation": "a = 0", "on": "-a", "impact": "inelastic"},
        {"name": "second", "equation": "b = 0", "on": "1 - exp(b)", "impact": "inelastic"},
    ]
    system = System(
        coordinates=["a", "b"],
        kinetic="(a'^2 + b'^2)/2",
        potential="g*(a + b)",
        parameters={"g": G},
        initial={"a": 1, "b": 1},
        constraint=floors,
    )
    motion = simulate(system, until=1)
    assert moments(motion) == pytest.approx([0, sqrt(2 / G)], abs=1e-9)
    assert motion.phases[1].on == ("first", "second")
    assert motion.states[-1] == pytest.approx(np.zeros(4), abs=1e-12)


def test_close_events_are_both_seen() -> None:
    """A billionth of a second apart, which no condition may sleep through."""
    floors = [
        {"name": "first", "equation": "a = 0", "on": "-a", "impact": "inelastic"},
        {"name": "second", "equation": "b = 0", "on": "-b", "impact": "inelastic"},
    ]
    system = System(
        coordinates=["a", "b"],
        kinetic="(a'^2 + b'^2)/2",
        potential="g*(a + b)",
        parameters={"g": G},
        initial={"a": 1, "b": 1 + 1e-10},
        constraint=floors,
    )
    motion = simulate(system, until=1)
    assert {name for phase in motion.phases for name in phase.on} == {"first", "second"}
    assert motion.states[-1] == pytest.approx(np.zeros(4), abs=1e-12)


def test_an_impact_with_a_singular_mass_matrix() -> None:
    """Sleigh with J = m a²: M of (x, y, φ) is singular, yet the blade takes only the velocity across it.

    With the contact at the knife's edge and the mass a ahead of it in the direction across, T depends on the velocity of
    the mass alone, and the impact must keep its part along the blade.
    """
    words = {
        "coordinates": ["x", "y", "phi"],
        "kinetic": "m/2*((x' - a*phi'*sin(phi))^2 + (y' + a*phi'*cos(phi))^2)",
        "parameters": {"m": 2, "a": 0.5},
        "initial": {"x'": 1, "y'": 0.3},
        "constraint": [
            {"name": "shaft", "equation": "phi = 0.2"},
            {"name": "blade", "equation": "y'*cos(phi) = x'*sin(phi)", "on": "t - 0.5", "impact": "inelastic"},
        ],
    }
    words["initial"]["phi"] = 0.2
    motion = simulate(System(**words), until=1, stabilize="off")
    along = cos(0.2) + 0.3 * sin(0.2)
    event = motion.phases[1]
    assert event.kinetic_before == pytest.approx(1.09, rel=1e-12)
    assert event.kinetic_after == pytest.approx(along**2, rel=1e-12)
    final = as_json(motion)["final"]
    assert final["x'"] == pytest.approx(along * cos(0.2), rel=1e-12)
    assert final["y'"] == pytest.approx(along * sin(0.2), rel=1e-12)
    assert final["phi'"] == pytest.approx(0.0, abs=1e-12)


def test_a_moving_constraint_may_give_energy_and_that_is_told() -> None:
    belt = {"name": "belt", "equation": "x' = 2", "on": "t - 1", "impact": "inelastic"}
    motion = simulate(System(coordinates=["x"], kinetic="x'^2/2", constraint=[belt]), until=2)
    assert as_json(motion)["final"] == pytest.approx({"x": 2.0, "x'": 2.0}, rel=1e-9)
    assert motion.phases[1].energy_after - motion.phases[1].energy_before == pytest.approx(2.0)
    assert any("the energy rose by 2" in note for note in motion.notes)


def test_without_an_impact_the_velocities_must_fit() -> None:
    bare = string(constraint=[{"name": "string", "equation": "x^2 + y^2 = l^2", "on": "sqrt(x^2 + y^2) - l"}])
    motion = simulate(bare, until=1)
    assert motion.status == "infeasible"
    assert "the velocity level of 'string'" in motion.reason
    assert 'impact = "inelastic"' in motion.reason
    assert motion.times[-1] == pytest.approx(sqrt(2 * 0.8 / G), abs=1e-12)


def test_velocities_that_fit_need_no_impact() -> None:
    """A ball on a string at its full length, thrown across it: taut from the first quarter of a turn on, without a jolt."""
    rope = {"name": "string", "equation": "x^2 + y^2 = 1", "on": "t - 1"}
    system = System(
        coordinates=["x", "y"], kinetic="(x'^2 + y'^2)/2", initial={"x": 1, "y": -1, "y'": 1}, constraint=[rope]
    )
    motion = simulate(system, until=1 + pi, stabilize="projection", rtol=1e-12)
    assert motion.finished
    assert motion.states[-1] == pytest.approx([-1, 0, 0, -1], abs=1e-9)


def test_positions_must_fit_in_any_case() -> None:
    rope = {"name": "string", "equation": "x^2 + y^2 = l^2", "on": "t - 0.1", "impact": "inelastic"}
    motion = simulate(string(constraint=[rope]), until=1)
    assert motion.status == "infeasible"
    assert "its residual is" in motion.reason


def test_chatter_ends_a_run_with_the_names() -> None:
    """A relay with a dead zone of 2e-9 drives a mass to and fro between its edges."""
    words = {"impact": "inelastic"}
    forwards = {"name": "forwards", "equation": "x' = 1", "active": True, "on": "-x - 1e-9", "off": "x - 1e-9"}
    backwards = {"name": "backwards", "equation": "x' = -1", "on": "x - 1e-9", "off": "-x - 1e-9"}
    constraints = [{**forwards, **words}, {**backwards, **words}]
    system = System(coordinates=["x"], kinetic="x'^2/2", initial={"x'": 1}, constraint=constraints)
    motion = simulate(system, until=100, method="rk4", step=0.01)
    assert motion.status == "infeasible"
    assert "'backwards', 'forwards'" in motion.reason
    assert "chatter" in motion.reason
    assert len(motion.phases) == 31
    assert np.diff(moments(motion))[1:] == pytest.approx(np.full(29, 2e-9), rel=1e-6)


@pytest.mark.parametrize("form", ["chaplygin", "maggi", "appell", "voronets"])
def test_other_forms_refuse_events(form) -> None:
    with pytest.raises(ModelError, match="cannot follow constraints that events switch"):
        simulate(string(), form=form)


def test_check_examines_what_acts_at_the_start() -> None:
    assert as_json(check(string()))["rank"] == 0
    result = as_json(check(dome(), stabilize=20, method="rk4", step=0.01))
    assert (result["rank"], result["gains"]["verdict"]) == (1, "stable")


@cache
def _rolling() -> System:
    """A hoop of radius 1 and mass 1 slides down an incline of 30° and begins to roll when the slip has gone."""
    return System(
        coordinates=["s", "phi"],
        kinetic="(s'^2 + phi'^2)/2",
        potential="-g*sin(30*deg)*s",
        parameters={"g": G, "mu": 0.2},
        forces={"s": "-mu*g*cos(30*deg)*tanh(1e6*(s' - phi'))", "phi": "mu*g*cos(30*deg)*tanh(1e6*(s' - phi'))"},
        initial={"phi'": 4},
        constraint=[{"name": "rolling", "equation": "s' = phi'", "on": "s' - phi'", "impact": "inelastic"}],
    )


def test_a_velocity_constraint_begins_when_the_slip_ends() -> None:
    """Backspin: s'' = g sin α + μ g cos α, φ'' = -μ g cos α; they meet after 4/(g sin α + 2 μ g cos α)."""
    motion = simulate(_rolling(), until=1, rtol=1e-9)
    a, f = G * 0.5, 0.2 * G * sqrt(3) / 2
    moment = 4 / (a + 2 * f)
    assert motion.phases[1].t == pytest.approx(moment, abs=1e-5)
    assert motion.states[-1, 2] == pytest.approx((a + f) * moment + a / 2 * (1 - moment), rel=1e-5)


def test_a_held_integral_is_held_at_its_value_after_the_impact() -> None:
    energy = {"name": "energy", "expression": "m/2*(x'^2 + y'^2) + m*g*y", "hold": True, "gain": 5}
    motion = simulate(string(integral=[energy]), until=3, method="rk4", step=0.005)
    assert motion.finished
    late = motion.times > motion.phases[1].t + 1
    assert motion.integrals["energy"][late] == pytest.approx(
        np.full(late.sum(), motion.phases[1].energy_after), abs=1e-6
    )


def test_phases_by_time_are_told_too() -> None:
    guide = {"name": "guide", "equation": "x = 0", "from": 1, "until": 2}
    motion = simulate(System(**POINT, parameters={"m": 1, "g": G}, constraint=[guide]), until=3)
    assert as_json(motion)["phases"] == [
        {"t": 0.0, "on": [], "off": [], "active": []},
        {"t": 1.0, "on": ["guide"], "off": [], "active": ["guide"]},
        {"t": 2.0, "on": [], "off": ["guide"], "active": []},
    ]


def block(width: float, height: float) -> System:
    """A block on a smooth floor, standing on its left corner, tilted by 0.1."""
    corner = {"active": True, "on": "-left", "off": "-lambda_left_corner", "impact": "inelastic"}
    other = {"on": "-right", "off": "-lambda_right_corner", "impact": "inelastic"}
    return System(
        coordinates=["y", "phi"],
        kinetic="m/2*y'^2 + m*(b^2 + h^2)/6*phi'^2",
        potential="m*g*y",
        parameters={"m": 2, "b": width, "h": height, "g": G},
        definitions={"left": "y - h*cos(phi) - b*sin(phi)", "right": "y - h*cos(phi) + b*sin(phi)"},
        constraint=[
            {"name": "left corner", "equation": "left = 0", **corner},
            {"name": "right corner", "equation": "right = 0", **other},
        ],
        initial={"y": "h*cos(0.1) + b*sin(0.1)", "phi": 0.1},
    )


def test_a_slender_block_rocks_from_corner_to_corner() -> None:
    """Both corners would stop it with a pull on the old one if J > m b²; so that one lifts, and ω⁺/ω⁻ = (J - mb²)/(J + mb²)."""
    motion = simulate(block(0.2, 1.0), until=1, stabilize="projection")
    inertia = (0.04 + 1) / 3
    for number in range(1, 4):
        new, old = ("right", "left") if number % 2 else ("left", "right")
        phase = motion.phases[number]
        assert (phase.on, phase.off) == ((f"{new} corner",), (f"{old} corner",))
        before, after = motion.column("phi'")[np.flatnonzero(motion.times == phase.t)]
        assert after / before == pytest.approx((inertia - 0.04) / (inertia + 0.04), rel=1e-9)


def test_a_broad_block_stops_on_both_corners() -> None:
    motion = simulate(block(1.0, 0.5), until=1, stabilize="projection")
    assert motion.phases[-1].active == ("left corner", "right corner")
    assert all(impulse > 0 for impulse in motion.phases[-1].impulses.values())
    assert motion.states[-1] == pytest.approx([0.5, 0, 0, 0], abs=1e-12)


def test_stick_and_slip_on_a_belt() -> None:
    """A mass on a spring sticks to a belt (0.5 m/s) until the spring pulls with 1 N, then swings back through ω = 1."""
    stick = {"name": "stick", "equation": "x' = v", "active": True, "on": "x' - v", "off": "abs(lambda_stick) - F"}
    system = System(
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="x^2/2",
        parameters={"v": 0.5, "F": 1},
        initial={"x'": 0.5},
        constraint=[stick],
    )
    motion = simulate(system, until=15, rtol=1e-11)
    slip = 2 * pi - 2 * np.arctan2(1, 0.5)  # from (1, v) to (-1, v) on a circle, clockwise through the bottom
    assert moments(motion) == pytest.approx([0, 2, 2 + slip, 6 + slip, 6 + 2 * slip], abs=1e-7)


def test_a_string_slackens_and_becomes_taut_again() -> None:
    """v₀² between 2gl and 5gl at the bottom: slack at cos γ = (v₀² - 2gl)/(3gl) from the top, taut after 4v sin γ/g."""
    rope = {"active": True, "on": "x^2 + y^2 - l^2", "off": "lambda_string", "impact": "inelastic"}
    system = string(
        constraint=[{"name": "string", "equation": "x^2 + y^2 = l^2", **rope}],
        initial={"y": "-l", "x'": "sqrt(3.5*g*l)"},
    )
    motion = simulate(system, until=2, rtol=1e-12, stabilize="projection")
    off, on = motion.phases[1:3]
    assert (off.off, on.on) == (("string",), ("string",))
    row = int(np.flatnonzero(motion.times == off.t)[0])
    cosine = 1.5 / 3
    assert motion.column("y")[row] == pytest.approx(cosine, abs=1e-10)
    flight = 4 * sqrt(G * cosine) * sqrt(1 - cosine**2) / G
    assert on.t - off.t == pytest.approx(flight, abs=1e-9)
    assert on.impulses["string"] < 0


@pytest.mark.parametrize("seed", range(6))
def test_impacts_are_those_of_the_augmented_matrix(seed) -> None:
    """[M -Gᵀ; G 0] (Δv; Λ) = (0; -G v) for random masses, half of them singular; one old constraint and two new ones."""
    rng = np.random.default_rng(seed)
    n = 5
    root = rng.normal(size=(n, n if seed < 3 else n - 1))
    mass = root @ root.T
    rows = rng.normal(size=(3, n))
    start = rng.normal(size=n)
    start -= rows[0] * (rows[0] @ start) / (rows[0] @ rows[0])
    speeds = [f"q{k}'" for k in range(n)]
    sides = [" + ".join(f"({g!r})*{v}" for g, v in zip(row, speeds, strict=True)) for row in rows.tolist()]
    switches = [{}, *[{"on": "t - 0.25", "impact": "inelastic"}] * 2]
    system = System(
        coordinates=[f"q{k}" for k in range(n)],
        kinetic=" + ".join(f"({m!r})/2*{speeds[i]}*{speeds[j]}" for (i, j), m in np.ndenumerate(mass.astype(object))),
        constraint=[
            {"name": f"c{k}", "equation": f"{side} = 0", **words}
            for k, (side, words) in enumerate(zip(sides, switches, strict=True))
        ],
        initial=dict(zip(speeds, start.tolist(), strict=True)),
    )
    motion = simulate(system, until=0.5, method="rk4", step=0.1, stabilize="off")
    assert motion.finished
    before, after = motion.states[np.flatnonzero(motion.times == motion.phases[1].t)][:, n:]
    matrix = np.block([[mass, -rows.T], [rows, np.zeros((3, 3))]])
    solution = np.linalg.solve(matrix, np.concatenate([np.zeros(n), -rows @ before]))
    assert after - before == pytest.approx(solution[:n], abs=1e-11)
    assert list(motion.phases[1].impulses.values()) == pytest.approx(solution[n:], abs=1e-10)
    lost = motion.phases[1].energy_before - motion.phases[1].energy_after
    assert lost == pytest.approx(solution[:n] @ mass @ solution[:n] / 2, rel=1e-9)
    assert np.max(np.abs(rows @ motion.states[-1, n:])) < 1e-12


def test_a_run_that_is_interrupted_keeps_what_it_has() -> None:
    """Ctrl-C after the second event."""

    def interrupt(time: float) -> None:
        if time > 1.6:
            raise KeyboardInterrupt

    motion = simulate(_walker(), until=1e4, method="euler", step=1e-5, progress=interrupt)
    assert motion.status == "stopped"
    assert len(motion.phases) >= 2
    assert motion.times[-1] >= motion.phases[-1].t


def _walker() -> System:
    """A mass that is caught by a brake every second and let go a tenth of a second later."""
    brake = {
        "name": "brake",
        "equation": "x' = 1",
        "on": "sin(2*pi*t) - 0.5",
        "off": "0.2 - sin(2*pi*t)",
        "impact": "inelastic",
    }
    return System(coordinates=["x"], kinetic="x'^2/2", potential="-x", initial={"x'": 1}, constraint=[brake])


def hops(amplitude: float, rate: float, until: float) -> list[tuple[float, bool]]:
    """Moments at which a mass leaves a table y = A sin ωt (False) and lands on it (True), at rest relative to it."""
    found: list[tuple[float, bool]] = []
    now = 0.0
    while True:
        if amplitude * rate**2 * sin(rate * now) < G * (1 - 1e-12):  # carried until the table falls away faster than g
            phase = asin(G / (amplitude * rate**2))
            turns = np.floor(rate * now / (2 * pi))
            leaving = [(2 * pi * (turns + k) + phase) / rate for k in range(2)]
            now = next(t for t in leaving if t > now)
        if now > until:
            return found
        found.append((now, False))
        height, speed = amplitude * sin(rate * now), amplitude * rate * cos(rate * now)

        def below(t: float, now: float = now, height: float = height, speed: float = speed) -> float:
            return amplitude * sin(rate * t) - height - speed * (t - now) + G / 2 * (t - now) ** 2

        times = now + np.linspace(1e-3, 2, 20001) / rate * 10
        first = int(np.argmax([below(t) > 0 for t in times]))
        now = float(brentq(below, times[first - 1], times[first], xtol=1e-15))
        if now > until:
            return found
        found.append((now, True))


@pytest.mark.parametrize(("amplitude", "rate"), [(0.02, 30.0), (0.05, 30.0), (0.012, 30.0)])
@pytest.mark.parametrize("how", [{"rtol": 1e-11}, {"method": "rk4", "step": 1e-3}], ids=str)
def test_a_mass_hops_on_a_shaken_table(amplitude, rate, how) -> None:
    """Lift-off by the reaction, landing by an inelastic impact with a table that moves."""
    table = {"active": True, "on": "table - y", "off": "-lambda_table", "impact": "inelastic"}
    system = System(
        coordinates=["y"],
        kinetic="y'^2/2",
        potential="g*y",
        parameters={"g": G, "A": amplitude, "w": rate},
        definitions={"table": "A*sin(w*t)"},
        constraint=[{"name": "table", "equation": "y = table", **table}],
        initial={"y'": "A*w"},
    )
    motion = simulate(system, until=1.2, stabilize="projection", **how)
    expected = hops(amplitude, rate, 1.2)
    assert len(expected) > 5
    assert [bool(phase.on) for phase in motion.phases[1:]] == [landed for _, landed in expected]
    assert moments(motion)[1:] == pytest.approx([time for time, _ in expected], abs=1e-7 if "rtol" in how else 1e-5)


@pytest.mark.parametrize(
    ("anchor", "active", "status"),
    [
        ("sqrt(x - 2)", True, "singular"),  # nowhere on the way
        ("sqrt(x - 2)", False, "singular"),
        ("sqrt(0.2 - x)", False, "singular"),  # at the start, but not at the event
        ("sqrt(x - 0.25)", False, "finished"),  # at the event only
    ],
)
def test_N2_an_anchor_counts_from_the_moment_at_which_it_is_taken(anchor: str, active: bool, status: str) -> None:
    """y = 1/8 - t²/2 falls to zero at t = x = 1/2; there the anchor is taken, sqrt(1/4) = 1/2 = x where it is defined."""
    grip = {"name": "grip", "equation": "x = a", "anchor": {"a": anchor}, "on": "-y", "off": "y - 5", "active": active}
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        potential="y",
        constraint=[{**grip, "impact": "inelastic"}],
        initial={"x'": 1, "y": 0.125},
    )
    motion = system.simulate(until=1, on_failure="return")
    assert motion.status == status
    if status == "finished":
        assert motion["x"][-1] == pytest.approx(0.5, abs=1e-9)
    else:
        assert "defined" in motion.reason
        assert motion.times[-1] == pytest.approx(0.0 if active else 0.5, abs=1e-9)
