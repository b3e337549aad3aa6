"""What all questions share: the model that is asked about, and options in the words of the commands."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING

from svyaz.expr import ModelError, Problem
from svyaz.json_types import Json
from svyaz.library import System, loads, value_of
from svyaz.motion import ModelOptions

if TYPE_CHECKING:
    from svyaz.motion import Law

Table = Mapping[str, Json]


@dataclass(frozen=True)
class Asked:
    """A system with the values that were set, the laws of its inputs, and what else was asked."""

    system: System
    laws: Mapping[str, Law]
    options: Table


def read_question(question: Table) -> Asked:
    """The model of a question, read and set."""
    from svyaz.motion import is_law

    bare = _read(*model_text(question))
    settings = {name: _word(value) for name, value in table(question, "settings").items()}
    laws: dict[str, Law] = {n: str(v) for n, v in settings.items() if n in bare.inputs and is_law(bare, n, str(v))}
    rest = {name: value for name, value in settings.items() if name not in laws}
    return Asked(bare.with_settings(rest) if rest else bare, laws, table(question, "options"))


@lru_cache(maxsize=8)
def _read(text: str, name: str) -> System:
    return loads(text, name, within=".")  # the folder of the studio


def model_text(question: Table) -> tuple[str, str]:
    """The text of the model that is asked about, and its name: written on the page, or of the gallery."""
    from svyaz.gallery import find

    model = table(question, "model")
    name, text = str(model.get("name") or "model"), model.get("text")
    if isinstance(text, str):
        return text, name
    found = find(name, {what: str(choice) for what, choice in table(model, "variant").items()})
    if found is None:
        raise ModelError([Problem(f"the gallery has no model '{name[:60]}'")])
    return found, name


def _word(value: Json) -> object:
    return value if isinstance(value, str | int | float | bool) else str(value)


def table(given: Table, name: str) -> Table:
    """A table among options; empty where there is none."""
    found = given.get(name)
    if found is None:
        return {}
    if not isinstance(found, Mapping):
        raise _bad(name, "a table")
    return found


def texts(given: Table, name: str) -> tuple[str, ...]:
    """A list of texts, or one with commas."""
    found = given.get(name)
    if found is None:
        return ()
    if isinstance(found, str):
        return tuple(part.strip() for part in found.split(",") if part.strip())
    if not isinstance(found, Sequence) or not all(isinstance(part, str) for part in found):
        raise _bad(name, "a list of texts")
    return tuple(map(str, found))


def text(given: Table, name: str) -> str | None:
    """A text; None where there is none, or an empty one."""
    found = given.get(name)
    if found is not None and not isinstance(found, str):
        raise _bad(name, "a text")
    return found or None


def flag(given: Table, name: str) -> bool:
    """Was it said?"""
    return given.get(name) is True


def number(given: Table, name: str, system: System) -> float | None:
    """A number, or an expression of parameters; None where there is none."""
    found = given.get(name)
    if found is None or found == "":
        return None
    return quantity(found, system, name)


def quantity(value: Json, system: System, what: str) -> float:
    """A number, or the value of an expression of parameters."""
    if isinstance(value, str):
        return value_of(value, system, what)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise _bad(what, "a number")
    return float(value)


def quantities(given: Table, name: str, system: System) -> dict[str, float]:
    """Values by name."""
    return {key: quantity(value, system, f"{name} {key}") for key, value in table(given, name).items() if value != ""}


def ranges(given: Table, name: str, system: System) -> dict[str, tuple[float, float]]:
    """(low, high) by name."""
    found = {}
    for key, sides in table(given, name).items():
        if isinstance(sides, str) or not isinstance(sides, Sequence) or len(sides) != 2:
            raise _bad(f"{name} {key}", "a range of two numbers")
        low, high = (quantity(side, system, f"{name} {key}") for side in sides)
        if not low < high:
            raise ModelError([Problem(f"{name} {key}: the range is empty")])
        found[key] = (low, high)
    return found


def run_options(given: Table, system: System) -> ModelOptions:
    """How a motion is to be computed."""
    tolerance = given.get("tolerance")
    return {
        "form": text(given, "form"),
        "method": text(given, "method"),
        "step": number(given, "step", system),
        "rtol": number(given, "rtol", system),
        "atol": number(given, "atol", system),
        "tolerance": quantities(given, "tolerance", system)
        if isinstance(tolerance, Mapping)
        else number(given, "tolerance", system),
        "until": number(given, "until", system),
        "every": number(given, "every", system),
        "stabilize": _stabilize(given.get("stabilize")),
    }


def _stabilize(given: Json) -> str | float | Mapping[str, Json] | None:
    """off, auto, projection, a number, or a table, as in a model file or as itself."""
    if given is None or given == "":
        return None
    if isinstance(given, Mapping) or (isinstance(given, int | float) and not isinstance(given, bool)):
        return given
    if given in ("off", "auto", "projection"):
        return str(given)
    try:
        found = tomllib.loads(f"stabilize = {given}")["stabilize"]
    except tomllib.TOMLDecodeError:
        found = None
    if not isinstance(found, int | float | dict) or isinstance(found, bool):
        raise _bad("stabilize", "off, auto, projection, a number or a table such as {alpha = 20, beta = 100}")
    return found


def _bad(name: str, kind: str) -> ModelError:
    return ModelError([Problem(f"'{name[:60]}' must be {kind}")])
