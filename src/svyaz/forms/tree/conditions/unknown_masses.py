"""Bodies whose masses, first moments and inertias are unknowns, at positions that are functions of the coordinates.

What is computed from them by the recursions is linear in these unknowns: ``Harmonics``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import symengine as se

from svyaz.expr import Expression, evaluate, names_in, substitute
from svyaz.forms.tree.conditions.harmonics import (
    DIGITS,
    Coefficient,
    Harmonics,
    Scalar,
    coordinate,
    cosine,
    lifted,
    real,
    scalar,
    sine,
    unknown,
    value_of,
)
from svyaz.forms.tree.recursions.algebra import Elements, Vector
from svyaz.forms.tree.recursions.places import Placed, place
from svyaz.model import Body, Tree

EACH = 10
"""Unknowns of a body: mass, first moment x y z, inertia xx yy zz xy xz yz."""

MASS, FIRST, SECOND = 0, 1, 4
"""Places of mass, first moment and inertia among the unknowns of a body."""

NEGLIGIBLE = 1e-12
"""Lengths and direction cosines smaller than this part of the largest are rounding."""

ELEMENTS = Elements(lifted(0), lifted(1), sine, cosine)


def placed_with_unknowns(tree: Tree, lengths: Mapping[str, float]) -> tuple[list[Placed], Vector]:
    """The bodies at symbolic coordinates, with unknown mass, first moment and inertia each; and gravity."""
    entries = [e for body in tree.bodies for e in (*body.axis, *body.pole)] + list(tree.gravity)
    names = sorted(set().union(*(names_in(se.sympify(e)) for e in entries)) - set(lengths))
    random = Random(2)
    point = {name: se.Rational(random.randrange(500, 1500), 1000) for name in names}
    known = {se.Symbol(name): se.RealDouble(value) for name, value in lengths.items()}

    def vector(entries: Sequence[Expression], scale: float) -> Vector:
        x, y, z = (_coefficient(substitute(se.sympify(e), known), point, scale) for e in entries)
        return x, y, z

    numbers = [abs(float(e)) for body in tree.bodies for e in map(se.sympify, body.pole) if e.is_Number]
    longest = max([*numbers, 0.0])
    numbered = {q: coordinate(number) for number, q in enumerate(tree.coordinates)}
    placed = []
    for k, body in enumerate(tree.bodies):
        bare = replace(body, axis=_unit(vector(body.axis, 1.0)), pole=vector(body.pole, longest))
        placed.append(_with_unknowns(bare, k, [numbered[q] for q in body.coordinates]))
    return placed, vector(tree.gravity, 1.0)


def _with_unknowns(body: Body, k: int, values: list[Harmonics]) -> Placed:
    bare = place(replace(body, mass=0, center=(0, 0, 0), inertia=(0,) * 6), values, ELEMENTS)
    own = [unknown(EACH * k + c) for c in range(EACH)]
    xx, yy, zz, xy, xz, yz = own[SECOND:]
    x, y, z = own[FIRST:SECOND]
    return replace(bare, mass=own[MASS], moment=(x, y, z), inertia=(xx, yy, zz, -xy, -xz, -yz))


def _unit(axis: Vector) -> Vector:
    """The direction with the length 1 to all digits."""
    if all(isinstance(e, int) for e in axis):
        return axis
    values = [value_of(e) for e in axis]
    length = DIGITS.sqrt(sum(value * value for value in values))
    x, y, z = (
        Scalar(e.expression, v / length)
        if isinstance(e, Scalar)
        else e
        if isinstance(e, int) and e == 0
        else v / length
        for e, v in zip(axis, values, strict=True)
    )
    return x, y, z


def _coefficient(expression: Expression, point: Mapping[str, Expression], scale: float) -> Coefficient:
    if names_in(expression):
        return scalar(expression, point)
    if expression.is_Integer:
        return int(expression)
    if expression.is_Rational:
        return Fraction(str(expression))
    value = evaluate(expression, {})
    if abs(value) <= NEGLIGIBLE * scale:
        return 0
    return int(value) if value == int(value) else real(value)


def quaternions_of(tree: Tree) -> dict[int, tuple[int, int, int]]:
    """Number of the coordinate e0 of each free joint → numbers of its e1, e2, e3."""
    numbers = {q: k for k, q in enumerate(tree.coordinates)}
    found = {}
    for body in tree.bodies:
        if body.joint == "free":
            e0, e1, e2, e3 = (numbers[e] for e in body.coordinates[3:])
            found[e0] = (e1, e2, e3)
    return found
