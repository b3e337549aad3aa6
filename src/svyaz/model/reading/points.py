"""Points of bodies: where they are in the ground frame, as functions of the joint coordinates.

A point p of body k, given in its frame, is carried down to the ground joint by joint, p ← pole + R p. Turns about the same
axis one after another are kept as one turn by the sum of their angles, as one would write it by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

import symengine as se

from svyaz.expr import ZERO, Expression
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.tree import Body, Tree, Vector, axis_rotation, quaternion_rotation

AXES = ("x", "y", "z")

Terms = list[tuple[Vector, Expression]]
"""Vectors with the angles by which they are turned about one axis."""


def read_points(reader: Reader, given: Sequence[Table], names: Names) -> dict[str, Expression]:
    """NAME_x, NAME_y, NAME_z of all points, declared as definitions."""
    found: dict[str, Expression] = {}
    for k, table in enumerate(given):
        path = ("point", k)
        words = reader.known_words(table, vocabulary.POINT, path)
        if names.tree is None:
            reader.report(path, "a [[point]] belongs to a body of a tree, and the model has no [[body]]", at_key=True)
            continue
        body = _body(reader, path, words, table, names.tree)
        at = _vector(reader, path, words.get("at", (0, 0, 0)), names)
        if body is None or at is None:
            continue
        if names.tree.frames:
            at = names.tree.frames[body].point(at)
        for axis, entry in zip(AXES, position(names.tree, body, at), strict=True):
            name = f"{words['name']}_{axis}"
            if reader.declare_one(names, name, "definition", (*path, "name")):
                found[name] = entry
    return found


def position(tree: Tree, body: int, at: Vector) -> Vector:
    """The point ``at`` of a body, in the ground frame."""
    terms: Terms = [(at, ZERO)]
    axis: Vector | None = None
    for carrier in (tree.bodies[k] for k in tree.path(body)):
        q = [se.Symbol(name) for name in carrier.coordinates]
        if carrier.joint == "revolute":
            if axis is not None and axis != carrier.axis:
                terms = [(_sum_of(terms, axis), ZERO)]
            axis = carrier.axis
            terms = [(v, angle + q[0]) for v, angle in terms]
        elif carrier.joint == "free":
            terms = [(_applied(quaternion_rotation(tuple(q[3:])), _sum_of(terms, axis)), ZERO)]
            axis = None
        terms.append((_offset(carrier, q), ZERO))
    return _sum_of(terms, axis)


def _offset(body: Body, q: Sequence[Expression]) -> Vector:
    """The way from the base's pole to the body's, in base axes."""
    if body.joint == "prismatic":
        moved: Sequence[Expression] = [q[0] * a for a in body.axis]
    elif body.joint == "free":
        moved = q[:3]
    else:
        return body.pole
    x, y, z = (p + m for p, m in zip(body.pole, moved, strict=True))
    return x, y, z


def _sum_of(terms: Terms, axis: Vector | None) -> Vector:
    """Σ R(axis, angle) v."""
    total = [ZERO, ZERO, ZERO]
    for vector, angle in terms:
        turned = vector
        if axis is not None and angle != ZERO:
            turned = _applied(axis_rotation(axis, se.sin(angle), se.cos(angle)), vector)
        total = [a + b for a, b in zip(total, turned, strict=True)]
    return total[0], total[1], total[2]


def _applied(matrix: tuple, vector: Vector) -> Vector:
    x, y, z = (sum((m * v for m, v in zip(row, vector, strict=True)), ZERO) for row in matrix)
    return x, y, z


def _body(reader: Reader, path: Path, words: Table, table: Table, tree: Tree) -> int | None:
    if missing := [key for key in ("name", "body") if key not in table]:
        reader.report(path, f"a point has a {' and a '.join(missing)}", at_key=True)
    known = [body.name for body in tree.bodies]
    name = vocabulary.text(words, "body")
    if not name or "name" not in words:
        return None
    if name not in known:
        reader.report((*path, "body"), f"there is no body '{name}'", hint=vocabulary.nearest(name, known))
        return None
    return known.index(name)


def _vector(reader: Reader, path: Path, given: object, names: Names) -> Vector | None:
    here = (*path, "at")
    if not isinstance(given, list | tuple) or len(given) != len(AXES):
        reader.report(here, "a point is given in the frame of its body as [x, y, z]")
        return None
    if not all(reader.fits((*here, i), entry, vocabulary.EXPRESSION) for i, entry in enumerate(given)):
        return None
    x, y, z = (reader.expression((*here, i), entry, names.constant_scope()) for i, entry in enumerate(given))
    return x, y, z
