"""simulate: options, phases, statuses, and what a Motion tells about itself."""

from __future__ import annotations

import io
import json
from functools import cache

import numpy as np
import pytest

import svyaz
from svyaz import ModelError, System, gallery, loads
from svyaz.motion import Phase, phases_of, simulate
from svyaz.show import as_json, html_of
from svyaz.stabilise import options_for

SPRING = {
    "name": "spring",
    "coordinates": ["x"],
    "kinetic": "m/2*x'^2",
    "potential": "k/2*x^2",
    "parameters": {"m": 1, "k": 4},
    "initial": {"x": 1},
}
"""x = cos 2t."""

POINT = {"coordinates": ["x", "y"], "kinetic": "(x'^2 + y'^2)/2"}


def spring(**words) -> System:
    return System(**{**SPRING, **words})


@cache
def rod():
    return simulate(loads(gallery.find("pendulum-xy")), until=2)


CONTRACT = {
    *("model", "form", "method", "step", "status", "t", "final", "steps", "evaluations", "seconds"),
    *("residuals", "integrals", "multipliers", "gains", "trajectory_error"),
}


def test_summary_has_the_keys_of_the_contract() -> None:
    summary = as_json(rod())
    assert summary.keys() >= CONTRACT
    assert summary.keys() - CONTRACT <= {"svyaz", "rtol", "reason", "parameters", "initial", "notes", "jumps"}
    assert set(summary["residuals"]["rod"]) == {"max", "rms", "final", "time_of_max"}
    assert set(summary["integrals"]["energy"]) >= {"initial", "final", "drift"}
    assert set(summary["final"]) == {"x", "y", "x'", "y'"}
    assert summary["svyaz"] == svyaz.__version__
    assert summary["parameters"] == {"m": 1.0, "l": 1.0, "g": 9.81}
    assert summary["initial"] == {"x": 1.0, "y": 0.0, "x'": 0.0, "y'": 0.0}
    assert (summary["status"], summary["t"], summary["step"]) == ("finished", 2.0, None)
    assert summary["multipliers"]["rod"] == rod().multipliers["rod"][-1]
    assert summary["trajectory_error"] is None


def test_summary_is_json() -> None:
    text = json.dumps(as_json(rod()), allow_nan=False)
    assert json.loads(text)["final"]["x"] == rod().states[-1, 0]


def test_csv_is_read_back_exactly() -> None:
    file = io.StringIO()
    rod().to_csv(file)
    header, *rows = file.getvalue().splitlines()
    assert header == "t,x,x',y,y'"
    table = np.array([row.split(",") for row in rows], dtype=float)
    assert np.array_equal(table, rod().rows())
    assert np.array_equal(table[:, [1, 3, 2, 4]], rod().states)


def test_csv_file_is_complete_or_absent(tmp_path) -> None:
    rod().to_csv(tmp_path / "motion.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["motion.csv"]
    with pytest.raises(OSError, match="none"):
        rod().to_csv(tmp_path / "none" / "motion.csv")


def test_xarray_holds_states_multipliers_residuals_and_integrals() -> None:
    frame = rod().to_xarray()
    assert frame.sizes == {"t": len(rod().times)}
    for name in ("x", "x'", "y", "y'", "multiplier rod", "residual rod", "energy"):
        assert frame[name].dims == ("t",)
    assert np.array_equal(frame["x'"].values, rod().column("x'"))
    assert frame.attrs["status"] == "finished"
    assert float(frame["y"].sel(t=2.0)) == rod().states[-1, 1]


def test_columns_by_name() -> None:
    assert np.array_equal(rod().column("t"), rod().times)
    assert np.array_equal(rod().column("energy"), rod().integrals["energy"])
    assert np.array_equal(rod().column("kinetic"), rod().kinetic)
    with pytest.raises(KeyError, match="no column 'z'"):
        rod().column("z")


def test_motion_shows_itself_in_notebooks() -> None:
    html = html_of(rod())
    assert "pendulum in Cartesian coordinates" in html
    assert "finished" in html


def test_statistics_of_a_residual_that_is_known() -> None:
    """x = 0 with x(0) = 0.1 and ẋ(0) = -0.3, unstabilised: h = 0.1 - 0.3 t for ever."""
    system = System(**POINT, constraint=[{"name": "wall", "equation": "x = 0"}], initial={"x": 0.1, "x'": -0.3})
    motion = simulate(system, method="rk4", step=1e-3, until=2, stabilize="off")
    residual = as_json(motion)["residuals"]["wall"]
    assert residual["max"] == pytest.approx(0.5, abs=1e-12)
    assert residual["final"] == pytest.approx(-0.5, abs=1e-12)
    assert residual["time_of_max"] == 2.0
    mean_square = ((0.1) ** 3 + 0.5**3) / (3 * 0.3 * 2)
    assert residual["rms"] == pytest.approx(np.sqrt(mean_square), rel=1e-6)
    assert motion.hidden["wall"] == pytest.approx(-0.3)
    assert any("wall" in note for note in motion.notes), "an initial state off its constraints is noted"


def test_projection_of_the_initial_state() -> None:
    system = System(
        **POINT, constraint=[{"name": "wall", "equation": "x = 0"}], initial={"x": 0.1, "x'": -0.3, "y'": 1}
    )
    motion = simulate(system, rtol=1e-10, until=1, project=True)
    assert np.abs(motion.residuals["wall"]).max() < 1e-12
    assert motion.column("y")[-1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("method", "step"), [("euler", 1e-3), ("rk2", 0.02), ("rk4", 0.1), ("dopri5", 0.2), ("radau", 0.2)]
)
def test_halving_estimates_the_error_of_the_trajectory(method, step) -> None:
    motion = simulate(spring(), method=method, step=step, until=10, halve=True)
    exact = np.column_stack([np.cos(2 * motion.times), -2 * np.sin(2 * motion.times)])
    scale = np.abs(motion.states).max(axis=0)
    error = (np.abs(motion.states - exact).max(axis=0) / scale).max()
    assert motion.trajectory_error == pytest.approx(error, rel=0.15)
    assert as_json(motion)["trajectory_error"] == motion.trajectory_error


def test_halving_with_error_control() -> None:
    motion = simulate(spring(), method="dopri5", rtol=1e-5, until=10, halve=True)
    exact = np.column_stack([np.cos(2 * motion.times), -2 * np.sin(2 * motion.times)])
    error = (np.abs(motion.states - exact).max(axis=0) / np.abs(motion.states).max(axis=0)).max()
    assert error / 3 < motion.trajectory_error < 3 * error


def test_phases_follow_the_constraints() -> None:
    system = System(
        **POINT,
        constraint=[
            {"name": "a", "equation": "x = 0", "until": 1},
            {"name": "b", "equation": "y = 0", "from": 1, "until": 3},
            {"name": "c", "equation": "x = y", "from": 5},
        ],
    )

    def phases(until: float) -> list[Phase]:
        return phases_of(system, "multipliers", options_for(system, {"until": until}))

    found = [(p.start, p.end, [c.name for c in p.active], [c.name for c in p.new]) for p in phases(4.0)]
    assert found == [(0.0, 1.0, ["a"], ["a"]), (1.0, 3.0, ["b"], ["b"]), (3.0, 4.0, [], [])]
    assert len(phases(1.0)) == 1, "a switch at the very end does not count"
    assert phases(5.5)[-1].active[0].name == "c"


def test_constraint_that_begins_and_ends() -> None:
    """A falling point is held on its vertical from t = 1 until 2; from t = 1.5 it is pulled aside."""
    system = System(
        **POINT,
        forces={"x": "F*(1 + sign(t - 1.5))/2", "y": "-g"},
        parameters={"F": 3, "g": 9.81},
        constraint=[{"name": "guide", "equation": "x = 0", "from": 1, "until": 2}],
    )
    motion = simulate(system, rtol=1e-10, until=3, every=0.25)
    assert motion.finished
    t = motion.times
    expected = np.where(t <= 2, 0.0, 1.5 * (t - 2) ** 2)
    assert motion.column("x") == pytest.approx(expected, abs=1e-8)
    assert motion.column("y") == pytest.approx(-9.81 * t**2 / 2, abs=1e-8)
    guide = motion.multipliers["guide"]
    assert guide[(t > 1) & (t < 1.5)] == pytest.approx(0.0)
    assert guide[(t > 1.5) & (t <= 2)] == pytest.approx(-3.0)
    assert np.isnan(guide[(t <= 1) | (t > 2)]).all()


def test_constraint_that_begins_where_the_state_does_not_fit() -> None:
    system = System(**POINT, initial={"x": 0.5, "y'": 1}, constraint=[{"name": "gate", "equation": "x = 0", "from": 1}])
    motion = simulate(system, rtol=1e-9, until=2)
    assert motion.status == "infeasible"
    assert motion.times[-1] == 1.0
    assert "'gate'" in motion.reason
    assert "t = 1" in motion.reason
    json.dumps(as_json(motion), allow_nan=False)


def test_motion_that_grows_beyond_all_bounds() -> None:
    """ẋ = x² from 1 ends at t = 1."""
    motion = simulate(System(states=["x"], rates={"x": "x^2"}, initial={"x": 1}), until=2)
    assert motion.status == "diverged"
    assert motion.times[-1] == pytest.approx(1.0, abs=1e-6)
    assert np.isfinite(motion.states).all()
    assert motion.reason
    json.dumps(as_json(motion), allow_nan=False)


def test_singular_mass_matrix_is_told() -> None:
    """M = x vanishes when x(t) = 1 - t reaches zero; nothing else determines the acceleration there."""
    system = System(coordinates=["x"], kinetic="(x - 1)^2/2*x'^2", initial={"x": 1, "x'": 1})
    motion = simulate(system, rtol=1e-9, until=1)
    assert motion.status == "singular"
    assert motion.times[-1] == 0.0
    json.dumps(as_json(motion), allow_nan=False)


def test_redundant_constraints_are_told_by_name() -> None:
    both = [{"name": "one", "equation": "x = y"}, {"name": "two", "equation": "2*x = 2*y"}]
    motion, alone = (simulate(System(**POINT, constraint=given), until=1) for given in (both, both[:1]))
    assert motion.finished
    assert motion.states[-1] == pytest.approx(alone.states[-1], abs=1e-12)
    assert any("'one'" in note and "'two'" in note for note in motion.notes)
    assert set(motion.undetermined) == {"one", "two"}


def test_interrupt_keeps_what_was_computed() -> None:
    def stop(t: float) -> None:
        if t > 0.5:
            raise KeyboardInterrupt

    motion = simulate(spring(), method="rk4", step=1e-6, until=1000, progress=stop)
    assert motion.status == "stopped"
    assert 0.5 < motion.times[-1] < 1000
    assert "stopped by the user" in motion.reason
    assert motion.column("x") == pytest.approx(np.cos(2 * motion.times), abs=1e-9)
    assert np.isfinite(motion.integrals["energy"]).all()


def test_progress_is_called_with_the_time_reached() -> None:
    seen: list[float] = []
    simulate(spring(), method="rk4", step=1e-5, until=5, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(5.0)


@pytest.mark.parametrize("rows", [{"rtol": 1e-10}, {"step": 0.013, "method": "rk4"}])
def test_every_gives_rows_at_equal_intervals(rows) -> None:
    motion = simulate(spring(), until=2, every=0.3, **rows)
    assert motion.times == pytest.approx([0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.0])
    assert motion.column("x") == pytest.approx(np.cos(2 * motion.times), abs=1e-6)


@pytest.mark.parametrize("model", ["spring-double-pendulum", "pendulum:3", "pendulum-xy", "sling-hooked"])
def test_radau_equals_dop853(model) -> None:
    system = loads(gallery.find(model), model)
    options = {"until": 0.8, "every": 0.2, "stabilize": "off"}
    explicit = simulate(system, method="dop853", rtol=1e-12, **options)
    implicit = simulate(system, method="radau", rtol=1e-10, **options)
    assert implicit.finished
    assert implicit.times == pytest.approx(explicit.times)
    assert np.abs(implicit.states - explicit.states).max() < 1e-6


def test_radau_on_a_stiff_spring_takes_few_steps() -> None:
    """A damper of 1e6: the slow motion decays with rate k/c; explicit methods would need 1e6 steps a second."""
    system = spring(forces={"x": "-c*x'"}, parameters={"m": 1, "k": 4e6, "c": 1e6})
    motion = simulate(system, method="radau", rtol=1e-8, until=1)
    assert motion.finished
    assert motion.steps < 500
    slow, fast = -8e6 / (1e6 + np.sqrt(1e12 - 16e6)), -(1e6 + np.sqrt(1e12 - 16e6)) / 2
    assert motion.column("x")[-1] == pytest.approx(fast / (fast - slow) * np.exp(slow), rel=1e-6)


FRICTION = """
from svyaz import System
system = System(coordinates=["x"], kinetic="x'^2/2", forces={{"x": "{force}"}}, initial={{"x": 0.4, "x'": 2}})
from svyaz.motion import simulate
for method in ("radau", "dop853"):
    print(simulate(system, method=method, rtol=1e-9, until=1).states[-1].tolist())
"""


@pytest.mark.parametrize("force", ["-abs(x')*x'", "-x'*max(1, x^2) - sign(2 + x)*min(x, 7)"])
def test_functions_with_corners_in_a_fresh_process(python, force) -> None:
    """Their derivatives must be right from the first model on: radau needs them, dop853 does not."""
    done = python("-c", FRICTION.format(force=force))
    assert done.returncode == 0, done.stderr
    implicit, explicit = (np.array(json.loads(line)) for line in done.stdout.splitlines())
    assert implicit == pytest.approx(explicit, abs=1e-6)


def test_quadratic_friction_has_a_closed_form() -> None:
    """v̇ = -|v| v: v = v₀/(1 + v₀ t), x = log(1 + v₀ t), and the same reversed for v₀ < 0."""
    for start in (2.0, -2.0):
        system = System(coordinates=["x"], kinetic="x'^2/2", forces={"x": "-abs(x')*x'"}, initial={"x'": start})
        motion = simulate(system, method="radau", rtol=1e-10, until=3)
        expected = np.sign(start) * np.log(1 + abs(start) * motion.times)
        assert motion.column("x") == pytest.approx(expected, abs=1e-7)


def test_plain_and_canonical_systems_run() -> None:
    plain = System(states=["x", "v"], rates={"x": "v", "v": "-k*x"}, parameters={"k": 4}, initial={"x": 1})
    canonical = System(coordinates=["x"], momenta=["p"], hamiltonian="p^2/2 + 2*x^2", initial={"x": 1})
    for system in (plain, canonical):
        motion = simulate(system, rtol=1e-11, until=3)
        assert motion.column("x") == pytest.approx(np.cos(2 * motion.times), abs=1e-8)
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-9
    assert motion.table_names == ("t", "x", "p")


def test_further_states_follow_their_rates() -> None:
    """A heater charged by friction: ẇ = b ẋ², the work done, equals the loss of energy."""
    system = spring(
        states=["w"],
        rates={"w": "b*x'^2"},
        forces={"x": "-b*x'"},
        parameters={"m": 1, "k": 4, "b": 0.3},
    )
    motion = simulate(system, rtol=1e-11, until=4)
    energy = motion.column("x'") ** 2 / 2 + 2 * motion.column("x") ** 2
    assert motion.column("w") == pytest.approx(2 - energy, abs=1e-8)
    assert motion.table_names == ("t", "x", "x'", "w")


def test_momentum_of_a_cyclic_coordinate_is_reported() -> None:
    system = System(
        coordinates=["r", "phi"],
        kinetic="m/2*(r'^2 + r^2*phi'^2)",
        potential="-k/r",
        parameters={"m": 2, "k": 3},
        initial={"r": 1, "phi'": 1},
    )
    motion = simulate(system, rtol=1e-11, until=2)
    assert motion.integrals["momentum of phi"] == pytest.approx(2.0, abs=1e-9)
    assert as_json(motion)["integrals"]["momentum of phi"]["drift"] < 1e-9
    assert next(iter(motion.integrals)) == "energy"


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"step": 0.1, "rtol": 1e-6}, "either 'step'"),
        ({"method": "rk4"}, "needs a step"),
        ({"method": "rk5"}, "no method is called 'rk5'"),
        ({"until": -1}, "'until' must be a positive number"),
        ({"step": float("nan")}, "'step' must be a positive number"),
        ({"rtol": "small"}, "'rtol' must be a positive number"),
    ],
)
def test_options_that_cannot_be(asked, message) -> None:
    with pytest.raises(ModelError, match=message):
        simulate(spring(), **asked)


def test_an_option_that_there_is_not() -> None:
    with pytest.raises(ModelError, match="no option 'stp'"):
        options_for(spring(), {"stp": 0.1})
    with pytest.raises(TypeError, match="'stp'"):
        simulate(spring(), stp=0.1)


def test_step_that_is_asked_for_replaces_the_tolerance_of_the_model() -> None:
    system = spring(run={"method": "dopri5", "rtol": 1e-6, "atol": 1e-7, "until": 3})
    assert (options_for(system, {}).rtol, options_for(system, {}).until) == (1e-6, 3.0)
    asked = options_for(system, {"step": 0.1, "until": None})
    assert (asked.step, asked.rtol, asked.atol, asked.until) == (0.1, None, None, 3.0)
    back = options_for(spring(run={"method": "dopri5", "step": 0.1}), {"rtol": 1e-4})
    assert (back.step, back.rtol) == (None, 1e-4)


@pytest.mark.parametrize("asked", [{"rtol": 1e-20}, {"rtol": 2.0}, {"step": 1e-12, "method": "rk4"}])
def test_tolerances_and_steps_out_of_reach_are_bad_input(asked) -> None:
    with pytest.raises(ModelError):
        simulate(spring(), **asked)


def test_initial_state_must_be_consistent_in_time_only_from_its_beginning() -> None:
    """A system made in Python may be simulated twice with different parameters; nothing is kept from the first run."""
    system = spring()
    first = simulate(system, rtol=1e-10, until=1)
    second = simulate(system.with_settings({"k": 16}), rtol=1e-10, until=1)
    again = simulate(system, rtol=1e-10, until=1)
    assert second.column("x")[-1] == pytest.approx(np.cos(4.0), abs=1e-8)
    assert np.array_equal(first.states, again.states)
