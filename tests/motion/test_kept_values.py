"""Starts that are moved onto the constraints with some values kept, and initial values by definitions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from svyaz import System, load, loads
from svyaz.expr import ModelError
from svyaz.motion import simulate
from svyaz.study import sweep

CASES = Path(__file__).parents[1] / "cases"
SHORT = {"method": "rk4", "step": 1e-3, "until": 2e-3, "stabilize": "off"}

BICYCLE = {"initial.x'": 4.1, "initial.ph": 0.05, "initial.ph'": 0.3, "initial.de": 0.1, "initial.de'": -0.2}


@pytest.mark.parametrize(
    ("system", "keep"),
    [
        (load(CASES / "rattleback.toml"), ["psi'", "beta'"]),
        (load(CASES / "rattleback.toml"), ["alpha", "beta", "psi", "psi'", "alpha'", "beta'"]),
        (load("bicycle").with_settings(BICYCLE), ["ph", "de", "ph'", "de'", "x'"]),
        (load("bicycle").with_settings(BICYCLE), ["ph'", "ch'"]),
    ],
    ids=["rattleback", "rattleback-all", "bicycle", "bicycle-wheel"],
)
def test_K8_kept_values_stay_to_the_last_bit_on_the_constraints(system, keep) -> None:
    motion = simulate(system, keep=keep, **SHORT)
    given = dict(zip(system.states, system.initial_state(), strict=True))
    for name in keep:
        assert motion.column(name)[0] == given[name]
        assert name not in motion.moved
    assert motion.moved
    for name, (before, after) in motion.moved.items():
        assert (before, after) == (given[name], motion.column(name)[0])
    for residual in (*motion.residuals.values(), *motion.hidden.values()):
        assert abs(residual[0]) < 1e-12
    assert motion.notes[0].startswith(f"the initial state was moved onto the constraints ({', '.join(keep)} kept): ")


def test_rolling_from_kept_spins_is_that_of_the_contact_point() -> None:
    """With all angles and their rates kept, the velocity of the centre is -ω × r, worked out here from the rotation."""
    system = load(CASES / "rattleback.toml")
    keep = "psi,alpha,beta,psi',alpha',beta'"
    motion = simulate(system, keep=keep, start={"psi": 0.4, "alpha'": 0.2}, **SHORT)
    s = {name: motion.column(name)[0] for name in motion.state_names}

    def turn(axis: int, angle: float) -> np.ndarray:
        i, j = [(1, 2), (2, 0), (0, 1)][axis]
        matrix = np.eye(3)
        matrix[[i, i, j, j], [i, j, i, j]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
        return matrix

    first, second = turn(2, s["psi"]), turn(2, s["psi"]) @ turn(0, s["alpha"])
    whole = second @ turn(1, s["beta"])
    axes = np.diag([0.2**2, 0.03**2, 0.02**2])
    normal = whole.T @ [0, 0, 1]
    contact = whole @ (-axes @ normal / np.sqrt(normal @ axes @ normal))
    spin = s["psi'"] * np.eye(3)[2] + s["alpha'"] * first[:, 0] + s["beta'"] * second[:, 1]
    assert s["z"] == pytest.approx(-contact[2], abs=1e-14)
    np.testing.assert_allclose([s["x'"], s["y'"], s["z'"]], -np.cross(spin, contact), atol=1e-13)


def test_kept_values_that_leave_no_state_are_refused_with_the_constraint() -> None:
    motion = load("sleigh").simulate(start={"x'": 1.0}, keep="x', y', phi", until=0.1, on_failure="return")
    assert motion.status == "infeasible"
    assert "no velocity near the given one with x', y', phi kept satisfies the constraint" in motion.reason
    assert "'blade' stays off by -0.866" in motion.reason
    assert "the gradient of 'blade' in what may be moved vanishes" in motion.reason
    everything = load("pendulum-xy").simulate(
        start={"x": 2.0}, keep=["x", "y", "x'", "y'"], until=0.1, on_failure="return"
    )
    assert everything.status == "infeasible"
    with pytest.raises(ModelError, match="'u' cannot be kept"):
        load("sleigh").simulate(keep="u")


def test_the_command_tells_what_was_moved(svyaz, tmp_path) -> None:
    done = svyaz(
        "simulate", "sleigh", "--set", "initial.x'=1", "--keep", "x',phi", "--until", "0.01", "--json", "s.json"
    )
    assert done.returncode == 0, done.stderr
    assert "(x', phi kept): y': 0 → 1.73205081" in " ".join(done.stdout.split())
    moved = json.loads((tmp_path / "s.json").read_text())["moved"]
    assert moved["y'"] == [0.0, pytest.approx(np.sqrt(3.0), rel=1e-14)]


def test_members_of_sweeps_keep_values_too() -> None:
    found = sweep(
        load("sleigh"), {"initial.x'": [0.5, 1.0]}, ["final"], kept="x',phi", workers=1, **{**SHORT, "until": 1e-3}
    )
    for row in found.rows:
        assert row.measures["final.y'"] == pytest.approx(np.sqrt(3.0) * row.point[0], abs=0.02)


def test_a_regulator_starts_from_redundant_coordinates() -> None:
    regulation = load("inverted-pendulum-xy").regulate()
    dependent = regulation.plant.dependent[0]
    value = 0.97 * regulation.plant.state[dependent]
    trial = regulation.run({dependent: value, "x": 0.01}, until=0.1, keep=dependent)["regulator"]
    assert trial.start.consistent
    assert trial.start.state[dependent] == value
    assert all(abs(residual) < 1e-12 for residual in trial.start.residuals.values())


LADDER = """
coordinates = ["x", "y", "th"]
kinetic = "(x'^2 + y'^2 + th'^2)/2"
[parameters]
l = 2
tilt = "30*deg"
[definitions]
foot = "l*sin(th)"
half = "tilt/2"
[[constraint]]
name = "foot"
equation = "x = foot"
[initial]
"x'" = "foot'"
x = "foot"
th = "half"
"th'" = "-half"
"""


def test_initial_values_by_definitions() -> None:
    start = dict(zip(("x", "y", "th", "x'", "y'", "th'"), loads(LADDER).initial_state(), strict=True))
    angle = np.pi / 12
    expected = {"x": 2 * np.sin(angle), "y": 0, "th": angle, "x'": -2 * np.cos(angle) * angle, "y'": 0, "th'": -angle}
    assert start == pytest.approx(expected, abs=1e-15)
    swept = sweep(
        loads(LADDER), {"tilt": [0.2, 0.4], "initial.th'": [1.0]}, ["final"], workers=1, **{**SHORT, "until": 1e-3}
    )
    for row in swept.rows:
        angle = row.point[0] / 2
        assert row.measures["final.x"] == pytest.approx(2 * np.sin(angle) + 2e-3 * np.cos(angle), abs=1e-5)


@pytest.mark.parametrize(
    ("changed", "place", "told"),
    [
        ('th = "foot"', (16, 7), "'th' depend on each other in a circle"),
        ('th = "x"', (16, 7), "a value may be an expression of parameters and definitions; 'x' is a coordinate"),
        ('th = "sqrt(-half)"', (16, 7), "has no finite real value"),
        ('th = "t"', (16, 7), "t"),
    ],
)
def test_initial_values_that_have_none_are_refused_at_their_place(changed, place, told) -> None:
    with pytest.raises(ModelError) as caught:
        loads(LADDER.replace('th = "half"', changed))
    problem = caught.value.problems[0]
    assert told in problem.message
    assert problem.place is not None
    assert (problem.place.line, problem.place.column) == place


def test_sweeps_take_negative_gains() -> None:
    """f' = -κ f: a negative gain lets the deviation of the start grow, and the row says that it is unstable."""
    system = load("sleigh").with_settings({"initial.x'": 0.1})
    gains, until = [-3.0, -1.0, 2.0], 0.5
    found = sweep(system, {"stabilize": gains}, ["residual"], workers=1, method="rk4", step=1e-3, until=until)
    assert [row.stable for row in found.rows] == [False, False, True]
    first = 0.1 * np.sin(np.pi / 3)
    for row, gain in zip(found.rows, gains, strict=True):
        assert row.measures["residual.blade"] == pytest.approx(first * max(1.0, np.exp(-gain * until)), rel=1e-6)


def test_the_error_bound_takes_an_initial_error() -> None:
    """Δ₀ e^{LT} is added; for x' = a x Euler's bound is known in closed form: L = |a|."""
    growth = System(states=["x"], parameters={"a": 0.5}, rates={"x": "a*x"}, initial={"x": 1}).simulate
    run = {"method": "euler", "step": 0.01, "until": 2.0}
    without, with_error = (growth(initial_error=error, **run).error_bound for error in (0.0, 1e-3))
    assert with_error.growth == pytest.approx(0.5, rel=1e-6)
    assert with_error.value - without.value == pytest.approx(1e-3 * np.e, rel=1e-6)
    assert with_error.initial == 1e-3
    other = growth(start={"x": 1.001}, **run)
    exact = np.exp(0.5 * 2.0)
    assert abs(other.states[-1, 0] - exact) <= with_error.value
    for error, how in ((-1.0, run), (np.nan, run), (1e-3, {**run, "method": "rk4"})):
        with pytest.raises(ModelError, match=r"error of the initial state|'initial_error' must be"):
            growth(initial_error=error, **how)
