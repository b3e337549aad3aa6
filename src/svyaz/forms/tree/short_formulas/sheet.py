"""A sheet of named intermediates: formulas in the order of evaluation, each in terms of those above it.

What depends on parameters alone needs no name here: the program computes it once, in its constants part.
"""

from __future__ import annotations

from collections.abc import Iterable

import symengine as se

from svyaz.expr import ZERO, Expression


class FormulaSheet:
    """Gives names to values; equal formulas get one name, opposite ones differ in sign."""

    def __init__(self, parameters: Iterable[str]) -> None:
        self.parameters = {se.Symbol(name) for name in parameters}
        self.definitions: dict[se.Symbol, Expression] = {}
        self._known: dict[Expression, Expression] = {}
        self._constant: dict[Expression, bool] = {}

    def name(self, hint: str, value: Expression) -> Expression:
        """The value under a name; plain names and constants stay as they are."""
        if value.is_Symbol or (-value).is_Symbol or self.is_constant(value):
            return value
        if value in self._known:
            return self._known[value]
        if -value in self._known:
            return -self._known[-value]
        symbol = se.Symbol(self._free(hint))
        self.definitions[symbol] = value
        self._known[value] = symbol
        return symbol

    def is_constant(self, value: Expression) -> bool:
        """Does it depend on parameters alone?"""
        found = self._constant.get(value)
        if found is None:
            found = self._constant[value] = value.free_symbols <= self.parameters
        return found

    def _free(self, hint: str) -> str:
        name, number = hint, 1
        taken = {str(s) for s in self.parameters}
        while se.Symbol(name) in self.definitions or name in taken:
            number += 1
            name = f"{hint}_{number}"
        return name


def is_zero(value: Expression) -> bool:
    """Is it zero as it stands?"""
    return bool(value == ZERO)
