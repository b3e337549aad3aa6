"""The words of the model files: which keys there are, and of what type their values must be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

NUMBER = "a number"
TEXT = "a text"
EXPRESSION = "a number or an expression in quotes"
FLAG = "true or false"
NAMES = "a list of names"
TABLE = "a table"
TABLES = "an array of tables"
ANY = "anything"

MODEL: Mapping[str, str] = {
    "name": TEXT,
    "notes": TEXT,
    "coordinates": NAMES,
    "momenta": NAMES,
    "states": NAMES,
    "kinetic": EXPRESSION,
    "potential": EXPRESSION,
    "lagrangian": EXPRESSION,
    "dissipation": EXPRESSION,
    "hamiltonian": EXPRESSION,
    "gravity": ANY,
    "body": TABLES,
    "dh": TABLE,
    "inertia_check": TEXT,
    "remarks": NAMES,
    "definitions": TABLE,
    "parameters": TABLE,
    "forces": TABLE,
    "inputs": TABLE,
    "rates": TABLE,
    "quasi": TABLE,
    "equations": TABLE,
    "accelerations": TABLE,
    "field": TABLE,
    "free": TABLE,
    "rayleigh": ANY,
    "point": TABLES,
    "constraint": TABLES,
    "motor": TABLES,
    "integral": TABLES,
    "draw": TABLES,
    "initial": TABLE,
    "box": TABLE,
    "run": TABLE,
    "bypass": TABLE,
    "source": TABLE,
}

BODY: Mapping[str, str] = {
    "name": TEXT,
    "base": TEXT,
    "joint": TEXT,
    "coordinate": TEXT,
    "coordinates": NAMES,
    "velocities": NAMES,
    "axis": ANY,
    "pole": ANY,
    "mass": EXPRESSION,
    "center": ANY,
    "inertia": TABLE,
    "central_inertia": TABLE,
}
DH: Mapping[str, str] = {"convention": TEXT, "link": TABLES}
DH_LINK: Mapping[str, str] = {
    **{
        key: BODY[key]
        for key in ("name", "base", "joint", "coordinate", "mass", "center", "inertia", "central_inertia")
    },
    **dict.fromkeys(("alpha", "a", "d", "theta"), EXPRESSION),
}
INERTIA: Mapping[str, str] = dict.fromkeys(("xx", "yy", "zz", "xy", "xz", "yz"), EXPRESSION)

CONSTRAINT: Mapping[str, str] = {
    "name": TEXT,
    "equation": TEXT,
    "dependent": ANY,
    "from": EXPRESSION,
    "until": EXPRESSION,
    "on": EXPRESSION,
    "off": EXPRESSION,
    "impact": TEXT,
    "active": FLAG,
    "anchor": TABLE,
}

POINT: Mapping[str, str] = {"name": TEXT, "body": TEXT, "at": ANY}

MOTOR: Mapping[str, str] = {
    "name": TEXT,
    "current": TEXT,
    "voltage": TEXT,
    "inductance": EXPRESSION,
    "resistance": EXPRESSION,
    "back_emf": EXPRESSION,
    "supply": EXPRESSION,
    "torque": EXPRESSION,
    "shaft": EXPRESSION,
    "on": TEXT,
}

INTEGRAL: Mapping[str, str] = {
    "name": TEXT,
    "expression": EXPRESSION,
    "hold": FLAG,
    "gain": EXPRESSION,
    "value": EXPRESSION,
}

INPUT: Mapping[str, str] = {"value": EXPRESSION, "low": EXPRESSION, "high": EXPRESSION}

DRAW: Mapping[str, str] = {
    "link": ANY,
    "point": ANY,
    "circle": TABLE,
    "spring": ANY,
    "trace": FLAG,
    "name": TEXT,
}
CIRCLE: Mapping[str, str] = {"center": ANY, "radius": EXPRESSION}
DRAW_KINDS = ("link", "point", "circle", "spring")

RUN: Mapping[str, str] = {
    "form": TEXT,
    "method": TEXT,
    "step": EXPRESSION,
    "until": EXPRESSION,
    "stabilize": ANY,
    "rtol": EXPRESSION,
    "atol": EXPRESSION,
    "tolerance": EXPRESSION,
    "every": EXPRESSION,
    "hold": TEXT,
    "charts": TEXT,
}

BYPASS: Mapping[str, str] = {"watch": EXPRESSION, "at": EXPRESSION, "window": EXPRESSION, "jump": EXPRESSION}

SOURCE: Mapping[str, str] = {
    "work": TEXT,
    "published": NAMES,
    "recovered": NAMES,
    "chosen": NAMES,
    "notes": TEXT,
}


def fits(value: Any, kind: str) -> bool:
    """Is the value of the kind that the key wants?"""
    if kind == ANY:
        return True
    if kind == TEXT:
        return isinstance(value, str)
    if kind == FLAG:
        return isinstance(value, bool)
    if kind == NUMBER:
        return is_number(value)
    if kind == EXPRESSION:
        return isinstance(value, str) or is_number(value)
    if kind == NAMES:
        return isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value)
    if kind == TABLE:
        return isinstance(value, Mapping)
    return isinstance(value, list | tuple) and all(isinstance(entry, Mapping) for entry in value)


def is_number(value: Any) -> bool:
    """An integer or a float, but not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def nearest(word: str, words: Iterable[str]) -> str | None:
    """A hint for a mistyped word."""
    close = get_close_matches(word, list(words), n=1, cutoff=0.6)
    return f"did you mean '{close[0]}'?" if close else None
