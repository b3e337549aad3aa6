"""What a tree of bodies looks like, unless the model says otherwise: lines from pole to pole, points for the masses."""

from __future__ import annotations

import symengine as se

from svyaz.expr import ONE, ZERO
from svyaz.model.system import Drawing
from svyaz.model.tree import GROUND, Body, Tree, Vector, axis_rotation, quaternion_rotation

MOST_DRAWN = 80
"""Trees of more bodies than this are not drawn unless they say how."""

MOST_TRACED = 4
"""So many ends of branches leave traces; more would hide the mechanism."""

UNITS = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))
Z_AXIS = (ZERO, ZERO, ONE)


def tree_drawings(tree: Tree) -> tuple[Drawing, ...]:
    """Links from each pole to the poles that it carries, and from the last ones to their centres of mass, which leave traces.

    What does not fly stands on a link from the origin of the ground. A tree whose joints all turn about z is drawn in its
    plane.
    """
    if len(tree.bodies) > MOST_DRAWN:
        return ()
    flat = all(body.joint in ("revolute", "fixed") and body.axis in (Z_AXIS, (ZERO,) * 3) for body in tree.bodies)
    entries = 2 if flat else 3
    traced = sum(not carried for carried in tree.carried) <= MOST_TRACED
    poles: list[Vector] = []
    turned: list[tuple] = []
    drawings = []
    for k, body in enumerate(tree.bodies):
        ground = body.base == GROUND
        under, from_pole = (UNITS, (ZERO,) * 3) if ground else (turned[body.base], poles[body.base])
        rotation, offset = _joint(body)
        pole = _sum(from_pole, _applied(under, offset))
        poles.append(pole)
        turned.append(_product(under, rotation))
        if any(offset) and body.joint != "free":
            drawings.append(Drawing("link", (from_pole[:entries], pole[:entries])))
        if not tree.carried[k]:
            center = _sum(pole, _applied(turned[k], body.center))
            if any(body.center):
                drawings.append(Drawing("link", (pole[:entries], center[:entries])))
            drawings.append(Drawing("point", (center[:entries],), trace=traced, name=body.name))
    return tuple(drawings)


def _joint(body: Body) -> tuple[tuple, Vector]:
    """(rotation, way from the base's pole) of a body, in base axes."""
    q = [se.Symbol(name) for name in body.coordinates]
    if body.joint == "revolute":
        return axis_rotation(body.axis, se.sin(q[0]), se.cos(q[0])), body.pole
    if body.joint == "prismatic":
        return UNITS, _sum(body.pole, tuple(q[0] * a for a in body.axis))
    if body.joint == "free":
        return quaternion_rotation(tuple(q[3:])), _sum(body.pole, tuple(q[:3]))
    return UNITS, body.pole


def _applied(matrix: tuple, vector: tuple) -> Vector:
    x, y, z = (sum((m * v for m, v in zip(row, vector, strict=True)), ZERO) for row in matrix)
    return x, y, z


def _product(a: tuple, b: tuple) -> tuple:
    columns = [_applied(a, column) for column in zip(*b, strict=True)]
    return tuple(zip(*columns, strict=True))


def _sum(a: tuple, b: tuple) -> Vector:
    x, y, z = (p + q for p, q in zip(a, b, strict=True))
    return x, y, z
