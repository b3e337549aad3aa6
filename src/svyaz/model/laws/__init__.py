"""The laws of systems, one file each: the statement, and the words by which a model makes it.

A file declares itself by ``LAW``; a model follows the first law, in the order of their ranks, that is known by its words.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from svyaz.model.reading.common import LawWords


@cache
def all_laws() -> tuple[LawWords, ...]:
    """The laws of this folder, in the order in which a model is asked for them."""
    found = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
    return tuple(sorted((module.LAW for module in found), key=lambda law: law.rank))
