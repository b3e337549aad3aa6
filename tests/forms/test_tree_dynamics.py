"""Parts of the bias, derivatives, native dynamics of trees."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from tree_oracle import pinocchio_model, random_state, their_coordinates, their_velocities

from svyaz import System, loads
from svyaz.expr.calculus import evaluate
from svyaz.forms.tree.numeric import NumericTree
from svyaz.gallery.collection import find
from svyaz.gallery.random_mechanisms import random_tree

ROBOTS = ("three-link-arm", "puma-560", "stanford", "scara", "two-armed-spatial")
MIXED = ("revolute", "revolute", "prismatic", "fixed", "free")


def numeric(name: str) -> NumericTree:
    system = loads(find(name), name)
    return NumericTree(system.tree, system.parameters)


def state(tree: NumericTree, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    return random_state(tree.tree, np.random.default_rng(seed))


@pytest.mark.parametrize("name", ROBOTS)
def test_parts_of_the_bias_add_up_and_gyroscopic_forces_do_no_work(name) -> None:
    tree = numeric(name)
    q, v = state(tree)
    parts = tree.bias_parts(q, v)
    total = parts["centrifugal"] + parts["coriolis"] + parts["gravity"]
    np.testing.assert_allclose(total, tree.bias(q, v), rtol=0, atol=1e-12 * np.abs(total).max())
    scale = np.abs(v) @ np.abs(parts["gyroscopic"]) + 1e-12
    assert abs(v @ parts["gyroscopic"]) < 1e-12 * scale
    # with one velocity alone there is nothing but centrifugal forces
    single = np.where(np.arange(len(v)) == 1, v, 0.0)
    assert np.abs(tree.bias_parts(q, single)["coriolis"]).max() < 1e-14


@pytest.mark.parametrize("name", ROBOTS)
def test_rate_of_m_minus_twice_c_is_skew(name) -> None:
    tree = numeric(name)
    q, v = state(tree, 1)
    h = 1e-6
    rate = (tree.mass_matrix(q + h * v) - tree.mass_matrix(q - h * v)) / (2 * h)
    difference = rate - 2 * tree.coriolis_matrix(q, v)
    np.testing.assert_allclose(difference + difference.T, 0, atol=1e-7 * np.abs(rate).max())


@pytest.mark.parametrize("seed", range(6))
def test_free_joints_have_a_coriolis_matrix_too(seed) -> None:
    """bias = C v + gravity, and the rate of M along the motion minus 2 C is skew; Ṁ by differences along q̇ = N v."""
    system = System(**random_tree(2 + seed % 3, seed, joints=("free", "revolute", "prismatic")))
    tree = NumericTree(system.tree, {})
    q, v = state(tree, seed)
    matrix = tree.coriolis_matrix(q, v)
    bias = tree.bias(q, v)
    np.testing.assert_allclose(matrix @ v + tree.gravity_terms(q), bias, atol=1e-11 * np.abs(bias).max())
    rates = [evaluate(rate, dict(zip((*system.coordinates, *system.velocities), (*q, *v), strict=True)))
             for rate in system.coordinate_rates.values()]  # fmt: skip
    h = 1e-6 * np.array(rates)
    rate = (tree.mass_matrix(q + h) - tree.mass_matrix(q - h)) / 2e-6
    skew = rate - 2 * matrix
    np.testing.assert_allclose(skew + skew.T, 0, atol=1e-7 * np.abs(matrix).max())
    parts = tree.bias_parts(q, v)
    total = parts["centrifugal"] + parts["coriolis"] + parts["gravity"]
    np.testing.assert_allclose(total, bias, atol=1e-11 * np.abs(bias).max())
    assert abs(v @ parts["gyroscopic"]) < 1e-11 * (1 + np.abs(v) @ np.abs(parts["gyroscopic"]))


@pytest.mark.parametrize("seed", range(12))
def test_slopes_of_inverse_and_forward_dynamics_equal_pinocchio(seed) -> None:
    system = System(**random_tree(2 + seed % 6, seed, joints=MIXED))
    tree = NumericTree(system.tree, {})
    model = pinocchio_model(tree.tree)
    data = model.createData()
    q, v = state(tree, seed)
    their_q, order = q[their_coordinates(tree.tree)], their_velocities(tree.tree)
    rng = np.random.default_rng(seed)
    a = rng.uniform(-1, 1, len(v))
    grid = np.ix_(order, order)
    along_q, along_v = tree.inverse_dynamics_slopes(q, v, a)
    their_dq, their_dv, _ = pin.computeRNEADerivatives(model, data, their_q, v[order], a[order])
    np.testing.assert_allclose(along_q[grid], their_dq, rtol=0, atol=1e-10 * max(1.0, np.abs(their_dq).max()))
    np.testing.assert_allclose(along_v[grid], their_dv, rtol=0, atol=1e-10 * max(1.0, np.abs(their_dv).max()))
    forward_q, forward_v, inverse = tree.forward_dynamics_slopes(q, v, a)
    pin.computeABADerivatives(model, data, their_q, v[order], a[order])
    for ours, theirs in ((forward_q, data.ddq_dq), (forward_v, data.ddq_dv)):
        np.testing.assert_allclose(ours[grid], theirs, rtol=0, atol=1e-9 * max(1.0, np.abs(theirs).max()))
    np.testing.assert_allclose(inverse @ tree.mass_matrix(q), np.eye(len(v)), atol=1e-10)


@pytest.mark.parametrize("name", [*ROBOTS, "chain:9"])
def test_native_dynamics_equal_the_recursions_on_numbers(name) -> None:
    system = loads(find(name), name)
    robot, slow = system.robot(), NumericTree(system.tree, system.parameters)
    rng = np.random.default_rng(4)
    q, v, a = (rng.uniform(-1, 1, (3, len(system.coordinates))) for _ in range(3))
    for native, expected, arguments in (
        (robot.mass, slow.mass_matrix(q), (q,)),
        (robot.gravity, slow.gravity_terms(q), (q,)),
        (robot.bias, slow.bias(q, v), (q, v)),
        (robot.inverse, slow.inverse_dynamics(q, v, a), (q, v, a)),
        (robot.forward, slow.forward_dynamics(q, v, a), (q, v, a)),
    ):
        found = native(*arguments)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
        alone = native(*(x[1] for x in arguments))
        np.testing.assert_array_equal(alone, found[1])


@pytest.mark.parametrize("seed", range(4))
def test_native_dynamics_with_free_joints(seed) -> None:
    system = System(**random_tree(3, seed, joints=MIXED))
    robot, slow = system.robot(), NumericTree(system.tree, {})
    q, v = state(slow, seed)
    tau = np.linspace(-1, 1, len(v))
    np.testing.assert_allclose(robot.mass(q), slow.mass_matrix(q), atol=1e-11)
    expected = slow.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(robot.forward(q, v, tau), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
