"""Kinds of joints: ball, universal and planar against closed forms and Pinocchio, on symbolic and recursive equations; mistakes
in words; a kind that is added by one file (W5).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from tree_flows import tree_flow
from tree_oracle import pinocchio_model, random_state, their_coordinates, their_velocities

import svyaz
from svyaz import ModelError, System
from svyaz.expr import evaluate
from svyaz.forms import NumericTree
from svyaz.gallery.random_mechanisms import random_tree
from svyaz.integrate import along
from svyaz.model import numbers

MASS = {"mass": 2.0, "center": [0.1, -0.2, 0.4], "central_inertia": {"xx": 0.3, "yy": 0.4, "zz": 0.5}}
UNIVERSAL = {"joint": "universal", "coordinates": ["a", "b"], "axes": [[1, 0, 0], [0, 1, 0]]}
PLANAR = {"joint": "planar", "coordinates": ["x", "y", "a"]}
BALL = {"joint": "ball", "coordinates": ["e0", "e1", "e2", "e3"]}


def one_body(joint: dict[str, Any], **words: Any) -> System:
    """A body on the ground."""
    return System(name="one", body=[{"name": "1", "base": "ground", **joint, **MASS}], **words)


def on_a_chain(joint: dict[str, Any], links: int = 17, **words: Any) -> System:
    """The same body at the end of a chain of links."""
    chain = [
        {"name": f"c{k}", "base": f"c{k - 1}" if k else "ground", "joint": "revolute", "coordinate": f"q{k}"}
        | {"axis": [[0, 0, 1], [1, 0, 0]][k % 2], "pole": [0, 0.3, 0.1], **MASS}
        for k in range(links)
    ]
    return System(name="chain", body=[*chain, {"name": "1", "base": f"c{links - 1}", **joint, **MASS}], **words)


def rotation(axis: int, angle: float) -> np.ndarray:
    """About a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    found = np.eye(3)
    found[i, i] = found[j, j] = np.cos(angle)
    found[i, j], found[j, i] = -np.sin(angle), np.sin(angle)
    return found


def tensor_about_pole() -> np.ndarray:
    """J = J_c + m (c² 1 - c cᵀ)."""
    c = np.array(MASS["center"])
    return np.diag([0.3, 0.4, 0.5]) + 2.0 * (c @ c * np.eye(3) - np.outer(c, c))


def test_W5_universal_joint_has_the_inertia_of_two_turns() -> None:
    """ω = Rot(y, b)ᵀ x a' + y b' in body axes; M = Wᵀ J W; a point of the body is at Rot(x, a) Rot(y, b) p."""
    system = one_body(UNIVERSAL, point=[{"name": "p", "body": "1", "at": [0.2, 0.5, -0.3]}])
    a, b = 0.7, -1.1
    turns = np.column_stack([rotation(1, b).T @ [1, 0, 0], [0, 1, 0]])
    found = NumericTree(system.tree, {}).mass_matrix([a, b])
    np.testing.assert_allclose(found, turns.T @ tensor_about_pole() @ turns, atol=1e-14)
    place = rotation(0, a) @ rotation(1, b) @ [0.2, 0.5, -0.3]
    motion = one_body(
        UNIVERSAL,
        point=[{"name": "p", "body": "1", "at": [0.2, 0.5, -0.3]}],
        outputs={axis: f"p_{axis}" for axis in "xyz"},
        initial={"a": a, "b": b},
    ).simulate(until=0.1)
    np.testing.assert_allclose([motion[axis][0] for axis in "xyz"], place, atol=1e-14)


@pytest.mark.parametrize(("axis", "ways"), [([0, 0, 1], (0, 1)), ([2, 0, 0], (1, 2))])
def test_W5_planar_joint_has_the_inertia_of_a_body_in_its_plane(axis: list[float], ways: tuple[int, int]) -> None:
    """M by hand: m on the ways, m n × R c between ways and angle, J about the normal."""
    normal = int(np.argmax(axis))
    system = one_body({**PLANAR, "axis": axis})
    moved = np.cross(np.eye(3)[normal], rotation(normal, 0.4) @ MASS["center"])
    found = NumericTree(system.tree, {}).mass_matrix([0.3, -0.2, 0.4])
    u, v = 2.0 * moved[list(ways)]
    expected = [[2, 0, u], [0, 2, v], [u, v, tensor_about_pole()[normal, normal]]]
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert one_body(PLANAR).coordinates == ("x", "y", "a")


@pytest.mark.parametrize(
    ("joint", "steps"),
    [
        (UNIVERSAL, [("1 cross", "revolute", "a", [1, 0, 0]), ("1", "revolute", "b", [0, 1, 0])]),
        (
            {**PLANAR, "axis": [0, 1, 0]},
            [
                ("1 x", "prismatic", "x", [1, 0, 0]),
                ("1 y", "prismatic", "y", [0, 0, -1]),
                ("1", "revolute", "a", [0, 1, 0]),
            ],
        ),
    ],
    ids=["universal", "planar"],
)
def test_W5_chains_of_joints_are_those_written_with_massless_bodies(
    joint: dict[str, Any], steps: list[tuple[str, str, str, list[float]]]
) -> None:
    """The same tree, and so the same answer to every command."""
    bodies: list[dict[str, Any]] = []
    for name, kind, q, axis in steps:
        base = bodies[-1]["name"] if bodies else "ground"
        bodies.append({"name": name, "base": base, "joint": kind, "coordinate": q, "axis": axis})
    bodies[0]["pole"], bodies[-1] = [0.1, 0.2, 0.3], {**bodies[-1], **MASS}
    found = System(name="one", body=[{"name": "1", "base": "ground", **joint, "pole": [0.1, 0.2, 0.3], **MASS}])
    by_hand = System(name="one", body=bodies)
    assert found.tree == by_hand.tree
    assert str(found.inertia()) == str(by_hand.inertia())


def test_W5_a_ball_has_the_equations_of_euler() -> None:
    """J ω' + ω × J ω = c × m g Rᵀ(-z) about the pole, and M = J."""
    system = one_body(BALL, gravity=[0, 0, -9.81])
    e, omega, tensor = np.array([0.1, 0.7, -0.5, 0.5]), np.array([0.3, -1.2, 0.8]), tensor_about_pole()
    e /= np.linalg.norm(e)
    x, y, z = 2 * (e[1] * e[3] - e[0] * e[2]), 2 * (e[2] * e[3] + e[0] * e[1]), 1 - 2 * (e[1] ** 2 + e[2] ** 2)
    torque = np.cross(MASS["center"], 2.0 * -9.81 * np.array([x, y, z]))
    expected = np.linalg.solve(tensor, torque - np.cross(omega, tensor @ omega))
    names = (*system.coordinates, *system.velocities)
    values = dict(zip(names, [*e, *omega], strict=True))
    equations = system.derive()
    matrix = [[evaluate(entry, values) for entry in row] for row in equations.mass_matrix]
    bias = [evaluate(entry, values) for entry in equations.bias]
    np.testing.assert_allclose(-np.linalg.solve(matrix, bias), expected, atol=1e-12)
    np.testing.assert_allclose(NumericTree(system.tree, {}).mass_matrix(e), tensor, atol=1e-14)


@pytest.mark.parametrize("joint", [UNIVERSAL, PLANAR, BALL], ids=["universal", "planar", "ball"])
def test_W5_joints_behind_a_long_chain_equal_pinocchio(joint: dict[str, Any]) -> None:
    """Accelerations by recursions over 18 bodies and more at 5 states."""
    system = on_a_chain(joint, gravity=[0.3, -0.2, -9.81])
    assert_accelerations_equal_pinocchio(system)


@pytest.mark.parametrize(("size", "seed"), [(6, 3), (24, 5), (40, 2)])
def test_W5_random_trees_with_ball_and_planar_joints_equal_pinocchio(size: int, seed: int) -> None:
    """Ball and planar joints on the ground and on bodies that move, beside all others."""
    joints = ("revolute", "prismatic", "fixed", "free", "ball", "planar")
    words: dict[str, Any] = dict(random_tree(size, seed, joints=joints))
    assert {"ball", "planar"} <= {body["joint"] for body in words["body"]}
    assert_accelerations_equal_pinocchio(System(**words))


def assert_accelerations_equal_pinocchio(system: System) -> None:
    """By articulated bodies in native code, and by the recursion on numbers."""
    tree = numbers(system.tree, {})
    theirs = pinocchio_model(tree)
    data, order, n = theirs.createData(), their_velocities(tree), len(system.coordinates)
    random, ours = np.random.default_rng(3), NumericTree(system.tree, {})
    for _ in range(5):
        q, v = random_state(tree, random)
        row = np.concatenate([[0.0], q, v])
        expected = pin.aba(theirs, data, q[their_coordinates(tree)], v[order], np.zeros(len(v)))
        scale = 1e-9 * np.abs(expected).max()
        (found,) = along(tree_flow(system), row[None])
        np.testing.assert_allclose(found[n:][order], expected, rtol=0, atol=scale)
        np.testing.assert_allclose(ours.forward_dynamics(q, v, np.zeros(len(v)))[order], expected, rtol=0, atol=scale)


@pytest.mark.parametrize("links", [0, 17], ids=["symbolic", "recursive"])
def test_W5_a_symmetric_top_without_torque_turns_as_euler_says(links: int) -> None:
    """ω_x + i ω_y = w e^{iΩt}, Ω = (C - A)/A ω_z, ω_z constant; beside 17 others too."""
    ball = {"name": "top", "base": "ground", **BALL, "mass": 1, "inertia": {"xx": 0.4, "yy": 0.4, "zz": 0.7}}
    others = [
        {"name": f"c{k}", "base": "ground", "joint": "revolute", "coordinate": f"q{k}", "axis": [0, 0, 1], **MASS}
        for k in range(links)
    ]
    start = {"wx": 0.6, "wz": 2.0}
    motion = System(name="top", body=[ball, *others], initial=start).simulate(
        until=3.0, every=0.5, rtol=1e-11, atol=1e-12
    )
    phase = 0.75 * 2.0 * motion["t"]
    np.testing.assert_allclose(motion["wx"], 0.6 * np.cos(phase), atol=1e-8)
    np.testing.assert_allclose(motion["wy"], 0.6 * np.sin(phase), atol=1e-8)
    np.testing.assert_allclose(motion["wz"], 2.0, atol=1e-9)
    lengths = sum(motion[f"e{k}"] ** 2 for k in range(4))
    np.testing.assert_allclose(lengths, 1.0, atol=1e-9)


@pytest.mark.parametrize("joint", [UNIVERSAL, PLANAR, BALL], ids=["universal", "planar", "ball"])
@pytest.mark.parametrize("links", [0, 17], ids=["symbolic", "recursive"])
def test_W5_energy_stays_with_new_joints(joint: dict[str, Any], links: int) -> None:
    """In gravity, from a start with velocity."""
    speed = {"universal": "b'", "planar": "a'", "ball": "wy"}[joint["joint"]]
    words: dict[str, Any] = {"gravity": [0, 0, -9.81], "initial": {speed: 1.5}}
    system = on_a_chain(joint, links, **words) if links else one_body(joint, **words)
    tree = NumericTree(system.tree, {})
    motion = system.simulate(until=0.5, rtol=1e-10, atol=1e-11)
    rows = np.array([[motion[name][k] for name in (*system.coordinates, *system.velocities)] for k in (0, -1)])
    q, v = np.split(rows, [len(system.coordinates)], axis=1)
    energy = sum(tree.energies(q, v))
    assert energy[1] == pytest.approx(energy[0], abs=1e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({**UNIVERSAL, "coordinates": ["a"]}, 'has two coordinates: the angles about its two axes, such as ["a", "b"]'),
        ({**UNIVERSAL, "axes": [[1, 0, 0], [2, 0, 0]]}, "are parallel"),
        ({**UNIVERSAL, "axes": [[1, 0, 0], [0, 0, 0]]}, "has no direction"),
        ({**UNIVERSAL, "axes": [[1, 0, 0]]}, "are 2 vectors"),
        ({k: v for k, v in UNIVERSAL.items() if k != "axes"}, "has no axes"),
        ({**UNIVERSAL, "axis": [1, 0, 0]}, "a universal joint has no axis"),
        ({**PLANAR, "coordinates": ["x", "y"]}, "has three coordinates: two ways in the plane and the angle"),
        ({**PLANAR, "axis": [0, 0, 0]}, "has no direction"),
        ({**BALL, "coordinates": ["e0", "e1", "e2"]}, "has four coordinates: a unit quaternion with its scalar first"),
        ({**BALL, "axis": [0, 0, 1]}, "a ball joint has no axis"),
        ({**BALL, "velocities": ["u", "v"]}, "a ball joint has three velocities, not 2"),
        ({**PLANAR, "velocities": ["u", "v", "w"]}, "only a free or ball joint has names of its own"),
    ],
)
def test_W5_mistakes_in_joints_are_named(change: dict[str, Any], message: str) -> None:
    """What is wrong, and what is wanted."""
    with pytest.raises(ModelError) as caught:
        one_body(change)
    assert message in str(caught.value)


def test_W5_balls_have_velocities_with_the_names_of_bodies_where_there_are_several() -> None:
    """Named wx wy wz alone, wx_1 … beside others, or as the model says."""
    assert one_body(BALL).velocities == ("wx", "wy", "wz")
    second = {"name": "2", "base": "1", **BALL, "coordinates": ["f0", "f1", "f2", "f3"], **MASS}
    system = System(name="two", body=[{"name": "1", "base": "ground", **BALL, **MASS}, second])
    assert system.velocities == ("wx_1", "wy_1", "wz_1", "wx_2", "wy_2", "wz_2")
    assert one_body({**BALL, "velocities": ["p", "q", "r"]}).velocities == ("p", "q", "r")


CYLINDRICAL = '''"""A slide along an axis and a turn about it."""

from dataclasses import dataclass

from svyaz.model.joint import Joint
from svyaz.model.joints.prismatic import JOINT as PRISMATIC
from svyaz.model.joints.revolute import JOINT as REVOLUTE


@dataclass(frozen=True)
class _Cylindrical(Joint):
    def chain(self, axes):
        return ("slide", PRISMATIC, axes[0]), ("", REVOLUTE, axes[0])


JOINT = _Cylindrical("cylindrical", 9, ("s", "a"), "the way and the angle", axes=1)
'''

USED = """
import svyaz
body = {"name": "1", "base": "ground", "joint": "cylindrical", "coordinates": ["s", "a"], "axis": [0, 0, 1], "mass": 2,
        "inertia": {"xx": 1, "yy": 1, "zz": 1}}
motion = svyaz.System(name="c", gravity=[0, 0, -10], body=[body], initial={"a'": 3}).simulate(until=1)
print(svyaz.__file__, round(motion["s"][-1], 9), round(motion["a"][-1], 9))
"""


def test_W5_a_joint_is_added_by_one_file(tmp_path: Path) -> None:
    """s = -g t²/2 and a = 3 t with the file; without it the joint is unknown."""
    source = Path(svyaz.__file__).parent
    copy = tmp_path / "svyaz"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    added = copy / "model" / "joints" / "cylindrical.py"
    added.write_text(CYLINDRICAL, encoding="utf-8")

    def run() -> subprocess.CompletedProcess[str]:
        code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{USED}"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)

    done = run()
    assert done.stdout.split() == [str(copy / "__init__.py"), "-5.0", "3.0"], done.stderr
    added.unlink()
    failed = run()
    assert failed.returncode
    assert "cannot have a joint 'cylindrical'" in failed.stderr
