"""Gains that "auto" chooses for a whole study."""

from __future__ import annotations

import pytest

from svyaz import System, load, simulate
from svyaz.study import sweep, ways
from svyaz.study.measures import of_motion

RUN = {"method": "rk4", "step": 0.01, "until": 1.0}
VARIED = {"g": [9.0, 9.5, 10.0]}


def test_gains_are_those_that_a_run_of_the_model_itself_chooses() -> None:
    pendulum = load("pendulum-xy")
    found = sweep(pendulum, VARIED, workers=1, **RUN)
    chosen = simulate(pendulum, **RUN).gains.law
    alone = simulate(pendulum, stabilize=found.gains, **RUN).gains.law
    assert dict(alone.gains) == pytest.approx(dict(chosen.gains), rel=1e-12)
    assert found.asked["stabilize"] == "auto"


def test_N1_1_4_where_a_run_is_held_best_by_nothing_no_member_is_called_unstable() -> None:
    """Two points that a linear constraint holds together: its second derivative is zero, and there is nothing to be held."""
    pair = System(
        coordinates=["x", "y"],
        kinetic="m*x'^2/2 + y'^2/2",
        potential="9.81*x",
        parameters={"m": 1.0},
        constraint=[{"name": "together", "equation": "x = y"}],
    )
    found = sweep(pair, {"m": [1.0, 2.0]}, workers=1, **RUN)
    assert found.gains == "off"
    assert [row.stable for row in found.rows] == [None, None]
    alone = simulate(pair, stabilize=found.gains, **RUN)
    assert alone.status == "finished"
    assert of_motion(alone)["final.x"] == found.rows[0].measures["final.x"]


def test_a_study_that_grows_keeps_its_gains(tmp_path, monkeypatch) -> None:
    pendulum = load("pendulum-xy")
    first = sweep(pendulum, VARIED, ["final.x"], workers=1, keep=tmp_path / "study.zarr", **RUN)

    def never(*asked: object) -> None:
        raise AssertionError("gains are chosen again")

    monkeypatch.setattr(ways, "trial_gains", never)
    grown = {"g": [*VARIED["g"], 11.0]}
    more = sweep(pendulum, grown, ["final.x"], workers=1, keep=tmp_path / "study.zarr", resume=True, **RUN)
    assert more.gains == first.gains
    assert more.column("final.x")[:3].tolist() == first.column("final.x").tolist()


@pytest.mark.parametrize(
    ("name", "vary", "options"),
    [
        ("pendulum-xy", {"g": [9.0, 10.0]}, {**RUN, "tolerance": 1e-3}),
        ("pendulum-xy", {"run.step": [0.01, 0.02]}, {"method": "rk4", "until": 1.0}),
        ("pendulum-xy", {"g": [9.0, 10.0]}, {**RUN, "stabilize": "projection"}),
        ("pendulum:1", {"L1": [1.0, 2.0]}, RUN),
    ],
)
def test_members_choose_for_themselves_where_one_choice_cannot_serve(name, vary, options) -> None:
    assert sweep(load(name), vary, workers=1, **options).gains is None


def test_no_pilot_runs_before_a_member_that_is_simulated_whole(monkeypatch) -> None:
    from svyaz.stabilise import judgement

    def never(*asked: object) -> None:
        raise AssertionError("the deviations are predicted")

    pendulum = load("pendulum-xy").with_(limits={"x": [-10, 10]})
    monkeypatch.setattr(judgement, "predict", never)
    found = sweep(pendulum, VARIED, workers=1, stabilize=5, **RUN)
    assert [row.status for row in found.rows] == ["finished"] * 3
