"""Expressions as a line of text: plain text that the parser reads back, and the frame for other kinds of text.

Expressions as a line of Unicode text, for terminals and labels: m·l²·ü + m·g·l·sin(u).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from symengine import Basic

from svyaz.expr.layout import Call, Name, Node, Number, Power, Product, Sum, fold, layout, plain, terms_in_order
from svyaz.expr.names import superscript, unicode_name

SUM, PRODUCT, POWER, ATOM = range(4)
"""How tightly a piece of text holds together."""


class Piece(NamedTuple):
    """A piece of text and how tightly it holds together."""

    text: str
    level: int

    def held(self, least: int) -> str:
        """The text, in parentheses if it is looser than ``least``."""
        return self.text if self.level >= least else f"({self.text})"


class Style(NamedTuple):
    """How names, numbers, whole exponents (after the base) and square roots are written, and the signs."""

    name: Callable[[str], str]
    number: Callable[[float], Piece]
    exponent: Callable[[int], str]
    root: Callable[[Piece], str]
    times: str
    minus: str


PLAIN = Style(
    name=str,
    number=lambda number: Piece(repr(number), ATOM),
    exponent=lambda number: f"^{number}",
    root=lambda inside: f"sqrt({inside.text})",
    times="*",
    minus="-",
)


def to_text(expression: Basic, order: Sequence[str] | None = None) -> str:
    """The expression as text, as in ``m*l^2*u'' + m*g*l*sin(u)``; ``parse`` reads it back.

    ``order`` lists names as they should follow each other in products.
    """
    return line(expression, order, PLAIN)


def line(expression: Basic, order: Sequence[str] | None, style: Style) -> str:
    """The expression as a line of text in a style."""
    return fold(plain(layout(expression, order)), partial(_show, style)).text


def exponent_text(value: Fraction | float) -> str:
    """A positive exponent: 2, 3/2, 1/3, but 1.4 for 7/5: the parser takes short decimals in exponents as exact."""
    if isinstance(value, float):
        return repr(value)
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    decimal = rest == 1 and 2 < value.denominator <= 1000
    return repr(float(value)) if decimal else str(value)


def _show(style: Style, node: Node, shown: Callable[[Node], Piece]) -> Piece:
    match node:
        case Name(name=name):
            return Piece(style.name(name), ATOM)
        case Number(value=value):
            if isinstance(value, float):
                return style.number(value)
            return Piece(str(value), ATOM if value.denominator == 1 else PRODUCT)
        case Call(function="sqrt", arguments=(inside,)):
            return Piece(style.root(shown(inside)), ATOM)
        case Call(function=function, arguments=arguments):
            return Piece(f"{function}({', '.join(shown(argument).text for argument in arguments)})", ATOM)
        case Power(base=base, exponent=exponent):
            return Piece(shown(base).held(ATOM) + _exponent(style, exponent, shown(exponent)), POWER)
        case Product(above=above, below=below):
            text = style.times.join(shown(factor).held(POWER) for factor in above) or "1"
            if below:
                under = style.times.join(shown(factor).held(POWER) for factor in below)
                text += f"/{under}" if len(below) == 1 else f"/({under})"
            return Piece(text, PRODUCT)
        case Sum():
            parts: list[str] = []
            for negative, term in terms_in_order(node):
                sign = style.minus if negative else "+" if parts else ""
                parts += (f" {sign} " if parts else sign, shown(term).held(PRODUCT))
            return Piece("".join(parts), SUM)
    raise TypeError(type(node).__name__)


def _exponent(style: Style, exponent: Node, shown: Piece) -> str:
    if not isinstance(exponent, Number):
        return "^" + shown.held(ATOM)
    if isinstance(exponent.value, Fraction) and exponent.value.denominator == 1:
        return style.exponent(exponent.value.numerator)
    raised = exponent_text(exponent.value)
    return f"^({raised})" if "/" in raised else f"^{raised}"


def to_unicode(expression: Basic, order: Sequence[str] | None = None) -> str:
    """The expression in Unicode; ``order`` lists names as they should follow each other in products."""
    return line(expression, order, _STYLE)


def _number(value: float) -> Piece:
    mantissa, _, exponent = f"{value:.15g}".partition("e")
    return Piece(f"{mantissa}·10{superscript(int(exponent))}", POWER) if exponent else Piece(mantissa, ATOM)


_STYLE = Style(
    name=unicode_name,
    number=_number,
    exponent=superscript,
    root=lambda inside: "√" + inside.held(ATOM),
    times="·",
    minus="−",
)
