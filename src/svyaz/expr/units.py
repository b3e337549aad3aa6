"""Units: how they are written, and what unit an expression has.

A unit is a product of powers of words, ``kg*m^2/s^2``, ``N m``, ``m/s²``; words have SI prefixes (mm, kN). Angles are numbers,
in radians. Two quantities may be added when their units have the same dimensions and the same size: mm is not added to m.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isclose, pi

from svyaz.expr.calculus import Expression, names_in
from svyaz.expr.text import to_text

DIMENSIONS = ("m", "kg", "s", "A", "K", "mol", "cd")

Powers = tuple[Fraction, ...]
"""The power of each of the base units."""


def _powers(**given: int) -> Powers:
    return tuple(Fraction(given.get(name, 0)) for name in DIMENSIONS)


_NONE = _powers()
_WORDS: dict[str, tuple[float, Powers]] = {
    **{name: (1.0, _powers(**{name: 1})) for name in DIMENSIONS},
    "g": (1e-3, _powers(kg=1)),
    "t": (1e3, _powers(kg=1)),
    "min": (60.0, _powers(s=1)),
    "h": (3600.0, _powers(s=1)),
    "Hz": (1.0, _powers(s=-1)),
    "N": (1.0, _powers(kg=1, m=1, s=-2)),
    "J": (1.0, _powers(kg=1, m=2, s=-2)),
    "W": (1.0, _powers(kg=1, m=2, s=-3)),
    "Pa": (1.0, _powers(kg=1, m=-1, s=-2)),
    "C": (1.0, _powers(A=1, s=1)),
    "V": (1.0, _powers(kg=1, m=2, s=-3, A=-1)),
    "Ohm": (1.0, _powers(kg=1, m=2, s=-3, A=-2)),
    "Ω": (1.0, _powers(kg=1, m=2, s=-3, A=-2)),
    "F": (1.0, _powers(kg=-1, m=-2, s=4, A=2)),
    "H": (1.0, _powers(kg=1, m=2, s=-2, A=-2)),
    "T": (1.0, _powers(kg=1, s=-2, A=-1)),
    "Wb": (1.0, _powers(kg=1, m=2, s=-2, A=-1)),
    "rad": (1.0, _NONE),
    "deg": (pi / 180, _NONE),
    "°": (pi / 180, _NONE),
    "rev": (2 * pi, _NONE),
    "%": (0.01, _NONE),
}
_PREFIXES = {"n": 1e-9, "µ": 1e-6, "u": 1e-6, "m": 1e-3, "c": 1e-2, "d": 1e-1, "k": 1e3, "M": 1e6, "G": 1e9}
_PLAIN = frozenset({"kg", "t", "min", "h", "rad", "deg", "°", "rev", "%"})
"""Words that take no prefix."""

_TOKEN = re.compile(r"\s*(?:(\*\*|\^|[*·⋅/()])|([A-Za-zµΩ]+|[°%])|(-?\d+)|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_LOWERED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
ANGLE = "rad"


class UnitError(ValueError):
    """A text is no unit, or an expression has none; the message says why."""


@dataclass(frozen=True)
class Unit:
    """Powers of words as they were written; ``size`` and ``powers`` of the base units follow from them."""

    words: tuple[tuple[str, Fraction], ...] = ()

    @property
    def size(self) -> float:
        """How many of the coherent unit of SI it is."""
        found = 1.0
        for word, power in self.words:
            found *= float(_meaning(word)[0] ** float(power))
        return found

    @property
    def powers(self) -> Powers:
        """The power of each of the base units."""
        found = [Fraction(0)] * len(DIMENSIONS)
        for word, power in self.words:
            found = [mine + power * other for mine, other in zip(found, _meaning(word)[1], strict=True)]
        return tuple(found)

    def fits(self, other: Unit) -> bool:
        """May quantities of the two be added?"""
        return self.powers == other.powers and isclose(self.size, other.size, rel_tol=1e-9)

    def __mul__(self, other: Unit) -> Unit:
        found = dict(self.words)
        for word, power in other.words:
            found[word] = found.get(word, Fraction(0)) + power
        return Unit(tuple((word, power) for word, power in found.items() if power))

    def __pow__(self, power: Fraction | int) -> Unit:
        return Unit(tuple((word, p * power) for word, p in self.words if power))

    def __truediv__(self, other: Unit) -> Unit:
        return self * other**-1

    def __str__(self) -> str:
        """For labels: ``kg·m²/s²``; nothing for a pure number."""
        above = [_power_text(word, power) for word, power in self.words if power > 0]
        below = [_power_text(word, -power) for word, power in self.words if power < 0]
        if not below:
            return "·".join(above)
        under = "·".join(below) if len(below) == 1 else f"({'·'.join(below)})"
        return f"{'·'.join(above) or '1'}/{under}"


NUMBER = Unit()


def _meaning(word: str) -> tuple[float, Powers]:
    if word in _WORDS:
        return _WORDS[word]
    size, powers = _WORDS[word[1:]]
    return _PREFIXES[word[0]] * size, powers


def _power_text(word: str, power: Fraction) -> str:
    if power == 1:
        return word
    if power.denominator == 1:
        return word + str(power).translate(_LOWERED)
    return f"{word}^({power})"


def read_unit(text: str) -> Unit:
    """A unit from its text; UnitError says what is wrong with it.

    >>> str(read_unit("kg m^2 / s^2")), read_unit("N*m").fits(read_unit("J")), read_unit("mm").size
    ('kg·m²/s²', True, 0.001)
    """
    found, sign, opened, place = NUMBER, 1, [1], 0
    last: Unit | None = None
    while text[place:].strip():
        token = _TOKEN.match(text, place)
        if token is None:
            raise UnitError(f"'{text[place:].strip()[:1]}' has no place in a unit")
        place = token.end()
        mark, word, number, raised = token.groups()
        if mark == "(":
            opened.append(opened[-1] * sign)
            sign = 1
        elif mark == ")":
            if len(opened) == 1:
                raise UnitError("a parenthesis is closed that was never opened")
            opened.pop()
            sign = 1
        elif mark in ("^", "**"):
            if last is None or (power := _TOKEN.match(text, place)) is None or power[3] is None:
                raise UnitError("a power is a whole number after a unit: m^2")
            found, place = found * last ** (int(power[3]) - 1), power.end()
            last = None
        elif mark is not None:
            sign, last = (-1 if mark == "/" else 1), None
        elif raised:
            if last is None:
                raise UnitError("a power stands after a unit")
            found, last = found * last ** (int(raised.translate(_RAISED)) - 1), None
        elif number:
            if int(number) != 1:
                raise UnitError(f"'{number}' is no unit; the value stands with the quantity itself")
            last = None
        else:
            last = Unit(((_names_of_units(word), Fraction(sign * opened[-1])),))
            found, sign = found * last, 1
    if len(opened) > 1:
        raise UnitError("a parenthesis is never closed")
    return found


def _names_of_units(word: str) -> str:
    if word in _WORDS or (word[:1] in _PREFIXES and word[1:] in _WORDS and word[1:] not in _PLAIN):
        return word
    for k in range(1, len(word)):
        if word[:k] in _WORDS and word[k:] in _WORDS:
            raise UnitError(f"unknown unit '{word}'; a product is written {word[:k]}*{word[k:]}")
    raise UnitError(f"unknown unit '{word}'")


class Mismatch(UnitError):
    """An expression adds, compares or takes functions of what does not go together."""


def unit_of(expression: Expression, units: Mapping[str, Unit]) -> Unit | None:
    """The unit of an expression; None where a name in it has none. Mismatch where units do not go together.

    Numbers are pure; a number that is added to a quantity counts as one of its kind, so that x - 0.1 is a length.
    """
    if not names_in(expression) <= units.keys():
        return None
    return _Units(units).of(expression) or NUMBER


class _Units:
    """Units of parts of an expression; None for a number that takes any."""

    def __init__(self, units: Mapping[str, Unit]) -> None:
        self.units = units
        self.known: dict[Expression, Unit | None] = {}

    def of(self, e: Expression) -> Unit | None:
        if e not in self.known:
            self.known[e] = self._unit(e)
        return self.known[e]

    def _unit(self, e: Expression) -> Unit | None:
        if not e.args:
            return self.units[str(e)] if e.is_Symbol else None
        if e.is_Add:
            return self._same(e.args, "are added")
        if e.is_Mul:
            found = NUMBER
            for factor in e.args:
                found *= self.of(factor) or NUMBER
            return found
        if e.is_Pow:
            return self._power(*e.args)
        return self._call(type(e).__name__.lower(), e)

    def _power(self, base: Expression, exponent: Expression) -> Unit | None:
        if exponent.is_Rational:
            return (self.of(base) or NUMBER) ** Fraction(int(exponent.p), int(exponent.q))
        if exponent.is_Number:
            return (self.of(base) or NUMBER) ** Fraction(float(exponent)).limit_denominator(1000)
        self._pure(base, "is raised to a power that is no number")
        self._pure(exponent, "is an exponent")
        return NUMBER

    def _call(self, name: str, e: Expression) -> Unit | None:
        if name in ("abs", "max", "min"):
            return self._same(e.args, "are compared")
        if name == "sign":
            self.of(e.args[0])
        elif name == "atan2":
            self._same(e.args, "are the sides of an angle")
        else:
            for argument in e.args:
                self._pure(argument, f"stands in {name}(…)")
        return NUMBER

    def _same(self, parts: Iterable[Expression], what: str) -> Unit | None:
        found: tuple[Expression, Unit] | None = None
        for part in parts:
            unit = self.of(part)
            if unit is None or part.is_Number:
                continue
            if found is None:
                found = part, unit
            elif not unit.fits(found[1]):
                one, other = (f"{to_text(p)} ({describe_unit(u)})" for p, u in (found, (part, unit)))
                raise Mismatch(f"{one} and {other} {what}")
        return None if found is None else found[1]

    def _pure(self, e: Expression, what: str) -> None:
        unit = self.of(e)
        if unit is not None and not unit.fits(NUMBER):
            raise Mismatch(f"{to_text(e)} ({describe_unit(unit)}) {what}, where a number is wanted, or an angle in rad")


def describe_unit(unit: Unit) -> str:
    """A unit in a sentence."""
    return str(simplified(unit)) or "pure numbers"


MOST_WORDS = 3
"""A unit that was found and has more words than this is written in base units."""


def simplified(unit: Unit) -> Unit:
    """A unit that was found for an expression, for labels: without radians in products, in base units where that is shorter."""
    rest = tuple(sorted((word, power) for word, power in unit.words if word != ANGLE)) or unit.words
    if len(rest) <= MOST_WORDS and all(power.denominator == 1 for _, power in rest):
        return Unit(rest)
    base = Unit(tuple((word, power) for word, power in zip(DIMENSIONS, unit.powers, strict=True) if power))
    return base if base.fits(unit) else Unit(rest)
