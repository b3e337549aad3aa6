"""From the text of an expression to tokens, with help for the signs that people type by habit."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from svyaz.expr.errors import ModelError, Place, Problem, quote

MAX_LENGTH = 100_000
"""The longest expression, in characters."""

MAX_TOKENS = 20_000
"""The largest number of names, numbers and signs in one expression."""

MAX_NAME = 100
MAX_DIGITS = 400


class Token(NamedTuple):
    """``kind`` is "number", "name" or the sign itself (``**`` has kind ``^``); ``start`` is the offset in the text."""

    kind: str
    text: str
    start: int


_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<name>[^\W\d]\w*'*)
  | (?P<power>\*\*|\^)
  | (?P<sign>[-+*/(),=])
  | (?P<end>\Z)
  )""",
    re.VERBOSE,
)

_HINTS = {
    "·": "write * for a product",
    "×": "write * for a product",
    "∙": "write * for a product",
    "⋅": "write * for a product",
    "∗": "write * for a product",
    "−": "write - (the hyphen of the keyboard) for minus",
    "–": "write - (the hyphen of the keyboard) for minus",
    "—": "write - (the hyphen of the keyboard) for minus",
    "÷": "write / for a quotient",
    "∕": "write / for a quotient",
    "⁄": "write / for a quotient",
    "²": "write ^2 for a square",
    "³": "write ^3 for a cube",
    "√": "write sqrt(...) for a square root",
    "°": "write *deg for degrees, as in 30*deg",
    "′": "write ' (the apostrophe of the keyboard) for a time derivative",
    "’": "write ' (the apostrophe of the keyboard) for a time derivative",
    "″": "write '' (two apostrophes) for a second time derivative",
    "\u0307": "write ' after the name for a time derivative, as in x'",
    "\u0308": "write '' after the name for a second time derivative, as in x''",
    "[": "write round parentheses",
    "]": "write round parentheses",
    "{": "write round parentheses",
    "}": "write round parentheses",
    "<": "only equations are understood here, not inequalities",
    ">": "only equations are understood here, not inequalities",
    "≤": "only equations are understood here, not inequalities",
    "≥": "only equations are understood here, not inequalities",
    "|": "write abs(...) for a magnitude",
    "%": "there is no operator %",
    "'": "' stands directly after the name of a coordinate, as in x'",
    '"': "write '' (two apostrophes) for a second time derivative",
    ".": "a number looks like 0.5",
    ";": "write one expression",
}


def tokens(text: str, place: Place) -> list[Token]:
    """The tokens of a text that starts at ``place``. Linear in the length of the text."""
    if len(text) > MAX_LENGTH:
        message = f"the expression is too long: {len(text)} characters, at most {MAX_LENGTH} are allowed"
        raise ModelError([Problem(message, place)])
    found: list[Token] = []
    match = _TOKEN.match
    at = 0
    while True:
        matched = match(text, at)
        if matched is None:
            raise ModelError([_unknown_sign(text, at, place)])
        kind = matched.lastgroup
        if kind == "end":
            return found
        at = matched.end()
        word = matched[kind]  # type: ignore[index]
        start = at - len(word)
        if kind == "sign":
            kind = word
        elif kind == "power":
            kind = "^"
        elif kind == "name":
            _check_name(text, word, start, place)
        elif len(word) > MAX_DIGITS:
            raise ModelError([Problem(f"a number with more than {MAX_DIGITS} digits", place.moved(text, start))])
        found.append(Token(kind, word, start))  # type: ignore[arg-type]
        if len(found) > MAX_TOKENS:
            message = f"the expression is too long: more than {MAX_TOKENS} names, numbers and signs"
            raise ModelError([Problem(message, place.moved(text, start))])


def bad_character(name: str) -> int | None:
    """Offset of the first character that no name may contain: names have letters of any script, 0-9 and _."""
    if name.isascii():
        return None
    for offset, character in enumerate(name):
        if not character.isascii() and unicodedata.category(character) not in ("Lu", "Ll", "Lt", "Lo"):
            return offset
    return None


def is_name(text: str) -> bool:
    """Is the text a name: a letter or _, then letters, digits and _ (no apostrophes)?"""
    matched = _TOKEN.fullmatch(text)
    if matched is None or matched.lastgroup != "name" or matched["name"] != text or len(text) > MAX_NAME:
        return False
    return not text.endswith("'") and bad_character(text) is None


def _check_name(text: str, word: str, start: int, place: Place) -> None:
    if len(word) > MAX_NAME:
        raise ModelError([Problem(f"a name with more than {MAX_NAME} characters", place.moved(text, start))])
    offset = bad_character(word)
    if offset is not None:
        raise ModelError([_unknown_sign(text, start + offset, place)])


def _unknown_sign(text: str, at: int, place: Place) -> Problem:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    character = text[at]
    hint = _HINTS.get(character)
    category = unicodedata.category(character)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        message = f"an invisible character, U+{ord(character):04X}"
        hint = "delete it"
    elif category == "Zs":
        message = f"a special space, U+{ord(character):04X}"
        hint = "write an ordinary space"
    elif category in ("Mn", "Me", "Mc"):
        message = f"a combining mark, U+{ord(character):04X}"
    else:
        message = f"unexpected character {quote(character)}"
        if hint is None and category in ("Nd", "No", "Nl"):
            hint = "write digits 0 to 9"
    return Problem(message, place.moved(text, at), hint)
