"""Model files: TOML or URDF text to System."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import SupportsFloat

from svyaz.expr import ModelError, Problem
from svyaz.model.named_files import read_named
from svyaz.model.reading.parts import Choices
from svyaz.model.reading.places import Places, read_toml
from svyaz.model.reading.rules import rule_tables
from svyaz.model.reading.whole import system_of
from svyaz.model.reading.words import Table, is_number, names, nearest, table, tables, text
from svyaz.model.system import System

URDF_SUFFIX = ".urdf"
URDF_KEYS = ("urdf", "free_base", "damping")
MERGED = ("parameters", "initial", "forces", "box", "limits")
"""Tables in which what a model file says is added to what follows from its URDF."""


def read_file(
    path: str | Path, *, free_base: bool = False, damping: bool = False, choices: Choices | None = None
) -> System:
    """Read a model file; of a URDF the root is free, and the damping of its joints acts, if that is asked for."""
    path = Path(path)
    text = read_named(path, "model file")
    if path.suffix.lower() == URDF_SUFFIX or _is_xml(text):
        return system_of(*_urdf(text, str(path), free_base, damping), choices)
    if free_base or damping:
        message = f"a free base and damping are asked for of URDF files; '{path}' says itself how its bodies are joined"
        raise ModelError([Problem(message)])
    return read_text(text, str(path), choices)


def read_text(
    text: str, file: str = "model", choices: Choices | None = None, within: str | Path | None = None
) -> System:
    """Read the text of a model file, TOML or URDF; ``file`` is named in messages, and files named in the text count from it.

    Where a folder ``within`` is given, no file outside of it is read.
    """
    if _is_xml(text):
        return system_of(*_urdf(text, file, free_base=False, damping=False), choices)
    words, places = read_toml(text, file)
    if "urdf" in words:
        words, places = _with_urdf(words, places, file, within)
    return system_of(words, file, places, choices)


def _is_xml(text: str) -> bool:
    """No model file in TOML begins like this."""
    return text.lstrip().startswith("<")


def _urdf(
    text: str, file: str, free_base: bool, damping: bool, points: Sequence[object] = ()
) -> tuple[dict[str, object], str, Places]:
    from svyaz.model.urdf.robot import read_urdf
    from svyaz.model.urdf.words import robot_words

    words, places = robot_words(read_urdf(text, file), free_base=free_base, damping=damping, points=points)
    return words, file, places


def _with_urdf(words: Table, places: Places, file: str, within: str | Path | None) -> tuple[dict[str, object], Places]:
    """The words of a model file that begins with the robot of a URDF file, named relative to it."""
    here = places.value(("urdf",))
    name = words["urdf"]
    wrong = next((key for key in URDF_KEYS[1:] if not isinstance(words.get(key, False), bool)), None)
    if wrong is not None:
        raise ModelError([Problem(f"'{wrong}' must be true or false", places.value((wrong,)))])
    if not isinstance(name, str) or not name.lower().endswith(URDF_SUFFIX):
        raise ModelError([Problem(f"'urdf' is the name of a file that ends in {URDF_SUFFIX}", here)])
    if "body" in words:
        raise ModelError([Problem("the bodies come from the URDF file; a model has one or the other", here)])
    path = Path(file).parent / name
    points = words.get("point", [])
    rewritten = ("point",) if isinstance(points, list) else ()
    free_base, damping = bool(words.get("free_base", False)), bool(words.get("damping", False))
    try:
        text = read_named(path, "model file", within=within)
        robot, _, _ = _urdf(text, str(path), free_base, damping, points if isinstance(points, list) else ())
    except ModelError as error:
        raise ModelError([replace(problem, place=problem.place or here) for problem in error.problems]) from error
    own = {key: value for key, value in words.items() if key not in (*URDF_KEYS, *rewritten)}
    for key in MERGED:
        if isinstance(own.get(key, {}), Mapping):
            own[key] = {**table(robot, key), **table(own, key)}
    return {**robot, **own}, places.standing_for(("body",), ("urdf",))


DOTTED = ("parameters", "initial", "run", "inputs", "box", "limits", *rule_tables())


def with_settings(system: System, settings: Table, choices: Choices | None = None) -> System:
    """The same system with some values changed: a parameter, or ``initial.x``, ``run.step`` by a dotted name."""
    return system_of(_change(system.words, settings), system.file, choices=choices)


def _change(words: Table, settings: Table) -> dict[str, object]:
    """The words of the model with the settings written into them; every unknown name is reported."""
    changed = {key: dict(value) if isinstance(value, Mapping) else value for key, value in words.items()}
    problems = [p for name, value in settings.items() if (p := _set_word(changed, name, value)) is not None]
    if problems:
        raise ModelError(problems)
    return changed


def _set_word(words: dict[str, object], name: str, value: object) -> Problem | None:
    if not (is_number(value) or isinstance(value, str | Mapping | list)):
        return Problem(f"the value of '{name}' must be a number or an expression")
    head, dot, key = name.partition(".")
    if dot:
        if head not in DOTTED:
            return Problem(f"there is no '{head}' to set '{key}' in", hint=nearest(head, DOTTED) or _hint_of_dots())
        words[head] = {**table(words, head), key: value}
        return None
    voltages = [text(motor, "voltage") for motor in tables(words, "motor")]
    for known in ("parameters", "inputs"):
        given = table(words, known)
        if name in given or (known == "inputs" and name in voltages):
            own = given.get(name)
            words[known] = {**given, name: {**own, "value": value} if isinstance(own, Mapping) else value}
            return None
    hint = nearest(name, [*table(words, "parameters"), *table(words, "inputs"), *voltages])
    if hint is None and name.rstrip("'") in (*names(words, "coordinates"), *names(words, "states")):
        hint = f"an initial value is set by initial.{name}"
    return Problem(f"the model has no parameter '{name}'", hint=hint)


def _hint_of_dots() -> str:
    return "dotted names begin with " + ", ".join(DOTTED)


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(words: Table) -> str:
    """The text of a model file: plain entries first, then tables, then arrays of tables.

    >>> print(to_toml({"name": "p", "parameters": {"m": 1}}))
    name = "p"
    <BLANKLINE>
    [parameters]
    m = 1
    <BLANKLINE>
    """
    lines = [f"{_key(key)} = {_value(value)}" for key, value in words.items() if not _is_table(value)]
    for key, value in words.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{_key(key)}]", *_entries(value)]
        elif _is_table(value):
            for table in tables(words, key):
                lines += ["", f"[[{_key(key)}]]", *_entries(table)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _is_table(value: object) -> bool:
    several = isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(v, Mapping) for v in value)
    return isinstance(value, Mapping) or several


def _entries(table: Table) -> Iterator[str]:
    return (f"{_key(key)} = {_value(value)}" for key, value in table.items())


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _toml_text(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _toml_text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_entries(value)) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, int):
        return repr(value)
    if not isinstance(value, SupportsFloat):
        raise TypeError(f"a model file has no place for {value!r}")
    return repr(float(value))


def _toml_text(text: str) -> str:
    """A basic string: quotes, backslashes and control characters escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match[0]):04x}", escaped) + '"'
