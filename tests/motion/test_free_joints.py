"""Free joints in recursions over the bodies of long trees: each is six slices with one freedom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from tree_flows import tree_flow
from tree_oracle import pinocchio_model, random_state, their_coordinates, their_velocities

from svyaz import System
from svyaz.dynamics import Enforcement, dynamics_of, measure_of
from svyaz.dynamics.recursions.closed_code import ClosedCode
from svyaz.dynamics.recursions.closed_trees import closed_equations
from svyaz.expr import ZERO
from svyaz.forms import NumericTree, quaternions_of, with_multipliers
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.integrate import along
from svyaz.model import numbers

JOINTS = ("revolute", "revolute", "prismatic", "free", "fixed")


def floating(size: int, seed: int, **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Words of a random tree with free joints at the ground and between bodies, and of the bodies that have them."""
    words: dict[str, Any] = dict(random_tree(size, seed, joints=JOINTS, **options))
    free = [body for body in words["body"] if body["joint"] == "free"]
    assert any(body["base"] != "ground" for body in free)
    return words, free


def rows_of(system: System, count: int) -> np.ndarray:
    """Rows [t, q, v] at random, with unit quaternions."""
    random = np.random.default_rng(3)
    states = [np.concatenate(random_state(system.tree, random)) for _ in range(count)]
    return np.column_stack([np.full(count, 0.7), states])


@pytest.mark.parametrize(("size", "branching", "axes"), [(17, 1.0, "any"), (40, 1.5, "coordinate"), (60, 3.0, "any")])
def test_L4_free_joints_of_long_trees_equal_pinocchio(size: int, branching: float, axes: str) -> None:
    """Accelerations at 10 states, also of free joints on bodies that move."""
    system = System(**floating(size, 3, branching=branching, axes=axes)[0])
    tree = numbers(system.tree, {})
    theirs = pinocchio_model(tree)
    data, order, n = theirs.createData(), their_velocities(tree), len(system.coordinates)
    rows = rows_of(system, 10)
    for row, found in zip(rows, along(tree_flow(system), rows), strict=True):
        q, v = row[1 : 1 + n][their_coordinates(tree)], row[1 + n :][order]
        expected = pin.aba(theirs, data, q, v, np.zeros(len(v)))
        np.testing.assert_allclose(found[n:][order], expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_L4_rates_of_free_joints_with_forces_equal_the_written_ones() -> None:
    """Forces by the names of velocities, on joints between bodies: what pushes the one pulls the other."""
    words, free = floating(30, 2)
    first, last = free[0]["velocities"], free[-1]
    words["forces"] = {first[0]: "1.5 - 0.2*t", last["velocities"][4]: f"{last['coordinates'][0]} - 0.3*{first[5]}"}
    system, rows = System(**words), rows_of(System(**words), 10)
    expected = system.derive(form="lagrange").function()(0.7, rows[:, 1:])
    np.testing.assert_allclose(along(tree_flow(system), rows), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("seed", [1, 5])
def test_L4_loops_over_free_joints_equal_the_written_ones(seed: int) -> None:
    """Rods and pins between bodies, and constraints that name coordinates and velocities of a free joint."""
    words, free = floating(18, seed)
    random = np.random.default_rng(seed)
    bodies = random.choice(np.arange(6, 18), 5, replace=False)
    words["point"] = [
        {"name": f"p{k}", "body": words["body"][b]["name"], "at": list(random.uniform(-0.5, 0.5, 3))}
        for k, b in enumerate(bodies)
    ]
    (x, _, _, _, e1, *_), (_, vy, _, _, _, wz) = free[-1]["coordinates"], free[-1]["velocities"]
    rod = "(p0_x - p1_x)^2 + (p0_y - p1_y)^2 + (p0_z - p1_z)^2 = 2"
    equations = [
        rod,
        *(f"p2_{a} = p3_{a}" for a in "xyz"),
        "p4_x = 0.1*sin(3*t)",
        f"{x} = 2*{e1}",
        f"{vy} = {wz}*p0_x'",
    ]
    words["constraint"] = [{"name": f"c{k}", "equation": e} for k, e in enumerate(equations)]
    system = System(**words)
    rows, recursion = rows_of(system, 10), dynamics_of(closed_equations(system, system.constraints))
    code = recursion.rate_code(Enforcement([ZERO] * len(equations)))
    assert isinstance(code, ClosedCode)
    written = measure_of(with_multipliers(system)).function
    expected = system.derive(form="multipliers").function()(0.7, rows[:, 1:])
    found, multipliers = code.solved(rows, code.constants(system.constants))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    expected = written(rows, ("multipliers",))["multipliers"]
    np.testing.assert_allclose(multipliers, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    names = ("mass", "jacobian", "constraint_bias", "position", "velocity")
    tables = written.known(rows, names)
    for name, table in recursion.tables(rows, names).items():
        size = np.abs(tables[name]).max()
        np.testing.assert_allclose(table, tables[name].reshape(table.shape), rtol=0, atol=1e-11 * size, err_msg=name)


@pytest.mark.parametrize(("method", "rtol"), [("dop853", 1e-11), ("radau", 1e-9)])
def test_L4_a_long_tree_with_free_joints_moves_as_its_written_equations_say(method: str, rtol: float) -> None:
    """States, energies, and quaternions of unit length."""
    words, free = floating(18, 1)
    words["initial"] = {free[0]["velocities"][4]: 2.0, free[-1]["velocities"][2]: -1.0, free[-1]["coordinates"][4]: 1.0}
    system, asked = System(**words), {"method": method, "rtol": rtol, "atol": 0.1 * rtol, "until": 0.2, "every": 0.05}
    motion, written = system.simulate(**asked), system.simulate(form="lagrange", **asked)
    assert (motion.form, written.form, motion.notes) == ("articulated", "lagrange", written.notes)
    np.testing.assert_allclose(motion.states, written.states, rtol=0, atol=1e-8)
    np.testing.assert_allclose(motion.energy, written.energy, rtol=1e-9)
    for e0, others in quaternions_of(system.tree).items():
        assert np.abs(np.linalg.norm(motion.states[:, [e0, *others]], axis=1) - 1).max() < 1e-10


def test_L4_a_free_tether_keeps_its_momenta() -> None:
    """A chain of 200 bodies in space: momentum and moment of momentum in ground axes, and the energy, do not change."""
    words: dict[str, Any] = dict(random_tree(200, 4, branching=1.0, taper=0.99))
    first = words["body"][0]
    del first["coordinate"], first["axis"]
    first |= {"joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]}
    words |= {"gravity": [0, 0, 0], "initial": {"wx": 1.0, "vy": 0.5, "q2'": 2.0, "q90'": -1.0}}
    system = System(**words)
    motion = system.simulate(method="dop853", rtol=1e-11, atol=1e-11, until=0.5, every=0.25)
    numeric, n = NumericTree(system.tree, {}), len(system.coordinates)
    found = []
    for state in motion.states:
        e0, e = state[3], state[4:7]
        push = numeric.inverse_dynamics(state[:n], np.zeros(len(state) - n), state[n:])[:6]
        p, moment = (v + 2 * np.cross(e, e0 * v + np.cross(e, v)) for v in (push[:3], push[3:]))
        found.append([*p, *(moment + np.cross(state[:3] + np.array(system.tree.bodies[0].pole, dtype=float), p))])
    np.testing.assert_allclose(found[1:], [found[0]] * (len(found) - 1), rtol=0, atol=1e-8 * np.abs(found[0]).max())
    assert motion.form == "articulated"
    assert np.ptp(motion.integrals["energy"]) < 1e-9 * motion.integrals["energy"][0]


def test_L4_a_symmetric_body_precesses_by_its_closed_form() -> None:
    """(ω_x, ω_y) turns with the rate (A - C) ω_z/A in the axes of the body; its centre flies along a parabola."""
    body = {"name": "top", "base": "ground", "joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]}
    body |= {"pole": [0, 0, 0], "mass": 2, "center": [0, 0, 0], "inertia": {"xx": 0.3, "yy": 0.3, "zz": 0.5}}
    system = System(gravity=[0, 0, -9.81], body=[body], initial={"wx": 0.4, "wz": 3.0, "vx": 1.0})
    motion = system.simulate(form="articulated", method="dop853", rtol=1e-12, atol=1e-12, until=1)
    angle = (0.3 - 0.5) / 0.3 * 3.0
    x, y, z, e0, e1, e2, e3, *_, wx, wy, wz = motion.states[-1]
    np.testing.assert_allclose([wx, wy, wz], [0.4 * np.cos(angle), -0.4 * np.sin(angle), 3.0], rtol=0, atol=1e-10)
    np.testing.assert_allclose([x, y, z], [1.0, 0.0, -9.81 / 2], rtol=0, atol=1e-10)
    assert motion.form == "articulated"
    assert abs(e0**2 + e1**2 + e2**2 + e3**2 - 1) < 1e-11


@pytest.mark.parametrize("form", ["multipliers", "articulated"])
def test_L4_a_state_with_free_joints_is_moved_onto_its_constraints(form: str) -> None:
    """The nearest one in the norm of M: for a small move δ along velocities M δ is along the gradient; |e| stays 1."""
    body: dict[str, Any] = {"name": "hull", "base": "ground", "joint": "free", "pole": [0, 0, 0], "mass": 2}
    body |= {"coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"], "center": [0.1, -0.2, 0.3]}
    body |= {"central_inertia": {"xx": 0.3, "yy": 0.4, "zz": 0.5}}
    point, start = {"name": "hook", "body": "hull", "at": [0.5, 0.2, -0.1]}, {"x": 0.3, "y": 0.4, "e0": 0.6, "e2": 0.8}
    rope = {"name": "rope", "equation": "hook_x^2 + hook_y^2 + hook_z^2 = L^2"}
    R = np.array([[-0.28, 0, 0.96], [0, 1, 0], [-0.96, 0, -0.28]])
    place = np.array([0.3, 0.4, 0]) + R @ point["at"]
    length = float(np.linalg.norm(place)) + 1e-5
    system = System(
        gravity=[0, 0, -9], body=[body], point=[point], constraint=[rope], parameters={"L": length}, initial=start
    )
    motion = system.simulate(form=form, project=True, until=0.001, method="rk4", step=0.001)
    x, e = motion.states[0, :3] - [0.3, 0.4, 0], motion.states[0, 3:7]
    turn = 2 * np.array([0.6 * e[k] - e[0] * v for k, v in ((1, 0), (2, 0.8), (3, 0))]) - 2 * np.cross(
        [0, 0.8, 0], e[1:]
    )
    pull = np.concatenate([R.T @ place, np.cross(point["at"], R.T @ place)])
    push = NumericTree(system.tree, system.parameters).mass_matrix([0.3, 0.4, 0, 0.6, 0, 0.8, 0]) @ [*(R.T @ x), *turn]
    np.testing.assert_allclose(push / np.linalg.norm(push), pull / np.linalg.norm(pull), rtol=0, atol=1e-4)
    assert abs(motion.residuals["rope"][0]) < 1e-14
    assert abs(e @ e - 1) < 1e-14


def test_L4_free_bodies_pinned_to_each_other_equal_a_dense_solution() -> None:
    """A chain of free bodies on the ground, joint by joint three rows P_k = P_(k+1): with body axes R, of a point r of a body
    P̈ = R (v̇ + ω × v + ω̇ × r + ω × (ω × r)), and M, bias of the bodies one by one.
    """
    size, ends = 17, (np.array([0.5, 0.1, 0.0]), np.array([-0.5, 0.1, 0.2]))
    words: dict[str, Any] = dict(random_tree(size, 3, joints=("free",)))
    for body in words["body"]:
        body["base"] = "ground"
    words["point"] = [
        {"name": f"{side}{k}", "body": f"b{k + 1}", "at": list(at)}
        for k in range(size)
        for side, at in zip("rl", ends, strict=True)
    ]
    words["constraint"] = [
        {"name": f"c{k}{a}", "equation": f"r{k}_{a} = l{k + 1}_{a}"} for k in range(size - 1) for a in "xyz"
    ]
    system, numeric = System(**words), NumericTree(System(**words).tree, {})
    row, n, count = rows_of(system, 1)[0], 7 * size, 3 * (size - 1)
    q, v = row[1 : 1 + n], row[1 + n :]
    jacobian, side = np.zeros((count, 6 * size)), np.zeros(count)
    for k in range(size):
        e0, e, speed, omega = q[7 * k + 3], q[7 * k + 4 : 7 * k + 7], v[6 * k : 6 * k + 3], v[6 * k + 3 : 6 * k + 6]
        cross = np.cross(np.eye(3), e)
        axes = np.eye(3) + 2 * e0 * cross + 2 * cross @ cross
        for rows, at, sign in ((slice(3 * k, 3 * k + 3), ends[0], 1.0), (slice(3 * k - 3, 3 * k), ends[1], -1.0)):
            if rows.start >= 0 and rows.stop <= count:
                jacobian[rows, 6 * k : 6 * k + 3] = sign * axes
                jacobian[rows, 6 * k + 3 : 6 * k + 6] = sign * axes @ np.cross(np.eye(3), at).T
                side[rows] += sign * axes @ np.cross(omega, speed + np.cross(omega, at))
    matrix = np.block([[numeric.mass_matrix(q), -jacobian.T], [jacobian, np.zeros((count, count))]])
    expected = np.linalg.solve(matrix, np.concatenate([-numeric.bias(q, v), -side]))
    recursion = dynamics_of(closed_equations(system, system.constraints))
    code = recursion.rate_code(Enforcement([ZERO] * count))
    assert isinstance(code, ClosedCode)
    found, multipliers = code.solved(row[None, :], code.constants({}))
    for got, wanted in ((found[0, n:], expected[: 6 * size]), (multipliers[0], expected[6 * size :])):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-9 * np.abs(wanted).max())
