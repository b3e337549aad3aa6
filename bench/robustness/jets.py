"""Numbers with their first and second derivatives: a way to differentiate that shares nothing with the program's own.

A jet holds f, ∂f/∂z (n,) and ∂²f/∂z∂z (n, n) at one point z. Rules: (f g)'' = f''g + f'g'ᵀ + g'f'ᵀ + f g'', and for a
function φ of one variable φ(f)'' = φ'(f) f'' + φ''(f) f'f'ᵀ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray
Tree: TypeAlias = "tuple[object, ...] | float | str"
"""A number, a name, or (operation, parts…): ``+ *`` of many parts, ``-`` of one, ``^`` with a number, functions of one."""

FUNCTIONS: dict[str, Callable[[float], tuple[float, float, float]]] = {
    "sin": lambda x: (math.sin(x), math.cos(x), -math.sin(x)),
    "cos": lambda x: (math.cos(x), -math.sin(x), -math.cos(x)),
    "tan": lambda x: (math.tan(x), 1 + math.tan(x) ** 2, 2 * math.tan(x) * (1 + math.tan(x) ** 2)),
    "exp": lambda x: (math.exp(x),) * 3,
    "log": lambda x: (math.log(x), 1 / x, -1 / x**2),
    "sqrt": lambda x: (math.sqrt(x), 0.5 / math.sqrt(x), -0.25 / math.sqrt(x) ** 3),
    "atan": lambda x: (math.atan(x), 1 / (1 + x * x), -2 * x / (1 + x * x) ** 2),
    "tanh": lambda x: (math.tanh(x), 1 - math.tanh(x) ** 2, -2 * math.tanh(x) * (1 - math.tanh(x) ** 2)),
    "sinh": lambda x: (math.sinh(x), math.cosh(x), math.sinh(x)),
    "abs": lambda x: (abs(x), math.copysign(1.0, x), 0.0),
}
"""φ, φ', φ'' by name."""


@dataclass(frozen=True)
class Jet:
    """f, its gradient and its matrix of second derivatives."""

    value: float
    slope: Array
    bend: Array

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.slope + other.slope, self.bend + other.bend)

    def __mul__(self, other: Jet) -> Jet:
        mixed = np.outer(self.slope, other.slope)
        bend = self.bend * other.value + mixed + mixed.T + self.value * other.bend
        return Jet(self.value * other.value, self.slope * other.value + self.value * other.slope, bend)

    def through(self, value: float, slope: float, bend: float) -> Jet:
        """φ(f) from φ, φ', φ''."""
        return Jet(value, slope * self.slope, slope * self.bend + bend * np.outer(self.slope, self.slope))


def jet(tree: Tree, names: Sequence[str], values: Mapping[str, float]) -> Jet:
    """The tree at the values, differentiated by the names."""
    n = len(names)
    if isinstance(tree, float | int):
        return Jet(float(tree), np.zeros(n), np.zeros((n, n)))
    if isinstance(tree, str):
        slope = np.array([float(name == tree) for name in names])
        return Jet(values[tree], slope, np.zeros((n, n)))
    kind, *rest = tree
    if kind == "^":
        base, power = jet(rest[0], names, values), float(rest[1])  # type: ignore[arg-type]
        x = base.value
        return base.through(
            x**power, power * x ** (power - 1), power * (power - 1) * x ** (power - 2) if power != 1 else 0.0
        )
    parts = [jet(part, names, values) for part in rest]  # type: ignore[arg-type]
    found = parts[0]
    if kind in FUNCTIONS:
        return found.through(*FUNCTIONS[str(kind)](found.value))
    for part in parts[1:]:
        found = found + part if kind == "+" else found * part
    return found


def text(tree: Tree) -> str:
    """The tree in the language of model files."""
    if isinstance(tree, float | int):
        return repr(tree) if tree >= 0 else f"({tree!r})"
    if isinstance(tree, str):
        return tree
    kind, *rest = tree
    parts = [text(part) for part in rest]  # type: ignore[arg-type]
    if kind == "^":
        return f"({parts[0]})^{parts[1]}"
    return f"{kind}({parts[0]})" if kind in FUNCTIONS else f"({f' {kind} '.join(parts)})"
