"""Where the keys and values of a TOML text stand.

``tomllib`` reads the values; a scanner of our own goes over the same text and notes the position of every key and
value, so that a mistake found later can be shown at its line and column. The scanner keeps its own stack, takes linear
time, and goes first: what would exhaust ``tomllib`` (deep nesting, endless dotted keys) is refused before it gets
there. Text that is not TOML ends the scan; ``tomllib`` then says what is wrong with it.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import NamedTuple

from svyaz.expr import ModelError, Place, Problem, printable
from svyaz.model.reading.toml_hints import hint_for

MAX_SIZE = 5_000_000
"""The longest model file, in characters."""

MAX_DEPTH = 100
"""The deepest nesting of arrays and inline tables, and the longest dotted key."""

MAX_PLACES = 200_000
"""So many positions are kept; for the rest the position of the enclosing value is given."""

Path = tuple[str | int, ...]
"""Keys and indices that lead to a value, such as ("constraint", 0, "equation")."""


@dataclass(frozen=True)
class Places:
    """Positions of the keys and values of a TOML text, by path."""

    file: str | None
    lines: tuple[str, ...]
    starts: tuple[int, ...]
    keys: dict[Path, int]
    values: dict[Path, int]

    def value(self, path: Path) -> Place:
        """Where the value starts, for a string the first character of its text; failing that, what encloses it."""
        return self._nearest(path, self.values, self.keys)

    def key(self, path: Path) -> Place:
        """Where the key stands; for an element of an array the element, for a table its header."""
        return self._nearest(path, self.keys, self.values)

    def _nearest(self, path: Path, first: dict[Path, int], second: dict[Path, int]) -> Place:
        for length in range(len(path), 0, -1):
            offset = first.get(path[:length], second.get(path[:length]))
            if offset is not None:
                return self.at(offset)
        return self.at(0)

    def standing_for(self, path: Path, other: Path) -> Places:
        """The same places, where one path stands where the other does."""
        offset = self.values[other]
        return replace(self, keys={**self.keys, path: offset}, values={**self.values, path: offset})

    def at(self, offset: int) -> Place:
        """The place of a character of the text."""
        line = bisect_right(self.starts, offset) - 1
        return Place(self.file, line + 1, offset - self.starts[line] + 1, self.lines[line])


def read_toml(text: str, file: str | None = None) -> tuple[dict[str, object], Places]:
    """The values of a TOML text and their places; a mistake in the TOML is a ModelError."""
    places = toml_places(text, file)
    try:
        return tomllib.loads(text), places
    except tomllib.TOMLDecodeError as error:
        raise ModelError([_decode_problem(str(error), places)]) from None
    except ValueError:  # what is left is the limit of int() on thousands of digits
        raise ModelError([Problem("the file contains a whole number with too many digits", places.at(0))]) from None
    except RecursionError:
        raise ModelError([Problem("arrays and tables are nested too deeply", places.at(0))]) from None


def toml_places(text: str, file: str | None = None) -> Places:
    """The places of all keys and values, as far as the text is TOML."""
    if len(text) > MAX_SIZE:
        place = Place(file, 1, 1, text[:200].partition("\n")[0])
        message = f"the file is too large for a model: {len(text)} characters, at most {MAX_SIZE} are allowed"
        raise ModelError([Problem(message, place)])
    text = text.replace("\r\n", "\n")
    places = places_of(text, file)
    _Scanner(text, places).document()
    return places


def places_of(text: str, file: str | None) -> Places:
    """The lines of a text, with no keys and values yet."""
    lines = tuple(text.split("\n"))
    starts = [0]
    for line in lines[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    return Places(file, lines, tuple(starts), {}, {})


def _decode_problem(message: str, places: Places) -> Problem:
    """The error of tomllib, which gives its position in words, at its place."""
    reason, _, where = message.rpartition(" (at ")
    numbers = re.fullmatch(r"line (\d+), column (\d+)\)", where)
    if numbers:
        line, column = int(numbers[1]), int(numbers[2])
    else:
        line, column = len(places.lines), len(places.lines[-1]) + 1
        reason = reason or message
    hint = (
        "is the same key or table given twice?" if reason.startswith(("Cannot overwrite", "Cannot declare")) else None
    )
    written = places.lines[line - 1]
    if reason == "Invalid statement" and not written[column - 1 : column].isascii():
        hint = "a key with letters other than a to z stands in quotes"
    hint = hint or hint_for(written)
    place = Place(places.file, line, column, written)
    return Problem(f"this is not TOML: {printable(reason)}", place, hint)


class _NotTomlError(Exception):
    """The scanner does not understand the text; tomllib will say why."""


class _Container(NamedTuple):
    """An array or inline table that is open, and the number of its current element."""

    path: Path
    is_array: bool
    number: int


_BLANK = re.compile(r"(?:[ \t\n]+|#[^\n]*)*+")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'''"""\n?(?P<a>)(?:[^"\\]++|\\.|"(?!""))*+"{3,5}'''
    r"""|'''\n?(?P<b>)(?:[^']++|'(?!''))*+'{3,5}"""
    r'''|"(?P<c>)(?:[^"\\\n]++|\\.)*+"'''
    r"""|'(?P<d>)[^'\n]*+'""",
    re.DOTALL,
)
_SCALAR = re.compile(r"\d{4}-\d\d-\d\d \d\d[^\s,\]}#]*|[^\s,\[\]{}#\"'=]+")


class _Scanner:
    """Goes once over a TOML text and notes positions."""

    def __init__(self, text: str, places: Places) -> None:
        self.text = text
        self.places = places
        self.at = 0
        self.tables: dict[Path, int] = {}

    def document(self) -> None:
        prefix: Path = ()
        try:
            while self.skip(_BLANK):
                if self.text[self.at] == "[":
                    prefix = self.header()
                else:
                    self.value(self.key(prefix))
        except _NotTomlError:
            return

    def skip(self, pattern: re.Pattern[str]) -> bool:
        """Skip what the pattern matches; is there anything left?"""
        matched = pattern.match(self.text, self.at)
        if matched:
            self.at = matched.end()
        return self.at < len(self.text)

    def take(self, sign: str) -> None:
        if not self.text.startswith(sign, self.at):
            raise _NotTomlError
        self.at += len(sign)

    def note(self, where: dict[Path, int], path: Path, offset: int) -> None:
        if len(where) < MAX_PLACES:
            where.setdefault(path, offset)

    def header(self) -> Path:
        """``[table]`` or ``[[array of tables]]``; returns the path of what follows."""
        start = self.at
        array = self.text.startswith("[[", start)
        self.at += 1 + array
        self.skip(_SPACE)
        parts = self.parts()
        self.take("]]" if array else "]")
        path: Path = ()
        for number, (part, offset) in enumerate(parts):
            path = (*path, part)
            self.note(self.places.keys, path, offset)
            self.note(self.places.values, path, start)
            if array and number == len(parts) - 1:
                self.tables[path] = self.tables.get(path, 0) + 1
            if path in self.tables:
                path = (*path, self.tables[path] - 1)
                self.note(self.places.keys, path, offset)
                self.note(self.places.values, path, start)
        return path

    def key(self, prefix: Path) -> Path:
        """A key and the equals sign after it; returns the path of the value."""
        parts = self.parts()
        path = prefix
        for part, offset in parts:
            path = (*path, part)
            self.note(self.places.keys, path, offset)
        for length in range(len(prefix) + 1, len(path)):
            self.note(self.places.values, path[:length], parts[0][1])
        self.take("=")
        self.skip(_SPACE)
        return path

    def parts(self) -> list[tuple[str, int]]:
        """The parts of a dotted key with their offsets, and the space after it."""
        found = []
        while True:
            start = self.at
            bare = _BARE.match(self.text, start)
            if bare:
                self.at = bare.end()
                found.append((bare[0], start))
            else:
                found.append((self.quoted_key(), start))
            if len(found) > MAX_DEPTH:
                message = f"a key of more than {MAX_DEPTH} parts"
                raise ModelError([Problem(message, self.places.at(found[0][1]))])
            self.skip(_SPACE)
            if not self.text.startswith(".", self.at):
                return found
            self.at += 1
            self.skip(_SPACE)

    def quoted_key(self) -> str:
        matched = _STRING.match(self.text, self.at)
        if matched is None or matched.lastgroup in ("a", "b"):
            raise _NotTomlError
        self.at = matched.end()
        word = matched[0]
        if "\\" not in word or matched.lastgroup == "d":
            return word[1:-1]
        try:
            return str(tomllib.loads(f"key = {word}")["key"])
        except ValueError:
            raise _NotTomlError from None

    def value(self, path: Path) -> None:
        """A value with all that is inside it."""
        inside: list[_Container] = []
        while True:
            path = self.one(path, inside)
            if path:
                continue
            path = self.next(inside)
            if not path:
                return

    def one(self, path: Path, inside: list[_Container]) -> Path:
        """Note a value; for an array or table that is not empty returns the path of its first element, else ()."""
        start = self.at
        opening = self.text[start : start + 1]
        if opening in ("[", "{") and opening:
            self.note(self.places.values, path, start)
            inside.append(_Container(path, opening == "[", 0))
            if len(inside) > MAX_DEPTH:
                message = f"arrays and tables are nested too deeply: more than {MAX_DEPTH} levels"
                raise ModelError([Problem(message, self.places.at(start))])
            self.at += 1
            self.skip(_BLANK)
            return self.element(inside)
        matched = _STRING.match(self.text, start)
        if matched is not None:
            assert matched.lastgroup is not None
            self.note(self.places.values, path, matched.start(matched.lastgroup))
        else:
            matched = _SCALAR.match(self.text, start)
            if matched is None:
                raise _NotTomlError
            self.note(self.places.values, path, start)
        self.at = matched.end()
        return ()

    def element(self, inside: list[_Container]) -> Path:
        """The path of the element that starts here in the innermost container, or () at its closing bracket."""
        container = inside[-1]
        if self.text.startswith("]" if container.is_array else "}", self.at):
            return ()
        if container.is_array:
            return (*container.path, container.number)
        return self.key(container.path)

    def next(self, inside: list[_Container]) -> Path:
        """After a value: close what is closed here; the path of the next value, or () if nothing is open any more."""
        while inside:
            container = inside[-1]
            self.skip(_BLANK)
            if self.text.startswith(",", self.at):
                self.at += 1
                self.skip(_BLANK)
                inside[-1] = container._replace(number=container.number + 1)
                path = self.element(inside)
                if path:
                    return path
            self.take("]" if container.is_array else "}")
            inside.pop()
        return ()
