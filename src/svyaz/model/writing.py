"""Words of a model as the text of a model file (TOML)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import SupportsFloat

from svyaz.model.reading.words import Table, tables

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(words: Table) -> str:
    """The text of a model file: plain entries first, then tables, then arrays of tables."""
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
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_entries(value)) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value) + "]"
    if isinstance(value, int):
        return repr(value)
    if not isinstance(value, SupportsFloat):
        raise TypeError(f"a model file has no place for {value!r}")
    return repr(float(value))


def _text(text: str) -> str:
    """A basic string: quotes, backslashes and control characters escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match[0]):04x}", escaped) + '"'
