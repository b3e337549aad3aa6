"""Free joints as six slices in a row, each with one freedom, for recursions that know one freedom a joint.

The slices share one place and one frame, that of the body: the first brings the way and the rotation from the base, with the
angular velocity of the joint and the acceleration that its velocities sweep, the others stand where it stands. Their
directions are the axes of the body, x, y, z to slide along, then to turn about, in the order of the velocities; they turn with
the body, and what that sweeps is in the first slice too. The last is the body itself, those before it have no mass. Released
one after another, they leave to the base no inertia, and of forces only those applied at the joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import symengine as se

from svyaz.model import GROUND, Body, Tree, free_rates, quaternion_rotation
from svyaz.program import Program, build

FREE_COORDINATES = ("x", "y", "z", "e0", "e1", "e2", "e3")
FREE_VELOCITIES = ("vx", "vy", "vz", "wx", "wy", "wz")
NONE = (0.0, 0.0, 0.0)


def sliced(tree: Tree) -> Tree:
    """The same motion of bodies with one velocity each, for a tree of bodies that all move, with numbers.

    The first slice of a free joint has its seven coordinates, the others have none; see ``joint_kind``.
    """
    if all(body.joint != "free" for body in tree.bodies):
        return tree
    last = last_slices(tree)
    found: list[Body] = []
    for body in tree.bodies:
        base = GROUND if body.base == GROUND else last[body.base]
        if body.joint == "free":
            found += _slices(body, base, len(found))
        else:
            found.append(replace(body, base=base))
    return Tree(tuple(found), tree.gravity)


def _slices(body: Body, base: int, first: int) -> list[Body]:
    found = []
    for k, name in enumerate(body.velocities):
        joint, axis = ("prismatic", "revolute")[k // 3], (float(k % 3 == 0), float(k % 3 == 1), float(k % 3 == 2))
        coordinates, pole = (body.coordinates, body.pole) if k == 0 else ((), NONE)
        found.append(Body(body.name, base, joint, coordinates, (name,), axis, pole, 0.0, NONE, (0.0,) * 6))
        base = first + k
    found[-1] = replace(found[-1], mass=body.mass, center=body.center, inertia=body.inertia)
    return found


def last_slices(tree: Tree) -> tuple[int, ...]:
    """For each body of a tree whose bodies all move the number of the slice that is the body itself."""
    return tuple(first + body.freedoms - 1 for first, body in zip(tree.first_velocity, tree.bodies, strict=True))


def joint_kind(body: Body) -> str:
    """The kind of joint of a body of a ``sliced`` tree, as its programs know it: "free" is the first slice of a free joint,
    "slide" and "turn" are the others.
    """
    if len(body.coordinates) == 1:
        return body.joint
    if body.coordinates:
        return "free"
    return {"prismatic": "slide", "revolute": "turn"}[body.joint]


@lru_cache(maxsize=1)
def free_place_program() -> Program:
    """From the coordinates of a free joint the way and the rows of the rotation to the axes of the base (12)."""
    e = tuple(se.Symbol(name) for name in FREE_COORDINATES[3:])
    found = [*map(se.Symbol, FREE_COORDINATES[:3]), *(entry for row in quaternion_rotation(e) for entry in row)]
    return _program(found, FREE_COORDINATES)


@lru_cache(maxsize=1)
def free_rates_program() -> Program:
    """From coordinates and velocities of a free joint the rates of the coordinates (7)."""
    body = Body("", GROUND, "free", FREE_COORDINATES, FREE_VELOCITIES, NONE, NONE, 0.0, NONE, ())
    return _program(list(free_rates(body).values()), (*FREE_COORDINATES, *FREE_VELOCITIES))


def _program(outputs: Sequence[se.Expr], inputs: Sequence[str]) -> Program:
    return build([(str(k), e) for k, e in enumerate(outputs)], inputs=inputs, parameters=())
