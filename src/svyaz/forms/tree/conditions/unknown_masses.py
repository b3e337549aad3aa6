"""Bodies whose masses, first moments and inertias are unknowns, at positions that are functions of the coordinates.

What is computed from them by the recursions is linear in these unknowns: ``Harmonics``. So the entries of the inertia
matrix become explicit functions of the coordinates: sums of linearly independent ones, cosines and sines of sums of angles
and powers of slides, whose coefficients show masses, centres, inertias and lengths as the model names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from random import Random

import symengine as se

from svyaz.expr import Expression, ModelError, Problem, evaluate, names_in, substitute
from svyaz.forms.tree.conditions.harmonics import (
    CONSTANT,
    DIGITS,
    Coefficient,
    Harmonics,
    Key,
    LongFormula,
    Scalar,
    coordinate,
    cosine,
    exact,
    lifted,
    real,
    scalar,
    sine,
    unit_norm,
    unknown,
    value_of,
)
from svyaz.forms.tree.recursions.algebra import Elements, Vector, expressions
from svyaz.forms.tree.recursions.composite import mass_matrix
from svyaz.forms.tree.recursions.places import Placed, place, welded
from svyaz.model import Body, Tree

EACH = 10
"""Unknowns of a body: mass, first moment x y z, inertia xx yy zz xy xz yz."""

MASS, FIRST, SECOND = 0, 1, 4
"""Places of mass, first moment and inertia among the unknowns of a body."""

FURTHER = (1500, 10_000, 100_000)
"""Thousandths up to which lengths are chosen when the first choice gives no real numbers."""

NEGLIGIBLE = 1e-12
"""Lengths and direction cosines smaller than this part of the largest are rounding."""

ELEMENTS = Elements(lifted(0), lifted(1), sine, cosine)


def placed_with_unknowns(tree: Tree, lengths: Mapping[str, float]) -> tuple[list[Placed], Vector]:
    """The bodies at symbolic coordinates, with unknown mass, first moment and inertia each; and gravity."""
    point = _general_point(tree, lengths)
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


def _general_point(tree: Tree, lengths: Mapping[str, float]) -> dict[str, Expression]:
    """Rational values for the lengths without one, chosen at random so that every entry is a real number."""
    given = [e for body in tree.bodies for e in (*body.axis, *body.pole)] + list(tree.gravity)
    entries = list(map(se.sympify, given))
    names = sorted(set().union(*map(names_in, entries)) - set(lengths))
    random = Random(2)
    for most in (1500, *(FURTHER * 50)):
        point = {name: se.Rational(random.randrange(min(500, most // 3), most), 1000) for name in names}
        values = {**lengths, **{name: float(value) for name, value in point.items()}}
        if all(isfinite(evaluate(e, values)) for e in entries):
            return point
    raise ModelError([Problem("no lengths were found for which every axis and pole is a real number")])


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
    """Number of the coordinate e0 of each quaternion → numbers of its e1, e2, e3."""
    numbers = {q: k for k, q in enumerate(tree.coordinates)}
    found = {}
    for body in tree.bodies:
        if body.quaternion:
            e0, e1, e2, e3 = (numbers[e] for e in body.quaternion)
            found[e0] = (e1, e2, e3)
    return found


HINT = "the sequence of named intermediates is written for any tree"

DEEPEST = 7
"""Axes of different directions, one carried by the other: with more of them entries have many thousands of terms."""


def explicit_inertia(tree: Tree) -> list[list[Expression]]:
    """H (n × n) in the parameters and coordinates of the model."""
    whole = welded(tree, expressions())
    _refuse_long_ways(whole)
    bodies, _ = placed_with_unknowns(whole, {})
    quaternions = quaternions_of(whole)
    values = _own_values(whole)
    try:
        matrix = mass_matrix(bodies, ELEMENTS)
    except LongFormula as error:
        raise ModelError([Problem("explicit entries of this tree are beyond reading", hint=HINT)]) from error
    return [
        [_written(unit_norm(lifted(entry), quaternions), values, whole.coordinates) for entry in row] for row in matrix
    ]


def _refuse_long_ways(tree: Tree) -> None:
    for k in range(len(tree.bodies)):
        way = tree.path(k)
        turns = sum(tree.bodies[i].axis != tree.bodies[j].axis for i, j in pairwise(way))
        if turns >= DEEPEST:
            message = f"explicit entries are written for at most {DEEPEST} directions of axes in a row"
            raise ModelError([Problem(message, hint=HINT)])


def _own_values(tree: Tree) -> list[Expression]:
    """Mass, first moment and inertia of each body, as the unknowns stand."""
    return [
        se.sympify(e) for body in tree.bodies for e in (body.mass, *(body.mass * c for c in body.center), *body.inertia)
    ]


def _written(entry: Harmonics, values: Sequence[Expression], coordinates: Sequence[str]) -> Expression:
    """Constant part first written out, each function with its coefficient collected."""
    terms = []
    for key, form in entry.parts.items():
        coefficient = se.expand(se.Add(*[exact(c) * values[place] for place, c in form.items()]))
        terms.append(coefficient if key == CONSTANT else coefficient * _function(key, coordinates))
    return se.Add(*terms)


def _function(key: Key, coordinates: Sequence[str]) -> Expression:
    angles, is_sine, powers = key
    found = se.Mul(*[se.Symbol(coordinates[number]) ** power for number, power in powers])
    if not angles:
        return found
    angle = se.Add(*[times * se.Symbol(coordinates[number]) for number, times in angles])
    return found * (se.sin(angle) if is_sine else se.cos(angle))
