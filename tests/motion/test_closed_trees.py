"""Trees with constraints between points of their bodies: multipliers by recursions, no equations written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from svyaz import System
from svyaz.dynamics import Enforcement, dynamics_of, measure_of
from svyaz.dynamics.recursions.closed_code import ClosedCode
from svyaz.dynamics.recursions.closed_trees import closed_equations
from svyaz.expr import ZERO
from svyaz.forms import NumericTree, with_multipliers
from svyaz.gallery.random_mechanisms import random_tree

Point = tuple[int, np.ndarray]
JOINTS = ("revolute", "revolute", "prismatic")


def place(system: System, q: np.ndarray, point: Point) -> np.ndarray:
    """A point of a body in ground axes, by turning and shifting it joint after joint; q may be complex."""
    body, at = point
    names = list(system.coordinates)
    while body >= 0:
        b = system.tree.bodies[body]
        axis = np.array(b.axis, dtype=float)
        if b.joint == "revolute":
            x = q[names.index(b.coordinates[0])]
            at = at * np.cos(x) + np.cross(axis, at) * np.sin(x) + axis * (axis @ at) * (1 - np.cos(x))
        elif b.joint == "prismatic":
            at = at + axis * q[names.index(b.coordinates[0])]
        at = at + np.array(b.pole, dtype=float)
        body = b.base
    return at


Held = Callable[[System, np.ndarray, float], Any]


def closed(size: int, seed: int, **options: Any) -> tuple[System, list[Held]]:
    """A random tree with a rod, a pin (three rows), a moved point and a gear; and h of each row as a function of q and t."""
    words: dict[str, Any] = dict(random_tree(size, seed, **options))
    random = np.random.default_rng(seed)
    bodies = random.choice(np.arange(size // 3, size), 5, replace=False)
    points = [(int(b), random.uniform(-0.5, 0.5, 3)) for b in bodies]
    words["point"] = [
        {"name": f"p{k}", "body": words["body"][b]["name"], "at": list(at)} for k, (b, at) in enumerate(points)
    ]
    rod = "(p0_x - p1_x)^2 + (p0_y - p1_y)^2 + (p0_z - p1_z)^2 = 2"
    equations = [rod, *(f"p2_{a} = p3_{a}" for a in "xyz"), "p4_x = 0.1*sin(3*t)"]
    moving = [c for b in words["body"] for c in ([b["coordinate"]] if "coordinate" in b else [])]
    equations.append(f"{moving[0]} = 2*{moving[-1]} + 0.1")
    words["constraint"] = [{"name": f"c{k}", "equation": e} for k, e in enumerate(equations)]
    system = System(**words)
    index = {name: k for k, name in enumerate(system.coordinates)}

    def between(i: int, j: int) -> Callable[[System, np.ndarray], np.ndarray]:
        return lambda s, q: place(s, q, points[i]) - place(s, q, points[j])

    held: list[Held] = [lambda s, q, t: np.sum(between(0, 1)(s, q) ** 2) - 2]
    held += [lambda s, q, t, a=a: between(2, 3)(s, q)[a] for a in range(3)]
    held.append(lambda s, q, t: place(s, q, points[4])[0] - 0.1 * np.sin(3 * t))
    held.append(lambda s, q, t: q[index[moving[0]]] - 2 * q[index[moving[-1]]] - 0.1)
    return system, held


def code_of(system: System) -> tuple[ClosedCode, np.ndarray]:
    tree = dynamics_of(closed_equations(system, system.constraints))
    code = tree.rate_code(Enforcement([ZERO] * len(system.constraints)))
    assert isinstance(code, ClosedCode)
    return code, code.constants(system.constants)


def second_derivative(h: Callable[[complex], Any]) -> float:
    """ḧ at t = 0: ḣ by complex steps, differentiated by differences of the sixth order."""
    width = 1e-2
    rate = {k: np.imag(h(k * width + 1e-30j)) / 1e-30 for k in (-3, -2, -1, 1, 2, 3)}
    return float((45 * (rate[1] - rate[-1]) - 9 * (rate[2] - rate[-2]) + (rate[3] - rate[-3])) / (60 * width))


@pytest.mark.parametrize(("size", "seed"), [(14, 2), (16, 3), (20, 4), (40, 6)])
def test_L4_accelerations_satisfy_the_equations_and_the_constraints(size: int, seed: int) -> None:
    """M q̈ + bias = Gᵀλ with M, bias by recursions on numbers and G by complex steps; ḧ = 0 along the parabola of q̈."""
    joints = ("revolute", "revolute", "prismatic", "fixed")
    axes = ("any", "coordinate", "parallel")[seed % 2]
    system, held = closed(size, seed, branching=1.0 + 0.4 * (seed % 3), joints=joints, axes=axes)
    n = len(system.coordinates)
    random = np.random.default_rng(seed)
    q, v = random.uniform(-1, 1, n), random.uniform(-0.5, 0.5, n)
    code, constants = code_of(system)
    rates, multipliers = code.solved(np.concatenate([[0.0], q, v])[None, :], constants)
    a = rates[0, n:]
    np.testing.assert_array_equal(rates[0, :n], v)
    jacobian = np.array([[np.imag(h(system, q + 1e-30j * e, 0.0)) / 1e-30 for e in np.eye(n)] for h in held])
    forces = NumericTree(system.tree, {}).inverse_dynamics(q, v, a)
    size_of = np.abs(NumericTree(system.tree, {}).mass_matrix(q)).max() * np.abs(a).max()
    assert np.isfinite(rates).all()
    np.testing.assert_allclose(forces, jacobian.T @ multipliers[0], rtol=0, atol=1e-9 * size_of)
    for h in held:
        left = second_derivative(lambda t, h=h: h(system, q + v * t + a * t**2 / 2, t))
        assert abs(left) < 1e-8 * np.abs(a).max()


def hundred(loops: int) -> tuple[System, list[tuple[Point, Point]], np.ndarray, np.ndarray]:
    """A random tree of a hundred bodies; pins between far bodies that fit at a random state, whose velocities they allow."""
    words: dict[str, Any] = dict(random_tree(100, 8, branching=1.3, taper=1.0, joints=JOINTS, axes="coordinate"))
    bare = System(**words)
    random = np.random.default_rng(8)
    q = random.uniform(-1, 1, 100)
    units = [np.zeros(3), *np.eye(3)]
    pairs: list[tuple[Point, Point]] = []
    for k in range(loops):
        a, b = 9 * k + 5, 9 * k + 13
        at = random.uniform(-0.3, 0.3, 3)
        origin, *axes = (place(bare, q, (b, unit)) for unit in units)
        there = np.array([axis - origin for axis in axes]) @ (place(bare, q, (a, at)) - origin)
        pairs.append(((a, at), (b, there)))
    named = [("a", k, pair[0]) for k, pair in enumerate(pairs)] + [("b", k, pair[1]) for k, pair in enumerate(pairs)]
    words["point"] = [{"name": f"{s}{k}", "body": words["body"][p[0]]["name"], "at": list(p[1])} for s, k, p in named]
    words["constraint"] = [
        {"name": f"pin {k} {x}", "equation": f"a{k}_{x} = b{k}_{x}"} for k in range(loops) for x in "xyz"
    ]
    system = System(**words)
    rows = [
        np.imag(place(system, q + 1e-30j * e, pair[0]) - place(system, q + 1e-30j * e, pair[1])) / 1e-30
        for pair in pairs
        for e in np.eye(100)
    ]
    jacobian = np.array(rows).reshape(loops, 100, 3).transpose(0, 2, 1).reshape(3 * loops, 100)
    v = random.uniform(-0.5, 0.5, 100)
    return system, pairs, q, v - np.linalg.pinv(jacobian) @ (jacobian @ v)


def depth_first(system: System) -> list[int]:
    """Bodies so that all that one carries follow it at once, as Pinocchio wants them."""
    found: list[int] = []

    def visit(k: int) -> None:
        found.append(k)
        for carried in system.tree.carried[k]:
            visit(carried)

    for k, body in enumerate(system.tree.bodies):
        if body.base < 0:
            visit(k)
    return found


def test_L4_a_hundred_bodies_with_ten_loops_against_constrained_dynamics_of_pinocchio() -> None:
    pin = pytest.importorskip("pinocchio")
    system, pairs, q, v = hundred(10)
    model = pin.Model()
    model.gravity.linear = np.array([float(g) for g in system.tree.gravity])
    order, joints = depth_first(system), [0] * 100
    for k in order:
        body = system.tree.bodies[k]
        kind = pin.JointModelRevoluteUnaligned if body.joint == "revolute" else pin.JointModelPrismaticUnaligned
        pole = pin.SE3(np.eye(3), np.array(body.pole, dtype=float))
        parent = 0 if body.base < 0 else joints[body.base]
        joints[k] = model.addJoint(parent, kind(np.array(body.axis, dtype=float)), pole, body.name)
        xx, yy, zz, xy, xz, yz = (float(e) for e in body.inertia)
        c, mass = np.array(body.center, dtype=float), float(body.mass)
        about = np.array([[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]]) - mass * (c @ c * np.eye(3) - np.outer(c, c))
        model.appendBodyToJoint(joints[k], pin.Inertia(mass, c, about), pin.SE3.Identity())
    ties = [
        pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, joints[a], pin.SE3(np.eye(3), at), joints[b], pin.SE3(np.eye(3), there)
        )
        for (a, at), (b, there) in pairs
    ]
    ties = pin.StdVec_RigidConstraintModel(ties)
    data, own = model.createData(), pin.StdVec_RigidConstraintData([tie.createData() for tie in ties])
    pin.initConstraintDynamics(model, data, ties, own)
    settings = pin.ProximalSettings(1e-14, 0.0, 1)
    expected = pin.constraintDynamics(model, data, q[order], v[order], np.zeros(100), ties, own, settings)
    code, constants = code_of(system)
    rates, _ = code.solved(np.concatenate([[0.0], q, v])[None, :], constants)
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(rates[0, 100:][order], expected, rtol=0, atol=1e-9 * np.abs(expected).max())


FIVE = """
gravity = [0, "-g", 0]
{bodies}
[[point]]
name = "tip"
body = "5"
at = [0.5, 0, 0]
[[point]]
name = "knee"
body = "2"
at = [0.1, 0.2, 0]
[[constraint]]
name = "rod"
equation = "(tip_x - knee_x)^2 + (tip_y - knee_y)^2 = d^2"
[[constraint]]
name = "rail"
equation = "tip_y' = 0.1*tip_x'"
[parameters]
g = 9.8
d = 1.0
[initial]
q2 = 0.4
q3 = 1.0
q4 = 0.9
[run]
method = "rk4"
step = 0.002
until = 0.2
"""
BODY = """[[body]]
name = "{k}"
base = "{base}"
joint = "revolute"
coordinate = "q{k}"
axis = [0, 0, 1]
pole = [{pole}, 0, 0]
mass = 1
center = [0.25, 0, 0]
inertia = {{ xx = 0.001, yy = 0.0834, zz = 0.0834 }}
"""


@pytest.fixture(scope="module")
def five() -> System:
    from svyaz import loads

    bodies = "".join(
        BODY.format(k=k, base=k - 1 if k > 1 else "ground", pole=0.5 if k > 1 else 0.0) for k in range(1, 6)
    )
    return loads(FIVE.format(bodies=bodies))


@pytest.mark.parametrize("stabilize", ["off", 8.0, "projection"])
def test_L4_closed_trees_run_as_their_written_equations_do(five: System, stabilize: str | float) -> None:
    runs = [five.simulate(form=form, stabilize=stabilize, project=True) for form in ("articulated", "multipliers")]
    assert [run.status for run in runs] == ["finished", "finished"]
    assert runs[0].states[-1] == pytest.approx(runs[1].states[-1], abs=1e-8)
    for name in ("rod", "rail"):
        assert runs[0].multipliers[name] == pytest.approx(runs[1].multipliers[name], abs=1e-5)
        assert np.abs(runs[0].residuals[name]).max() < 1e-6
    if stabilize == "projection":
        assert np.abs(runs[0].residuals["rod"]).max() < 1e-13
    if isinstance(stabilize, float):
        assert runs[0].gains is not None
        assert runs[1].gains is not None
        assert runs[0].gains.word == runs[1].gains.word == "stable"
        assert runs[0].gains.predicted == pytest.approx(dict(runs[1].gains.predicted), rel=0.05)


def test_L4_closed_trees_refuse_what_is_not_on_the_constraints_and_gains_that_are_unstable(five: System) -> None:
    off = five.simulate(form="articulated", stabilize="projection", start={"q4": 0.2}, on_failure="return")
    assert off.status == "infeasible"
    assert "does not satisfy the constraint 'rod'" in off.reason
    wild = five.simulate(form="articulated", stabilize=5000.0, project=True, on_failure="return")
    assert wild.status == "infeasible"
    assert wild.gains is not None
    assert wild.gains.word == "unstable"


@pytest.mark.parametrize("axes", ["coordinate", "parallel"])
def test_L4_twenty_bodies_with_loops_by_recursions_and_by_written_equations(axes: str) -> None:
    """Both roads, with a rod, a pin, a moved point and a gear: accelerations and multipliers to 1e-9."""
    system, _ = closed(20, 4, branching=1.4, joints=JOINTS, axes=axes)
    if axes == "parallel":  # nothing moves along z: what is stated there is no constraint
        words = dict(system.words)
        words["constraint"] = [c for c in words["constraint"] if "_z =" not in c["equation"]]
        system = System(**words)
    written = system.derive(form="multipliers")
    code, constants = code_of(system)
    n, random = len(system.coordinates), np.random.default_rng(1)
    row = np.concatenate([[0.3], random.uniform(-1, 1, n), random.uniform(-0.5, 0.5, n)])
    rates, multipliers = code.solved(row[None, :], constants)
    found = written.function()(row[0], row[1:])
    assert rates[0, n:] == pytest.approx(found[n : 2 * n], rel=0, abs=1e-9 * np.abs(rates).max())
    tables = dynamics_of(closed_equations(system, system.constraints)).tables(row[None, :])
    sizes = measure_of(with_multipliers(system)).function(row, ("jacobian_terms", "position_terms", "velocity_terms"))
    for name, size in sizes.items():  # places of points count as they are, however long the tree is
        assert size == pytest.approx(tables[name][0], rel=1e-9, abs=1e-12), name
    forces = tables["jacobian"][0].T @ multipliers[0] - tables["bias"][0]
    assert tables["mass"][0] @ found[n : 2 * n] == pytest.approx(forces, rel=0, abs=1e-9 * np.abs(forces).max())


def test_L4_work_of_moving_constraints_is_told_by_recursions_as_by_written_equations(five: System) -> None:
    words = dict(five.words)
    words["constraint"] = [*words["constraint"], {"name": "drive", "equation": "q1 = 0.1*sin(3*t)"}]
    moved = System(**words)
    runs = [moved.simulate(form=form, stabilize="projection", project=True) for form in ("articulated", "multipliers")]
    works = [run.balance.work[-1] for run in runs if run.balance is not None]
    assert abs(works[1]) > 1e-3
    assert works[0] == pytest.approx(works[1], abs=1e-8)


def test_L4_recursions_name_equations_with_multipliers_where_there_are_constraints(five: System) -> None:
    named, written = (five.derive(form=form) for form in ("articulated", "multipliers"))
    assert named.form == "articulated"
    assert named.constraint_jacobian == written.constraint_jacobian
    swelling = System(**{**five.words, "body": [{**b, "mass": "1 + 0.1*t"} for b in five.words["body"]]})
    told = swelling.simulate(form="articulated", stabilize="off", project=True, until=0.01, on_failure="return")
    assert any("written out" in note and "masses that change" in note for note in told.notes)
