"""A sheet of named intermediates: formulas in the order of evaluation, each in terms of those above it.

What depends on parameters alone needs no name here: the program computes it once, in its constants part.
Composite bodies are written on it in parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import symengine as se

from svyaz.expr import ZERO, Expression
from svyaz.forms.tree.recursions.algebra import Symmetric, Vector


class FormulaSheet:
    """Gives names to values; equal formulas get one name, opposite ones differ in sign."""

    def __init__(self, parameters: Iterable[str], constants: Mapping[se.Symbol, Expression]) -> None:
        """``constants`` are names for expressions of parameters and of those before them."""
        self.parameters = {se.Symbol(name) for name in parameters} | set(constants)
        self.definitions: dict[se.Symbol, Expression] = dict(constants)
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
        while se.Symbol(name) in self.definitions or se.Symbol(name) in self.parameters:
            number += 1
            name = f"{hint}_{number}"
        return name


def is_zero(value: Expression) -> bool:
    """Is it zero as it stands?"""
    return bool(value == ZERO)


LETTERS = "xyz"
PLACES = {(0, 0): 0, (1, 1): 1, (2, 2): 2, (0, 1): 3, (0, 2): 4, (1, 2): 5}


@dataclass(frozen=True)
class Carried:
    """A composite body: mass, first moment and inertia about its pole."""

    mass: Expression
    moment: Vector
    inertia: Symmetric


def named(name: Callable[[str, Expression], Expression], hint: str, vector: Vector) -> Vector:
    x, y, z = (name(f"{hint}{LETTERS[i]}", e) for i, e in enumerate(vector))
    return x, y, z


def across(p: Vector, d: Vector, axis: int) -> Expression:
    """p · d across an axis."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    return p[a] * d[a] + p[b] * d[b]


def pair(place: int) -> str:
    return ("xx", "yy", "zz", "xy", "xz", "yz")[place]
