"""The kinds of joints, one file each. A file declares itself by ``JOINT``."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from svyaz.model.joint import Joint


@cache
def all_joints() -> dict[str, Joint]:
    """The kinds of this folder by their names, in the order of their ranks."""
    found = [import_module(f"{__name__}.{module.name}").JOINT for module in iter_modules(__path__)]
    return {joint.name: joint for joint in sorted(found, key=lambda joint: joint.rank)}
