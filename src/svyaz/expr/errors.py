"""Mistakes in what a person wrote: where they are and how they are shown.

A mistake is a :class:`Problem`: a message, a :class:`Place` in the text, and a hint. A :class:`ModelError` carries all
the problems that were found, so that a person can mend them at one go.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

WINDOW = 100
"""The widest piece of a source line that is shown, in columns of a terminal."""

INDENT = "    "
TAB = "    "
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class Place(NamedTuple):
    """A character of a source text: file, line and column counted from 1, and the text of that line."""

    file: str | None
    line: int
    column: int
    source: str

    def moved(self, text: str, offset: int) -> Place:
        """The place of ``text[offset]`` if ``text`` starts at this place."""
        start = text.rfind("\n", 0, offset) + 1
        if start == 0:
            return Place(self.file, self.line, self.column + offset, self.source)
        line = self.line + text.count("\n", 0, offset)
        end = text.find("\n", offset)
        return Place(self.file, line, offset - start + 1, text[start:] if end < 0 else text[start:end])

    def __str__(self) -> str:
        position = f"{self.line}:{self.column}"
        return position if self.file is None else f"{printable(self.file)}:{position}"


class Advice(str):
    """A text that tells what to do, in the words of the library.

    An interface that has its own ways of asking (the command line its flags) knows the advice by its ``key`` and says it
    with the same ``parts`` in its own words.
    """

    key: str
    parts: tuple[str, ...]

    def __new__(cls, text: str, key: str = "", *parts: str) -> Advice:
        advice = super().__new__(cls, text)
        advice.key, advice.parts = key, parts
        return advice


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: what is wrong, where, and what to do about it; ``meant`` are names that the writer may have meant.

    >>> Problem("the mass is zero", hint="write m = 1").hint
    'write m = 1'
    """

    message: str
    place: Place | None = None
    hint: str | None = None
    meant: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        lines = [self.message if self.place is None else f"{self.place}: {self.message}"]
        if self.place is not None:
            lines += [INDENT + line for line in excerpt(self.place)]
        if self.hint is not None:
            lines.append(f"{INDENT}hint: {self.hint}")
        return "\n".join(line.rstrip() for line in lines)


class ModelError(Exception):
    """What was written is not a model: one or more problems, each with its place and told once.

    >>> import svyaz
    >>> try:
    ...     svyaz.System(coordinates=["x"], kinetic="m/2*x'^2")
    ... except svyaz.ModelError as mistake:
    ...     print(mistake.problems[0].message)
    unknown name 'm'
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(dict.fromkeys(problems))
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


class NoSuchName(ModelError, KeyError):
    """A result has nothing of this name."""

    def __init__(self, message: str) -> None:
        super().__init__([Problem(message)])

    def __reduce__(self) -> tuple[type[NoSuchName], tuple[str]]:
        return type(self), (self.problems[0].message,)


def start_of(text: str, given_as: str | None = None) -> Place:
    """The place of the first character of a text that comes from no file, but perhaps from an option."""
    end = text.find("\n")
    return Place(given_as, 1, 1, text if end < 0 else text[:end])


def printable(text: str) -> str:
    """The text with control characters, bidirectional overrides and lone surrogates replaced: safe on a terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _INVISIBLE else c for c in text)


def quote(text: str, longest: int = 40) -> str:
    """A word of the input for use in a message: printable, cut to ``longest`` characters, in quotes."""
    shown = printable(text if len(text) <= longest else text[: longest - 1] + "…")
    return f'"{shown}"' if "'" in shown else f"'{shown}'"


def excerpt(place: Place) -> tuple[str, str]:
    """The source line (a window of it, if it is long) and the line with the caret below the column of the place."""
    before = max(place.column - 1, 0)
    # A cell takes at most four columns, but none narrower than zero: combining marks are bounded by the slice.
    first = max(0, before - 2 * WINDOW)
    cells = [_cell(c) for c in place.source[first : before + 2 * WINDOW]]
    caret = min(before - first, len(cells))
    left, width = caret, 0
    while left > 0 and width + cells[left - 1][1] <= WINDOW // 2:
        left -= 1
        width += cells[left][1]
    right, total = caret, width
    while right < len(cells) and total + cells[right][1] <= WINDOW:
        total += cells[right][1]
        right += 1
    head = "…" if left + first > 0 else ""
    tail = "…" if right + first < len(place.source) else ""
    shown = head + "".join(cell for cell, _ in cells[left:right]) + tail
    return shown.rstrip(), " " * (len(head) + width) + "^"


def _cell(character: str) -> tuple[str, int]:
    """How a character is shown, and how many columns of a terminal it takes."""
    if character.isascii():
        if character == "\t":
            return TAB, len(TAB)
        return (character, 1) if character.isprintable() else ("\N{REPLACEMENT CHARACTER}", 1)
    category = unicodedata.category(character)
    if category in _INVISIBLE:
        return "\N{REPLACEMENT CHARACTER}", 1
    if category in ("Mn", "Me"):
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1
