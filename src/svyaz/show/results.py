"""How results are written: as JSON, and as HTML and LaTeX for notebooks.

The results of a room are written in the files of ``show/records`` (JSON and LaTeX) and ``show/pieces`` (HTML, and a line)
that have the name of the room. They register a function for each type and are loaded when a result of the room is first to
be written::

    @as_json.register(Equilibria)
    def _(found: Equilibria) -> Record: ...
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import singledispatch
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from svyaz.json_types import Record

if TYPE_CHECKING:
    from svyaz.model import System

RECORDS, PIECES = "svyaz.show.records", "svyaz.show.pieces"


@singledispatch
def as_json(result: object) -> Record:
    """A result as it is written to files: names, numbers and texts.

    >>> import svyaz
    >>> svyaz.as_json(svyaz.load("pendulum:1").simulate(until=1))["steps"] > 0
    True
    """
    _load_writers(result, RECORDS)
    return as_json(result)


@singledispatch
def html_of(result: object) -> str:
    """A result as a piece of HTML."""
    _load_writers(result, PIECES)
    return html_of(result)


@singledispatch
def latex_of(result: object) -> str:
    """A result as a displayed formula of LaTeX."""
    _load_writers(result, RECORDS)
    return latex_of(result)


@singledispatch
def line_of(result: object) -> str:
    """A result in one line, after the name of its type: of what it is, and what was found."""
    _load_writers(result, PIECES)
    return line_of(result)


def is_written(way: Callable[[object], object], result: object) -> bool:
    """Is the type of a result known to one of these functions?"""
    for package in (RECORDS, PIECES):
        with suppress(TypeError):
            _load_writers(result, package)
    dispatch = getattr(way, "dispatch")  # noqa: B009 - mypy knows only that it can be called
    return dispatch(type(result)) is not dispatch(object)


def finite(value: float | None) -> float | None:
    """A number as JSON can hold it, which knows neither NaN nor infinity; None for those."""
    return float(value) if value is not None and math.isfinite(value) else None


def stated_numbers(system: System) -> Record:
    """The numbers with which a model was asked."""
    initial = dict(zip(system.states, system.initial_state(), strict=True))
    return {"parameters": dict(system.constants), "initial": initial}


def _load_writers(result: object, package: str) -> None:
    """Load the writers of the room that the type of a result comes from; TypeError if they were loaded and know it not."""
    homes = [cls.__module__.split(".") for cls in type(result).__mro__]
    files = [f"{package}.{home[1]}" for home in homes if home[0] == "svyaz" and len(home) > 1]
    missing = [file for file in files if file not in sys.modules and find_spec(file) is not None]
    if not missing:
        raise TypeError(f"a {type(result).__name__} is not written in this way")
    for file in missing:
        import_module(file)
