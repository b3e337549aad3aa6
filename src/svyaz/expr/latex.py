r"""Expressions in LaTeX, in the subset that KaTeX knows: m l^{2} \ddot{u} + m g l \sin u."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from symengine import Basic

from svyaz.expr.layout import Call, Name, Node, Number, Power, Product, Sum, fold, layout, plain, terms_in_order
from svyaz.expr.names import latex_name
from svyaz.expr.text import ATOM, POWER, PRODUCT, SUM, exponent_text

_COMMANDS = {
    "sin": r"\sin",
    "cos": r"\cos",
    "tan": r"\tan",
    "asin": r"\arcsin",
    "acos": r"\arccos",
    "atan": r"\arctan",
    "atan2": r"\operatorname{atan2}",
    "sinh": r"\sinh",
    "cosh": r"\cosh",
    "tanh": r"\tanh",
    "log": r"\ln",
    "sign": r"\operatorname{sign}",
    "min": r"\min",
    "max": r"\max",
}
_BARE = frozenset({"sin", "cos", "tan", "sinh", "cosh", "tanh"})
"""Functions whose argument needs no parentheses if it is a name, and whose square is written on the function."""


_WORDS = (r"\mathrm{", r"\text{")
"""Names of several letters begin so; a thin space keeps them apart from their neighbours."""


class LatexPiece(NamedTuple):
    """A piece of LaTeX and how tightly it holds together.

    ``tail``: it ends with the bare argument of a function; ``function``: the command and the argument of a function
    whose powers are written on the command.
    """

    text: str
    level: int
    tail: bool = False
    function: tuple[str, str] | None = None


def to_latex(expression: Basic, order: Sequence[str] | None = None) -> str:
    """The expression in LaTeX; ``order`` lists names as they should follow each other in products."""
    return fold(plain(layout(expression, order)), _show).text


def _enclose(piece: LatexPiece, least: int) -> str:
    return piece.text if piece.level >= least else rf"\left({piece.text}\right)"


def _show(node: Node, shown: Callable[[Node], LatexPiece]) -> LatexPiece:
    match node:
        case Name(name=name):
            return LatexPiece(latex_name(name), ATOM)
        case Number(value=value):
            return _number(value)
        case Call(function=function, arguments=arguments):
            return _call(function, arguments, [shown(argument) for argument in arguments])
        case Power(base=base, exponent=exponent):
            return _power(shown(base), exponent, shown(exponent))
        case Product(above=above, below=below):
            upper = _row([shown(factor) for factor in above], alone=not below)
            if not below:
                return upper
            return LatexPiece(
                rf"\frac{{{upper.text}}}{{{_row([shown(factor) for factor in below], alone=False).text}}}", PRODUCT
            )
        case Sum():
            parts: list[str] = []
            for negative, term in terms_in_order(node):
                sign = "-" if negative else "+" if parts else ""
                parts += (f" {sign} " if parts else sign, _enclose(shown(term), PRODUCT))
            return LatexPiece("".join(parts), SUM)
    raise TypeError(type(node).__name__)


def _number(value: Fraction | float) -> LatexPiece:
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return LatexPiece(str(value), ATOM)
        return LatexPiece(rf"\frac{{{value.numerator}}}{{{value.denominator}}}", PRODUCT)
    mantissa, _, exponent = f"{value:.15g}".partition("e")
    if not exponent:
        return LatexPiece(mantissa, ATOM)
    return LatexPiece(rf"{mantissa} \cdot 10^{{{int(exponent)}}}", POWER)


def _call(function: str, arguments: tuple[Node, ...], inside: list[LatexPiece]) -> LatexPiece:
    listed = ", ".join(piece.text for piece in inside)
    if function == "sqrt":
        return LatexPiece(rf"\sqrt{{{listed}}}", ATOM)
    if function == "exp":
        return LatexPiece(f"e^{{{listed}}}", POWER)
    if function == "abs":
        return LatexPiece(rf"\left|{listed}\right|", ATOM)
    command = _COMMANDS.get(function, rf"\operatorname{{{function}}}")
    if function not in _BARE:
        return LatexPiece(rf"{command}\left({listed}\right)", ATOM)
    bare = isinstance(arguments[0], Name)
    argument = " " + listed if bare else rf"\left({listed}\right)"
    # A bare argument must not be taken to go on: a thin space follows, and a power is written on the function.
    return LatexPiece(command + argument, ATOM, tail=bare, function=(command, argument))


def _power(base: LatexPiece, exponent: Node, shown: LatexPiece) -> LatexPiece:
    raised = exponent_text(exponent.value) if isinstance(exponent, Number) else shown.text
    if base.function is not None and isinstance(exponent, Number) and raised.isdigit():
        command, argument = base.function
        return LatexPiece(f"{command}^{{{raised}}}{argument}", POWER, tail=base.tail)
    # Parentheses keep the exponent of sin u off its argument.
    low = rf"\left({base.text}\right)" if base.tail else _enclose(base, ATOM)
    return LatexPiece(f"{low}^{{{raised}}}", POWER)


def _row(factors: list[LatexPiece], alone: bool) -> LatexPiece:
    """Factors side by side; a single factor of a quotient needs no parentheses."""
    if not factors:
        return LatexPiece("1", ATOM)
    if len(factors) == 1 and not alone:
        return factors[0]
    parts = [_enclose(factors[0], POWER)]
    for before, factor in pairwise(factors):
        text = _enclose(factor, POWER)
        apart = before.tail or text.startswith(_WORDS) or parts[-1].startswith(_WORDS)
        parts.append(r" \cdot " if text[:1].isdigit() else r" \, " if apart else " ")
        parts.append(text)
    return LatexPiece("".join(parts), PRODUCT, tail=factors[-1].tail)
