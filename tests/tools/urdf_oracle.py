"""The same URDF files in Pinocchio, an independent reader of them; joints are matched by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin

from svyaz.model.tree import Tree
from svyaz.model.urdf.words import tidy


def pinocchio_robot(path: Path, free_base: bool) -> pin.Model:
    """Pinocchio's model of a file, joints that mimic others free."""
    return (
        pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer()) if free_base else pin.buildModelFromUrdf(str(path))
    )


def their_state(model: pin.Model, tree: Tree, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """(q, v) of Pinocchio for ours, and for each of its velocities the place of ours."""
    where = dict(zip(tree.coordinates, q, strict=True))
    place = {name: k for k, name in enumerate(tree.velocities)}
    free = {f"{body.name}": body for body in tree.bodies if body.joint == "free"}
    theirs, order = [], []
    for joint, name in zip(model.joints[1:], model.names[1:], strict=True):
        if joint.nv == 6:
            body = free.get(name, tree.bodies[0])
            values = [where[c] for c in body.coordinates]
            theirs += [*values[:3], *values[4:], values[3]]
            order += [place[velocity] for velocity in body.velocities]
        else:
            angle = where[tidy(name)]
            theirs += [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
            order.append(place[f"{tidy(name)}'"])
    return np.array(theirs), v[order], order
