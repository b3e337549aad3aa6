"""Two turns, R = Rot(n₁, a) Rot(n₂, b): first about an axis of the base, then about one of the body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svyaz.model.joint import Joint, Link
from svyaz.model.joints.revolute import JOINT as REVOLUTE
from svyaz.model.rotations import Vector


@dataclass(frozen=True)
class _Universal(Joint):
    def chain(self, axes: Sequence[Vector]) -> tuple[Link, ...]:
        """A massless cross between the two turns."""
        return ("cross", REVOLUTE, axes[0]), ("", REVOLUTE, axes[1])


JOINT = _Universal("universal", 5, ("a", "b"), "the angles about its two axes", axes=2)
