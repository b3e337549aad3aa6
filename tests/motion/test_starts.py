"""Starts off the constraints: refused where the constraints are kept for the user, run where that is the user's question."""

from __future__ import annotations

import json

import numpy as np
import pytest

from svyaz import loads
from svyaz.integrate import Status
from svyaz.motion import simulate
from svyaz.study import sweep

BOB = """
name = "bob"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[parameters]
l = 1.0
[[constraint]]
name = "rod"
equation = "x^2 + y^2 = l^2"
[initial]
x = 1.1
[run]
method = "rk4"
step = 0.01
until = 0.2
"""
SKATE = """
name = "skate"
coordinates = ["x", "y", "phi"]
kinetic = "(x'^2 + y'^2 + phi'^2)/2"
[[constraint]]
name = "blade"
equation = "y'*cos(phi) = x'*sin(phi)"
[initial]
"x'" = 1
"y'" = 0.1
"phi'" = 0.5
[run]
until = 0.2
"""
SWITCHED = (
    BOB
    + """
[[constraint]]
name = "floor"
equation = "y = -0.5"
on = "-0.5 - y"
impact = "inelastic"
"""
)
FASTER = BOB.replace("x = 1.1", 'x = 1\n"x\'" = 0.3')


@pytest.mark.parametrize("stabilize", [None, "auto", "projection"])
@pytest.mark.parametrize(
    ("model", "name"),
    [(BOB, "rod"), (SKATE, "blade"), (SWITCHED, "rod"), (FASTER, "rod")],
    ids=["h", "f", "events", "h'"],
)
def test_N1_1_11_a_start_off_constraints_that_are_kept_for_the_user_is_refused(model, name, stabilize) -> None:
    system = loads(model)
    motion = simulate(system, stabilize=stabilize)
    assert motion.status is Status.INFEASIBLE
    assert "the initial state does not satisfy the" in motion.reason
    assert f"'{name}'" in motion.reason
    assert len(motion.times) == 1
    assert motion.steps == 0
    for allowed in ({"project": True}, {"force": True}):
        assert simulate(system, stabilize=stabilize, **allowed).finished, allowed


@pytest.mark.parametrize(
    "stabilize", ["off", 5.0, {"alpha": 10.0, "beta": 25.0}, {"law": "-10*deviation' - 25*deviation"}]
)
def test_N1_1_11_with_gains_of_ones_own_it_runs_and_is_told_first(stabilize) -> None:
    motion = simulate(loads(BOB), stabilize=stabilize)
    assert motion.finished
    assert "does not satisfy the constraint 'rod': its residual is 0.21" in motion.notes[0]


def test_N1_1_11_a_tolerance_says_what_is_off() -> None:
    near = loads(BOB.replace("x = 1.1", "x = 1.00001"))
    assert simulate(near).status is Status.INFEASIBLE
    assert simulate(near, tolerance=1e-3).finished
    assert simulate(near, tolerance=1e-6).status is Status.INFEASIBLE


def test_N1_1_11_velocities_that_a_reduced_form_takes_from_the_constraints_are_consistent() -> None:
    motion = simulate(loads(SKATE), form="voronets")
    assert motion.finished
    assert any("as the constraints demand" in note for note in motion.notes)
    assert np.abs(motion.residuals["blade"]).max() < 1e-12


@pytest.mark.parametrize("stabilize", ["auto", "projection"])
@pytest.mark.parametrize("workers", [1])
def test_N1_1_11_members_of_a_sweep_are_refused_alike(stabilize: str, workers: int) -> None:
    system = loads(BOB.replace("x = 1.1", "x = 1"))
    found = sweep(system, vary={"l": [1.0, 1.2]}, stabilize=stabilize, workers=workers)
    on, off = found.rows
    assert (on.status, off.status) == ("finished", "infeasible")
    assert "does not satisfy the constraint 'rod': its residual is -0.44" in off.reason
    whole = sweep(system.with_(limits={"x": [-10, 10]}), vary={"l": [1.0, 1.2]}, stabilize=stabilize, workers=workers)
    assert [row.status for row in whole.rows] == ["finished", "infeasible"]
    given = sweep(system, vary={"l": [1.0, 1.2]}, stabilize=5.0, workers=workers)
    assert [row.status for row in given.rows] == ["finished", "finished"]


def test_N1_1_11_the_command_says_how_to_go_on(svyaz, tmp_path) -> None:
    (tmp_path / "bob.toml").write_text(BOB, encoding="utf-8")
    refused = svyaz("simulate", "bob.toml", "--json", "result.json")
    assert refused.returncode == 1
    assert "its residual is 0.21" in refused.stderr
    assert "--project" in refused.stderr
    assert "--force" in refused.stderr
    assert "--" not in json.loads((tmp_path / "result.json").read_text())["reason"]
    assert svyaz("simulate", "bob.toml", "--project").returncode == 0
