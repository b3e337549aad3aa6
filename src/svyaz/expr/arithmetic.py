"""Checked arithmetic: SymEngine operations that refuse what has no finite real value or would never end.

Each operand is a :class:`Value`: the expression, and beside it a plain floating-point number if the expression holds
no symbols. The numbers tell about domains and magnitudes *before* SymEngine computes, so ``9^9^9`` is never
evaluated. A refusal is a :class:`Refused`; the parser adds the place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import symengine
from symengine import Basic
from symengine.lib import symengine_wrapper as wrapper

from svyaz.expr import signs
from svyaz.expr.calculus import with_corners

LARGEST = 1e300
"""Numbers of a larger magnitude are refused: so sums of coefficients never overflow."""

MAX_EXPONENT = 1000
MAX_BITS = 4096
"""The largest exact number, in bits, that may arise on the way to a result."""

_MINUS_ONE = symengine.Integer(-1)
_HALF = symengine.Rational(1, 2)
_TOO_LARGE = "the number is too large: magnitudes up to 1e300 are allowed"
_TOO_SMALL = "the number is too small: magnitudes down to 1e-300 are allowed"
_REAL = (wrapper.Rational, wrapper.RealDouble)
_INFINITE = (wrapper.Infinity, wrapper.NegativeInfinity, wrapper.ComplexInfinity, wrapper.NaN)


class Value(NamedTuple):
    """An expression, and its value if it holds no symbols."""

    expression: Basic
    number: float | None


class Refused(Exception):
    """An operation without a finite real result; the message says why."""


class KnownFunction(NamedTuple):
    """A function of the language: how SymEngine builds it, its value for numbers, its number of arguments.

    ``most`` is None for any number of arguments; ``domain`` completes the sentence "the argument must be …".
    """

    build: Callable[..., Basic]
    evaluate: Callable[..., float]
    least: int
    most: int | None
    domain: str


def _tangent(angle: Basic) -> Basic:
    tangent = symengine.tan(angle)
    # SymEngine turns tan(x + pi/2) into a cotangent, which is no function of the language.
    parts = tangent.args if isinstance(tangent, wrapper.Mul) else (tangent,)
    if any(isinstance(part, wrapper.cot) for part in parts):
        return symengine.sin(angle) / symengine.cos(angle)
    return tangent


def _angle(y: float, x: float) -> float:
    if x == y == 0:
        raise ValueError
    return math.atan2(y, x)


def _sign(x: float) -> float:
    return math.copysign(1.0, x) if x else 0.0


def _one(build: Callable[..., Basic], evaluate: Callable[..., float], domain: str = "finite") -> KnownFunction:
    return KnownFunction(build, evaluate, 1, 1, domain)


FUNCTIONS: dict[str, KnownFunction] = {
    "sin": _one(symengine.sin, math.sin),
    "cos": _one(symengine.cos, math.cos),
    "tan": _one(_tangent, math.tan),
    "asin": _one(symengine.asin, math.asin, "between -1 and 1"),
    "acos": _one(symengine.acos, math.acos, "between -1 and 1"),
    "atan": _one(symengine.atan, math.atan),
    "atan2": KnownFunction(with_corners(signs.angle), _angle, 2, 2, "not both zero"),
    "sinh": _one(symengine.sinh, math.sinh),
    "cosh": _one(symengine.cosh, math.cosh),
    "tanh": _one(symengine.tanh, math.tanh),
    "exp": _one(symengine.exp, math.exp),
    "log": _one(symengine.log, math.log, "positive"),
    "sqrt": _one(lambda expression: _power(expression, _HALF), math.sqrt, "zero or positive"),
    "abs": _one(with_corners(signs.absolute), abs),
    "sign": _one(with_corners(signs.signum), _sign),
    "min": KnownFunction(with_corners(symengine.Min), min, 2, None, "finite"),
    "max": KnownFunction(with_corners(symengine.Max), max, 2, None, "finite"),
}


def value_of(expression: Basic) -> Value:
    """The value of an expression that a name stands for."""
    return Value(expression, float(expression) if isinstance(expression, _REAL) else None)


def literal(text: str) -> Value:
    """A number as written: digits alone are an exact integer, anything else is a floating-point number."""
    number = float(text)
    _check_magnitude(number)
    if number == 0.0 and any(digit in "123456789" for digit in text.lower().partition("e")[0]):
        raise Refused(_TOO_SMALL)
    return Value(symengine.Integer(int(text)) if text.isdigit() else symengine.RealDouble(number), number)


def negative(value: Value) -> Value:
    return Value(-value.expression, None if value.number is None else -value.number)


def total(terms: Sequence[Value]) -> Value:
    """The sum of the terms, at one go: linear in their number."""
    if len(terms) == 1:
        return terms[0]
    if len(terms) > 50:
        _check_denominators(terms)
    numbers = [term.number for term in terms if term.number is not None]
    result = symengine.Add(*[part for term in terms for part in _parts(term.expression)])
    return _result(result, sum(numbers) if len(numbers) == len(terms) else None)


def _parts(term: Basic) -> Sequence[Basic]:
    """-(x + y) as -x and -y, for SymEngine leaves a sum that is subtracted inside another sum, but not if it is added."""
    if isinstance(term, wrapper.Mul):
        sign, *rest = term.args
        if sign == _MINUS_ONE and len(rest) == 1 and isinstance(rest[0], wrapper.Add):
            return [-part for part in rest[0].args]
    return (term,)


def product(factors: Sequence[Value]) -> Value:
    """The product of the factors, at one go: linear in their number."""
    if len(factors) == 1:
        return factors[0]
    numbers = [factor.number for factor in factors if factor.number is not None]
    number = math.prod(numbers)
    if numbers:
        _check_magnitude(number)
    result = symengine.Mul(*[factor.expression for factor in factors])
    if isinstance(result, wrapper.Mul):
        _check_number(result.args[0])
    return _result(result, number if len(numbers) == len(factors) else None)


def inverse(value: Value) -> Value:
    if _is_zero(value):
        raise Refused("division by zero")
    return _result(value.expression**_MINUS_ONE, None if value.number is None else 1.0 / value.number)


def power(base: Value, exponent: Value) -> Value:
    """base^exponent, refused before it is computed if it has no moderate real value."""
    base, exponent = _with_number(base), _with_number(exponent)
    if exponent.number is None:
        if _is_zero(base):
            raise Refused("a power of zero with an exponent that is not a number")
        if base.number is not None and base.number < 0:
            raise Refused("a power of a negative number with an exponent that is not a number")
        result = base.expression**exponent.expression
        _check_exponents(result)
        return _result(result, None)
    if abs(exponent.number) > MAX_EXPONENT:
        raise Refused(f"the exponent is too large: magnitudes up to {MAX_EXPONENT} are allowed")
    if _is_zero(base) and exponent.number < 0:
        raise Refused("division by zero")
    if _is_zero(base) and exponent.number > 0:
        return base
    number = None if base.number is None else _numeric_power(base.number, exponent.number)
    _check_size_of_power(base.expression, exponent.number)
    result = _power(base.expression, _exact(exponent))
    _check_exponents(result)
    return _result(result, number)


def _with_number(value: Value) -> Value:
    """The value with its number, also if it lost its symbols on the way, as log(2)*x/x does."""
    if value.number is not None or value.expression.free_symbols:
        return value
    try:
        return Value(value.expression, float(value.expression.n(53, real=True)))
    except RuntimeError:
        raise Refused("the result is not a real number") from None


def _power(base: Basic, exponent: Basic) -> Basic:
    """base^exponent for a number as exponent; (2/x)^(1/2) as sqrt(2)*x^(-1/2), where SymEngine leaves (1/x)^(1/2)."""
    result = base**exponent
    if isinstance(result, wrapper.Mul) and not isinstance(exponent, wrapper.Integer):
        return symengine.Mul(*[p.args[0] ** p.args[1] if isinstance(p, wrapper.Pow) else p for p in result.args])
    return result


def call(function: KnownFunction, arguments: Sequence[Value]) -> Value:
    """The function of the arguments; the number of arguments has been checked by the caller."""
    arguments = [_with_number(argument) for argument in arguments]
    number = None
    if all(argument.number is not None for argument in arguments):
        try:
            number = function.evaluate(*(argument.number for argument in arguments))
        except OverflowError:
            raise Refused(_TOO_LARGE) from None
        except ValueError:
            given = ", ".join(f"{argument.number:g}" for argument in arguments)
            what = "arguments" if len(arguments) > 1 else "argument"
            raise Refused(f"the {what} ({given}) must be {function.domain}") from None
        _check_magnitude(number)
        if function.evaluate in (abs, _sign, min, max):
            return _chosen(arguments, number)
    result = function.build(*[argument.expression for argument in arguments])
    if number is not None and function.evaluate is _angle and result.atoms(wrapper.sign):
        result = symengine.RealDouble(number)  # SymEngine writes atan2(a, a) with a sign(a) that it cannot evaluate
    return _result(result, number)


def _chosen(arguments: Sequence[Value], number: float) -> Value:
    """abs, sign, min or max of numbers: SymEngine does not evaluate abs(pi - 4), but one of few things it must be."""
    for argument in arguments:
        if argument.number == number:
            return argument
        if argument.number == -number:
            return negative(argument)
    return Value(symengine.Integer(int(number)), number)


def _is_zero(value: Value) -> bool:
    if value.number == 0.0:
        return True
    return isinstance(value.expression, wrapper.Number) and float(value.expression) == 0.0


def _numeric_power(base: float, exponent: float) -> float:
    if base < 0 and not exponent.is_integer():
        raise Refused(f"a power of the negative number {base:g} with an exponent that is not whole")
    try:
        number = math.pow(base, exponent)
    except OverflowError:
        raise Refused(_TOO_LARGE) from None
    _check_magnitude(number)
    if number == 0.0 and base != 0.0:
        raise Refused(_TOO_SMALL)
    return number


def _exact(exponent: Value) -> Basic:
    """An exponent written as a short decimal is taken as exact: x^2.0 is x^2, x^0.5 is sqrt(x), x^1.4 is x^(7/5)."""
    if isinstance(exponent.expression, wrapper.RealDouble):
        fraction = Fraction(repr(float(exponent.expression)))
        if fraction.denominator <= 1000:
            return symengine.Integer(fraction.numerator) / symengine.Integer(fraction.denominator)
    return exponent.expression


def _check_size_of_power(base: Basic, exponent: float) -> None:
    """Refuse a power whose exact coefficient would have thousands of digits, before it is computed."""
    coefficient = base.args[0] if isinstance(base, wrapper.Mul) else base
    if isinstance(coefficient, wrapper.Rational):
        if _bits(coefficient) * abs(exponent) > MAX_BITS:
            raise Refused(_TOO_LARGE)
    elif isinstance(coefficient, wrapper.RealDouble) and float(coefficient) != 0.0:
        decades = math.log10(abs(float(coefficient))) * exponent
        if abs(decades) > math.log10(LARGEST):
            raise Refused(_TOO_LARGE if decades > 0 else _TOO_SMALL)


def _check_exponents(result: Basic) -> None:
    """Refuse (x^1000)^1000: exponents multiply."""
    for part in result.args if isinstance(result, wrapper.Mul) else (result,):
        if not isinstance(part, wrapper.Pow):
            continue
        exponent = part.args[1]
        if isinstance(exponent, wrapper.Number):
            if abs(float(exponent)) > MAX_EXPONENT:
                raise Refused(f"the exponent is too large: magnitudes up to {MAX_EXPONENT} are allowed")
        elif isinstance(exponent, wrapper.Mul):
            _check_number(exponent.args[0])


def _check_denominators(terms: Sequence[Value]) -> None:
    """Refuse 1/10007 + 1/10009 + …, a long sum of fractions whose common denominator has thousands of digits."""
    common, seen = 1, {1}
    for term, _ in terms:
        coefficient = term.args[0] if isinstance(term, wrapper.Mul) else term
        if not isinstance(coefficient, wrapper.Rational):
            continue
        denominator = int(coefficient.get_num_den()[1])
        if denominator not in seen:
            seen.add(denominator)
            common = math.lcm(common, denominator)
            if common.bit_length() > MAX_BITS:
                raise Refused("the common denominator of the sum is too large")


def _result(expression: Basic, number: float | None) -> Value:
    if isinstance(expression, wrapper.Number):
        _check_number(expression)
        return Value(expression, float(expression) if number is None else number)
    if isinstance(expression, _INFINITE):
        raise Refused("the result is not finite")
    return Value(expression, number)


def _check_number(expression: Basic) -> None:
    """Refuse an atom that is not a finite real number of moderate size; other expressions pass."""
    if isinstance(expression, wrapper.Rational):
        bits = _bits(expression)
        if bits > MAX_BITS:
            raise Refused(_TOO_LARGE)
        if bits > 990:  # below, it is less than LARGEST in any case
            _check_magnitude(float(expression))
    elif isinstance(expression, wrapper.RealDouble):
        _check_magnitude(float(expression))
    elif isinstance(expression, _INFINITE):
        raise Refused("the result is not finite")
    elif isinstance(expression, wrapper.Number):
        raise Refused("the result is not a real number")


def _check_magnitude(number: float) -> None:
    if math.isnan(number):
        raise Refused("the result is not a number")
    if abs(number) > LARGEST:
        raise Refused(_TOO_LARGE)


def _bits(number: Basic) -> int:
    numerator, denominator = number.get_num_den()
    return max(abs(int(numerator)).bit_length(), int(denominator).bit_length())
