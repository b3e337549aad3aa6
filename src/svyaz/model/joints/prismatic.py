"""A slide along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svyaz.expr import Expression
from svyaz.model.joint import Elements, Joint, Vectors, still, units
from svyaz.model.rotations import Rotation, Vector


@dataclass(frozen=True)
class _Prismatic(Joint):
    def pose(self, axis: Vector, values: Sequence[Expression], elements: Elements) -> tuple[Rotation, Vector]:
        """The way q n."""
        x, y, z = axis
        return units(elements), (values[0] * x, values[0] * y, values[0] * z)

    def directions(self, axis: Vector, elements: Elements) -> tuple[Vectors, Vectors]:
        """n, the same in body and base."""
        return (still(elements),), (axis,)


JOINT = _Prismatic("prismatic", 1, ("q",), axes=1, slides=True, urdf=("prismatic",))
