"""The same trees in Pinocchio, an independent implementation of rigid-body dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from svyaz.model.tree import Tree


def depth_first(tree: Tree) -> list[int]:
    """The bodies in an order in which each subtree stands together, as Pinocchio wants it."""
    order: list[int] = []
    waiting = [k for k, base in reversed(list(enumerate(tree.parents))) if base < 0]
    while waiting:
        order.append(waiting.pop())
        waiting.extend(reversed(tree.carried[order[-1]]))
    return order


def pinocchio_model(tree: Tree) -> pin.Model:
    """A model with one joint a body; ``tree`` holds numbers."""
    model = pin.Model()
    model.gravity.linear = np.array(tree.gravity)
    joints: dict[int, int] = {}
    frames: dict[int, pin.SE3] = {}
    for k in depth_first(tree):
        body = tree.bodies[k]
        parent = joints[body.base] if body.base >= 0 else 0
        placement = pin.SE3(np.eye(3), np.array(body.pole))
        if body.base >= 0:
            placement = frames[body.base] * placement
        if body.joint == "fixed":
            joints[k] = parent
            frames[k] = placement
        else:
            if body.joint == "revolute":
                joint = pin.JointModelRevoluteUnaligned(np.array(body.axis))
            elif body.joint == "prismatic":
                joint = pin.JointModelPrismaticUnaligned(np.array(body.axis))
            elif body.joint == "ball":
                joint = pin.JointModelSpherical()
            else:
                joint = pin.JointModelFreeFlyer()
            joints[k] = model.addJoint(parent, joint, placement, body.name)
            frames[k] = pin.SE3.Identity()
        model.appendBodyToJoint(joints[k], _inertia(body), frames[k])
    return model


def _inertia(body) -> pin.Inertia:
    xx, yy, zz, xy, xz, yz = body.inertia
    if xx == yy == 0.0:  # not given: a planar tree does not feel them
        xx = yy = zz + body.mass
    about_pole = np.array([[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]])
    c = np.array(body.center)
    central = about_pole - body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    return pin.Inertia(body.mass, c, central)


def their_coordinates(tree: Tree) -> list[int]:
    """Places of our coordinates in the order of Pinocchio, whose quaternions have the scalar last."""
    first = np.cumsum([0, *(len(body.coordinates) for body in tree.bodies)])
    order: list[int] = []
    for k in depth_first(tree):
        own = list(range(first[k], first[k + 1]))
        ways = {"free": 3, "ball": 0}.get(tree.bodies[k].joint)
        order.extend(own if ways is None else [*own[:ways], *own[ways + 1 :], own[ways]])
    return order


def their_velocities(tree: Tree) -> list[int]:
    """Places of our velocities in the order of Pinocchio."""
    order: list[int] = []
    for k in depth_first(tree):
        first = tree.first_velocity[k]
        order.extend(range(first, first + tree.bodies[k].freedoms))
    return order


def random_state(tree: Tree, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) with unit quaternions."""
    q = rng.uniform(-2.0, 2.0, len(tree.coordinates))
    place = 0
    for body in tree.bodies:
        place += len(body.coordinates)
        if body.joint in ("free", "ball"):
            q[place - 4 : place] /= np.linalg.norm(q[place - 4 : place])
    return q, rng.uniform(-2.0, 2.0, len(tree.velocities))
