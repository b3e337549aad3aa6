"""svyaz: mechanical systems from a written model to native motion.

>>> import svyaz
>>> system = svyaz.load("pendulum.toml")      # doctest: +SKIP

Importing the package loads nothing else: each public name is looked up in its own room when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svyaz.expr import ModelError as ModelError
    from svyaz.model import System as System
    from svyaz.model import load as load
    from svyaz.model import loads as loads
    from svyaz.motion import Motion as Motion

__version__ = "0.1.0"

PUBLIC = {
    "ModelError": "svyaz.expr",
    "Motion": "svyaz.motion",
    "System": "svyaz.model",
    "load": "svyaz.model",
    "loads": "svyaz.model",
}
"""Public name → the room that defines it."""


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"module 'svyaz' has no attribute {name!r}")
    return getattr(import_module(PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted([*PUBLIC, "__version__"])
