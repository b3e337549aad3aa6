"""Trees as systems like any other: equations, native programs, motions, constraints."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import symengine as se
from tree_oracle import pinocchio_model, random_state, their_coordinates, their_velocities

from svyaz import System, loads
from svyaz.forms.programs import export_program, terms_program
from svyaz.forms.tree.numeric import NumericTree
from svyaz.forms.tree.recursions.algebra import FLOATS
from svyaz.forms.tree.recursions.places import welded
from svyaz.gallery.collection import find
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.model.tree import numbers
from svyaz.program import compile_program
from svyaz.show import as_json

ALL_JOINTS = ("revolute", "revolute", "revolute", "prismatic", "prismatic", "fixed", "free")
PLANAR = ("three-link-arm", "two-armed-planar", "planar-2r", "planar-3r", "planar-6r")
SPATIAL = ("two-armed-spatial", "puma-560", "stanford", "scara", "chain:5")


def model(name: str) -> System:
    return loads(find(name), name)


def terms(system: System, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(M, bias, accelerations without forces) from native code."""
    equations = system.derive()
    native = compile_program(export_program(equations))
    values = native.evaluate(np.concatenate([[0.0], q, v]), native.constants(system.constants))
    n = len(v)
    mass = np.zeros((n, n))
    rows, columns = np.triu_indices(n)
    mass[rows, columns] = mass[columns, rows] = values[: len(rows)]
    last = [k for k, (name, _) in enumerate(native.program.outputs) if name.startswith("acceleration[")]
    return mass, values[len(rows) : len(rows) + n], values[last]


def assert_equals_pinocchio(system: System, seed: int) -> None:
    tree = numbers(system.tree, system.parameters)
    theirs = pinocchio_model(tree)
    data = theirs.createData()
    q, v = random_state(tree, np.random.default_rng(seed))
    their_q, order = q[their_coordinates(tree)], their_velocities(tree)
    mass, bias, accelerations = terms(system, q, v)
    upper = np.triu(pin.crba(theirs, data, their_q))
    expected = upper + np.triu(upper, 1).T
    np.testing.assert_allclose(mass[np.ix_(order, order)], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    expected = pin.nonLinearEffects(theirs, data, their_q, v[order])
    np.testing.assert_allclose(bias[order], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    expected = pin.aba(theirs, data, their_q, v[order], np.zeros(len(v)))
    np.testing.assert_allclose(accelerations[order], expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(40))
def test_T1_native_programs_of_random_trees_equal_pinocchio(seed) -> None:
    size = 2 + seed % 4 if seed < 36 else 8 + seed % 5
    assert_equals_pinocchio(System(**random_tree(size, seed, joints=ALL_JOINTS)), seed)


@pytest.mark.parametrize("name", [*PLANAR, *SPATIAL])
def test_gallery_trees_equal_pinocchio(name) -> None:
    system = model(name)
    assert not system.warnings
    assert_equals_pinocchio(system, 1)


@pytest.mark.parametrize("name", PLANAR)
def test_planar_trees_are_written_in_sums_of_angles(name) -> None:
    text = str(model(name).derive().mass_matrix[0][0])
    assert "**2*sin" not in text
    assert "cos(q2" in text


def test_fixed_bodies_are_welded() -> None:
    for seed in range(10):
        system = System(**random_tree(8, seed, joints=("fixed", "fixed", "revolute", "prismatic")))
        whole = NumericTree(system.tree, system.parameters)
        fewer = NumericTree.__new__(NumericTree)
        fewer.tree = welded(whole.tree, FLOATS)
        assert all(body.joint != "fixed" for body in fewer.tree.bodies)
        q, v = random_state(whole.tree, np.random.default_rng(seed))
        np.testing.assert_allclose(fewer.mass_matrix(q), whole.mass_matrix(q), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(fewer.bias(q, v), whole.bias(q, v), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", ["three-link-arm", "puma-560", "chain:3"])
def test_energy_stays_along_a_motion(name) -> None:
    motion = model(name).simulate(until=0.5)
    assert motion.finished
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-6


def free_body(**more) -> System:
    body = {
        "name": "trunk",
        "base": "ground",
        "joint": "free",
        "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"],
        "mass": 2,
        "inertia": {"xx": 1, "yy": 2, "zz": 2.5},
    }
    return System(name="free body", gravity=[0, 0, -9.81], body=[body], **more)


def test_free_body_falls_and_turns_as_euler_says() -> None:
    start = {"x": 1.0, "vx": 1.0, "vz": 2.0, "wx": 0.1, "wy": 2.0, "wz": 0.2}
    motion = free_body(initial=start).simulate(method="dop853", rtol=1e-11, until=1.0)
    assert motion.finished
    # The pole is the centre of mass: it falls freely with the initial velocity in ground axes.
    expected = [1.0 + 1.0, 0.0, 2.0 - 9.81 / 2]
    assert [motion.column(q)[-1] for q in "xyz"] == pytest.approx(expected, abs=1e-9)
    momentum = np.array([1, 2, 2.5])[:, None] * np.array([motion.column(w) for w in ("wx", "wy", "wz")])
    assert np.ptp(np.linalg.norm(momentum, axis=0)) < 1e-9
    e = np.array([motion.column(f"e{k}") for k in range(4)])
    assert np.abs(np.sum(e * e, axis=0) - 1).max() < 1e-9
    assert motion.table_names[-6:] == ("vx", "vy", "vz", "wx", "wy", "wz")


def test_constraint_on_a_free_body_acts_through_its_velocities() -> None:
    system = free_body(constraint=[{"name": "table", "equation": "z = 0"}], initial={"vx": 1.0}, run={"stabilize": 5.0})
    equations = system.derive()
    assert equations.form == "multipliers"
    motion = system.simulate(method="rk4", step=0.01, until=1.0, force=True)
    assert motion.finished
    assert motion.column("x")[-1] == pytest.approx(1.0, abs=1e-9)
    # A force on the system is +Gᵀ λ: the table carries the weight.
    assert motion.multipliers["table"][-1] == pytest.approx(2 * 9.81, rel=1e-9)


def test_constrained_tree_is_a_four_bar() -> None:
    words = dict(model("planar-3r").words)
    words["constraint"] = [
        {"name": "closed x", "equation": "L1*cos(q1) + L2*cos(q1 + q2) + 0.3*cos(q1 + q2 + q3) = 0.5"},
        {"name": "closed y", "equation": "L1*sin(q1) + L2*sin(q1 + q2) + 0.3*sin(q1 + q2 + q3) = 0"},
    ]
    words["initial"] = {"q1": 1.0, "q2": -1.0, "q3": -1.0}
    words["run"] = {"stabilize": "auto", "method": "rk4", "step": 0.002, "until": 0.5}
    motion = System(**words).simulate(project=True)
    assert motion.finished
    assert max(row["max"] for row in as_json(motion)["residuals"].values()) < 1e-6
    assert as_json(motion)["integrals"]["energy"]["drift"] < 1e-5


def test_forces_act_on_joints() -> None:
    words = dict(model("planar-2r").words)
    words["forces"] = {"q1": "-2*q1'", "q2": "3"}
    free, forced = model("planar-2r").derive(), System(**words).derive()
    difference = [se.expand(a - b) for a, b in zip(forced.bias, free.bias, strict=True)]
    assert difference == [2 * se.Symbol("q1'"), -3]


def test_counts_of_terms_are_finite() -> None:
    assert len(terms_program(model("puma-560").derive()).outputs) == 21 + 6
