"""Where the bodies are: for each joint the rotation from body to base and the way from pole to pole.

A joint's motion is described by its directions: the angular velocity and the velocity of the pole, both in body axes, for each
of its velocities (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 4, with the two parts kept apart).
Bodies that are fixed to their base are welded into one body with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import Expression
from svyaz.forms.tree.recursions.algebra import (
    Element,
    Elements,
    Matrix,
    Symmetric,
    Vector,
    applied,
    offset_inertia,
    plus,
    point_inertia,
    tensor_plus,
    tensor_turned,
    times,
    transposed,
)
from svyaz.model import GROUND, Body, Tree

EXACT = 1e-14
"""Entries of a rotation so near to a whole number are that number."""


@dataclass(frozen=True)
class Placed:
    """A body at given coordinates: ``rotation`` takes its vectors to the axes of its base, ``offset`` leads from the
    base's pole to its own, in base axes; ``moment`` is its first moment (mass times centre), ``inertia`` the tensor about
    its pole, both in body axes. ``turns`` and ``slides`` have a vector in body axes for each velocity of the joint.
    """

    body: Body
    rotation: Matrix
    offset: Vector
    mass: Element
    moment: Vector
    inertia: Symmetric
    turns: tuple[Vector, ...]
    slides: tuple[Vector, ...]

    @cached_property
    def back(self) -> Matrix:
        """From the axes of the base to those of the body."""
        return transposed(self.rotation)


def placed(tree: Tree, coordinates: Mapping[str, Element], elements: Elements) -> list[Placed]:
    """All bodies at the given values of the coordinates."""
    return [place(body, [coordinates[q] for q in body.coordinates], elements) for body in tree.bodies]


def place(body: Body, values: list[Element], elements: Elements) -> Placed:
    """One body at the values of its own coordinates."""
    if body.offset != 0:
        values = [value + body.offset for value in values]
    rotation, way = body.kind.pose(body.axis, values, elements)
    turns, slides = body.kind.directions(body.axis, elements)
    xx, yy, zz, xy, xz, yz = body.inertia
    return Placed(
        body=body,
        rotation=rotation,
        offset=plus(body.pole, way),
        mass=body.mass,
        moment=times(body.mass, body.center),
        inertia=(xx, yy, zz, -xy, -xz, -yz),
        turns=turns,
        slides=slides,
    )


def placed_along_axes(tree: Tree, coordinates: Mapping[str, Element], elements: Elements) -> list[Placed]:
    """All bodies as ``placed`` has them, in axes of their own in which their joints turn or slide along a coordinate axis.

    C takes vectors from the axes of a body here to those of the tree. A body has the axes of its base where its joint has a
    coordinate axis in them, as most have in files of robots; then R' = C_baseᵀ R C is a plain turn. Ball and free joints keep
    the axes of the tree, in which their velocities are given, and so do joints along symbols. For expressions.
    """
    turns: list[Array] = []
    found = []
    for body in tree.bodies:
        base = np.eye(3) if body.base == GROUND else turns[body.base]
        own, axis = _along_axis(base, body)
        turns.append(own)
        if np.array_equal(base, np.eye(3)) and np.array_equal(own, np.eye(3)):
            found.append(place(body, [coordinates[q] for q in body.coordinates], elements))
            continue
        here = place(
            replace(body, axis=axis, pole=(elements.zero,) * 3), [coordinates[q] for q in body.coordinates], elements
        )
        to_base, between, back = _exact(base.T), _exact(base.T @ own), _exact(own.T)
        columns = [applied(between, column) for column in transposed(here.rotation)]
        found.append(
            replace(
                here,
                rotation=transposed((columns[0], columns[1], columns[2])),
                offset=plus(_plain(applied(to_base, body.pole)), applied(between, here.offset)),
                moment=_plain(applied(back, here.moment)),
                inertia=_plain(tensor_turned(back, here.inertia)),
            )
        )
    return found


def _along_axis(base: Array, body: Body) -> tuple[Array, Vector]:
    """Axes of a body, as near as may be to those of its base, and the axis of its joint in them."""
    if body.kind.axes != 1 or not all(se.sympify(entry).is_Number for entry in body.axis):
        return np.eye(3), body.axis
    seen = base.T @ np.array([float(entry) for entry in body.axis])
    unit = np.where(np.arange(3) == np.argmax(np.abs(seen)), np.sign(seen), 0.0)
    across = np.cross(unit, seen)
    own = base
    if np.abs(across).max() > EXACT:  # the shortest turn from the coordinate axis to that of the joint
        skew = np.cross(np.eye(3), across)
        own = base @ (np.eye(3) + skew + skew @ skew / (1.0 + unit @ seen))
    x, y, z = (se.Integer(int(entry)) for entry in unit)
    return own, (x, y, z)


Several = TypeVar("Several", bound=tuple)


def _plain(entries: Several) -> Several:
    """Constants without terms that rounding alone has left."""
    found = []
    for entry in entries:
        terms = se.expand(se.sympify(entry)).as_coefficients_dict()
        large = EXACT * max((abs(float(value)) for value in terms.values()), default=0.0)
        found.append(
            sum((_number(float(c)) * term for term, c in terms.items() if abs(float(c)) > large), se.Integer(0))
        )
    return type(entries)(found)


def _exact(rotation: Array) -> Matrix:
    """A rotation as expressions, with whole numbers where they are meant: the optimiser leaves these out."""
    x, y, z = (tuple(map(_number, row)) for row in rotation)
    return x, y, z


def _number(value: float) -> Expression:
    return se.Integer(round(value)) if abs(value - round(value)) <= EXACT else se.RealDouble(value)


def welded(tree: Tree, elements: Elements) -> Tree:
    """The same motion with fewer bodies. Bodies fixed to the ground are left out, as nothing of them moves.

    The centre of a body is kept as mass times centre over mass; a massless body with a first moment cannot be.
    """
    if all(body.freedoms for body in tree.bodies):
        return tree
    if tree.straight is not None:
        return replace(welded(replace(tree, straight=None), elements), straight=welded(tree.straight, elements))
    zero = elements.zero
    kept: list[int] = []
    homes: list[tuple[int, tuple]] = []
    grown: dict[int, list[tuple[Body, tuple]]] = {}
    for k, body in enumerate(tree.bodies):
        base, way = (GROUND, (zero, zero, zero)) if body.base == GROUND else homes[body.base]
        if not body.freedoms:
            homes.append((base, plus(way, body.pole)))
            if base != GROUND:
                grown[base].append((body, plus(way, body.pole)))
        else:
            homes.append((len(kept), (zero, zero, zero)))
            grown[len(kept)] = [(replace(body, base=base, pole=plus(way, body.pole)), (zero, zero, zero))]
            kept.append(k)
    return Tree(tuple(_joined(grown[k]) for k in range(len(kept))), tree.gravity)


def _joined(parts: list[tuple[Body, tuple]]) -> Body:
    first = parts[0][0]
    if len(parts) == 1:
        return first
    mass, moment, inertia = first.mass, times(first.mass, first.center), first.inertia
    for body, way in parts[1:]:
        own = times(body.mass, body.center)
        xx, yy, zz, xy, xz, yz = tensor_plus(point_inertia(body.mass, way), offset_inertia(way, own))
        mass = mass + body.mass
        moment = plus(moment, plus(own, times(body.mass, way)))
        inertia = tensor_plus(tensor_plus(inertia, body.inertia), (xx, yy, zz, -xy, -xz, -yz))
    center = moment if mass == 0 else times(1 / mass, moment)
    return replace(first, mass=mass, center=center, inertia=inertia)
