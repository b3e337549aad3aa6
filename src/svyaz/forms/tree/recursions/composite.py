"""The mass matrix by composite bodies (M. W. Walker, D. E. Orin, 1982).

Each body with all that it carries is one rigid body of mass m, first moment d and inertia I about its pole, all in body
axes. Carried to the base with the rotation R and the way p from pole to pole (d' = R d):

    m_b += m,   d_b += d' + m p,   I_b += R I Rᵀ + m (p² 1 - p pᵀ) + 2 (p·d') 1 - p d'ᵀ - d' pᵀ.

A unit acceleration of a joint, α about the pole and a of the pole, needs the force f = m a + α × d and the moment
N = d × a + I α; these are carried down to the ground and projected on the directions of the joints on the way.
"""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.forms.tree.recursions.algebra import (
    Element,
    Elements,
    Symmetric,
    Vector,
    applied,
    cross,
    dot,
    offset_inertia,
    plus,
    point_inertia,
    tensor_applied,
    tensor_plus,
    tensor_turned,
    times,
)
from svyaz.forms.tree.recursions.places import Placed
from svyaz.model import GROUND

Composite = tuple[Element, Vector, Symmetric]


def composites(bodies: Sequence[Placed]) -> list[Composite]:
    """(m, d, I) of each body with all that it carries, in its own axes."""
    found: list[Composite] = [(b.mass, b.moment, b.inertia) for b in bodies]
    for k in range(len(bodies) - 1, -1, -1):
        base = bodies[k].body.base
        if base != GROUND:
            found[base] = joined(found[base], found[k], bodies[k])
    return found


def joined(base: Composite, carried: Composite, joint: Placed) -> Composite:
    """A base with what it carries, in the axes of the base."""
    mass, moment, inertia = carried
    turned = applied(joint.rotation, moment)
    p = joint.offset
    shifted = tensor_plus(point_inertia(mass, p), offset_inertia(p, turned))
    return (
        base[0] + mass,
        plus(base[1], plus(turned, times(mass, p))),
        tensor_plus(base[2], tensor_plus(tensor_turned(joint.rotation, inertia), shifted)),
    )


def mass_matrix(bodies: Sequence[Placed], elements: Elements) -> list[list[Element]]:
    """M (n × n), n the number of velocities."""
    first, count = _numbering(bodies)
    matrix = [[elements.zero] * count for _ in range(count)]
    for k, (mass, moment, inertia) in enumerate(composites(bodies)):
        for column, (turn, slide) in enumerate(zip(bodies[k].turns, bodies[k].slides, strict=True)):
            force = plus(times(mass, slide), cross(turn, moment))
            torque = plus(cross(moment, slide), tensor_applied(inertia, turn))
            _project(bodies, matrix, first, k, column, force, torque)
    return matrix


def _project(
    bodies: Sequence[Placed],
    matrix: list[list[Element]],
    first: Sequence[int],
    k: int,
    column: int,
    force: Vector,
    torque: Vector,
) -> None:
    """Write a column of M: the force and moment of one unit acceleration, felt by all joints down to the ground."""
    place = first[k] + column
    i = k
    while True:
        for row, (turn, slide) in enumerate(zip(bodies[i].turns, bodies[i].slides, strict=True)):
            matrix[first[i] + row][place] = matrix[place][first[i] + row] = dot(turn, torque) + dot(slide, force)
        base = bodies[i].body.base
        if base == GROUND:
            return
        force = applied(bodies[i].rotation, force)
        torque = plus(applied(bodies[i].rotation, torque), cross(bodies[i].offset, force))
        i = base


def _numbering(bodies: Sequence[Placed]) -> tuple[list[int], int]:
    first, count = [], 0
    for body in bodies:
        first.append(count)
        count += len(body.turns)
    return first, count
