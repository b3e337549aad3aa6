"""Functions of the joint coordinates as sums of linearly independent ones, with coefficients that are linear in unknowns.

A turned joint enters by cos(k·q) and sin(k·q), k whole numbers; a sliding one by powers of its coordinate; a free one by powers
of its position and of its unit quaternion, in which e0² = 1 - e1² - e2² - e3². Products of cosines are written as sums, so
that parallel axes leave cosines of sums of angles and nothing else. Such functions are linearly independent: a sum of
them is constant only if all its coefficients but that of 1 vanish.

A coefficient is a whole number, a fraction, a number of fifty digits, or a ``Scalar``: an expression of the lengths of a
model together with its value at a point chosen at random. Zero is what vanishes there. The many digits keep rounding apart
from what is small: in doubles the elimination finds conditions that are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import mpmath
import symengine as se

from svyaz.expr import Expression, substitute

DIGITS = mpmath.mp.clone()
DIGITS.dps = 50
Number: TypeAlias = mpmath.mpf
"""A number of fifty digits."""

NUMBERS = (int, Fraction, type(DIGITS.mpf(0)))

TOLERANCE = 1e-14
"""A sum is zero when it is smaller than this part of its larger summand: lengths are known to 16 digits, not to 50."""

LARGEST = 3000
"""Coefficients that are put together from more expressions of lengths than this are beyond reading."""


class LongFormula(Exception):
    """A coefficient has grown beyond reading; with numbers for the lengths it would not."""


UNIT = -1
"""The place of what is no unknown in a linear form."""

HALF = Fraction(1, 2)


@dataclass(frozen=True, repr=False)
class Scalar:
    """An expression of parameters and its value at the chosen point."""

    expression: Expression
    value: Number
    size: int = 1
    """How often expressions of lengths were put together for it."""

    def _made(self, expression: Expression, value: Number, other: Coefficient) -> Scalar:
        size = self.size + (other.size if isinstance(other, Scalar) else 0)
        if size > LARGEST:
            raise LongFormula
        return Scalar(expression, value, size)

    def __repr__(self) -> str:
        """Short: mpmath asks for it whenever a number meets a Scalar, before the Scalar gets its turn."""
        return f"Scalar({float(self.value)!r})"

    def __add__(self, other: Coefficient) -> Scalar:
        if not isinstance(other, (*NUMBERS, Scalar)):
            return NotImplemented
        return self._made(self.expression + exact(other), self.value + value_of(other), other)

    __radd__ = __add__

    def __sub__(self, other: Coefficient) -> Scalar:
        return self + -1 * other

    def __rsub__(self, other: Coefficient) -> Scalar:
        return -1 * self + other

    def __mul__(self, other: Coefficient) -> Scalar:
        if not isinstance(other, (*NUMBERS, Scalar)):
            return NotImplemented
        return self._made(self.expression * exact(other), self.value * value_of(other), other)

    __rmul__ = __mul__

    def __neg__(self) -> Scalar:
        return -1 * self

    def __truediv__(self, other: Coefficient) -> Scalar:
        return self._made(self.expression / exact(other), self.value / value_of(other), other)

    def __rtruediv__(self, other: Coefficient) -> Scalar:
        return self._made(exact(other) / self.expression, value_of(other) / self.value, other)


Coefficient: TypeAlias = int | Fraction | Number | Scalar

LinearForm = dict[int, Coefficient]
"""A linear form: place of the unknown → its coefficient, none of them zero."""

Key = tuple[tuple[tuple[int, int], ...], bool, tuple[tuple[int, int], ...]]
"""(multiples of angles, is it a sine?, powers): ((0, 1), (2, -1)), True, ((3, 2),) is sin(q0 - q2) q3²."""

CONSTANT: Key = ((), False, ())


def exact(coefficient: Coefficient) -> Expression:
    """The coefficient as an expression."""
    if isinstance(coefficient, Scalar):
        return coefficient.expression
    if isinstance(coefficient, Fraction):
        return se.Rational(coefficient.numerator, coefficient.denominator)
    return se.Integer(coefficient) if isinstance(coefficient, int) else se.RealDouble(float(coefficient))


def value_of(coefficient: Coefficient) -> Number:
    """Its value (at the chosen point), to fifty digits."""
    if isinstance(coefficient, Scalar):
        return coefficient.value
    if isinstance(coefficient, Fraction):
        return DIGITS.mpf(coefficient.numerator) / coefficient.denominator
    return DIGITS.mpf(coefficient)


def real(value: float) -> Number:
    """A float to fifty digits: the decimal, the fraction or the root of a fraction that it was before it was rounded."""
    plain = Fraction(value).limit_denominator(10**6)
    if abs(float(plain) - value) <= 2e-16 * abs(value):
        return DIGITS.mpf(plain.numerator) / plain.denominator
    square = Fraction(value * value).limit_denominator(100)
    if abs(float(square) - value * value) <= 4e-16 * value * value:
        return (1 if value > 0 else -1) * DIGITS.sqrt(DIGITS.mpf(square.numerator) / square.denominator)
    return DIGITS.mpf(value)


def scalar(expression: Expression, point: Mapping[str, Expression]) -> Scalar:
    """An expression with its value where the names have these (rational) values."""
    there = substitute(expression, {se.Symbol(name): value for name, value in point.items()})
    return Scalar(expression, DIGITS.mpf(str(there.n(int(DIGITS.prec), real=True))))


def added(a: Coefficient, b: Coefficient) -> Coefficient:
    """a + b, with what is zero but for rounding made zero."""
    total = a + b
    if isinstance(total, (int, Fraction)):
        return total
    negligible = abs(value_of(total)) <= TOLERANCE * max(abs(value_of(a)), abs(value_of(b)))
    return 0 if negligible else total


def accumulate(form: LinearForm, other: Mapping[int, Coefficient], factor: Coefficient) -> None:
    """form += factor · other."""
    for place, coefficient in other.items():
        total = added(form.get(place, 0), factor * coefficient)
        if is_zero(total):
            form.pop(place, None)
        else:
            form[place] = total


def is_zero(coefficient: Coefficient) -> bool:
    """Is it the number 0?"""
    return not isinstance(coefficient, Scalar) and coefficient == 0


class Harmonics:
    """A function of the coordinates: ``parts`` has a linear form for each basis function. Elements of the recursions."""

    __slots__ = ("parts",)

    def __init__(self, parts: dict[Key, LinearForm]) -> None:
        self.parts = parts

    def __add__(self, other: Harmonics | Coefficient) -> Harmonics:
        return self._with(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Harmonics | Coefficient) -> Harmonics:
        return self._with(other, -1)

    def __rsub__(self, other: Harmonics | Coefficient) -> Harmonics:
        return (-self)._with(other, 1)

    def __neg__(self) -> Harmonics:
        return self * -1

    def _with(self, other: Harmonics | Coefficient, factor: int) -> Harmonics:
        parts = {key: dict(form) for key, form in self.parts.items()}
        for key, form in lifted(other).parts.items():
            own = parts.setdefault(key, {})
            accumulate(own, form, factor)
            if not own:
                del parts[key]
        return Harmonics(parts)

    def __mul__(self, other: Harmonics | Coefficient) -> Harmonics:
        parts: dict[Key, LinearForm] = {}
        for key, form in self.parts.items():
            for other_key, other_form in lifted(other).parts.items():
                product = _form_product(form, other_form)
                for factor, made in _key_product(key, other_key):
                    accumulate(parts.setdefault(made, {}), product, factor)
        return Harmonics({key: form for key, form in parts.items() if form})

    __rmul__ = __mul__

    @property
    def constant(self) -> LinearForm:
        """The linear form that stands with 1."""
        return self.parts.get(CONSTANT, {})

    @property
    def varying(self) -> list[LinearForm]:
        """The linear forms of all other basis functions."""
        return [form for key, form in self.parts.items() if key != CONSTANT]


def lifted(value: Harmonics | Coefficient) -> Harmonics:
    """A number or a coefficient as a constant function."""
    if isinstance(value, Harmonics):
        return value
    return Harmonics({} if is_zero(value) else {CONSTANT: {UNIT: value}})


def unknown(place: int) -> Harmonics:
    """The unknown of this place."""
    return Harmonics({CONSTANT: {place: 1}})


def coordinate(number: int) -> Harmonics:
    """The coordinate of this number itself."""
    return Harmonics({((), False, ((number, 1),)): {UNIT: 1}})


def cosine(angle: Harmonics) -> Harmonics:
    """cos q of a coordinate."""
    return Harmonics({(((_number(angle), 1),), False, ()): {UNIT: 1}})


def sine(angle: Harmonics) -> Harmonics:
    """sin q of a coordinate."""
    return Harmonics({(((_number(angle), 1),), True, ()): {UNIT: 1}})


def unit_norm(function: Harmonics, quaternions: Mapping[int, tuple[int, int, int]]) -> Harmonics:
    """The same with e0² = 1 - e1² - e2² - e3² for every quaternion: number of e0 → numbers of e1, e2, e3."""
    if not quaternions:
        return function
    parts: dict[Key, LinearForm] = {}
    for (angles, is_sine, powers), form in function.parts.items():
        for factor, reduced in _reduced(dict(powers), quaternions):
            key = (angles, is_sine, tuple(sorted(reduced.items())))
            accumulate(parts.setdefault(key, {}), form, factor)
    return Harmonics({key: form for key, form in parts.items() if form})


def _reduced(
    powers: dict[int, int], quaternions: Mapping[int, tuple[int, int, int]]
) -> list[tuple[int, dict[int, int]]]:
    for first, others in quaternions.items():
        if powers.get(first, 0) >= 2:
            rest = {number: power - 2 * (number == first) for number, power in powers.items()}
            rest = {number: power for number, power in rest.items() if power}
            found = _reduced(rest, quaternions)
            for other in others:
                raised = {**rest, other: rest.get(other, 0) + 2}
                found += [(-factor, made) for factor, made in _reduced(raised, quaternions)]
            return found
    return [(1, powers)]


def _number(function: Harmonics) -> int:
    ((_, _, ((number, _),)),) = function.parts
    return number


def _form_product(a: LinearForm, b: LinearForm) -> LinearForm:
    """The product of two linear forms, one of which has no unknowns."""
    if set(a) == {UNIT}:
        return {place: a[UNIT] * coefficient for place, coefficient in b.items()}
    if set(b) == {UNIT}:
        return {place: coefficient * b[UNIT] for place, coefficient in a.items()}
    raise AssertionError("a product of unknowns")


def _key_product(a: Key, b: Key) -> list[tuple[Coefficient, Key]]:
    """The product of two basis functions as a sum of them."""
    powers = dict(a[2])
    for number, power in b[2]:
        powers[number] = powers.get(number, 0) + power
    raised = tuple(sorted(powers.items()))
    if not a[0] or not b[0]:
        angles, is_sine = (b[0], b[1]) if not a[0] else (a[0], a[1])
        return [(1, (angles, is_sine, raised))]
    differ = a[1] != b[1]
    found: list[tuple[Coefficient, Key]] = []
    for sign in (1, -1):
        angles, turned = _combined(a[0], b[0], sign)
        # cos cos: + +, sin sin: - +, sin cos: + +, cos sin: + -   for the sum and the difference of the angles
        factor = HALF
        if (a[1] and b[1] and sign == 1) or (not a[1] and b[1] and sign == -1):
            factor = -HALF
        if differ:
            if not angles:
                continue
            factor = factor * turned
        found.append((factor, (angles, differ, raised)))
    return found


def _combined(
    a: tuple[tuple[int, int], ...], b: tuple[tuple[int, int], ...], sign: int
) -> tuple[tuple[tuple[int, int], ...], int]:
    """a ± b with the first multiple positive, and whether all signs were turned for that."""
    multiples = dict(a)
    for number, times in b:
        multiples[number] = multiples.get(number, 0) + sign * times
    kept = sorted((number, times) for number, times in multiples.items() if times)
    if kept and kept[0][1] < 0:
        return tuple((number, -times) for number, times in kept), -1
    return tuple(kept), 1
