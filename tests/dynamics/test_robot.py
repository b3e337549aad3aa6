"""``system.robot()``: five functions of a state against Pinocchio and closed forms, alone, in rows, and into given arrays."""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from tree_oracle import pinocchio_model, random_state, their_coordinates, their_velocities

import svyaz
from svyaz import ModelError, System
from svyaz.dynamics import Robot
from svyaz.model import numbers
from svyaz.program import compile_program, lanes_of
from svyaz.program.llvm_lanes import has_lanes

MASS = {"mass": 2.0, "center": [0.1, -0.2, 0.4], "central_inertia": {"xx": 0.3, "yy": 0.4, "zz": 0.5}}
PLACE = {"pole": [0.1, 0.5, -0.2], "axis": [1, 2, 2]}
JOINTS: dict[str, dict[str, Any]] = {
    "free": {"joint": "free", "coordinates": ["x", "y", "z", "e0", "e1", "e2", "e3"]},
    "hip": {"joint": "ball", "coordinates": ["b0", "b1", "b2", "b3"]},
    "knee": {"joint": "revolute", "coordinate": "q1", **PLACE},
    "slide": {"joint": "prismatic", "coordinate": "q2", **PLACE},
    "plate": {"joint": "fixed", "pole": [0.3, 0.1, 0.2]},
    "cross": {"joint": "universal", "coordinates": ["u1", "u2"], "axes": [[1, 0, 0], [0, 1, 0]]},
    "table": {"joint": "planar", "coordinates": ["p1", "p2", "p3"]},
}
BASES = {"free": "ground", "hip": "free", "knee": "hip", "slide": "free", "plate": "slide", "cross": "plate"}


def every_joint() -> System:
    """A tree with a joint of each kind, which branches."""
    bodies = [{"name": name, "base": BASES.get(name, "knee"), **joint, **MASS} for name, joint in JOINTS.items()]
    return System(name="all joints", body=bodies, gravity=[0.3, -0.2, -9.81])


@pytest.fixture(scope="module")
def system() -> System:
    return every_joint()


def pinocchio_numbers(system: System, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> dict[str, np.ndarray]:
    """The five functions at a state, in our order."""
    tree = numbers(system.tree, system.parameters)
    model = pinocchio_model(tree)
    data = model.createData()
    their_q, order = q[their_coordinates(tree)], their_velocities(tree)
    place = np.argsort(order)
    upper = np.triu(pin.crba(model, data, their_q))
    return {
        "mass": (upper + np.triu(upper, 1).T)[np.ix_(place, place)],
        "gravity": pin.computeGeneralizedGravity(model, data, their_q)[place],
        "bias": pin.nonLinearEffects(model, data, their_q, v[order])[place],
        "inverse": pin.rnea(model, data, their_q, v[order], a[order])[place],
        "forward": pin.aba(model, data, their_q, v[order], a[order])[place],
    }


def calls(robot: Robot, q: Any, v: Any, a: Any) -> dict[str, tuple[Callable[..., np.ndarray], tuple[Any, ...]]]:
    """Each function with its arguments."""
    return {
        "mass": (robot.mass, (q,)),
        "gravity": (robot.gravity, (q,)),
        "bias": (robot.bias, (q, v)),
        "inverse": (robot.inverse, (q, v, a)),
        "forward": (robot.forward, (q, v, a)),
    }


def test_W9_robot_with_every_joint_equals_pinocchio(system: System) -> None:
    """One state, many rows (the second call of each function is prepared, the rows come to the lanes), and given arrays."""
    rng = np.random.default_rng(3)
    states = [(*random_state(system.tree, rng), rng.uniform(-1, 1, len(system.velocities))) for _ in range(3)]
    expected = [pinocchio_numbers(system, *state) for state in states]
    rows = [np.array([states[k % 3][part] for k in range(67)]) for part in range(3)]
    robot = system.robot()
    for name, (function, arguments) in calls(robot, *rows).items():
        scale = max(np.abs(e[name]).max() for e in expected)
        together = function(*arguments)
        given = np.full_like(together, np.nan)
        assert function(*arguments, out=given) is given
        np.testing.assert_array_equal(given, together)
        for k, row in enumerate(together):
            np.testing.assert_allclose(row, expected[k % 3][name], rtol=0, atol=1e-10 * scale)
    for state, wanted in zip(states, expected, strict=True):
        for name, (function, arguments) in calls(robot, *state).items():
            given = np.full_like(wanted[name], np.nan)
            for found in (function(*arguments), function(*arguments, out=given), function(*arguments, out=given)):
                np.testing.assert_allclose(found, wanted[name], rtol=0, atol=1e-10 * np.abs(wanted[name]).max())
            assert found is given


def test_W9_pendulum_and_top_have_their_closed_forms() -> None:
    """M = m l², bias = m g l sin u of a pendulum; J ω' + ω × J ω = τ of a free body, its pole in the centre."""
    body = {"name": "1", "base": "ground", "joint": "revolute", "coordinate": "u", "axis": [0, 0, 1]}
    point = {"mass": "m", "center": [0, "-l", 0], "inertia": {"zz": "m*l^2"}}
    swing = System(body=[{**body, **point}], gravity=[0, -9.81, 0], parameters={"m": 2.0, "l": 0.5})
    u = np.linspace(-3, 3, 7)[:, None]
    for values in ({}, {"l": 0.7}):
        robot, length = swing.with_(**values).robot(), values.get("l", 0.5)
        np.testing.assert_allclose(robot.mass(u), np.full((7, 1, 1), 2.0 * length**2), rtol=1e-14)
        np.testing.assert_allclose(robot.bias(u, u), 2.0 * 9.81 * length * np.sin(u), rtol=0, atol=1e-13)
    inertia = {"mass": 1.0, "center": [0, 0, 0], "inertia": {"xx": 1.0, "yy": 2.0, "zz": 2.5}}
    top = System(body=[{"name": "1", "base": "ground", **JOINTS["hip"], **inertia}], gravity=[0, 0, -9.81]).robot()
    tensor, omega, torque = np.diag([1.0, 2.0, 2.5]), np.array([0.3, -0.7, 1.1]), np.array([0.2, 0.1, -0.4])
    found = top.forward([0.5, 0.5, -0.5, 0.5], omega, torque)
    np.testing.assert_allclose(found, np.linalg.solve(tensor, torque - np.cross(omega, tensor @ omega)), atol=1e-14)


def test_W9_arrays_of_any_layout_are_read(system: System) -> None:
    """Integers, single precision, lists, columns of others, and an ``out`` that overlaps what is read."""
    robot = svyaz.load("planar-2r").robot()
    q, v = np.array([1.0, 2.0]), np.array([-1.0, 1.0])
    expected = robot.inverse(q, v, v).copy()
    wide = np.repeat(v, 2).reshape(2, 2)[:, 0]
    assert not wide.flags.c_contiguous
    for given in ((q, wide, wide), ([1, 2], (-1, 1), v), (q.astype(int), v.astype(np.float32), v.astype(">f8"))):
        np.testing.assert_array_equal(robot.inverse(*given), expected)
        np.testing.assert_array_equal(robot.inverse(*given, out=np.empty(2)), expected)
    np.testing.assert_array_equal(robot.inverse(q, a=v, v=v), expected)
    np.testing.assert_array_equal(robot.inverse(q, v, v, out=v), expected)
    rows = np.linspace(0, 1, 8).reshape(4, 2)
    separate = robot.gravity(rows)
    np.testing.assert_array_equal(robot.gravity(rows, out=rows), separate)
    assert robot.mass(np.empty((0, 2))).shape == (0, 2, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r, z: r.mass(z[:1]), ValueError, r"q: .*shape \(2,\) or \(k, 2\) expected, not \(1,\)"),
        (lambda r, z: r.mass(z[:1], out=np.empty((2, 2))), ValueError, r"q: .*\(2,\)"),
        (lambda r, z: r.bias(z, np.zeros((3, 2))), ValueError, r"v: as many rows as in q"),
        (lambda r, z: r.bias(z, z[:, None, None]), ValueError, r"v: .*not \(2, 1, 1\)"),
        (lambda r, z: r.bias(z, z + 0j), TypeError, "v: real numbers expected, not complex128"),
        (lambda r, z: r.forward(z, z, ["a", "b"]), TypeError, "tau: real numbers"),
        (lambda r, z: r.forward(z, z, None), TypeError, "tau: real numbers"),
        (lambda r, z: r.forward(z, z), TypeError, "tau"),
        (lambda r, z: r.gravity(z, z), TypeError, "gravity"),
        (lambda r, z: r.gravity(z, output=z), TypeError, "output"),
        (lambda r, z: r.gravity(z, out=np.zeros(3)), ValueError, r"out: an array of shape \(2,\) expected, not \(3,\)"),
        (lambda r, z: r.mass(z, out=np.zeros(4)), ValueError, r"out: an array of shape \(2, 2\)"),
        (lambda r, z: r.gravity(z, out=np.zeros(2, dtype=np.float32)), TypeError, "out: an array of float64"),
        (lambda r, z: r.gravity(z, out=[0.0, 0.0]), TypeError, "out: an array of float64 expected, not list"),
        (lambda r, z: r.gravity(z, out=np.zeros(4)[::2]), ValueError, "out: a contiguous array"),
        (lambda r, z: r.mass(z, out=np.zeros((2, 2)).T[::-1]), ValueError, "out: a contiguous array"),
        (lambda r, z: r.gravity(z, out=np.broadcast_to(0.0, (2,))), ValueError, "out: a contiguous array"),
        (lambda r, z: r.gravity(z, out=np.frombuffer(bytes(16))), ValueError, "out: a contiguous array"),
    ],
)
def test_W9_arguments_that_do_not_fit_are_named(call, error, text) -> None:
    """Before a function is compiled and after."""
    robot = svyaz.load("planar-2r").robot()
    zero = np.zeros(2)
    for _ in range(2):
        with pytest.raises(error, match=text):
            call(robot, zero)
        for function, arguments in calls(robot, zero, zero, zero).values():
            function(*arguments)


def test_W9_long_programs_have_lanes_and_write_out_their_eliminations(monkeypatch: pytest.MonkeyPatch) -> None:
    """A robot is called often: what is too long for lanes elsewhere has them here, with the same bits row by row."""
    monkeypatch.setattr("svyaz.program.llvm_lanes.LARGEST_OPTIMISED", 10)
    monkeypatch.setattr("svyaz.program.elimination.LARGEST_DEFINITE", 10)
    robot = svyaz.load("puma-560").robot()
    program = robot.programs.forward
    assert program.systems[0].order is not None
    assert has_lanes(program, often=True)
    assert not has_lanes(program)
    rng = np.random.default_rng(2)
    q, v, tau = (rng.uniform(-1, 1, (67, 6)) for _ in range(3))
    alone = robot.forward(q, v, tau)
    lanes = lanes_of(compile_program(program, often=True))
    if lanes is not None:  # this processor has them
        found, statuses = lanes.evaluate(np.concatenate([q, v, tau], axis=1), lanes_constants(robot))
        assert not statuses.any()
        np.testing.assert_array_equal(found, alone)
    balance = np.einsum("kij,kj->ki", robot.mass(q), alone) + robot.bias(q, v)
    np.testing.assert_allclose(balance, tau, rtol=0, atol=1e-12 * np.abs(robot.bias(q, v)).max())


def lanes_constants(robot: Robot) -> np.ndarray:
    return compile_program(robot.programs.forward, often=True).constants(robot.parameters)


def test_W9_a_method_that_was_kept_before_its_first_call_is_the_same() -> None:
    robot = svyaz.load("planar-2r").robot()
    early = robot.gravity
    np.testing.assert_array_equal(early([0.1, 0.2]), robot.gravity([0.1, 0.2]))
    assert early([0.1, 0.2], out=(out := np.empty(2))) is out


def test_W9_calls_keep_no_references_and_robots_can_be_sent() -> None:
    """What is given and what comes back belongs to the caller alone, after errors too; a robot can be pickled."""
    robot = svyaz.load("planar-2r").robot()
    q, out = np.array([0.3, 0.4]), np.empty((2, 2))
    expected = robot.mass(q)
    before = sys.getrefcount(q), sys.getrefcount(out), sys.getrefcount(None)
    for _ in range(2000):
        robot.mass(q, out=out)
        robot.mass(q)
        with pytest.raises(ValueError, match="out"):
            robot.mass(q, out=q)
    after = sys.getrefcount(q), sys.getrefcount(out), sys.getrefcount(None)
    assert np.abs(np.subtract(after, before)).max() < 100
    assert sys.getrefcount(robot.mass(q)) <= sys.getrefcount(np.empty(2))
    function = robot.mass
    again = pickle.loads(pickle.dumps(robot))  # noqa: S301
    del robot
    gc.collect()
    for found in (function(q), again.mass(q), again.mass(q, out=out)):
        np.testing.assert_array_equal(found, expected)


def test_W9_systems_that_are_no_trees_have_no_robot() -> None:
    with pytest.raises(ModelError, match="'sling' is not a tree of bodies"):
        svyaz.load("sling").robot()


def test_W9_a_body_without_inertia_is_told() -> None:
    """M = [[0]]: one state raises, of many rows those are not numbers."""
    body = {"name": "1", "base": "ground", "joint": "revolute", "coordinate": "u", "axis": [0, 0, 1], "mass": 1.0}
    robot = System(body=[{**body, "center": [0, 0, 0], "inertia": {"zz": "i"}}], parameters={"i": 0.0}).robot()
    for out in (None, np.empty(1)):
        with pytest.raises(ModelError, match="the inertia matrix is singular"):
            robot.forward([0.0], [0.0], [1.0], out=out)
    assert np.isnan(robot.forward([[0.0]] * 3, [[0.0]] * 3, [[1.0]] * 3)).all()
