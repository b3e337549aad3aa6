"""Limits of a model: a motion that passes one has left, on every road, at the moment that the closed form gives."""

from __future__ import annotations

import json
from math import asin, cos, isclose, pi, sin, sqrt
from pathlib import Path

import numpy as np
import pytest

from svyaz import ModelError, System, loads
from svyaz.commands.group import run
from svyaz.model import Constraint
from svyaz.show import as_json
from svyaz.show.plots import coordinates_plot
from svyaz.study import sweep

WHEN = asin(0.5)
"""x = sin t passes 1/2."""

OSCILLATOR = {"coordinates": ["x"], "kinetic": "x'^2/2", "potential": "x^2/2", "initial": {"x'": 1}}
UP_TO_HALF = {"limits": {"x": ["", 0.5]}}

BODY = {
    "name": "slider",
    "base": "ground",
    "joint": "prismatic",
    "coordinate": "x",
    "axis": [1, 0, 0],
    "pole": [0, 0, 0],
    "mass": 1,
    "center": [0, 0, 0],
    "inertia": {"zz": 1},
}

ROADS = {
    "energies": {**OSCILLATOR, **UP_TO_HALF},
    "velocity": {**OSCILLATOR, "initial": {"x": -1}, "limits": {"x'": ["", 0.5]}},
    "expression": {**OSCILLATOR, "limits": {"room": {"of": "1 - 2*x", "low": 0}}},
    "definition": {**OSCILLATOR, "definitions": {"s": "2*x"}, "limits": {"s": [-7, 1]}},
    "bound by a parameter": {**OSCILLATOR, "parameters": {"L": 2}, "limits": {"x": ["-L/4", "L/4"]}},
    "rates": {
        "states": ["x", "v"],
        "rates": {"x": "v", "v": "-x"},
        "initial": {"v": 1},
        "limits": {"x": ["", 0.5]},
    },
    "canonical": {
        "coordinates": ["x"],
        "momenta": ["p"],
        "hamiltonian": "(p^2 + x^2)/2",
        "initial": {"p": 1},
        **UP_TO_HALF,
    },
    "tree": {"gravity": [0, 0, 0], "body": [BODY], "forces": {"x": "-x"}, "initial": {"x'": 1}, **UP_TO_HALF},
    "constraint": {
        "coordinates": ["x", "y"],
        "kinetic": "x'^2/4 + y'^2/4",
        "potential": "x^2/2",
        "constraint": [{"name": "same", "equation": "x = y", "dependent": "y"}],
        "initial": {"x'": 1, "y'": 1},
        "limits": {"y": [-1, 0.5]},
    },
    "events": {
        **OSCILLATOR,
        "constraint": [{"name": "wall", "equation": "x = 0.8", "on": "x - 0.8", "off": "-lambda_wall"}],
        **UP_TO_HALF,
    },
}


def left_at(motion: object, when: float, limit: str, tolerance: float = 1e-8) -> None:
    """The motion has left through this limit at this moment, and says so."""
    assert motion.status == "left"
    assert motion.times[-1] == pytest.approx(when, abs=tolerance)
    assert f"{limit} " in motion.reason
    assert motion.limits[limit].left == motion.times[-1]
    record = as_json(motion)
    assert record["status"] == "left"
    assert record["limits"][limit]["left"] == pytest.approx(when, abs=tolerance)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("rows", [None, 0.1])
def test_N1_1_6_a_motion_ends_where_it_leaves(road: str, rows: float | None) -> None:
    system = System(**ROADS[road])
    left_at(system.simulate(until=3, every=rows, on_failure="return"), WHEN, system.limits[0].name)


@pytest.mark.parametrize("form", ["multipliers", "shulgin", "chaplygin", "voronets", "maggi", "appell"])
def test_N1_1_6_in_every_form(form: str) -> None:
    """A sleigh that slides straight on: x = t, and what a form eliminates has limits too."""
    system = System(
        coordinates=["x", "y"],
        kinetic="(x'^2 + y'^2)/2",
        constraint=[{"name": "track", "equation": "y' = x'" if form != "shulgin" else "y = x", "dependent": "y"}],
        initial={"x'": 1, "y'": 1},
        limits={"y": ["", 0.7]},
    )
    left_at(system.simulate(form=form, until=2, on_failure="return"), 0.7, "y")


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.01), ("dopri5", 0.05), ("radau", 0.05), ("radau", None)])
def test_N1_1_6_by_every_kind_of_method(method: str, step: float | None) -> None:
    motion = System(**ROADS["energies"]).simulate(method=method, step=step, until=3, on_failure="return")
    left_at(motion, WHEN, "x", 1e-7)


def test_N1_1_6_a_motion_leaves_if_and_only_if_it_is_wide_enough() -> None:
    """A sin(w t) beside |x| ≤ 1: it leaves when A > 1, at asin(1/A)/w."""
    random = np.random.default_rng(11)
    system = System(**OSCILLATOR | {"potential": "w^2*x^2/2", "parameters": {"w": 1}, "limits": {"x": [-1, 1]}})
    for _ in range(12):
        w, wide = float(random.uniform(0.5, 5)), float(random.choice([0.999999, 1.01, 1.1, 3.0]))
        sign = float(random.choice([-1, 1]))
        run = system.with_settings({"w": w}).simulate(until=8, start={"x'": sign * wide * w}, on_failure="return")
        if wide < 1:
            assert run.finished
            assert run.limits["x"].left is None
        else:
            left_at(run, asin(1 / wide) / w, "x", 1e-6)


@pytest.mark.parametrize(
    ("method", "step", "accuracy"),
    [("dop853", None, 1e-9), ("dopri5", None, 1e-9), ("dop853", 0.5, 1e-9), ("rk4", 0.02, 1e-8), ("radau", None, 1e-9)],
)
@pytest.mark.parametrize("over", [1e-4, 1e-6, -1e-6])
def test_N1_1_6_no_excursion_is_too_short_to_be_seen(
    method: str, step: float | None, accuracy: float, over: float
) -> None:
    """A sin(t - t0) is beyond 1 for 2 acos(1/A), down to 1/200 of a step, wherever in a step that is; for A < 1 never."""
    quadratic = {"room": {"of": "x + 0.3*x^2", "high": 1.3}}
    system = System(**OSCILLATOR | {"limits": quadratic})
    for late in np.random.default_rng(17).uniform(0.1, 1.3, 5):
        start = {"x": -(1 + over) * sin(late), "x'": (1 + over) * cos(late)}
        motion = system.simulate(until=3, method=method, step=step, start=start, on_failure="return")
        if over < 0:
            assert motion.finished
        else:
            left_at(motion, late + asin(1 / (1 + over)), "room", 10 * accuracy / sqrt(over))


def test_N1_1_6_a_start_on_the_limit_may_go_inwards_only() -> None:
    system = System(**OSCILLATOR | {"limits": {"x": [0, 1]}})
    assert system.simulate(until=pi).finished
    outwards = system.simulate(until=1, start={"x'": -1.0}, on_failure="return")
    assert outwards.status == "left"
    assert outwards.times[-1] < 1e-6
    outside = system.simulate(until=1, start={"x": 1.5}, on_failure="return")
    assert (outside.status, len(outside.times)) == ("left", 1)
    assert "x = 1.5 lies above its limit 1" in outside.reason
    assert not system.check().wrong
    assert system.with_settings({"initial.x": 1.5}).check().wrong == (
        "the initial state lies beyond the limits of 'x'",
    )


@pytest.mark.parametrize("road", ["energies", "constraint", "events"])
@pytest.mark.parametrize("rows", [None, 0.25])
def test_N1_1_6_beyond_tells_the_same_moment_and_changes_nothing(road: str, rows: float | None) -> None:
    system = System(**ROADS[road])
    on = system.simulate(until=0.7, every=rows, beyond=True)
    assert on.finished
    name = system.limits[0].name
    assert on.limits[name].left == pytest.approx(WHEN, abs=1e-8)
    assert any("beyond its limits" in note and "0.523599" in note for note in on.notes)
    assert on.column("x")[-1] == pytest.approx(sin(0.7), abs=1e-8)
    assert on.limits[name].greatest == pytest.approx(sin(0.7), abs=1e-8)


def test_N1_1_6_sweeps_tell_how_many_left() -> None:
    system = System(**ROADS["energies"])
    speeds = np.array([0.2, 0.4, 0.6, 1.0])
    found = sweep(system, {"initial.x'": speeds}, ["t"], until=7.0, workers=1)
    assert found.outcomes() == {"finished": 2, "left": 2}
    assert found.column("t")[2:] == pytest.approx([asin(0.5 / 0.6), asin(0.5)], abs=1e-7)
    on = sweep(system, {"initial.x'": speeds}, ["t"], until=7.0, workers=1, beyond=True)
    assert on.outcomes() == {"finished": 4}
    assert [bool(row.reason) for row in on.rows] == [False, False, True, True]


CART = System(
    coordinates=["c", "u"],
    kinetic="c'^2/2 + (c'^2 + 2*c'*u'*cos(u) + u'^2)/2",
    potential="9.81*cos(u)",
    forces={"c": "f"},
    inputs={"f": 0},
    box={"c": [-1, 1], "u": [-0.5, 0.5]},
    limits={"c": [-0.6, 0.6]},
)


def test_N1_1_6_basins_count_apart_what_left() -> None:
    """Each start of a basin is judged as its own run is; what leaves has not returned, though beyond it would."""
    found = CART.regulate(fix={"c": 0.0})
    basin = found.basin({"u": (-0.3, 0.3), "c": (-0.7, 0.7)}, count=24, until=10)
    runs = [found.run(dict(zip(basin.names, start, strict=True)), until=10)["regulator"] for start in basin.starts]
    assert basin.left.tolist() == [trial.transient.status == "left" for trial in runs]
    assert 0 < basin.left.sum() < len(basin.left)
    assert not (basin.returned & basin.left).any()
    assert basin.returned.tolist() == [not left for left in basin.left]
    assert all(
        trial.failed and "leaves its limits: " in trial.answer and " c " in f" {trial.answer} "
        for trial in runs
        if trial.transient.status == "left"
    )
    beyond = found.basin({"u": (-0.3, 0.3), "c": (-0.7, 0.7)}, count=24, until=10, beyond=True)
    assert beyond.returned.all()
    assert beyond.left.tolist() == basin.left.tolist()
    assert as_json(beyond)["left"] == int(basin.left.sum())


def test_N1_1_6_basins_with_events_obey_limits_too() -> None:
    walled = System(**{**CART.words, "constraint": [{"name": "wall", "equation": "c = 5", "on": "c - 5"}]})
    found = walled.regulate(fix={"c": 0.0})
    assert any(isinstance(c, Constraint) and c.switched for c in found.constraints)
    basin = found.basin({"c": (0.5, 0.7)}, count=6, until=8)
    expected = basin.starts[:, 0] > 0.6
    assert basin.left[expected].all()
    assert not (basin.returned & basin.left).any()


def test_N1_1_6_equilibria_beyond_the_limits_are_kept_and_marked() -> None:
    system = System(coordinates=["u"], kinetic="u'^2/2", potential="-cos(u)", limits={"u": [-1, 1]})
    found = system.equilibria().equilibria
    marked = {round(abs(e.state["u"]), 6): e.outside for e in found}
    assert marked == {0.0: (), round(pi, 6): ("u",)}
    assert [as_json(e)["outside"] for e in found] == [list(e.outside) for e in found]


MISTAKES = {
    'z = [0, 1]': "'z' is not among the variables of the state",
    'x = [2, 1]': "the limits of 'x' leave nothing: 2 is not below 1",
    'x = ["", ""]': "the limits of 'x' have neither low nor high",
    'x = 3': "limits are \\[low, high\\]",
    'x = ["y", 1]': "y",
    'gap = { of = "x - ", low = 0 }': "something is missing",
    'gap = { of = "x", most = 0 }': "there is no key 'most'",
    'gap = { low = 0 }': "'gap' is not among the variables",
    'gap = { of = "x + f", low = 0 }': "an input may appear in forces and rates only",
}  # fmt: skip


@pytest.mark.parametrize("line", MISTAKES)
def test_N1_1_6_mistakes_in_limits_have_places(line: str) -> None:
    text = f'coordinates = ["x"]\nkinetic = "x\'^2/2"\n[inputs]\nf = 0\n[forces]\nx = "f"\n[limits]\n{line}\n'
    with pytest.raises(ModelError, match=MISTAKES[line]) as raised:
        loads(text)
    assert all(problem.place is not None and problem.place.line == 8 for problem in raised.value.problems)


def test_N1_1_6_the_ball_does_not_leave_the_beam_unsaid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example: all 200 starts leave the beam (with a constant acceleration they would need 0.5 m); R ≤ r ≤ L - R."""
    monkeypatch.chdir(tmp_path)
    start = ["--start", "r=0.3:0.39", "--start", "r'=0.3:0.6"]
    assert run(["regulate", "ball-and-beam", "--fix", "r=0.25", "--basin", "200", *start, "--json", "a.json"]) == 0
    basin = json.loads(Path("a.json").read_text())["basin"]
    assert basin["returned"] + basin["left"] <= 200
    assert basin["left"] > 100
    one = ["--run", "--start", "r=0.3", "--start", "r'=0.4", "--json", "b.json"]
    assert run(["regulate", "ball-and-beam", "--fix", "r=0.25", *one]) == 1
    record = json.loads(Path("b.json").read_text())["runs"]["regulator"]
    assert (record["status"], record["returned"]) == ("left", False)
    assert isclose(record["limits"]["r"]["high"], 0.425 - 0.0254)
    assert run(["simulate", "ball-and-beam", "--set", "initial.r'=-1", "--json", "c.json"]) == 1
    assert json.loads(Path("c.json").read_text())["limits"]["r"]["left"] > 0
    assert run(["simulate", "ball-and-beam", "--set", "initial.r'=-1", "--until", "0.3", "--beyond"]) == 0


def test_N1_1_6_plots_shade_what_lies_beyond() -> None:
    system = System(**OSCILLATOR | {"limits": {"x": [-0.5, 0.5]}})
    axes = coordinates_plot(system.simulate(until=6, beyond=True)).axes[0]
    levels = sorted(float(line.get_ydata()[0]) for line in axes.lines if len(set(line.get_ydata())) == 1)
    assert levels == [-0.5, 0.5]
    assert len(axes.patches) == 2
    bare = coordinates_plot(System(**OSCILLATOR).simulate(until=6)).axes[0]
    assert not bare.patches
    far = System(**OSCILLATOR | {"limits": {"x": [-500, 500]}}).simulate(until=6)
    assert coordinates_plot(far).axes[0].get_ylim()[1] < 2 * sqrt(2)
