"""Model files: TOML text to System."""

from __future__ import annotations

from pathlib import Path

from svyaz.expr import ModelError, Problem
from svyaz.model.places import read_toml
from svyaz.model.system import System


def load(path: str | Path) -> System:
    """Read a model file."""
    path = Path(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ModelError([Problem(f"cannot read the model file '{path}': {error.strerror}")]) from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError([Problem(f"the model file '{path}' is not UTF-8 text (byte {error.start})")]) from error
    return loads(text, str(path))


def loads(text: str, file: str = "model") -> System:
    """Read the text of a model file; ``file`` is named in messages."""
    words, places = read_toml(text, file)
    return System.from_words(words, file, places)


__all__ = ["load", "loads"]
