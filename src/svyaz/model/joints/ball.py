"""A body that turns freely about its pole: unit quaternion; angular velocity in body axes."""

from __future__ import annotations

from svyaz.model.joint import ANGULAR, QUATERNION, QuaternionJoint

JOINT = QuaternionJoint("ball", 4, QUATERNION, "a unit quaternion with its scalar first", ANGULAR, quaternion_at=0)
