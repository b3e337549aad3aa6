"""Two slides in a plane of the base and a turn about its normal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svyaz.model.joint import Joint, Link
from svyaz.model.joints.prismatic import JOINT as PRISMATIC
from svyaz.model.joints.revolute import JOINT as REVOLUTE
from svyaz.model.rotations import Vector, across


@dataclass(frozen=True)
class _Planar(Joint):
    def chain(self, axes: Sequence[Vector]) -> tuple[Link, ...]:
        """Slides along x and y, two massless bodies, then the turn; with the normal they are a right-handed triple."""
        x, y = across(axes[0])
        return ("x", PRISMATIC, x), ("y", PRISMATIC, y), ("", REVOLUTE, axes[0])


JOINT = _Planar(
    "planar", 6, ("x", "y", "a"), "two ways in the plane and the angle", axes=1, axis=(0, 0, 1), urdf=("planar",)
)
