"""A body that is part of its base."""

from __future__ import annotations

from svyaz.model.joint import Joint

JOINT = Joint("fixed", 2, urdf=("fixed",))
