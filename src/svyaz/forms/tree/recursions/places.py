"""Where the bodies are: for each joint the rotation from body to base and the way from pole to pole.

A joint's motion is described by its directions: the angular velocity and the velocity of the pole, both in body axes, for each
of its velocities (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 4, with the two parts kept apart).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from svyaz.forms.tree.recursions.algebra import Element, Elements, Matrix, Symmetric, Vector, plus, times, transposed
from svyaz.model import Body, Tree, axis_rotation, quaternion_rotation


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
    zero, one = elements.zero, elements.one
    none: Vector = (zero, zero, zero)
    rotation: Matrix = ((one, zero, zero), (zero, one, zero), (zero, zero, one))
    units = rotation
    offset: Vector = body.pole
    turns: tuple[Vector, ...] = ()
    slides: tuple[Vector, ...] = ()
    if body.joint == "revolute":
        rotation = axis_rotation(body.axis, elements.sin(values[0]), elements.cos(values[0]))
        turns, slides = (body.axis,), (none,)
    elif body.joint == "prismatic":
        offset = plus(body.pole, times(values[0], body.axis))
        turns, slides = (none,), (body.axis,)
    elif body.joint == "free":
        rotation = quaternion_rotation((values[3], values[4], values[5], values[6]))
        offset = plus(body.pole, (values[0], values[1], values[2]))
        turns, slides = (none, none, none, *units), (*units, none, none, none)
    xx, yy, zz, xy, xz, yz = body.inertia
    return Placed(
        body=body,
        rotation=rotation,
        offset=offset,
        mass=body.mass,
        moment=times(body.mass, body.center),
        inertia=(xx, yy, zz, -xy, -xz, -yz),
        turns=turns,
        slides=slides,
    )
