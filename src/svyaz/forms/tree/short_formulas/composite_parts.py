"""What composite bodies in named formulas are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from svyaz.expr import Expression
from svyaz.forms.tree.recursions.algebra import Symmetric, Vector

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
