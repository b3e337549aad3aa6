"""A turn about an axis, by an angle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svyaz.expr import Expression
from svyaz.model.joint import Elements, Joint, Vectors, still
from svyaz.model.rotations import Rotation, Vector, axis_rotation


@dataclass(frozen=True)
class _Revolute(Joint):
    def pose(self, axis: Vector, values: Sequence[Expression], elements: Elements) -> tuple[Rotation, Vector]:
        """Rot(n, q)."""
        return axis_rotation(axis, elements.sin(values[0]), elements.cos(values[0])), still(elements)

    def directions(self, axis: Vector, elements: Elements) -> tuple[Vectors, Vectors]:
        """n, the same in body and base."""
        return (axis,), (still(elements),)


JOINT = _Revolute("revolute", 0, ("q",), axes=1, turns=True, urdf=("revolute", "continuous"))
