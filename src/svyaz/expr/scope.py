"""What the names of an expression mean, and what to say about those that mean nothing."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import symengine
from symengine import Basic

from svyaz.expr.arithmetic import FUNCTIONS, Value, value_of
from svyaz.expr.errors import Place, Problem, quote
from svyaz.expr.lexer import Token

CONSTANTS: dict[str, Value] = {
    "pi": Value(symengine.pi, math.pi),
    "deg": Value(symengine.pi / 180, math.pi / 180),
    "t": Value(symengine.Symbol("t"), None),
}
"""Names that mean the same in every expression: the number pi, a degree, time."""

RESERVED = frozenset(CONSTANTS) | frozenset(FUNCTIONS)
"""Names that cannot be given to a coordinate or parameter."""

MAX_PROBLEMS = 20
"""So many unknown names are reported one by one; of further ones only the number is told."""

Suggestion = tuple[str | None, tuple[str, ...]]
"""A hint, and the names that it says were meant."""

NOTHING: Suggestion = (None, ())

MAX_UNKNOWNS = 1000
"""A text is not read on after so many unknown names."""

_MAX_SUGGESTIONS = 10
_FOREIGN = {
    "ln": "log(...)",
    "lg": "log(...)/log(10)",
    "log10": "log(...)/log(10)",
    "tg": "tan(...)",
    "ctg": "1/tan(...)",
    "cot": "1/tan(...)",
    "cotan": "1/tan(...)",
    "sec": "1/cos(...)",
    "csc": "1/sin(...)",
    "cosec": "1/sin(...)",
    "arcsin": "asin(...)",
    "arccos": "acos(...)",
    "arctan": "atan(...)",
    "arctg": "atan(...)",
    "arctan2": "atan2(..., ...)",
    "sh": "sinh(...)",
    "ch": "cosh(...)",
    "th": "tanh(...)",
    "fabs": "abs(...)",
    "sgn": "sign(...)",
    "pow": "x^y",
    "sqr": "x^2",
    "e": "exp(1)",
    "E": "exp(1)",
    "Pi": "pi",
    "PI": "pi",
    "π": "pi",
}
_LOOKALIKES = str.maketrans("АВЕКМНОРСТХаеорсухαορνµ", "ABEKMHOPCTXaeopcyxaopvμ")


@dataclass(frozen=True)
class Later:
    """The meaning of a name, made where it is used."""

    make: Callable[[], Basic]


@dataclass(frozen=True)
class Scope:
    """The names that an expression may use.

    ``symbols`` are plain names, ``derivatives`` the meaning of ``x'``, some made ``Later``, and ``second`` of ``x''``, by
    coordinate.
    ``forbidden`` maps a name as it is written (``"x'"``, ``"t"``) to the reason why it may not be used here; ``what``
    says where "here" is ("the potential"), and ``undeclared`` what to do about a name that resembles no other.
    """

    symbols: Mapping[str, Basic]
    derivatives: Mapping[str, Basic | Later] = field(default_factory=dict)
    second: Mapping[str, Basic] = field(default_factory=dict)
    forbidden: Mapping[str, str] = field(default_factory=dict)
    what: str = ""
    undeclared: str = ""

    def meaning(self, word: str) -> Value | None:
        """The meaning of a name, with its apostrophes if any; None if it has none here."""
        if word in self.forbidden:
            return None
        if not word.endswith("'"):
            meaning = self.symbols.get(word)
            return CONSTANTS.get(word) if meaning is None else value_of(meaning)
        name = word.rstrip("'")
        primes = len(word) - len(name)
        if primes > 2:
            return None
        meaning = (self.derivatives if primes == 1 else self.second).get(name)
        return None if meaning is None else value_of(meaning.make() if isinstance(meaning, Later) else meaning)


class Unknowns:
    """Looks names up in a scope and remembers the first occurrence of each that was not found."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.found: dict[str, Token] = {}
        self.calls: set[str] = set()

    def look_up(self, token: Token) -> Value:
        """The meaning of the name, or a stand-in so that the reading can go on."""
        value = self.scope.meaning(token.text)
        if value is None:
            self.found.setdefault(token.text, token)
            return Value(symengine.Symbol("?" + token.text), None)
        return value

    def note_call(self, token: Token) -> None:
        """Remember a function that does not exist."""
        self.found.setdefault(token.text, token)
        self.calls.add(token.text)

    def problems(self, at: Callable[[int], Place]) -> list[Problem]:
        """One problem for each unknown name, at its first occurrence."""
        problems = []
        for count, (word, token) in enumerate(self.found.items()):
            if count == MAX_PROBLEMS:
                rest = len(self.found) - count
                least = "at least " if len(self.found) > MAX_UNKNOWNS else ""
                problems.append(
                    Problem(f"and {least}{rest} more unknown name{'s' if rest > 1 else ''}", at(token.start))
                )
                break
            suggest = _suggestion if count < _MAX_SUGGESTIONS else _no_suggestion
            if word in self.calls:
                message, (hint, meant) = f"unknown function {quote(word)}", suggest(word, FUNCTIONS)
            else:
                message, (hint, meant) = self._reason(word, suggest)
            problems.append(Problem(message, at(token.start), hint, meant))
        return problems

    def _reason(self, word: str, suggest: Callable[[str, Iterable[str]], Suggestion]) -> tuple[str, Suggestion]:
        scope = self.scope
        inside = f" in {scope.what}" if scope.what else ""
        here = inside or " here"
        if word in scope.forbidden:
            return f"{quote(word)} may not be used{here}: {scope.forbidden[word]}", NOTHING
        name = word.rstrip("'")
        primes = len(word) - len(name)
        if primes and (name in scope.symbols or name in CONSTANTS or name in scope.derivatives):
            if primes > 2:
                return f"{quote(word)}: a name takes at most two apostrophes", NOTHING
            if primes == 2 and name in scope.derivatives:
                return f"second derivatives such as {quote(word)} are not allowed{here}", NOTHING
            if not scope.derivatives:
                return f"time derivatives such as {quote(word)} are not allowed{here}", NOTHING
            return f"{quote(name)} has no time derivative", ("only coordinates have time derivatives", ())
        names = [*(f"{x}'" for x in scope.derivatives), *(f"{x}''" for x in scope.second), *scope.symbols]
        if not primes:
            names = [*scope.symbols, *CONSTANTS, *(f"{x}'" for x in scope.derivatives)]
        moving = next((x for x in scope.derivatives if word in _velocity_names(x)), None)
        if moving is not None:
            return f"unknown name {quote(word)}{inside}", (
                f"the velocity of {quote(moving)} is written {moving}'",
                (),
            )
        hint, meant = suggest(word, names)
        return f"unknown name {quote(word)}{inside}", (hint or (scope.undeclared or None), meant)


def _velocity_names(name: str) -> tuple[str, ...]:
    """How other programs write the velocity of a coordinate."""
    return (
        f"{name}_dot",
        f"{name}dot",
        f"dot_{name}",
        f"d{name}",
        f"d{name}_dt",
        f"d{name}dt",
        f"{name}_d",
        f"D{name}",
    )


def _no_suggestion(word: str, names: Iterable[str]) -> Suggestion:
    return NOTHING


def _suggestion(word: str, names: Iterable[str]) -> Suggestion:
    """What the writer of an unknown name may have meant."""
    names = list(names)
    plain = word.translate(_LOOKALIKES)
    if plain != word and plain in names:
        odd = next(a for a, b in zip(word, plain, strict=True) if a != b)
        return f"{quote(odd)} is U+{ord(odd):04X}, which only looks like the letter in {quote(plain)}", (plain,)
    if word in _FOREIGN:
        return f"write {_FOREIGN[word]}", ()
    same = [name for name in names if name.lower() == word.lower()]
    close = same or difflib.get_close_matches(word[:40], names, n=2, cutoff=0.6)
    return (f"did you mean {' or '.join(quote(name) for name in close)}?", tuple(close)) if close else NOTHING
