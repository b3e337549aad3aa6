"""Closed loops on long trees: a tree of a hundred bodies with ten pins against Pinocchio's constrained dynamics.

Pinocchio is called from Python, which costs about a microsecond of its hundreds. The pins join points that coincide at the
state at which both are timed, and whose velocities agree.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from bench.tools.jobs import Answer, Job, Samples, answer, series
from bench.tools.rows import Row, faster, within
from bench.trees.matrix import clocked
from bench.trees.robots import Floats, aligned, central

MODULE = "bench.trees.loops"
BODIES, LOOPS, TIMES = 100, 10, 300
AGREEMENT = 1e-9


def _job(what: str, quick: bool) -> Job:
    return Job(MODULE, (what,), 2 if quick else 5, 5.0)


def jobs(quick: bool) -> list[Job]:
    return [_job(what, quick) for what in ("svyaz", "pinocchio", "agreement")]


def rows(samples: Samples, quick: bool) -> list[Row]:
    ours, theirs = (series(samples, _job(what, quick), "seconds") for what in ("svyaz", "pinocchio"))
    apart = series(samples, _job("agreement", quick), "apart")
    name = f"accelerations of {BODIES} bodies with {LOOPS} loops"
    return [
        faster(f"{name} against constraintDynamics from Python", ours, theirs, "Pinocchio, Python", 1.0),
        within(f"{name}: difference from Pinocchio's", apart, [AGREEMENT], "1e-9", 1),
    ]


def _closed() -> tuple[Any, list[tuple[int, Floats, int, Floats]], Floats, Floats]:
    """(system, pins, q, v): a random tree with pins between far bodies that fit at q and allow v."""
    from svyaz import System
    from svyaz.gallery.random_mechanisms import random_tree

    words: dict[str, Any] = dict(
        random_tree(
            BODIES, 8, branching=1.3, taper=1.0, joints=("revolute", "revolute", "prismatic"), axes="coordinate"
        )
    )
    random = np.random.default_rng(8)
    q = random.uniform(-1, 1, BODIES)
    tree = System(**words).tree
    pin, model, joints = pinocchio_tree(tree)
    data = model.createData()
    pin.forwardKinematics(model, data, q[depth_first(tree)])
    pins = []
    for k in range(LOOPS):
        a, b = 9 * k + 5, 9 * k + 13
        at = random.uniform(-0.3, 0.3, 3)
        pins.append((a, at, b, data.oMi[joints[b]].actInv(data.oMi[joints[a]].act(at))))
    names = [body["name"] for body in words["body"]]
    words["point"] = [
        {"name": f"{side}{k}", "body": names[body], "at": list(at)}
        for k, (a, at_a, b, at_b) in enumerate(pins)
        for side, body, at in (("a", a, at_a), ("b", b, at_b))
    ]
    words["constraint"] = [
        {"name": f"pin {k} {x}", "equation": f"a{k}_{x} = b{k}_{x}"} for k in range(LOOPS) for x in "xyz"
    ]
    system = System(**words)
    gradients = _dynamics(system).tables(np.concatenate([[0.0], q, 0 * q])[None, :], ("jacobian",))["jacobian"][0]
    v = random.uniform(-0.5, 0.5, BODIES)
    return system, pins, q, v - np.linalg.pinv(gradients) @ (gradients @ v)


def depth_first(tree: Any) -> list[int]:
    """Bodies so that all that one carries follow it at once: Pinocchio takes joints in such an order alone."""
    found: list[int] = []
    waiting = [k for k, base in reversed(list(enumerate(tree.parents))) if base < 0]
    while waiting:
        k = waiting.pop()
        found.append(k)
        waiting += reversed(tree.carried[k])
    return found


def pinocchio_tree(tree: Any) -> tuple[Any, Any, list[int]]:
    """Pinocchio, the model, and the number of each body's joint in it."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([float(g) for g in tree.gravity])
    joints = [0] * len(tree.bodies)
    for k in depth_first(tree):
        body = tree.bodies[k]
        kind = pin.JointModelRevoluteUnaligned if body.joint == "revolute" else pin.JointModelPrismaticUnaligned
        joint = aligned(pin, body) or kind(np.array(body.axis, dtype=float))
        parent = 0 if body.base < 0 else joints[body.base]
        joints[k] = model.addJoint(parent, joint, pin.SE3(np.eye(3), np.array(body.pole, dtype=float)), body.name)
        mass, center, inertia = central(body)
        own = pin.Inertia(float(mass), np.array(center, dtype=float), np.array(inertia, dtype=float))
        model.appendBodyToJoint(joints[k], own, pin.SE3.Identity())
    return pin, model, joints


def _dynamics(system: Any) -> Any:
    from svyaz.dynamics import closed_equations, dynamics_of

    return dynamics_of(closed_equations(system, system.constraints))


def _code(system: Any) -> tuple[Any, Floats]:
    from svyaz.dynamics import Enforcement
    from svyaz.expr import ZERO

    code = _dynamics(system).rate_code(Enforcement([ZERO] * len(system.constraints)))
    return code, code.constants(system.constants)


def closed_rates(system: Any) -> Any:
    """The native rates of a tree with constraints, nothing added to them."""
    from svyaz.integrate import Flow

    code, constants = _code(system)
    return Flow(code.address, constants, 2 * len(system.coordinates), code)


def constrained(tree: Any, pins: Any) -> Any:
    """q, v ↦ accelerations, all in the order of the joints of Pinocchio."""
    pin, model, joints = pinocchio_tree(tree)
    ties = pin.StdVec_RigidConstraintModel(
        [
            pin.RigidConstraintModel(
                pin.ContactType.CONTACT_3D,
                model,
                joints[a],
                pin.SE3(np.eye(3), at),
                joints[b],
                pin.SE3(np.eye(3), there),
            )
            for a, at, b, there in pins
        ]
    )
    data, own = model.createData(), pin.StdVec_RigidConstraintData([tie.createData() for tie in ties])
    pin.initConstraintDynamics(model, data, ties, own)
    settings, none = pin.ProximalSettings(1e-14, 0.0, 1), np.zeros(model.nv)
    return lambda q, v: pin.constraintDynamics(model, data, q, v, none, ties, own, settings)


def ours() -> Answer:
    system, _, q, v = _closed()
    code, constants = _code(system)
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 3)(code.address)
    x, out = np.concatenate([[0.0], q, v]), np.empty(2 * BODIES)
    arguments = (x.ctypes.data, constants.ctypes.data, out.ctypes.data)

    def run() -> None:
        for _ in range(TIMES):
            function(*arguments)

    return {"seconds": min(clocked(run) for _ in range(7)) / TIMES}


def theirs() -> Answer:
    system, pins, q, v = _closed()
    solve, order = constrained(system.tree, pins), depth_first(system.tree)
    q, v = q[order], v[order]

    def run() -> None:
        for _ in range(TIMES):
            solve(q, v)

    return {"seconds": min(clocked(run) for _ in range(7)) / TIMES}


def agreement() -> Answer:
    system, pins, q, v = _closed()
    code, constants = _code(system)
    found = code.solved(np.concatenate([[0.0], q, v])[None, :], constants)[0][0, BODIES:]
    order = depth_first(system.tree)
    expected = constrained(system.tree, pins)(q[order], v[order])
    return {"apart": float(np.abs(found[order] - expected).max() / np.abs(expected).max())}


if __name__ == "__main__":
    answer({"svyaz": ours, "pinocchio": theirs, "agreement": agreement})
