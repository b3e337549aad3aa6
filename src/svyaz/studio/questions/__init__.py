"""Questions that pages ask: each module here declares some as its ANSWERS, functions of the question and of a teller."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from svyaz.expr import ModelError, Problem
from svyaz.json_types import Json


class Tell(Protocol):
    """Tells how far the work is."""

    def __call__(self, done: float, total: float = 1.0) -> None: ...


class Answering(Protocol):
    """A function that answers one kind of question; arrays may stand in the answer."""

    def __call__(self, question: Mapping[str, Json], tell: Tell) -> Mapping[str, object]: ...


@cache
def _answers() -> dict[str, Answering]:
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    return {name: function for module in modules for name, function in getattr(module, "ANSWERS", {}).items()}


def load() -> None:
    """Load what most questions need, before the first one comes."""
    import svyaz.library
    import svyaz.motion

    _answers()
    svyaz.motion.simulate, svyaz.library.load  # noqa: B018 - a public name loads its module


def find(question: Mapping[str, Json]) -> Answering:
    """Who answers a question."""
    kind = question.get("ask")
    if not isinstance(kind, str) or kind not in _answers():
        raise ModelError([Problem(f"nobody here answers '{str(kind)[:40]}'")])
    return _answers()[kind]
