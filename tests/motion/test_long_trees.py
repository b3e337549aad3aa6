"""Long trees: articulated bodies in a native loop."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from tree_flows import tree_flow

from svyaz import ModelError, System, loads
from svyaz.forms.tree.numeric import NumericTree
from svyaz.gallery.collection import find
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.integrate import along
from svyaz.motion import simulate
from svyaz.show import as_json


def rates(system: System, state: np.ndarray) -> np.ndarray:
    flow = tree_flow(system)
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)(flow.address)
    x, out = np.concatenate([[0.0], state]), np.empty(flow.size)
    assert function(x.ctypes.data, flow.constants.ctypes.data, out.ctypes.data) == 0
    return out


@pytest.mark.parametrize("seed", range(12))
def test_loop_equals_the_recursion_on_numbers(seed) -> None:
    joints = ("revolute", "revolute", "prismatic", "fixed")
    axes = ("any", "coordinate", "parallel")[seed % 3]
    system = System(**random_tree(4 + seed, seed, branching=1.0 + seed % 3, joints=joints, axes=axes))
    numeric = NumericTree(system.tree, {})
    n = len(system.coordinates)
    state = np.random.default_rng(seed).uniform(-1.5, 1.5, 2 * n)
    expected = numeric.forward_dynamics(state[:n], state[n:], np.zeros(n))
    found = rates(system, state)
    np.testing.assert_array_equal(found[:n], state[n:])
    np.testing.assert_allclose(found[n:], expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_bodies_carried_side_by_side_are_felt_once() -> None:
    """Two bodies on the ground, one carrying three; a second state of the same workspace knows nothing of the first."""
    bases = ("ground", "ground", "b1", "b0", "b0", "b3", "b0", "b1")
    words = {
        "gravity": [0, "-9.81", 0],
        "body": [
            {
                "name": f"b{k}",
                "base": base,
                "joint": "revolute",
                "coordinate": f"q{k}",
                "axis": [float(i == k % 3) for i in range(3)],
                "pole": [0, 0, 0.5 if base != "ground" else 0],
                "mass": 1 + k,
                "center": [0, 0, 0.3],
                "inertia": {"xx": 2 + k, "yy": 2.2 + k, "zz": 0.7},
            }
            for k, base in enumerate(bases)
        ],
    }
    system = System(**words)
    flow = tree_flow(system)
    states = np.random.default_rng(2).uniform(-1, 1, (2, 16))
    expected = NumericTree(system.tree, {}).forward_dynamics(states[:, :8], states[:, 8:], np.zeros((2, 8)))
    found = along(flow, np.column_stack([[0.0, 0.0], states]))[:, 8:]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_forces_and_dissipation_enter_the_loop() -> None:
    words = random_tree(6, 1, axes="coordinate")
    words["forces"] = {"q1": "3 - q2^2", "q4": "sin(t) + 0.1*q1'"}
    words["dissipation"] = "0.2*q3'^2"
    system = System(**words)
    state = np.random.default_rng(1).uniform(-1, 1, 12)
    tau = np.zeros(6)
    tau[0], tau[3], tau[2] = 3 - state[1] ** 2, 0.1 * state[6], -0.4 * state[8]
    expected = NumericTree(system.tree, {}).forward_dynamics(state[:6], state[6:], tau)
    np.testing.assert_allclose(rates(system, state)[6:], expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_long_chain_keeps_its_energy_and_agrees_with_the_equations() -> None:
    system = loads(find("chain:24"), "chain:24")
    options = {"method": "dop853", "rtol": 1e-10, "until": 0.3}
    fast = system.simulate(**options)
    written = system.simulate(form="lagrange", **options)
    assert fast.finished
    assert written.finished
    assert (fast.form, written.form) == ("articulated", "lagrange")
    np.testing.assert_allclose(fast.states[-1], written.states[-1], rtol=0, atol=1e-7)
    assert as_json(fast)["integrals"]["energy"]["drift"] < 1e-8


def test_a_thousand_links_are_run_and_not_written_out() -> None:
    system = loads(find("chain:1000"), "chain:1000")
    motion = system.simulate(method="rk4", step=1e-4, until=3e-4)
    assert motion.finished
    assert motion.states.shape[1] == 2000
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-8
    with pytest.raises(ModelError, match="not written out"):
        system.derive()


def test_long_tree_with_a_joint_that_meets_no_inertia_does_not_begin() -> None:
    """Two links without mass before the last one, their axes and the last one's in a plane: x, z, x at zero angles."""
    words = dict(loads(find("chain:20"), "chain:20").words)
    bodies = [dict(body) for body in words["body"]]
    for k, axis in ((17, [1, 0, 0]), (18, [0, 0, 1]), (19, [1, 0, 0])):
        bodies[k] |= {"axis": axis, "pole": [0, 0, 0]}
    for k in (17, 18):
        bodies[k] |= {"mass": 0, "inertia": {"xx": 0, "yy": 0, "zz": 0}}
    motion = System(**{**words, "body": bodies, "initial": {}}).simulate(until=0.1, on_failure="return")
    assert motion.status == "singular"
    assert motion.reason == "the inertia matrix is singular there: 'q18' meets no inertia"
    moving = System(**{**words, "body": bodies, "initial": {"q19": 1.0}}).simulate(until=0.1)
    assert moving.status == "finished"


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered")
def test_N1_1_4_velocities_beyond_numbers_make_no_tree_singular() -> None:
    """q̇² overflows: the matrix of the accelerations is regular, the motion is not finite."""
    fast = loads(find("chain:20"), "chain").with_settings({"initial.q3'": 1e200})
    motion = simulate(fast, until=0.01, step=0.001, method="rk4")
    assert motion.form == "articulated"
    assert motion.status == "diverged"
    assert "singular" not in motion.reason
