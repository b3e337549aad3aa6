"""The Maple that exported programs use: a small grammar of its own, and a reader that computes numbers.

statement   name := value (; or :)  |  return value ;  |  local names ;
value       procedure  |  (names) -> value  |  comparison
comparison  sum [(< or >) sum];   sum and product as usual;   power  atom ^ atom, not repeated
atom        number, string, name[:-name], [list], (value), then any (arguments) and [places]
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

_TOKEN = re.compile(
    r'\s*(?:#[^\n]*\n\s*)*(?P<token>\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+|"(?:\\.|[^"\\])*"'
    r"|[A-Za-z]\w*|:=|:-|->|\.\.|[-+*/^()\[\],;:<>=])"
)
_WORDS = {
    "proc",
    "end",
    "local",
    "return",
    "and",
    "or",
    "not",
    "if",
    "then",
    "do",
    "in",
    "to",
    "by",
    "for",
    "while",
    "mod",
}

FUNCTIONS: dict[str, Any] = {
    "sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan, "arcsin": math.asin, "arccos": math.acos,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "exp": math.exp, "ln": math.log, "abs": abs,
    "arctan": lambda *a: math.atan2(*a) if len(a) == 2 else math.atan(a[0]), "min": min, "max": max, "nops": len,
}  # fmt: skip


def tokens(text: str) -> list[str]:
    """The words of the text; anything else is refused."""
    found, place, text = [], 0, text.rstrip() + "\n"
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        assert match is not None, f"not Maple: {text[place : place + 40]!r}"
        found.append(match["token"])
        place = match.end()
    return found


def maple_session(text: str) -> dict[str, Any]:
    """All names after the text was read; procedures are Python functions of lists."""
    reader = _Reader(tokens(text))
    names: dict[str, Any] = {**FUNCTIONS, "Digits": 10}
    while reader.left():
        reader.statement()(names)
    return names


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Reader:
    """Each method reads one rule and gives a function of the known names."""

    def __init__(self, words: list[str]) -> None:
        self.words, self.place = words, 0

    def left(self) -> bool:
        return self.place < len(self.words)

    def peek(self) -> str:
        return self.words[self.place] if self.left() else ""

    def take(self, expected: str | None = None) -> str:
        word = self.peek()
        assert expected is None or word == expected, f"{expected!r} wanted, {self.words[self.place : self.place + 6]}"
        self.place += 1
        return word

    def accept(self, word: str) -> bool:
        if self.peek() != word:
            return False
        self.place += 1
        return True

    def name(self) -> str:
        word = self.take()
        assert re.fullmatch(r"[A-Za-z]\w*", word), word
        assert word not in _WORDS, f"{word} is a word of the language"
        return word

    def statement(self) -> Any:
        if self.accept("return"):
            value = self.value()
            self.take(";")

            def leave(names: dict[str, Any]) -> None:
                raise _Return(value(names))

            return leave
        target = self.name()
        self.take(":=")
        value = self.value()
        assert self.take() in (";", ":")

        def assign(names: dict[str, Any]) -> None:
            declared = names.get("local names")
            assert declared is None or target in declared, f"{target} is not local"
            names[target] = value(names)

        return assign

    def value(self) -> Any:
        if self.accept("proc"):
            return self.procedure()
        start = self.place
        if self.accept("("):
            letters = self.arrow_letters()
            if letters is not None:
                body = self.value()
                return lambda names: lambda *a: body({**names, **dict(zip(letters, a, strict=True))})
            self.place = start
        return self.comparison()

    def arrow_letters(self) -> list[str] | None:
        letters = []
        while re.fullmatch(r"[A-Za-z]\w*", self.peek()):
            letters.append(self.take())
            if not self.accept(","):
                break
        return letters if self.accept(")") and self.accept("->") else None

    def procedure(self) -> Any:
        self.take("(")
        letters = []
        while not self.accept(")"):
            letters.append(self.name())
            self.accept(",")
        local: list[str] = []
        if self.accept("local"):
            local.append(self.name())
            while self.accept(","):
                local.append(self.name())
            self.take(";")
        assert len(set(local) | set(letters)) == len(local) + len(letters), "declared twice"
        body = []
        while not self.accept("end"):
            body.append(self.statement())
        self.take("proc")

        def made(names: dict[str, Any]) -> Any:
            def call(*arguments: Any) -> Any:
                inside = {k: v for k, v in names.items() if k not in local}
                inside.update(zip(letters, arguments, strict=True))
                inside["local names"] = set(local)
                try:
                    for statement in body:
                        statement(inside)
                except _Return as done:
                    return done.value
                return None

            return call

        return made

    def comparison(self) -> Any:
        left = self.sum()
        if self.peek() in ("<", ">"):
            word, right = self.take(), self.sum()
            return lambda names: left(names) < right(names) if word == "<" else left(names) > right(names)
        return left

    def sum(self) -> Any:
        negative = self.accept("-")
        first = self.product()
        total = (lambda names: -first(names)) if negative else first
        while self.peek() in ("+", "-"):
            word, before, after = self.take(), total, self.product()
            if word == "+":
                total = lambda names, a=before, b=after: a(names) + b(names)  # noqa: E731
            else:
                total = lambda names, a=before, b=after: a(names) - b(names)  # noqa: E731
        return total

    def product(self) -> Any:
        total = self.power()
        while self.peek() in ("*", "/"):
            word, before, after = self.take(), total, self.power()
            if word == "*":
                total = lambda names, a=before, b=after: a(names) * b(names)  # noqa: E731
            else:
                total = lambda names, a=before, b=after: a(names) / b(names)  # noqa: E731
        return total

    def power(self) -> Any:
        base = self.atom()
        if not self.accept("^"):
            return base
        exponent = self.atom()
        assert self.peek() != "^", "Maple does not repeat ^ without parentheses"
        return lambda names: math.pow(base(names), exponent(names))

    def atom(self) -> Any:
        word = self.peek()
        if word == "[":
            self.take()
            entries = self.several("]")
            found = lambda names: _flat(entry(names) for entry in entries)  # noqa: E731
        elif word == "(":
            self.take()
            found = self.value()
            self.take(")")
        elif word[:1].isdigit():
            number = float(self.take()) if "." in word or "e" in word else int(self.take())
            return lambda names: number
        elif word[:1] == '"':
            text = self.take()[1:-1].replace('\\"', '"').replace("\\\\", "\\")
            return lambda names: text
        else:
            return self.named()
        return self.followed(found)

    def named(self) -> Any:
        word = self.name()
        if self.accept(":-"):
            word = f"{word}:-{self.name()}"
        if word == "seq":
            return self.sequence()
        if word == "piecewise":
            self.take("(")
            parts = self.several(")")
            return lambda names: _piecewise(parts, names)
        return self.followed(lambda names: names[word] if word in names else _LIBRARY[word])

    def sequence(self) -> Any:
        self.take("(")
        body = self.value()
        self.take(",")
        letter = self.name()
        self.take("=")
        low = self.sum()
        self.take("..")
        high = self.sum()
        self.take(")")

        def run(names: dict[str, Any]) -> _Sequence:
            found = _Sequence()
            for k in range(low(names), high(names) + 1):
                value = body({**names, letter: k})
                found.extend(value if isinstance(value, _Sequence) else [value])
            return found

        return run

    def several(self, end: str) -> list[Any]:
        found: list[Any] = []
        while not self.accept(end):
            found.append(self.value())
            if self.accept(".."):
                low, high = found.pop(), self.value()
                found.append(lambda names, a=low, b=high: slice(a(names) - 1, b(names)))
            if self.peek() != end:
                self.take(",")
                assert self.peek() != end, "a comma at the end"
        return found

    def followed(self, what: Any) -> Any:
        while self.peek() in ("(", "["):
            before = what
            if self.take() == "(":
                arguments = self.several(")")
                what = lambda names, f=before, a=arguments: f(names)(*_flat(e(names) for e in a))  # noqa: E731
            else:
                places = self.several("]")
                what = lambda names, f=before, a=places: _place(f(names), [e(names) for e in a])  # noqa: E731
        return what


class _Sequence(list):
    pass


def _flat(values: Any) -> list[Any]:
    return [entry for value in values for entry in (value if isinstance(value, _Sequence) else [value])]


def _place(what: Any, places: list[Any]) -> Any:
    if isinstance(what, np.ndarray):
        row, column = places
        return float(what[row - 1, column - 1])
    (place,) = places
    if isinstance(place, slice):
        return what[place]
    assert place >= 1
    return what[place - 1]


def _piecewise(parts: list[Any], names: dict[str, Any]) -> Any:
    for condition, value in zip(parts[::2], parts[1::2], strict=False):
        if condition(names):
            return value(names)
    return parts[-1](names)


def _matrix(*a: Any) -> np.ndarray:
    if len(a) == 1:
        return np.array(a[0], dtype=float)
    n, m, entry = a
    return np.array([[entry(i + 1, j + 1) for j in range(m)] for i in range(n)], dtype=float)


_LIBRARY: dict[str, Any] = {
    "LinearAlgebra:-LinearSolve": np.linalg.solve,
    "Matrix": _matrix,
    "op": lambda a: _Sequence(a),
}
