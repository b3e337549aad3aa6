"""Robots of the package example-robot-data: inertia matrix, bias and gravity against Pinocchio from the same file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from tree_flows import tree_flow
from tree_oracle import random_state
from urdf_oracle import pinocchio_robot, their_state

import svyaz
from svyaz.forms.tree.numeric import NumericTree
from svyaz.integrate import along

FOLDER = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"

ROBOTS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "double pendulum": "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "allegro hand": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "anymal b": "anymal_b_simple_description/robots/anymal.urdf",
    "hyq": "hyq_description/robots/hyq_no_sensors.urdf",
    "go2": "go2_description/urdf/go2.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
    "simple humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "romeo": "romeo_description/urdf/romeo.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "g1": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
}


@pytest.mark.parametrize("free_base", [False, True], ids=["fixed", "free"])
@pytest.mark.parametrize("robot", ROBOTS)
def test_T5_robot_equals_pinocchio(robot: str, free_base: bool) -> None:
    path = FOLDER / ROBOTS[robot]
    system = svyaz.load(path, free_base=free_base)
    numeric = NumericTree(system.tree, system.parameters)
    model = pinocchio_robot(path, free_base)
    assert model.nv == len(system.velocities)
    data = model.createData()
    q, v = random_state(system.tree, np.random.default_rng(5))
    theirs_q, theirs_v, order = their_state(model, system.tree, q, v)
    pin.crba(model, data, theirs_q)
    mass = np.triu(data.M) + np.triu(data.M, 1).T
    ours = numeric.mass_matrix(q)[np.ix_(order, order)]
    assert np.abs(ours - mass).max() <= 1e-10 * np.abs(mass).max()
    bias = pin.nonLinearEffects(model, data, theirs_q, theirs_v)
    assert np.abs(numeric.bias(q, v)[order] - bias).max() <= 1e-10 * np.abs(bias).max()
    gravity = pin.computeGeneralizedGravity(model, data, theirs_q)
    assert np.abs(numeric.gravity_terms(q)[order] - gravity).max() <= 1e-10 * np.abs(gravity).max()


def test_T5_native_programs_of_a_robot_equal_pinocchio() -> None:
    path = FOLDER / ROBOTS["panda"]
    system = svyaz.load(path)
    robot = system.robot()
    model = pinocchio_robot(path, False)
    data = model.createData()
    rng = np.random.default_rng(6)
    states = [random_state(system.tree, rng) for _ in range(20)]
    masses = robot.mass(np.array([q for q, _ in states]))
    biases = robot.bias(np.array([q for q, _ in states]), np.array([v for _, v in states]))
    for (q, v), mass, bias in zip(states, masses, biases, strict=True):
        theirs_q, theirs_v, order = their_state(model, system.tree, q, v)
        pin.crba(model, data, theirs_q)
        expected = np.triu(data.M) + np.triu(data.M, 1).T
        assert np.abs(mass[np.ix_(order, order)] - expected).max() <= 1e-10 * np.abs(expected).max()
        expected = pin.nonLinearEffects(model, data, theirs_q, theirs_v)
        assert np.abs(bias[order] - expected).max() <= 1e-10 * np.abs(expected).max()


def test_points_of_links_are_given_in_the_frames_of_the_file(tmp_path) -> None:
    """Points of a link with mass and of a frame without, against Pinocchio's placements."""
    path = tmp_path / "kinova.urdf"
    path.write_bytes((FOLDER / ROBOTS["kinova"]).read_bytes())
    places = {"hand": ("j2s6s200_link_6", [0.1, -0.2, 0.3]), "tip": ("j2s6s200_end_effector", [0.01, 0.02, 0.03])}
    points = "".join(f'[[point]]\nname = "{n}"\nbody = "{link}"\nat = {at}\n' for n, (link, at) in places.items())
    measured = "".join(
        f'[[integral]]\nname = "{name} {axis}"\nexpression = "{name}_{axis}"\n' for name in places for axis in "xyz"
    )
    model_file = tmp_path / "held.toml"
    model_file.write_text(f'urdf = "kinova.urdf"\n{points}{measured}', encoding="utf-8")
    system = svyaz.load(model_file)
    model = pinocchio_robot(path, False)
    data = model.createData()
    q, v = random_state(system.tree, np.random.default_rng(7))
    theirs, _, _ = their_state(model, system.tree, q, v)
    pin.framesForwardKinematics(model, data, theirs)
    at = {**system.parameters, **dict(zip(system.coordinates, q, strict=True))}
    for name, (link, place) in places.items():
        found = [float(i.expression.subs(at)) for i in system.integrals if i.name.startswith(name)]
        assert found == pytest.approx(data.oMf[model.getFrameId(link)].act(np.array(place)), abs=1e-10)


@pytest.mark.parametrize("robot", ["go2", "simple humanoid", "talos"])
def test_T5_robots_on_a_free_base_run_by_recursions_over_their_bodies(robot: str) -> None:
    """Accelerations of the native loop equal those of Pinocchio, and a short fall of the robot is run by it."""
    path = FOLDER / ROBOTS[robot]
    system, model = svyaz.load(path, free_base=True), pinocchio_robot(path, True)
    q, v = random_state(system.tree, np.random.default_rng(5))
    theirs_q, theirs_v, order = their_state(model, system.tree, q, v)
    expected = pin.aba(model, model.createData(), theirs_q, theirs_v, np.zeros(model.nv))
    found = along(tree_flow(system), np.concatenate([[0.0], q, v])[None, :])[0, len(q) :][order]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    motion = system.simulate(until=0.01, method="rk4", step=0.001, beyond=True)  # zero lies beyond limits of some
    assert (motion.form, motion.finished) == ("articulated", True)
