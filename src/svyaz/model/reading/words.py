"""The words of the model files: which keys there are, and of what type their values must be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypedDict, TypeGuard, get_type_hints

from svyaz.expr import ModelError, Problem

NUMBER = "a number"
TEXT = "a text"
EXPRESSION = "a number or an expression in quotes"
FLAG = "true or false"
NAMES = "a list of names"
TABLE = "a table"
TABLES = "an array of tables"
ANY = "anything"

Table = Mapping[str, object]
"""What a model file holds under a header: values of any type, until they are checked."""

Value = str | float
Names = Sequence[str]
Tables = Sequence[Table]


class ModelWords(TypedDict, total=False):
    """The words of a model; from Python tables are dictionaries and arrays of tables are lists.

    >>> import svyaz
    >>> words: svyaz.ModelWords = {"coordinates": ["x"], "kinetic": "x'^2/2", "potential": "2*x^2"}
    >>> print(svyaz.System(**words).derive())
    x'' + 4*x = 0
    """

    name: str
    notes: str
    coordinates: Names
    momenta: Names
    states: Names
    kinetic: Value
    potential: Value
    lagrangian: Value
    dissipation: Value
    hamiltonian: Value
    gravity: object
    body: Tables
    dh: Table
    inertia_check: str
    remarks: Names
    definitions: Table
    parameters: Table
    forces: Table
    inputs: Table
    rates: Table
    quasi: Table
    equations: Table
    accelerations: Table
    field: Table
    free: Table
    rayleigh: object
    point: Tables
    constraint: Tables
    motor: Tables
    stream: Tables
    integral: Tables
    draw: Tables
    initial: Table
    box: Table
    limits: Table
    outputs: Table
    units: Table
    run: Table
    source: Table


class RunWords(TypedDict, total=False):
    """The words of [run]: how a motion is computed unless something else is asked for. Numbers may be expressions."""

    form: str
    method: str
    step: Value
    until: Value
    stabilize: object
    rtol: Value
    atol: Value
    tolerance: object
    every: Value
    hold: str
    charts: str
    written: Value
    momenta: Names


_KINDS = {str: TEXT, Value: EXPRESSION, Names: NAMES, Table: TABLE, Tables: TABLES, object: ANY}

MODEL: Mapping[str, str] = {key: _KINDS[hint] for key, hint in get_type_hints(ModelWords).items()}
RUN: Mapping[str, str] = {key: _KINDS[hint] for key, hint in get_type_hints(RunWords).items()}

ENERGIES = ("kinetic", "potential", "lagrangian", "hamiltonian", "dissipation")

BODY: Mapping[str, str] = {
    "name": TEXT,
    "base": TEXT,
    "joint": TEXT,
    "coordinate": TEXT,
    "coordinates": NAMES,
    "velocities": NAMES,
    "axis": ANY,
    "axes": ANY,
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
    "restitution": EXPRESSION,
    "friction": TABLE,
    "active": FLAG,
    "anchor": TABLE,
    "direction": ANY,
    "law": EXPRESSION,
}

FRICTION: Mapping[str, str] = {"sliding": EXPRESSION, "static": EXPRESSION, "along": ANY}

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

STREAM: Mapping[str, str] = {"name": TEXT, "mass": EXPRESSION, "at": ANY, "relative": ANY, "absolute": ANY}

INTEGRAL: Mapping[str, str] = {
    "name": TEXT,
    "expression": EXPRESSION,
    "hold": FLAG,
    "gain": EXPRESSION,
    "value": EXPRESSION,
    "law": EXPRESSION,
}

INPUT: Mapping[str, str] = {"value": EXPRESSION, "low": EXPRESSION, "high": EXPRESSION}

LIMIT: Mapping[str, str] = {"of": EXPRESSION, "low": EXPRESSION, "high": EXPRESSION}

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

SOURCE: Mapping[str, str] = {
    "work": TEXT,
    "published": NAMES,
    "recovered": NAMES,
    "chosen": NAMES,
    "notes": TEXT,
}


def fits(value: object, kind: str) -> bool:
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


def is_number(value: object) -> TypeGuard[float]:
    """An integer or a float, but not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def table(words: Table, key: str) -> Table:
    """The table under a key; an empty one if there is none."""
    value = words.get(key, {})
    return value if isinstance(value, Mapping) else {}


def tables(words: Table, key: str) -> Tables:
    """The array of tables under a key; an empty one if there is none."""
    value = words.get(key, ())
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list | tuple) else []


def names(words: Table, key: str) -> Names:
    """The list of names under a key; an empty one if there is none."""
    value = words.get(key, ())
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list | tuple) else []


def text(words: Table, key: str, default: str = "") -> str:
    """The text under a key."""
    value = words.get(key, default)
    return value if isinstance(value, str) else default


def nearest(word: str, words: Iterable[str]) -> str | None:
    """A hint for a mistyped word."""
    close = nearest_of(word, words)
    return None if close is None else f"did you mean '{close}'?"


def refuse_unknown(argument: str, names: Iterable[str], known: Collection[str]) -> None:
    """A ModelError for the first of the names in an argument that is not known."""
    for name in names:
        if name not in known:
            raise ModelError(
                [Problem(f"'{argument}': '{name}' is not among {', '.join(known)}", hint=nearest(name, known))]
            )


def nearest_of(word: str, words: Iterable[str]) -> str | None:
    """The word that was probably meant: letters large or small, or a slip."""
    known = list(words)
    same = [other for other in known if other.casefold() == word.casefold()]
    close = same or get_close_matches(word, known, n=1, cutoff=0.6)
    return close[0] if close else None
