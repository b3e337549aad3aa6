"""A body that moves freely: place of the pole in the base, unit quaternion; velocities in body axes."""

from __future__ import annotations

from svyaz.model.joint import ANGULAR, LINEAR, QUATERNION, QuaternionJoint

JOINT = QuaternionJoint(
    "free",
    3,
    ("x", "y", "z", *QUATERNION),
    "position, then a unit quaternion with its scalar first",
    (*LINEAR, *ANGULAR),
    quaternion_at=3,
    urdf=("floating",),
)
