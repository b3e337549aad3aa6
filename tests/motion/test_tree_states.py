"""Long trees with motors and further states: their rates stand behind those of the velocities in the native loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from tree_flows import tree_flow

from svyaz import System
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.integrate import along

MOTOR = {"inductance": 0.02, "resistance": 1.5, "back_emf": 0.3, "supply": 1, "torque": 0.3}


def driven(size: int, seed: int, **options: Any) -> dict[str, Any]:
    """Words of a random tree with a motor between two bodies, a filter that follows the motion and a force by both."""
    words: dict[str, Any] = dict(random_tree(size, seed, joints=("revolute", "revolute", "prismatic"), **options))
    words |= {"states": ["w"], "rates": {"w": "q3 - 2*w + t*q5'"}, "forces": {"q2": "0.4*w - 0.1*q2'"}}
    words["motor"] = [{"name": "m", "current": "I", "voltage": "e", "on": "q1", "shaft": "q1' - q2'", **MOTOR}]
    return words | {"inputs": {"e": {"value": 4.0}}, "initial": {"q1": 0.3, "q4'": 0.5, "w": 0.2, "I": 0.1}}


def test_L4_a_motor_on_one_heavy_link_follows_its_closed_form() -> None:
    """J ω' = k I, L I' = -R I - k ω + e without gravity: the exponential of a matrix."""
    link = {"name": "b", "base": "ground", "joint": "revolute", "coordinate": "q", "axis": [0, 0, 1], "pole": [0, 0, 0]}
    link |= {"mass": 2, "center": [0.5, 0, 0], "inertia": {"xx": 0.4, "yy": 0.8, "zz": 0.8}}
    motor = {"name": "m", "current": "I", "voltage": "e", "on": "q", "shaft": "q'", **MOTOR}
    system = System(gravity=[0, 0, 0], body=[link], motor=[motor], inputs={"e": {"value": 4.0}}, initial={"I": 1.0})
    motion = system.simulate(form="articulated", method="dop853", rtol=1e-12, until=0.5)
    inductance, resistance, emf = (MOTOR[name] for name in ("inductance", "resistance", "back_emf"))
    matrix = np.zeros((4, 4))
    matrix[0, 1], matrix[1, 2] = 1.0, emf / 0.8
    matrix[2, 1:] = [-emf / inductance, -resistance / inductance, 4.0 / inductance]
    expected = expm(0.5 * matrix) @ [0.0, 0.0, 1.0, 1.0]
    assert motion.form == "articulated"
    np.testing.assert_allclose(motion.states[-1], expected[:3], rtol=0, atol=1e-11)


@pytest.mark.parametrize(("size", "options"), [(18, {"axes": "coordinate"}), (40, {"axes": "parallel"})])
def test_L4_rates_with_motors_and_further_states_equal_the_written_ones(size: int, options: dict[str, Any]) -> None:
    system = System(**driven(size, 4, branching=1.5, **options))
    states = np.random.default_rng(0).uniform(-1, 1, (10, len(system.states)))
    expected = system.derive(form="lagrange").function()(0.7, states)
    found = along(tree_flow(system), np.column_stack([np.full(10, 0.7), states]))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("tied", [False, True])
def test_L4_a_driven_long_tree_moves_as_its_written_equations_say(tied: bool) -> None:
    """States and the balance of the energy, with a rod between two branches that moves its far end, and without."""
    words = driven(20, 5, branching=1.5, axes="parallel" if tied else "coordinate")
    if tied:
        words["point"] = [{"name": f"p{k}", "body": words["body"][k]["name"], "at": [0.1, 0.2, 0.3]} for k in (9, 19)]
        words["constraint"] = [{"name": "rod", "equation": "p9_x*p19_x' + p9_y*p19_y' = 0.1*sin(t)"}]
    system = System(**words)
    options: dict[str, Any] = {"method": "dop853", "rtol": 1e-11, "until": 0.2, "project": tied, "every": 0.1}
    fast = system.simulate(**options)
    written = system.simulate(form="multipliers" if tied else "lagrange", **options)
    assert (fast.form, fast.status) == ("articulated", "finished")
    assert fast.state_names == written.state_names
    np.testing.assert_allclose(fast.states, written.states, rtol=0, atol=1e-8)
    assert fast.balance is not None
    assert written.balance is not None
    for name in ("work", "dissipated"):
        np.testing.assert_allclose(getattr(fast.balance, name), getattr(written.balance, name), rtol=0, atol=1e-8)
    assert np.abs(fast.balance.remainder).max() < 1e-8
    assert abs(fast.balance.work[-1]) > 1e-3
