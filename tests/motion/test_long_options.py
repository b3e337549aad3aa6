"""A long tree takes every option that a short one takes, and answers with the same words.

Runs by the loop are made with 40 bodies, and one with constraints; other runs for which equations are written with 18.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from svyaz import ModelError, Motion, System, gallery, loads
from svyaz.forms import NumericTree
from svyaz.json_types import Record
from svyaz.model import tree_of
from svyaz.motion import Check
from svyaz.show import as_json

SHORT, WRITTEN, LONG = 4, 18, 40


@cache
def chain(count: int, more: str = "") -> System:
    text = gallery.find(f"chain:{count}") or ""
    return loads(text.replace("[parameters]", f"{more}\n[parameters]"), f"chain:{count}")


OPTIONS: dict[str, dict[str, Any]] = {
    "none": {},
    "a fixed step": {"method": "rk4", "step": 1e-3},
    "Euler's method, with its bound": {"method": "euler", "step": 1e-3},
    "error control": {"method": "dop853", "rtol": 1e-8, "atol": 1e-9},
    "an implicit method": {"method": "radau", "rtol": 1e-6},
    "rows": {"every": 0.004},
    "halved": {"halve": True},
    "halved steps": {"halve": True, "method": "rk4", "step": 1e-3},
    "projected and forced": {"project": True, "force": True},
    "no stabilisation": {"stabilize": "off"},
    "a gain": {"stabilize": 3.0},
    "projection": {"stabilize": "projection", "tolerance": 1e-6},
    "held by brackets": {"hold": "bracket", "charts": "keep"},
    "articulated": {"form": "articulated"},
    "lagrange": {"form": "lagrange"},
    "multipliers": {"form": "multipliers"},
    "a start": {"start": {"q1": 0.3, "q2'": 0.1}},
    "rows and steps": {"rows": np.linspace(0.0, 0.02, 5), "max_steps": 1000},
}


def keys(record: Record, own: str = "") -> set[str]:
    """All keys of a record, those of tables by coordinates left out."""
    found = set()
    for key, value in record.items():
        found.add(own + key)
        if isinstance(value, dict) and key not in ("final", "initial", "initial_state"):
            found |= keys(value, f"{own}{key}.")
    return found


@pytest.mark.parametrize("name", OPTIONS)
def test_house_A9_runs(name: str) -> None:
    long = WRITTEN if OPTIONS[name].get("form") in ("lagrange", "multipliers") else LONG
    runs: list[Motion] = [chain(count).simulate(until=0.02, **OPTIONS[name]) for count in (SHORT, long)]
    assert keys(as_json(runs[0])) == keys(as_json(runs[1]))
    assert runs[0].status == runs[1].status == "finished"
    assert (runs[0].trajectory_error is None) == (runs[1].trajectory_error is None)
    assert set(runs[0].quantities) == {q for q in runs[1].quantities if not q.startswith("q") or int(q[1:-2]) <= SHORT}


@pytest.mark.parametrize("options", [{}, {"form": "articulated"}, {"method": "rk4", "step": 1e-3, "stabilize": 2.0}])
def test_house_A9_checks(options: dict[str, Any]) -> None:
    found: list[Check] = [chain(count).check(**options) for count in (SHORT, WRITTEN)]
    assert keys(as_json(found[0])) == keys(as_json(found[1]))
    assert found[0].wrong == found[1].wrong == ()


@pytest.mark.parametrize("count", [SHORT, WRITTEN])
def test_forms_of_a_tree_move_alike(count: int) -> None:
    runs = [chain(count).simulate(until=0.1, form=form, rtol=1e-10) for form in ("articulated", "lagrange")]
    assert runs[0].states[-1] == pytest.approx(runs[1].states[-1], abs=1e-7)
    assert runs[0].integrals["energy"][-1] == pytest.approx(runs[1].integrals["energy"][-1], rel=1e-9)
    for name in ("q1''", "kinetic", "potential"):
        assert runs[0].column(name)[-1] == pytest.approx(runs[1].column(name)[-1], rel=1e-5)


def test_only_trees_are_articulated() -> None:
    with pytest.raises(ModelError, match="takes trees of bodies"):
        loads(gallery.find("spring-double-pendulum") or "").simulate(form="articulated")


@pytest.mark.parametrize(
    ("count", "stabilize"), [(SHORT, "off"), (WRITTEN, "projection"), (WRITTEN, 5.0), (LONG, "off")]
)
def test_house_A9_constraints(count: int, stabilize: str | float) -> None:
    """M q̈ + bias = Gᵀ λ by recursions on numbers, with the accelerations and the multiplier of the run."""
    system = chain(count, '[[constraint]]\nname = "gear"\nequation = "q3 = 2*q4 - 5*deg"\n')
    run = system.simulate(until=0.05, method="dopri5", rtol=1e-8, stabilize=stabilize)
    assert run.status == "finished"
    assert np.abs(run.residuals["gear"]).max() < 1e-8
    tree = NumericTree(tree_of(system), system.parameters)
    q, v = run.states[-1, :count], run.states[-1, count:]
    a = np.array([run.column(f"{name}'")[-1] for name in system.velocities])
    push = np.zeros(count)
    push[2], push[3] = 1.0, -2.0
    forces = push * run.multipliers["gear"][-1]
    assert tree.inverse_dynamics(q, v, a) == pytest.approx(forces, abs=1e-9 * np.abs(forces).max() + 1e-10)


@pytest.mark.parametrize("count", [SHORT, WRITTEN])
def test_house_A9_integrals_are_reported_and_held(count: int) -> None:
    more = '[[integral]]\nname = "twice"\nexpression = "2*m*g*l"\n'
    reported = chain(count, more).simulate(until=0.02)
    assert list(reported.integrals) == ["energy", "twice"]
    held = chain(count, more.replace('2*m*g*l"', "q1'\"\nhold = true"))
    found = held.simulate(until=0.02, on_failure="return")
    assert found.status == "infeasible"  # the velocity of the first link is no integral
    assert "q1'" in found.reason or "twice" in found.reason
    forced = held.simulate(until=0.02, force=True)
    assert forced.status == "finished"
    assert not any("written out" in note for note in (*reported.notes, *forced.notes))


@pytest.mark.parametrize("count", [SHORT, WRITTEN])
def test_house_A9_events(count: int) -> None:
    """The first joint is stopped when it comes to 29 degrees, without rebound."""
    stop = '[[constraint]]\nname = "stop"\nequation = "q1 = 29*deg"\non = "29*deg - q1"\nimpact = "inelastic"\n'
    run = chain(count, stop).simulate(until=0.12, method="dopri5", rtol=1e-7, stabilize="off")
    assert run.status == "finished"
    assert [list(event.on) for event in run.phases][1:] == [["stop"]]
    assert not any("written out" in note for note in run.notes)
    assert run.column("q1")[-1] == pytest.approx(np.deg2rad(29.0), abs=1e-6)
