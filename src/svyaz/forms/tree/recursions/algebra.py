"""Vectors and tensors of any elements: floats, arrays of floats (a batch), SymEngine expressions.

Elements know + - * /; what else is needed of them (zero, sine, cosine) is an ``Elements``. Vectors are triples, a
symmetric tensor is (xx, yy, zz, xy, xz, yz) with its true entries (the products of inertia with their minus).
"""

from __future__ import annotations

import math
from typing import TypeAlias

from svyaz.expr import Expression
from svyaz.model import SYMBOLS, Elements

Element: TypeAlias = Expression
"""A float, an array of floats, an expression, or another thing that can be added and multiplied."""

Vector = tuple[Element, Element, Element]
Matrix = tuple[Vector, Vector, Vector]
Symmetric = tuple[Element, Element, Element, Element, Element, Element]


FLOATS = Elements(0.0, 1.0, math.sin, math.cos)


def arrays() -> Elements:
    """Each element a NumPy array with one entry for each state of a batch (constants stay floats)."""
    import numpy as np

    return Elements(0.0, 1.0, np.sin, np.cos)


def expressions() -> Elements:
    """SymEngine expressions."""
    return SYMBOLS


def dot(a: Vector, b: Vector) -> Element:
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def plus(a: Vector, b: Vector) -> Vector:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def minus(a: Vector, b: Vector) -> Vector:
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def times(factor: Element, a: Vector) -> Vector:
    """A scalar times a vector."""
    return (factor * a[0], factor * a[1], factor * a[2])


def applied(matrix: Matrix, a: Vector) -> Vector:
    """Matrix times vector."""
    return (dot(matrix[0], a), dot(matrix[1], a), dot(matrix[2], a))


def transposed(matrix: Matrix) -> Matrix:
    """The transposed matrix: of a rotation, its inverse."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    return ((a, d, g), (b, e, h), (c, f, i))


def tensor_applied(tensor: Symmetric, a: Vector) -> Vector:
    """Symmetric tensor times vector."""
    xx, yy, zz, xy, xz, yz = tensor
    return (
        xx * a[0] + xy * a[1] + xz * a[2],
        xy * a[0] + yy * a[1] + yz * a[2],
        xz * a[0] + yz * a[1] + zz * a[2],
    )


def tensor_plus(a: Symmetric, b: Symmetric) -> Symmetric:
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


def tensor_turned(rotation: Matrix, tensor: Symmetric) -> Symmetric:
    """R S Rᵀ."""
    x, y, z = (tensor_applied(tensor, row) for row in rotation)
    return (
        dot(rotation[0], x),
        dot(rotation[1], y),
        dot(rotation[2], z),
        dot(rotation[0], y),
        dot(rotation[0], z),
        dot(rotation[1], z),
    )


def offset_inertia(offset: Vector, moment: Vector) -> Symmetric:
    """2 (p·d) 1 - p dᵀ - d pᵀ: what an inertia about a point gains by a shift p of a body with the first moment d."""
    x, y, z = (offset[k] * moment[k] for k in range(3))
    return (
        2 * (y + z),
        2 * (x + z),
        2 * (x + y),
        -(offset[0] * moment[1] + offset[1] * moment[0]),
        -(offset[0] * moment[2] + offset[2] * moment[0]),
        -(offset[1] * moment[2] + offset[2] * moment[1]),
    )


def point_inertia(mass: Element, offset: Vector) -> Symmetric:
    """m (p² 1 - p pᵀ): the inertia of a point mass."""
    x, y, z = offset
    mx, my, mz = mass * x, mass * y, mass * z
    return (my * y + mz * z, mx * x + mz * z, mx * x + my * y, -(mx * y), -(mx * z), -(my * z))
