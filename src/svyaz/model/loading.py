"""Model files: TOML or URDF text to System."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from svyaz.expr import ModelError, Problem
from svyaz.model.places import Places, read_toml
from svyaz.model.system import System

URDF_SUFFIX = ".urdf"
URDF_KEYS = ("urdf", "free_base", "damping")
MERGED = ("parameters", "initial", "forces", "box")
"""Tables in which what a model file says is added to what follows from its URDF."""


def load(path: str | Path, *, free_base: bool = False, damping: bool = False) -> System:
    """Read a model file; of a URDF the root is free, and the damping of its joints acts, if that is asked for."""
    path = Path(path)
    text = _text(path)
    if path.suffix.lower() == URDF_SUFFIX or _is_xml(text):
        return System.from_words(*_urdf(text, str(path), free_base, damping))
    if free_base or damping:
        message = f"a free base and damping are asked for of URDF files; '{path}' says itself how its bodies are joined"
        raise ModelError([Problem(message)])
    return loads(text, str(path))


def loads(text: str, file: str = "model") -> System:
    """Read the text of a model file, TOML or URDF; ``file`` is named in messages."""
    if _is_xml(text):
        return System.from_words(*_urdf(text, file, free_base=False, damping=False))
    words, places = read_toml(text, file)
    if "urdf" in words:
        words, places = _with_urdf(words, places, file)
    return System.from_words(words, file, places)


def _is_xml(text: str) -> bool:
    """No model file in TOML begins like this."""
    return text.lstrip().startswith("<")


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ModelError([Problem(f"cannot read the model file '{path}': {error.strerror}")]) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError([Problem(f"the model file '{path}' is not UTF-8 text (byte {error.start})")]) from error


def _urdf(
    text: str, file: str, free_base: bool, damping: bool, points: Sequence[Any] = ()
) -> tuple[dict[str, Any], str, Places]:
    from svyaz.model.urdf import read_urdf
    from svyaz.model.urdf_words import robot_words

    words, places = robot_words(read_urdf(text, file), free_base=free_base, damping=damping, points=points)
    return words, file, places


def _with_urdf(words: Mapping[str, Any], places: Places, file: str) -> tuple[dict[str, Any], Places]:
    """The words of a model file that begins with the robot of a URDF file, named relative to it."""
    here = places.value(("urdf",))
    name, flags = words["urdf"], {key: words.get(key, False) for key in URDF_KEYS[1:]}
    wrong = next((key for key, value in flags.items() if not isinstance(value, bool)), None)
    if wrong is not None:
        raise ModelError([Problem(f"'{wrong}' must be true or false", places.value((wrong,)))])
    if not isinstance(name, str) or not name.lower().endswith(URDF_SUFFIX):
        raise ModelError([Problem(f"'urdf' is the name of a file that ends in {URDF_SUFFIX}", here)])
    if "body" in words:
        raise ModelError([Problem("the bodies come from the URDF file; a model has one or the other", here)])
    path = Path(file).parent / name
    try:
        text = _text(path)
    except ModelError as error:
        raise ModelError([replace(problem, place=here) for problem in error.problems]) from error
    points = words.get("point", [])
    rewritten = ("point",) if isinstance(points, list) else ()
    robot, _, _ = _urdf(text, str(path), **flags, points=points if rewritten else ())
    own = {key: value for key, value in words.items() if key not in (*URDF_KEYS, *rewritten)}
    for key in MERGED:
        if isinstance(own.get(key, {}), Mapping):
            own[key] = {**robot.get(key, {}), **own.get(key, {})}
    places.values[("body",)] = places.keys[("body",)] = places.values[("urdf",)]
    return {**robot, **own}, places


__all__ = ["load", "loads"]
