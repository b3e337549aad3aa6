"""Energies of a tree: T = ½ Σ (m v² + 2 v·(ω × d) + ω·I ω), P = -Σ g·(m r + d), pole by pole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import symengine as se

from svyaz.expr import Expression, add_up
from svyaz.forms.tree.recursions.algebra import (
    Element,
    Elements,
    Vector,
    applied,
    cross,
    dot,
    expressions,
    plus,
    tensor_applied,
    times,
)
from svyaz.forms.tree.recursions.newton_euler import joint_motion
from svyaz.forms.tree.recursions.places import Placed, placed
from svyaz.model import GROUND, Tree


@lru_cache(maxsize=16)
def energies(tree: Tree) -> tuple[Expression, Expression]:
    """(T, P) as expressions of coordinates and velocities; P is zero in the ground pole with all mass there."""
    elements = expressions()
    bodies = placed(tree, {q: se.Symbol(q) for q in tree.coordinates}, elements)
    return energies_of(bodies, tree.gravity, [se.Symbol(v) for v in tree.velocities], elements)


def potential_outward(tree: Tree) -> Expression:
    """P = -Σ (m g·r + g·d), with g in the axes of each body and g·r of each pole carried outward from its base."""
    elements = expressions()
    down: list[tuple[Vector, Element]] = []
    terms: list[Element] = []
    for body in placed(tree, {q: se.Symbol(q) for q in tree.coordinates}, elements):
        base = body.body.base
        gravity, height = (tree.gravity, elements.zero) if base == GROUND else down[base]
        here = applied(body.back, gravity), height + dot(gravity, body.offset)
        down.append(here)
        terms.append(body.mass * here[1] + dot(here[0], body.moment))
    return -add_up(terms)


def energies_of(
    bodies: Sequence[Placed], gravity: Vector, velocities: Sequence[Element], elements: Elements
) -> tuple[Element, Element]:
    """(T, P) of placed bodies with these velocities."""
    none: Vector = (elements.zero,) * 3
    motions: list[tuple[Vector, Vector]] = []
    kinetic = elements.zero
    first = 0
    for body in bodies:
        base = body.body.base
        omega_b, v_b = (none, none) if base == GROUND else motions[base]
        omega_j, v_j = joint_motion(body, velocities, first, none)
        first += len(body.turns)
        omega = plus(applied(body.back, omega_b), omega_j)
        v = plus(applied(body.back, plus(v_b, cross(omega_b, body.offset))), v_j)
        motions.append((omega, v))
        double = body.mass * dot(v, v) + dot(omega, tensor_applied(body.inertia, omega))
        kinetic = kinetic + double / 2 + dot(v, cross(omega, body.moment))
    return kinetic, -dot(gravity, _first_moment(bodies, none))


def _first_moment(bodies: Sequence[Placed], none: Vector) -> Vector:
    """Σ (m r + d) over all bodies, in ground axes."""
    moments: list[Vector] = [body.moment for body in bodies]
    masses = [body.mass for body in bodies]
    total: Vector = none
    for k in range(len(bodies) - 1, -1, -1):
        carried = plus(applied(bodies[k].rotation, moments[k]), times(masses[k], bodies[k].offset))
        base = bodies[k].body.base
        if base == GROUND:
            total = plus(total, carried)
        else:
            moments[base] = plus(moments[base], carried)
            masses[base] = masses[base] + masses[k]
    return total
