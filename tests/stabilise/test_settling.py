"""What is asked before a phase is run: the state, the constraints, the gains."""

from __future__ import annotations

import numpy as np

from svyaz import System, loads
from svyaz.forms import derive
from svyaz.integrate import Status
from svyaz.stabilise import Decision, Entry, Refusal, options_for, settle

PENDULUM = """
name = "bob"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[constraint]]
name = "rod"
equation = "x^2 + y^2 = 1"
[run]
method = "rk4"
step = 0.01
until = 1
"""
ON, OFF = np.array([1.0, 0.0, 0.0, 0.0]), np.array([1.1, 0.0, 0.0, 0.0])


def settled(state, stabilize: object = "off", **wishes) -> Decision | Refusal:
    system: System = loads(PENDULUM, "bob")
    options = options_for(system, {"stabilize": stabilize})
    return settle(derive(system), (), options, state, (0.0, 1.0), **wishes)


def test_a_state_on_the_constraints_is_run_without_a_word() -> None:
    found = settled(ON)
    assert isinstance(found, Decision)
    assert found.unmet == found.notes == ()


def test_a_given_state_off_the_constraints_is_noted() -> None:
    found = settled(OFF)
    assert isinstance(found, Decision)
    assert len(found.unmet) == 1
    assert "does not satisfy the constraint 'rod': its residual is 0.21" in found.unmet[0]
    assert found.unmet == found.notes


def test_a_constraint_that_begins_to_act_must_be_met() -> None:
    found = settled(OFF, entry=Entry.TIME, new={"rod"})
    assert isinstance(found, Refusal)
    assert found.status is Status.INFEASIBLE
    assert found.decision is None
    assert isinstance(settled(OFF, entry=Entry.TIME), Decision)


def test_a_state_without_a_gradient_is_singular() -> None:
    found = settled(np.zeros(4))
    assert isinstance(found, Refusal)
    assert found.status is Status.SINGULAR


def test_unstable_gains_are_refused_with_their_verdict_unless_forced() -> None:
    found = settled(ON, 1000)
    assert isinstance(found, Refusal)
    assert found.decision is not None
    assert not found.decision.allowed
    assert isinstance(settled(ON, 1000, force=True), Decision)
