"""Expressions as plain text that the parser reads back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from symengine import Basic

from svyaz.expr.layout import Call, Name, Node, Number, Power, Product, Sum, fold, layout, plain, shown_terms

SUM, PRODUCT, POWER, ATOM = range(4)
"""How tightly a piece of text holds together."""

Piece = tuple[str, int]


def to_text(expression: Basic, order: Sequence[str] | None = None) -> str:
    """The expression as text, as in ``m*l^2*u'' + m*g*l*sin(u)``; ``parse`` reads it back.

    ``order`` lists names as they should follow each other in products.
    """
    return fold(plain(layout(expression, order)), _show)[0]


def held(piece: Piece, least: int) -> str:
    """The text of a piece, in parentheses if it is looser than ``least``."""
    text, level = piece
    return text if level >= least else f"({text})"


def _show(node: Node, shown: Callable[[Node], Piece]) -> Piece:
    match node:
        case Name(name=name):
            return name, ATOM
        case Number(value=value):
            return (
                (str(value), PRODUCT if "/" in str(value) else ATOM)
                if isinstance(value, Fraction)
                else (repr(value), ATOM)
            )
        case Call(function=function, arguments=arguments):
            return f"{function}({', '.join(shown(argument)[0] for argument in arguments)})", ATOM
        case Power(base=base, exponent=exponent):
            return f"{held(shown(base), ATOM)}^{held(shown(exponent), ATOM)}", POWER
        case Product(above=above, below=below):
            text = "*".join(held(shown(factor), POWER) for factor in above) or "1"
            if below:
                under = "*".join(held(shown(factor), POWER) for factor in below)
                text += f"/{under}" if len(below) == 1 else f"/({under})"
            return text, PRODUCT
        case Sum():
            parts: list[str] = []
            for negative, term in shown_terms(node):
                sign = ("-" if negative else "") if not parts else (" - " if negative else " + ")
                parts += (sign, held(shown(term), PRODUCT if parts or negative else SUM))
            return "".join(parts), SUM
    raise TypeError(type(node).__name__)
