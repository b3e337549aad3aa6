"""One body that turns freely: its attitude, angular velocity and forces by three turns; the algebra of rotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, add_up, velocity
from svyaz.model import Body, axis_rotation, quaternion_rotation

DUST = 1e-14
"""Entries of a rotation this near to 0, 1 and -1 are these numbers."""

Vector = tuple[Expression, Expression, Expression]


@dataclass(frozen=True)
class Attitude:
    """One body that turns freely: its number, its quaternion e₀, the names and axes u (columns, in the body) of its turns."""

    body: Body
    base: Array
    names: tuple[str, ...]
    axes: Array

    @cached_property
    def turns(self) -> list[se.Symbol]:
        """a₁, a₂, a₃."""
        return [se.Symbol(name) for name in self.names]

    @cached_property
    def quaternion(self) -> tuple[Expression, ...]:
        """e in terms of the turns."""
        found: tuple[Expression, ...] = tuple(map(number_of, self.base))
        for a, u in zip(self.turns, self.axes.T, strict=True):
            half = a / 2
            found = quaternion_product(found, (se.cos(half), *(number_of(x) * se.sin(half) for x in u)))
        return found

    @cached_property
    def rotation(self) -> list[list[Expression]]:
        """R in terms of the turns."""
        found = matrix_of(rotation_of(self.base))
        for a, u in zip(self.turns, self.axes.T, strict=True):
            found = matrix_product(found, axis_rotation(vector_of(u), se.sin(a), se.cos(a)))
        return found

    @cached_property
    def slopes(self) -> list[list[Expression]]:
        """J (3, 3): ω in body axes for a unit rate of each turn."""
        columns: list[list[Expression]] = []
        for a, u in zip(self.turns, self.axes.T, strict=True):
            back = list(zip(*axis_rotation(vector_of(u), se.sin(a), se.cos(a)), strict=True))
            columns = [[add_up(r * x for r, x in zip(row, w, strict=True)) for row in back] for w in columns]
            columns.append(list(vector_of(u)))
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def places(self) -> tuple[str, ...]:
        """Names of the coordinates of its pole; none where it has none."""
        return self.body.coordinates[: self.body.kind.quaternion.start]

    @property
    def jacobian(self) -> list[list[Expression]]:
        """Its velocities for a unit rate of each of its coordinates, places first."""
        ways = len(self.places)
        none = [ZERO] * ways
        back = [list(row) for row in zip(*self.rotation, strict=True)] if ways else []
        return [[*row, ZERO, ZERO, ZERO] for row in back] + [[*none, *row] for row in self.slopes]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Places, then turns."""
        return (*self.places, *self.names)

    def known(self) -> dict[se.Symbol, Expression]:
        """What stands for its quaternion and its velocities."""
        rates = [velocity(q) for q in self.coordinates]
        moving = [add_up(k * r for k, r in zip(row, rates, strict=True)) for row in self.jacobian]
        return {
            **dict(zip(map(se.Symbol, self.body.quaternion), self.quaternion, strict=True)),
            **dict(zip(map(se.Symbol, self.body.velocities), moving, strict=True)),
        }


def rotation_of(e: Array) -> Array:
    """R(e)."""
    return without_dust(np.array(quaternion_rotation(tuple(e.tolist())), dtype=float))


def without_dust(entries: Array) -> Array:
    """With 0, 1 and -1 for entries that are meant to be."""
    near = np.round(entries)
    return np.where(np.abs(entries - near) <= DUST, near, entries) + 0.0


def unit_vector(vector: Sequence[float]) -> Array:
    """Of length one; zero where it is zero."""
    size = float(np.linalg.norm(vector))
    return without_dust(np.array(vector) / size) if size > 0 else np.zeros(3)


def number_of(x: float) -> Expression:
    """A whole number as such."""
    return se.Integer(int(x)) if x == round(x) else se.RealDouble(float(x))


def vector_of(entries: Array) -> Vector:
    """Numbers as expressions."""
    x, y, z = map(number_of, entries.tolist())
    return x, y, z


def matrix_of(entries: Array) -> list[list[Expression]]:
    """Rows of numbers as expressions."""
    return [list(vector_of(row)) for row in entries]


def apply_rotation(frame: Array, vector: Vector) -> Vector:
    """A vector turned; itself where nothing turns."""
    if (frame == np.eye(3)).all():
        return vector
    x, y, z = (add_up(k * e for k, e in zip(row, vector, strict=True)) for row in matrix_of(frame))
    return x, y, z


def matrix_product(a: Sequence[Sequence[Expression]], b: Sequence[Sequence[Expression]]) -> list[list[Expression]]:
    """a b."""
    columns = list(zip(*b, strict=True))
    return [[add_up(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a]


def quaternion_product(a: Sequence[Expression], b: Sequence[Expression]) -> tuple[Expression, ...]:
    """a ∘ b of quaternions."""
    a0, a1, a2, a3 = a
    b0, b1, b2, b3 = b
    return (
        a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3,
        a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2,
        a0 * b2 - a1 * b3 + a2 * b0 + a3 * b1,
        a0 * b3 + a1 * b2 - a2 * b1 + a3 * b0,
    )
