"""The same tree for us, for Pinocchio and for MuJoCo."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def system(name: str) -> Any:
    """A model of the gallery."""
    from svyaz import loads
    from svyaz.gallery.collection import find

    text = find(name)
    assert text is not None, name
    return loads(text, name)


def states(name: str, count: int) -> tuple[Floats, Floats, Floats]:
    """(q, v, τ), each (count, n)."""
    size = len(system(name).coordinates)
    random = np.random.default_rng(1)
    q, v, tau = (np.ascontiguousarray(random.uniform(-1.0, 1.0, (count, size))) for _ in range(3))
    return q, v, tau


def numeric_tree(name: str) -> Any:
    """The tree with numbers."""
    from svyaz.model.tree import numbers

    read = system(name)
    return numbers(read.tree, read.parameters)


def pinocchio_model(name: str) -> Any:
    """A model of Pinocchio; chains and arms of revolute and prismatic joints."""
    import pinocchio as pin

    tree = numeric_tree(name)
    model = pin.Model()
    model.gravity.linear = np.array(tree.gravity)
    numbers: list[int] = []
    for body in tree.bodies:
        kind = pin.JointModelRevoluteUnaligned if body.joint == "revolute" else pin.JointModelPrismaticUnaligned
        joint = aligned(pin, body) or kind(np.array(body.axis))
        parent = 0 if body.base < 0 else numbers[body.base]
        numbers.append(model.addJoint(parent, joint, pin.SE3(np.eye(3), np.array(body.pole)), body.name))
        model.appendBodyToJoint(numbers[-1], pin.Inertia(*central(body)), pin.SE3.Identity())
    return model


def aligned(pin: Any, body: Any) -> Any:
    """Pinocchio's faster joint where the axis is a coordinate axis."""
    for axis, letter in zip(np.eye(3), "XYZ", strict=True):
        if np.array_equal(axis, body.axis):
            return getattr(pin, f"JointModelR{letter}" if body.joint == "revolute" else f"JointModelP{letter}")()
    return None


def central(body: Any) -> tuple[float, Floats, Floats]:
    """(mass, centre, inertia at the centre)."""
    xx, yy, zz, xy, xz, yz = body.inertia
    if xx == yy == 0.0:  # not given: a planar tree does not feel them
        xx = yy = zz + body.mass
    about_pole = np.array([[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]])
    c = np.array(body.center)
    return body.mass, c, about_pole - body.mass * (c @ c * np.eye(3) - np.outer(c, c))


def mujoco_text(name: str) -> str:
    """A tree of the gallery as MJCF."""
    return mujoco_tree_text(numeric_tree(name))


def mujoco_tree_text(tree: Any) -> str:
    """The tree as MJCF, without geometry: nothing can touch."""
    gravity = " ".join(map(repr, tree.gravity))
    head = f'<mujoco><option gravity="{gravity}" timestep="1e-3"/><compiler boundmass="1e-9" boundinertia="1e-12"/>'

    def numbers(values: Any) -> str:
        return " ".join(repr(float(value)) for value in values)

    def body(k: int) -> str:
        own = tree.bodies[k]
        mass, center, inertia = central(own)
        entries = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        kind = "hinge" if own.joint == "revolute" else "slide"
        return (
            f'<body pos="{numbers(own.pole)}"><joint type="{kind}" axis="{numbers(own.axis)}"/>'
            f'<inertial pos="{numbers(center)}" mass="{mass!r}" fullinertia="{numbers(entries)}"/>'
            + "".join(body(m) for m in tree.carried[k])
            + "</body>"
        )

    roots = "".join(body(k) for k, base in enumerate(tree.parents) if base < 0)
    return f"{head}<worldbody>{roots}</worldbody></mujoco>"
