"""Where the bodies are: for each joint the rotation from body to base and the way from pole to pole.

A joint's motion is described by its directions: the angular velocity and the velocity of the pole, both in body axes, for each
of its velocities (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 4, with the two parts kept apart).
Bodies that are fixed to their base are welded into one body with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from svyaz.forms.tree.recursions.algebra import (
    Element,
    Elements,
    Matrix,
    Symmetric,
    Vector,
    offset_inertia,
    plus,
    point_inertia,
    tensor_plus,
    times,
    transposed,
)
from svyaz.model import GROUND, Body, Tree


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
