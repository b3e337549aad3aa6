"""Vectors of three expressions, and matrices that turn them."""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.expr import ZERO, Expression
from svyaz.model.rotations import Rotation, Vector


def add(*vectors: Vector) -> Vector:
    """The sum of vectors."""
    x, y, z = (sum(entries, ZERO) for entries in zip(*vectors, strict=True))
    return x, y, z


def scale(factor: Expression, vector: Vector) -> Vector:
    """factor · v."""
    x, y, z = vector
    return factor * x, factor * y, factor * z


def inner(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    """a · b."""
    return sum((p * q for p, q in zip(a, b, strict=True)), ZERO)


def cross(a: Vector, b: Vector) -> Vector:
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def transform(matrix: Rotation, vector: Vector) -> Vector:
    """A v."""
    x, y, z = (inner(row, vector) for row in matrix)
    return x, y, z


def compose(a: Rotation, b: Rotation) -> Rotation:
    """A B."""
    x, y, z = zip(*(transform(a, (u, v, w)) for u, v, w in zip(*b, strict=True)), strict=True)
    return x, y, z
