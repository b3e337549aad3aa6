"""Expressions as a line of Unicode text, for terminals and labels: m·l²·ü + m·g·l·sin(u)."""

from __future__ import annotations

from collections.abc import Sequence

from symengine import Basic

from svyaz.expr.names import superscript, unicode_name
from svyaz.expr.text import ATOM, POWER, Piece, Style, line


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
