"""svyaz: mechanical systems from a written model to native motion.

>>> import svyaz
>>> system = svyaz.load("pendulum.toml")      # doctest: +SKIP

Importing the package loads nothing else: each public name is looked up in its own room when it is first used.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__version__ = "0.1.0"


class _Door(ModuleType):
    """A package that loads the names it offers when they are first asked for."""

    def __getattr__(self, name: str) -> object:
        home = self.__dict__["_homes"].get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["_homes"]})


def open_door(package: str) -> None:
    """Offer the names that the package imports for the type checker, ``from home import name as name``, each loaded late.

    So a name is written once: mypy follows the import, and this reads it from the same line.
    """
    module = sys.modules[package]
    loader = module.__spec__.loader if module.__spec__ else None
    source = loader.get_source(package) if loader is not None and hasattr(loader, "get_source") else ""
    homes = {
        name: home for home, name in re.findall(r"^    from (\S+) import (\w+) as \2$", source or "", re.MULTILINE)
    }
    module.__dict__.update(_homes=homes, __all__=sorted(homes))
    module.__class__ = _Door


if TYPE_CHECKING:
    from svyaz.expr import ModelError as ModelError
    from svyaz.library import System as System
    from svyaz.library import load as load
    from svyaz.library import loads as loads
    from svyaz.motion import Motion as Motion
else:
    open_door(__name__)
