"""Expressions as a line of Unicode text, for terminals and labels: m·l²·ü + m·g·l·sin(u)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from symengine import Basic

from svyaz.expr.layout import Call, Name, Node, Number, Power, Product, Sum, fold, layout, plain, shown_terms
from svyaz.expr.names import superscript, unicode_name
from svyaz.expr.text import ATOM, POWER, PRODUCT, SUM, Piece, held


def to_unicode(expression: Basic, order: Sequence[str] | None = None) -> str:
    """The expression in Unicode; ``order`` lists names as they should follow each other in products."""
    return fold(plain(layout(expression, order)), _show)[0]


def _show(node: Node, shown: Callable[[Node], Piece]) -> Piece:
    match node:
        case Name(name=name):
            return unicode_name(name), ATOM
        case Number(value=value):
            return _number(value)
        case Call(function="sqrt", arguments=(inside,)):
            return "√" + held(shown(inside), ATOM), ATOM
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(shown(argument)[0] for argument in arguments)})", ATOM
        case Power(base=base, exponent=Number(value=Fraction(denominator=1) as whole)):
            return held(shown(base), ATOM) + superscript(whole.numerator), POWER
        case Power(base=base, exponent=exponent):
            return f"{held(shown(base), ATOM)}^{held(shown(exponent), ATOM)}", POWER
        case Product(above=above, below=below):
            text = "·".join(held(shown(factor), POWER) for factor in above) or "1"
            if below:
                under = "·".join(held(shown(factor), POWER) for factor in below)
                text += f"/{under}" if len(below) == 1 else f"/({under})"
            return text, PRODUCT
        case Sum():
            parts: list[str] = []
            for negative, term in shown_terms(node):
                sign = ("−" if negative else "") if not parts else (" − " if negative else " + ")
                parts += (sign, held(shown(term), PRODUCT if parts or negative else SUM))
            return "".join(parts), SUM
    raise TypeError(type(node).__name__)


def _number(value: Fraction | float) -> Piece:
    if isinstance(value, Fraction):
        return str(value), ATOM if value.denominator == 1 else PRODUCT
    mantissa, _, exponent = f"{value:.15g}".partition("e")
    return (f"{mantissa}·10{superscript(int(exponent))}", POWER) if exponent else (mantissa, ATOM)
