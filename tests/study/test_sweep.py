"""Sweeps: rows equal single runs to the last bit, whoever does them; failures are rows; what is done is kept."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

from svyaz import System, gallery, loads
from svyaz.expr import ModelError
from svyaz.motion import simulate
from svyaz.show import as_json
from svyaz.study import sweep
from svyaz.study.measures import of_motion

ALL = ("residual", "drift", "final", "multiplier", "steps", "evaluations", "t")


def named(name: str) -> System:
    return loads(gallery.find(name, {}), file=name)


def single(system: System, axes, point, options) -> dict[str, float]:
    settings = {a.name: v for a, v in zip(axes, point, strict=True) if a.kind in ("value", "initial")}
    asked = {a.key: v for a, v in zip(axes, point, strict=True) if a.kind == "run"}
    gains = {a.key: v for a, v in zip(axes, point, strict=True) if a.kind == "gain"}
    if gains:
        asked["stabilize"] = gains.get("stabilize", gains)
    changed = system.with_settings(settings) if settings else system
    motion = simulate(changed, force=True, **{**options, **asked})
    return {"status": motion.status, **of_motion(motion)}


CASES = [
    ("sleigh", {"stabilize": [1.0, 50.0, 900.0]}, {"method": "euler", "step": 1e-3, "until": 1}),
    ("sleigh", {"J": [1.0, 1.5], "initial.phi": [0.3, 1.0]}, {"method": "rk4", "step": 1e-2, "stabilize": 5}),
    ("sleigh", {"run.step": [0.01, 0.003]}, {"method": "rk2", "until": 1, "stabilize": 5}),
    ("pendulum-xy", {"alpha": [5.0, 20.0], "beta": [30.0, 100.0]}, {"method": "rk4", "step": 0.01, "until": 1}),
    ("pendulum-xy", {"l": [1.0, 2.0]}, {"method": "dop853", "rtol": 1e-9, "until": 1, "stabilize": 5}),
    ("pendulum-xy", {"g": [9.0, 10.0]}, {"method": "radau", "step": 0.01, "until": 1, "stabilize": 5}),
    ("pendulum-xy", {"g": [9.0, 10.0]}, {"method": "rk4", "step": 0.01, "until": 1, "stabilize": "projection"}),
    ("pendulum-xy", {"g": [9.0, 10.0]}, {"method": "rk4", "step": 0.01, "until": 1, "stabilize": "auto"}),
    ("pendulum-xy", {"g": [9.0, 10.0]}, {"method": "rk4", "step": 0.01, "until": 1, "stabilize": 5, "every": 0.04}),
    ("pendulum:2", {"L1": [1.0, 1.2]}, {"method": "rk4", "step": 0.01, "until": 1}),
]


@pytest.mark.parametrize(("name", "vary", "options"), CASES)
def test_rows_equal_single_runs_exactly(name, vary, options) -> None:
    system = named(name)
    found = sweep(system, vary, ALL, workers=1, **options)
    assert len(found.rows) == found.total
    if found.gains is not None:  # chosen once for all
        options = {**options, "stabilize": found.gains}
    for row in found.rows:
        alone = single(system, found.axes, row.point, options)
        assert row.status == alone["status"] == "finished"
        assert {name: row.measures[name] for name in found.measures} == {name: alone[name] for name in found.measures}


def test_trajectory_error_is_that_of_simulate() -> None:
    system, options = named("four-bar"), {"method": "rk4", "step": 5e-3, "until": 1.0}
    found = sweep(system, {"stabilize": [5.0, 20.0]}, ["error"], **options)
    for row in found.rows:
        alone = simulate(system, stabilize=row.point[0], halve=True, force=True, **options)
        assert row.measures["error"] == alone.trajectory_error


def test_result_does_not_depend_on_the_workers() -> None:
    system, options = named("sleigh"), {"method": "euler", "step": 1e-3, "until": 0.5}
    vary = {"stabilize": np.geomspace(1, 3000, 61)}
    tables = {n: [(r.point, r.status, r.stable, r.measures) for r in sweep(system, vary, workers=n, **options).rows]
              for n in (1, 2, 7)}  # fmt: skip
    assert tables[1] == tables[2] == tables[7]


def test_whole_simulations_in_processes_equal_those_here() -> None:
    system = named("sling-hooked")  # a constraint begins to act on the way: phases
    vary, options = {"g": [9.7, 9.8, 9.9]}, {"until": 0.6, "stabilize": "off"}
    here, there = (sweep(system, vary, ["final"], workers=n, **options) for n in (1, 2))
    assert there.workers == "2 processes"
    assert [(r.status, r.measures) for r in here.rows] == [(r.status, r.measures) for r in there.rows]


def test_unstable_gains_are_run_and_marked_with_the_exact_border() -> None:
    found = sweep(named("sleigh"), {"stabilize": [100.0, 1900.0, 2600.0]}, method="euler", step=1e-3, until=6)
    assert [row.stable for row in found.rows] == [True, True, False]
    assert [row.status for row in found.rows] == ["finished", "finished", "diverged"]
    ((low, high),) = found.stable
    assert low == 100
    assert high == pytest.approx(2000, rel=1e-9)  # 2/τ


def test_border_along_the_step() -> None:
    found = sweep(named("pendulum-xy"), {"run.step": np.linspace(0.005, 0.2, 6)}, method="rk4", until=1, stabilize=20)
    assert found.stable[0][1] == pytest.approx(2.785293563405282 / 20, rel=1e-8)


def test_failing_members_are_rows() -> None:
    system = System(
        name="bead",
        coordinates=["x"],
        kinetic="x'^2/2",
        potential="0",
        parameters={"a": 1, "x0": "sqrt(a)"},
        forces={"x": "x^3"},
        initial={"x": "x0"},
        run={"method": "rk4", "step": 0.01, "until": 1},
    )
    found = sweep(system, {"a": [-1.0, 1.0, 400.0]})
    assert [row.status for row in found.rows] == ["infeasible", "finished", "diverged"]
    assert "finite" in found.rows[0].reason
    assert found.outcomes() == {"infeasible": 1, "finished": 1, "diverged": 1}


def test_tables_agree_and_record_everything(tmp_path) -> None:
    found = sweep(named("sleigh"), {"J": [1.0, 1.5, 2.0], "stabilize": [5.0, 10.0]}, method="rk4", step=0.01, until=1)
    found.to_csv(tmp_path / "sweep.csv")
    with (tmp_path / "sweep.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    summary = json.loads(json.dumps(as_json(found), allow_nan=False))
    data = found.to_xarray()
    assert len(rows) == len(summary["rows"]) == 6
    for row, entry in zip(rows, summary["rows"], strict=True):
        assert float(row["final.x"]) == entry["final.x"]
        assert float(data["final.x"].sel(J=float(row["J"]), stabilize=float(row["stabilize"]))) == entry["final.x"]
        assert row["status"] == entry["status"] == "finished"
    assert summary["parameters"]["a"] == 1
    assert summary["run"]["method"] == "rk4"
    assert summary["vary"] == {"J": [1, 1.5, 2], "stabilize": [5, 10]}
    assert found.grid("final.x").shape == (3, 2)


def test_measures_are_chosen_by_name() -> None:
    system, options = named("sleigh"), {"method": "rk4", "step": 0.01, "until": 0.1}
    assert sweep(system, {"J": [1.0]}, ["final.x", "energy", "status"], stabilize=5, **options).measures == (
        "final.x",
        "drift.energy",
    )
    for word, hint in (
        ("finale", "final"),
        ("residual.blad", "blade"),
        ("final.z", "there are"),
        ("drift.w", "energy"),
    ):
        with pytest.raises(ModelError, match=hint):
            sweep(system, {"J": [1.0]}, [word], **options)


def test_bad_workers_and_missing_scheduler_are_refused() -> None:
    system = named("sleigh")
    with pytest.raises(ModelError, match="positive"):
        sweep(system, {"J": [1.0, 2.0]}, workers=0, stabilize=5)
    with pytest.raises(ModelError, match="a tolerance do not go together"):
        sweep(system, {"run.step": [0.1, 0.2]}, rtol=1e-5)


def test_cluster_gives_the_same_rows() -> None:
    distributed = pytest.importorskip("dask.distributed")
    system, options = named("sleigh"), {"method": "rk4", "step": 0.01, "until": 1}
    vary = {"stabilize": np.linspace(1, 50, 12)}
    here = sweep(system, vary, workers=1, **options)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        there = sweep(system, vary, scheduler=cluster.scheduler_address, **options)
    assert [r.measures for r in here.rows] == [r.measures for r in there.rows]


def test_no_scheduler_at_the_address() -> None:
    pytest.importorskip("dask.distributed")
    with pytest.raises(ModelError, match="no Dask scheduler"):
        sweep(named("sleigh"), {"J": [1.0, 2.0]}, scheduler="nonsense", stabilize=5)


def test_L4_members_of_trees_that_are_not_written_out_are_run_by_recursions() -> None:
    """Of 160 bodies, and of fewer where it is asked for: the bits of a simulation, and the names of its integrals."""
    run = {"method": "rk4", "step": 0.001, "until": 0.01}
    long, short = named("chain:160"), named("chain:20")
    found = sweep(long, {"g": [9.0, 9.81]}, ["final", "drift"], workers=1, **run)
    assert found.asked["form"] == "articulated"
    assert [row.status for row in found.rows] == ["finished", "finished"]
    alone = of_motion(simulate(long, **run))
    assert {name: alone[name] for name in found.measures} == found.rows[1].measures
    recursed, written = (
        sweep(short, {"g": [9.81]}, ["final"], workers=1, form=f, **run) for f in ("articulated", None)
    )
    assert (recursed.asked["form"], written.asked["form"]) == ("articulated", "lagrange")
    alone = of_motion(simulate(short, **run))
    assert {name: alone[name] for name in recursed.measures} == recursed.rows[0].measures
    assert written.rows[0].measures == pytest.approx(recursed.rows[0].measures, rel=1e-9, abs=1e-12)
