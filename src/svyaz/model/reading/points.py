"""Points of bodies: where they are in the ground frame, as functions of the joint coordinates.

A point p of body k, given in its frame, is carried down to the ground joint by joint, p ← pole + R p. Turns about the same
axis one after another are kept as one turn by the sum of their angles, as one would write it by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import symengine as se

from svyaz.expr import ONE, ZERO, Expression, Later, Scope, total_derivative
from svyaz.model.ground_places import MANY_COORDINATES, GroundPlaces
from svyaz.model.joint import SYMBOLS
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.rotations import Vector, axis_rotation
from svyaz.model.system import Drawing
from svyaz.model.tree import GROUND, Body, BodyPoint, Tree
from svyaz.model.vectors import add, compose, transform

AXES = ("x", "y", "z")

Terms = list[tuple[Vector, Expression]]
"""Vectors with the angles by which they are turned about one axis."""


def read_points(reader: Reader, given: Sequence[Table], names: Names) -> None:
    """NAME_x, NAME_y, NAME_z of all points become definitions, with their rates."""
    declared: list[tuple[Path, int, object, str, list[str]]] = []
    for k, table in enumerate(given):
        path: Path = ("point", k)
        words = reader.known_words(table, vocabulary.POINT, path)
        if names.tree is None:
            reader.report(path, "a [[point]] belongs to a body of a tree, and the model has no [[body]]", at_key=True)
            continue
        body = _body(reader, path, words, table, names.tree)
        if body is None:
            continue
        own = [f"{words['name']}_{axis}" for axis in AXES]
        fresh = [name for name in own if reader.declare_one(names, name, "definition", (*path, "name"))]
        declared.append((path, body, words.get("at", (0, 0, 0)), str(words["name"]), fresh))
    if names.tree is None or not declared:
        return
    scope, moved = names.constant_scope(), _motion_of_points(names.tree, names.rates)
    for path, body, stated, point, fresh in declared:
        at = _vector(reader, path, stated, scope)
        if at is None:
            continue
        if names.tree.frames:
            at = names.tree.frames[body].point(at)
        names.points[point] = BodyPoint(body, at)
        for axis, place, rate in zip(AXES, *moved(body, at), strict=True):
            if f"{point}_{axis}" in fresh:
                names.definitions[f"{point}_{axis}"] = place
                names.definition_rates[f"{point}_{axis}"] = rate


Rates = tuple[Expression | Later, Expression | Later, Expression | Later]


def _motion_of_points(tree: Tree, rates: Mapping[str, Expression]) -> Callable[[int, Vector], tuple[Vector, Rates]]:
    """Place and velocity of a point of a body; in long trees by those of all bodies, and velocities where they are named."""
    if len(rates) > MANY_COORDINATES:
        places = GroundPlaces(tree)

        def place(body: int, at: Vector) -> tuple[Vector, Rates]:
            x, y, z = (Later(partial(_entry, places, body, at, k)) for k in range(3))
            return places.place(body, at), (x, y, z)

        return place
    known = {se.Symbol(q): rate for q, rate in rates.items()}

    def motion(body: int, at: Vector) -> tuple[Vector, Rates]:
        place = position(tree, body, at)
        x, y, z = (total_derivative(entry, known) for entry in place)
        return place, (x, y, z)

    return motion


def _entry(places: GroundPlaces, body: int, at: Vector, axis: int) -> Expression:
    """The velocity of a point along an axis."""
    return places.velocity(body, at)[axis]


def position(tree: Tree, body: int, at: Vector) -> Vector:
    """The point ``at`` of a body, in the ground frame."""
    terms: Terms = [(at, ZERO)]
    axis: Vector | None = None
    for carrier in (tree.bodies[k] for k in tree.path(body)):
        q = [se.Symbol(name) for name in carrier.coordinates]
        if carrier.kind.turns:
            if axis is not None and axis != carrier.axis:
                terms = [(_sum_of(terms, axis), ZERO)]
            axis = carrier.axis
            terms = [(v, angle + q[0]) for v, angle in terms]
        elif carrier.quaternion:
            rotation, _ = carrier.kind.pose(carrier.axis, q, SYMBOLS)
            terms = [(transform(rotation, _sum_of(terms, axis)), ZERO)]
            axis = None
        terms.append((_joint(carrier)[1], ZERO))
    return _sum_of(terms, axis)


def _sum_of(terms: Terms, axis: Vector | None) -> Vector:
    """Σ R(axis, angle) v."""
    total = [ZERO, ZERO, ZERO]
    for vector, angle in terms:
        turned = vector
        if axis is not None and angle != ZERO:
            turned = transform(axis_rotation(axis, se.sin(angle), se.cos(angle)), vector)
        total = [a + b for a, b in zip(total, turned, strict=True)]
    return total[0], total[1], total[2]


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


def _vector(reader: Reader, path: Path, given: object, scope: Scope) -> Vector | None:
    here = (*path, "at")
    if not isinstance(given, list | tuple) or len(given) != len(AXES):
        reader.report(here, "a point is given in the frame of its body as [x, y, z]")
        return None
    if not all(reader.fits((*here, i), entry, vocabulary.EXPRESSION) for i, entry in enumerate(given)):
        return None
    x, y, z = (reader.expression((*here, i), entry, scope) for i, entry in enumerate(given))
    return x, y, z


MOST_DRAWN = 80
"""Trees of more bodies than this are not drawn unless they say how."""

MOST_TRACED = 4
"""So many ends of branches leave traces; more would hide the mechanism."""

UNITS = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))
Z_AXIS = (ZERO, ZERO, ONE)


def tree_drawings(tree: Tree, names: Sequence[str], places: Mapping[str, Expression]) -> tuple[Drawing, ...]:
    """Links from each pole to the poles that it carries, and from the last ones to their centres of mass, which leave traces;
    and the points of bodies by their ``names``, the ``places`` of which are known as NAME_x, NAME_y, NAME_z.

    What does not fly stands on a link from the origin of the ground. A tree whose joints all turn about z is drawn in its
    plane.
    """
    if len(tree.bodies) > MOST_DRAWN:
        return ()
    flat = all((body.kind.turns or not body.freedoms) and body.axis in (Z_AXIS, (ZERO,) * 3) for body in tree.bodies)
    entries = 2 if flat else 3
    traced = sum(not carried for carried in tree.carried) <= MOST_TRACED
    poles: list[Vector] = []
    turned: list[tuple] = []
    drawings = []
    for k, body in enumerate(tree.bodies):
        ground = body.base == GROUND
        under, from_pole = (UNITS, (ZERO,) * 3) if ground else (turned[body.base], poles[body.base])
        rotation, offset = _joint(body)
        pole = add(from_pole, transform(under, offset))
        poles.append(pole)
        turned.append(compose(under, rotation))
        if any(offset) and not body.kind.flies:
            drawings.append(Drawing("link", (from_pole[:entries], pole[:entries])))
        if not tree.carried[k]:
            center = add(pole, transform(turned[k], body.center))
            if any(body.center):
                drawings.append(Drawing("link", (pole[:entries], center[:entries])))
            drawings.append(Drawing("point", (center[:entries],), trace=traced, name=body.name))
    for name in names:
        found = tuple(places[f"{name}_{axis}"] for axis in AXES[:entries] if f"{name}_{axis}" in places)
        if len(found) == entries:
            drawings.append(Drawing("point", (found,), name=name))
    return tuple(drawings)


def _joint(body: Body) -> tuple[tuple, Vector]:
    """(rotation, way from the base's pole) of a body, in base axes."""
    rotation, way = body.kind.pose(body.axis, [se.Symbol(name) for name in body.coordinates], SYMBOLS)
    return rotation, add(body.pole, way)
