"""Where the zeros of joint angles should lie, so that formulas are short.

A body may be described in a frame that is turned about the axis of its own joint by any constant angle φ: the joint then
turns by its coordinate plus φ. The angle is chosen so that axes and poles of the bodies that it carries, its own first moment
and its products of inertia have zeros; so the formulas do not depend on where a person put the zero of a coordinate. Whether
an expression of the parameters is zero is seen at points chosen at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import atan2, cos, hypot, isfinite, pi, sin
from random import Random
from typing import Any

import symengine as se

from svyaz.expr import ONE, ZERO, Expression, evaluate, names_in
from svyaz.forms.tree.recursions.algebra import Matrix, Vector, applied, tensor_turned, transposed
from svyaz.model import Tree, sine_cosine

UNITS = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))

Point = Mapping[str, float]

EXACT = 1e-12
"""What is so small beside the rest of a vector is rounding."""

AXIS, HALF_AXIS, POLE, MASS = 9, 3, 2, 2
"""What a zero is worth: of an axis along a coordinate axis, of one across it, of a pole, of a moment or product of inertia."""


@dataclass(frozen=True)
class Zero:
    """An angle φ about the own axis, and the frame of the body turned by it."""

    angle: Expression
    frame: Matrix


def sample_points(tree: Tree) -> tuple[Point, Point]:
    """Two points of the parameters, at random."""
    random = Random(11)
    entries = [e for b in tree.bodies for e in (*b.axis, *b.pole, b.mass, *b.center, *b.inertia)]
    names = sorted(set().union(*(names_in(se.sympify(e)) for e in entries)))
    first, second = ({name: random.uniform(0.5, 1.5) for name in names} for _ in range(2))
    return first, second


def aligned(tree: Tree, number: int, frame: Matrix, axis: int, points: tuple[Point, Point]) -> Zero:
    """The frame of a body on a revolute joint, turned about its axis (a coordinate axis of it) to where zeros are most."""
    vectors = _vectors(tree, number, frame, points)
    best = (_worth(vectors, axis, (0.0, 0.0)), Zero(ZERO, frame))
    for angles, direction in _candidates(vectors, axis):
        worth = _worth(vectors, axis, angles)
        if worth > best[0]:
            angle, sine, cosine = _angle(angles, direction)
            best = worth, Zero(angle, tidy(product(frame, _about(axis, sine, cosine)), points))
    return best[1]


@dataclass(frozen=True)
class _Seen:
    """A vector or tensor in the frame of the body, as expressions and as numbers at both points."""

    kind: str
    entries: Sequence[Expression]
    values: tuple[list[float], list[float]]


def _vectors(tree: Tree, number: int, frame: Matrix, points: tuple[Point, Point]) -> list[_Seen]:
    back, body = transposed(frame), tree.bodies[number]
    found: list[tuple[str, Sequence[Expression]]] = []
    for kind in ("axis", "pole"):
        found += [(kind, applied(back, getattr(tree.bodies[k], kind))) for k in tree.carried[number]]
    xx, yy, zz, xy, xz, yz = body.inertia
    moment: Vector = (body.mass * body.center[0], body.mass * body.center[1], body.mass * body.center[2])
    found += [("moment", applied(back, moment)), ("inertia", tensor_turned(back, (xx, yy, zz, -xy, -xz, -yz)))]
    seen = [_Seen(kind, e, (_values(e, points[0]), _values(e, points[1]))) for kind, e in found]
    return [s for s in seen if all(map(isfinite, (*s.values[0], *s.values[1])))]


def _values(entries: Sequence[Expression], point: Point) -> list[float]:
    return [evaluate(se.sympify(e), point) for e in entries]


def _candidates(vectors: Sequence[_Seen], axis: int) -> Iterator[tuple[tuple[float, float], tuple | None]]:
    """Angles at both points that put something on a coordinate axis, of 45° at most where they do not depend on the point.

    A direction that depends on the parameters by sines and cosines is given too; one that depends on them otherwise is as
    the person chose it, and no candidate.
    """
    a, b = (axis + 1) % 3, (axis + 2) % 3
    for seen in vectors:
        if seen.kind == "inertia":
            ab, n = _pair(a, b), 2
            parts = [(2 * v[ab], v[a] - v[b]) for v in seen.values]
        else:
            n, parts = 1, [(v[b], v[a]) for v in seen.values]
        sizes = [max(map(abs, v)) for v in seen.values]
        if any(hypot(*part) <= EXACT * size for part, size in zip(parts, sizes, strict=True)):
            continue
        first, second = (atan2(*part) / n for part in parts)
        quarter = pi / 2
        turned = first - round(first / quarter) * quarter
        if abs(turned) <= EXACT:
            continue
        if abs((second - first) - round((second - first) / quarter) * quarter) <= EXACT:
            yield (turned, turned), None
        elif n == 1 and any(se.sympify(seen.entries[k]).atoms(se.sin, se.cos) for k in (a, b)):
            yield (first, second), (seen.entries[b], seen.entries[a])


def _worth(vectors: Sequence[_Seen], axis: int, angles: tuple[float, float]) -> int:
    """How much the zeros are worth that a turn of the frame by φ gives."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    total = 0
    for seen in vectors:
        zeros = [_zeros(seen, axis, a, b, seen.values[k], angles[k]) for k in range(2)]
        first, second = (x and y for x, y in zip(*zeros, strict=True))
        if seen.kind == "axis":
            along = all(abs(v[axis]) <= EXACT for v in seen.values)
            total += AXIS if (first or second) and along else HALF_AXIS * (first or second)
        elif seen.kind == "pole":
            total += POLE * (first or second)
        else:
            total += MASS * first + (seen.kind == "moment") * MASS * second
    return total


def _zeros(seen: _Seen, axis: int, a: int, b: int, v: Sequence[float], angle: float) -> tuple[bool, bool]:
    """Are the two components across the axis zero: of a vector; or the products of inertia across the axis, and with it?"""
    size = EXACT * max(1e-300, *map(abs, v))
    c, s = cos(angle), sin(angle)
    if seen.kind == "inertia":
        product_ab = v[_pair(a, b)] * (c * c - s * s) - (v[a] - v[b]) * s * c
        along = [v[_pair(a, axis)] * c + v[_pair(b, axis)] * s, v[_pair(b, axis)] * c - v[_pair(a, axis)] * s]
        return abs(product_ab) <= 4 * size, any(abs(e) <= 4 * size for e in along)
    x, y = v[a] * c + v[b] * s, v[b] * c - v[a] * s
    if abs(x) <= 4 * size and abs(y) <= 4 * size:
        return False, False  # nothing across the axis: no turn changes it
    return abs(x) <= 4 * size, abs(y) <= 4 * size


def _pair(i: int, j: int) -> int:
    return {(0, 1): 3, (0, 2): 4, (1, 2): 5}[min(i, j), max(i, j)]


def _angle(angles: tuple[float, float], direction: tuple | None) -> tuple[Expression, Expression, Expression]:
    """(φ, sin φ, cos φ)."""
    if direction is None:
        sine, cosine = sine_cosine(angles[0])
        return se.RealDouble(angles[0]), se.RealDouble(sine), se.RealDouble(cosine)
    b, a = direction
    length = se.sqrt(a * a + b * b)
    return se.atan2(b, a), b / length, a / length


def _about(axis: int, sine: Expression, cosine: Expression) -> Matrix:
    """The rotation about a coordinate axis."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    rows: list[list[Any]] = [list(row) for row in UNITS]
    rows[a][a] = rows[b][b] = cosine
    rows[a][b], rows[b][a] = -sine, sine
    return tuple(tuple(row) for row in rows)  # type: ignore[return-value]


def product(a: Matrix, b: Matrix) -> Matrix:
    """a b."""
    x, y, z = (applied(a, column) for column in transposed(b))
    return transposed((x, y, z))


def tidy(matrix: Matrix, points: tuple[Point, Point]) -> Matrix:
    """A rotation with 0, 1 and -1 where they are meant."""
    x, y, z = (tidy_vector(row, points) for row in matrix)
    return x, y, z


def tidy_vector(entries: Sequence[Expression], points: tuple[Point, Point]) -> Any:
    """Entries that are 0, 1 or -1 at both points become so, sums of products with tiny factors lose these."""
    if all(e in (ZERO, ONE, -ONE) or e.is_Symbol or (-e).is_Symbol for e in map(se.sympify, entries)):
        return tuple(entries)
    values = [_values(entries, point) for point in points]
    largest = [max(1e-300, *(abs(v) for v in row if isfinite(v)), 0.0) for row in values]
    return tuple(_tidy(se.sympify(e), [row[i] for row in values], largest, points[0]) for i, e in enumerate(entries))


def _tidy(e: Expression, values: Sequence[float], largest: Sequence[float], point: Point) -> Expression:
    if all(abs(v) <= EXACT * most for v, most in zip(values, largest, strict=True)):
        return ZERO
    for whole in (1, -1):
        if all(abs(v - whole) <= EXACT for v in values):
            return se.Integer(whole)
    if not e.atoms(se.RealDouble):
        return e
    terms = se.expand(e)
    if not terms.is_Add:
        return _without_dust(terms)
    sizes = [abs(evaluate(term, point)) for term in terms.args]
    most = max(sizes)
    return se.Add(*[_without_dust(t) for t, size in zip(terms.args, sizes, strict=True) if size > EXACT * most])


def _without_dust(term: Expression) -> Expression:
    """A factor that is 1 but for rounding left out."""
    if not term.is_Mul:
        return term
    number = term.args[0]
    if number.is_Number and abs(abs(float(number)) - 1.0) <= EXACT and not number.is_Integer:
        return se.Mul(se.Integer(1 if float(number) > 0 else -1), *term.args[1:])
    return term
