"""Names of a model as identifiers of a programming language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable


def identifier(name: str) -> str:
    """ASCII letters, digits and underscores: ``x'`` becomes x_dot, ``x''`` x_ddot, ``φ`` phi."""
    stem = name.rstrip("'")
    order = len(name) - len(stem)
    plain = "".join(_ascii(character) for character in stem)
    plain = re.sub(r"_+", "_", plain).strip("_") if plain != stem else plain
    if not plain or plain[0].isdigit():
        plain = f"n{plain}"
    return plain + (f"_{'d' * order}ot" if order else "")


def _ascii(character: str) -> str:
    if character.isascii():
        return character if character.isalnum() or character == "_" else "_"
    # GREEK SMALL LETTER PHI, LATIN SMALL LETTER E WITH ACUTE …
    found = re.fullmatch(r"(GREEK|CYRILLIC|LATIN) (SMALL|CAPITAL) LETTER (\w+).*", unicodedata.name(character, ""))
    if found is None:
        return f"u{ord(character):x}"
    word = found[3].lower()
    return word if found[2] == "SMALL" else word.capitalize()


def distinct(names: Iterable[str], reserved: Iterable[str], again: str) -> list[str]:
    """The names, changed by the template ``again`` where they are reserved or occur again."""
    taken = set(reserved)
    result = []
    for name in names:
        candidate, number = name, 1
        while candidate in taken:
            number += 1
            candidate = again.format(name, number)
        taken.add(candidate)
        result.append(candidate)
    return result
