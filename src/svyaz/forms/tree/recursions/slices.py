"""Joints of several velocities as slices in a row, each with one velocity, for recursions that know one velocity a joint.

The slices share one place and one frame, that of the body: the first brings the way and the rotation from the base, with the
angular velocity of the joint and the acceleration that its velocities sweep, the others stand where it stands. Their
directions are axes of the body to slide along or to turn about, in the order of the velocities; they turn with
the body, and what that sweeps is in the first slice too. The last is the body itself, those before it have no mass. Released
one after another, those of a free joint leave to the base no inertia, and of forces only those applied at the joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import symengine as se

from svyaz.forms.tree.recursions.algebra import FLOATS, expressions
from svyaz.model import GROUND, Body, Joint, Tree
from svyaz.program import Program, build

NONE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Slice(Joint):
    """One velocity of a joint; the first slice brings the place of the ``joint``, the others none."""

    joint: Joint | None = None


def sliced(tree: Tree) -> Tree:
    """The same motion of bodies with one velocity each, for a tree of bodies that all move, with numbers.

    The first slice of a joint has all its coordinates, the others have none.
    """
    if tree.by_rates:
        return tree
    last = last_slices(tree)
    found: list[Body] = []
    for body in tree.bodies:
        base = GROUND if body.base == GROUND else last[body.base]
        if body.kind.velocities:
            found += _slices(body, base, len(found))
        else:
            found.append(replace(body, base=base))
    return Tree(tuple(found), tree.gravity)


def _slices(body: Body, base: int, first: int) -> list[Body]:
    found = []
    for k, (name, turn, slide) in enumerate(zip(body.velocities, *body.kind.directions(NONE, FLOATS), strict=True)):
        turns = any(turn)
        kind = Slice("slice", 0, turns=turns, slides=not turns, joint=None if k else body.kind)
        coordinates, pole = (body.coordinates, body.pole) if k == 0 else ((), NONE)
        axis = turn if turns else slide
        found.append(Body(body.name, base, kind, coordinates, (name,), axis, pole, 0.0, NONE, (0.0,) * 6))
        base = first + k
    found[-1] = replace(found[-1], mass=body.mass, center=body.center, inertia=body.inertia)
    return found


def last_slices(tree: Tree) -> tuple[int, ...]:
    """For each body of a tree whose bodies all move the number of the slice that is the body itself."""
    return tuple(first + body.freedoms - 1 for first, body in zip(tree.first_velocity, tree.bodies, strict=True))


def placing_joint(kind: Joint) -> Joint | None:
    """The joint whose place a body of a ``sliced`` tree brings; None for slices but the first."""
    return kind.joint if isinstance(kind, Slice) else kind


def place_records(kind: Joint) -> int:
    """How many records of bodies hold the place of a joint: three numbers in each, if it has several velocities."""
    joint = placing_joint(kind)
    return len(place_program(joint).outputs) // 3 if joint is not None and joint.velocities else 1


@lru_cache(maxsize=16)
def place_program(joint: Joint) -> Program:
    """From the coordinates of a joint the way, unless there is none, and the rows of the rotation to the axes of the base."""
    rotation, way = joint.pose(NONE, list(map(se.Symbol, joint.coordinates)), expressions())
    found = [*(way if joint.flies else ()), *(entry for row in rotation for entry in row)]
    return _program(found, joint.coordinates)


@lru_cache(maxsize=16)
def joint_rates_program(joint: Joint) -> Program:
    """From coordinates and velocities of a joint the rates of the coordinates."""
    q, v = (list(map(se.Symbol, names)) for names in (joint.coordinates, joint.velocities))
    return _program(joint.rates(q, v), (*joint.coordinates, *joint.velocities))


def _program(outputs: Sequence[se.Expr], inputs: Sequence[str]) -> Program:
    return build([(str(k), e) for k, e in enumerate(outputs)], inputs=inputs, parameters=())
