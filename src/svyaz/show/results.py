"""How results are written: as JSON, and as HTML and LaTeX for notebooks.

The results of a room are written in the file of ``show/records`` that has the name of the room. It registers a function
for each type and is loaded when a result of the room is first to be written::

    @as_json.register(Equilibria)
    def _(found: Equilibria) -> Record: ...
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import singledispatch
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from svyaz.extras import MissingLibrary
from svyaz.json_types import Record

if TYPE_CHECKING:
    import xarray

    from svyaz.model import System

RECORDS = "svyaz.show.records"


@singledispatch
def as_json(result: object) -> Record:
    """A result as it is written to files: names, numbers and texts."""
    _load_records(result)
    return as_json(result)


@singledispatch
def html_of(result: object) -> str:
    """A result as a piece of HTML."""
    _load_records(result)
    return html_of(result)


@singledispatch
def latex_of(result: object) -> str:
    """A result as a displayed formula of LaTeX."""
    _load_records(result)
    return latex_of(result)


def dataset_html(columns: Callable[[], xarray.Dataset]) -> str:
    """Columns as xarray shows them, or the word that it is not installed."""
    try:
        shown: str = columns()._repr_html_()
        return shown
    except MissingLibrary as missing:
        return f"<p>{escape(str(missing))}</p>"


def finite(value: float | None) -> float | None:
    """A number as JSON can hold it, which knows neither NaN nor infinity; None for those."""
    return float(value) if value is not None and math.isfinite(value) else None


def given(system: System) -> Record:
    """The numbers with which a model was asked."""
    initial = dict(zip(system.states, system.initial_state(), strict=True))
    return {"parameters": dict(system.constants), "initial": initial}


def _load_records(result: object) -> None:
    """Load the writers of the room that the type of a result comes from; TypeError if they were loaded and know it not."""
    homes = [cls.__module__.split(".") for cls in type(result).__mro__]
    files = [f"{RECORDS}.{home[1]}" for home in homes if home[0] == "svyaz" and len(home) > 1]
    missing = [file for file in files if file not in sys.modules and find_spec(file) is not None]
    if not missing:
        raise TypeError(f"a {type(result).__name__} is not written in this way")
    for file in missing:
        import_module(file)
