"""Model files: TOML or URDF text to System."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from svyaz.expr import ModelError, Problem
from svyaz.model.reading.places import Places, read_toml
from svyaz.model.reading.run import Choices
from svyaz.model.reading.whole import system_of
from svyaz.model.reading.words import Table, table
from svyaz.model.system import System
from svyaz.model.urdf.robot import read_urdf
from svyaz.model.urdf.words import robot_words

URDF_SUFFIX = ".urdf"
URDF_KEYS = ("urdf", "free_base", "damping")
MERGED = ("parameters", "initial", "forces", "box")
"""Tables in which what a model file says is added to what follows from its URDF."""


def read_file(
    path: str | Path, *, free_base: bool = False, damping: bool = False, choices: Choices | None = None
) -> System:
    """Read a model file; of a URDF the root is free, and the damping of its joints acts, if that is asked for."""
    path = Path(path)
    text = _text(path)
    if path.suffix.lower() == URDF_SUFFIX or _is_xml(text):
        return system_of(*_urdf(text, str(path), free_base, damping), choices)
    if free_base or damping:
        message = f"a free base and damping are asked for of URDF files; '{path}' says itself how its bodies are joined"
        raise ModelError([Problem(message)])
    return read_text(text, str(path), choices)


def read_text(text: str, file: str = "model", choices: Choices | None = None) -> System:
    """Read the text of a model file, TOML or URDF; ``file`` is named in messages."""
    if _is_xml(text):
        return system_of(*_urdf(text, file, free_base=False, damping=False), choices)
    words, places = read_toml(text, file)
    if "urdf" in words:
        words, places = _with_urdf(words, places, file)
    return system_of(words, file, places, choices)


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
    text: str, file: str, free_base: bool, damping: bool, points: Sequence[object] = ()
) -> tuple[dict[str, object], str, Places]:
    words, places = robot_words(read_urdf(text, file), free_base=free_base, damping=damping, points=points)
    return words, file, places


def _with_urdf(words: Table, places: Places, file: str) -> tuple[dict[str, object], Places]:
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
    try:
        text = _text(path)
    except ModelError as error:
        raise ModelError([replace(problem, place=here) for problem in error.problems]) from error
    points = words.get("point", [])
    rewritten = ("point",) if isinstance(points, list) else ()
    free_base, damping = bool(words.get("free_base", False)), bool(words.get("damping", False))
    robot, _, _ = _urdf(text, str(path), free_base, damping, points if isinstance(points, list) else ())
    own = {key: value for key, value in words.items() if key not in (*URDF_KEYS, *rewritten)}
    for key in MERGED:
        if isinstance(own.get(key, {}), Mapping):
            own[key] = {**table(robot, key), **table(own, key)}
    return {**robot, **own}, places.standing_for(("body",), ("urdf",))
