"""A tree of rigid bodies as it was stated: who carries whom, by which joint, and how its mass is distributed.

In the reference position, all joint coordinates zero, the frames of all bodies are parallel to the ground. The frame of
a body has its origin in the pole of the body, a point of the joint axis. Vectors are triples of expressions of the
parameters; an inertia is (xx, yy, zz, xy, xz, yz) about the pole, xy being +∫ x y dm.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, pi, sin

import symengine as se

from svyaz.expr import ZERO, Evaluator, Expression, ModelError, Problem, names_in, velocity

Rows = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
Triple = tuple[float, float, float]

IDENTITY: Rows = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

QUARTER = 2e-11
"""An angle so near to a multiple of 90° is one that was written with eleven digits or more."""

NEARLY = 2e-3
"""An angle so near to a multiple of 90°, and no nearer, was probably meant to be one."""

DUST = 1e-14
"""Entries of a rotation so near to 0, 1 and -1 are these numbers."""


def from_quarter(angle: float) -> float:
    """How far an angle is from the nearest multiple of 90°."""
    return abs(angle - round(angle / (pi / 2)) * (pi / 2))


def nearly_quarters(angle: float) -> bool:
    """Was one quarter turn, or several, probably meant by an angle that is not?"""
    return abs(angle) > 1.0 and QUARTER < from_quarter(angle) <= NEARLY


def sine_cosine(angle: float) -> tuple[float, float]:
    """Sine and cosine, exact at multiples of 90°."""
    if from_quarter(angle) <= QUARTER:
        exact = ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))
        return exact[round(angle / (pi / 2)) % 4]
    return sin(angle), cos(angle)


def roll_pitch_yaw(roll: float, pitch: float, yaw: float) -> Rows:
    """Rz(yaw) Ry(pitch) Rx(roll): turns about fixed axes, roll about x first."""
    (sr, cr), (sp, cp), (sy, cy) = sine_cosine(roll), sine_cosine(pitch), sine_cosine(yaw)
    return clean(
        (
            (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
            (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
            (-sp, cp * sr, cp * cr),
        )
    )


def product(a: Rows, b: Rows) -> Rows:
    """The matrix a b."""
    columns = tuple(zip(*b, strict=True))
    x, y, z = (tuple(sum(r * c for r, c in zip(row, column, strict=True)) for column in columns) for row in a)
    return clean((_triple(x), _triple(y), _triple(z)))


def turned(a: Rows, vector: Triple) -> Triple:
    """The matrix a times a vector, without dust."""
    largest = max(map(abs, vector))
    entries = (sum(r * v for r, v in zip(row, vector, strict=True)) for row in a)
    x, y, z = (0.0 if abs(e) <= DUST * largest else e for e in entries)
    return x, y, z


def clean(a: Rows) -> Rows:
    """A rotation whose entries are exact where they are meant to be."""
    x, y, z = (_triple(tuple(_plain(e) for e in row)) for row in a)
    return x, y, z


def quaternion(a: Rows) -> tuple[float, float, float, float]:
    """The unit quaternion of a rotation, scalar first and not negative (S. W. Shepperd, 1978)."""
    trace = a[0][0] + a[1][1] + a[2][2]
    squares = [1 + trace, *(1 + 2 * a[k][k] - trace for k in range(3))]
    products = {
        (0, 1): a[2][1] - a[1][2],
        (0, 2): a[0][2] - a[2][0],
        (0, 3): a[1][0] - a[0][1],
        (1, 2): a[0][1] + a[1][0],
        (1, 3): a[0][2] + a[2][0],
        (2, 3): a[1][2] + a[2][1],
    }
    largest = max(range(4), key=lambda k: squares[k])
    twice = squares[largest] ** 0.5
    found = [twice / 2 if k == largest else products[min(k, largest), max(k, largest)] / (2 * twice) for k in range(4)]
    sign = -1.0 if found[0] < 0 else 1.0
    e0, e1, e2, e3 = (sign * e for e in found)
    return e0, e1, e2, e3


def _plain(entry: float) -> float:
    nearest = float(round(entry))
    return nearest + 0.0 if abs(entry - nearest) <= DUST else entry


def _triple(entries: tuple[float, ...]) -> Triple:
    x, y, z = entries
    return x, y, z


GROUND = -1
"""The base of a body that stands on the ground."""

JOINTS = ("revolute", "prismatic", "fixed", "free")
FREEDOMS: Mapping[str, int] = {"revolute": 1, "prismatic": 1, "fixed": 0, "free": 6}
MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")

Vector = tuple[Expression, Expression, Expression]
Rotation = tuple[Vector, Vector, Vector]


@dataclass(frozen=True)
class Body:
    """One body with the joint that ties it to its base.

    ``base`` is the number of the body that carries it, or GROUND. A revolute or prismatic joint has one coordinate and
    its derivative as velocity; a free joint has ``coordinates`` (x, y, z, e0, e1, e2, e3), position of the pole in the
    frame of the base and unit quaternion with the scalar e0 first, and six ``velocities``, linear and angular, in the
    axes of the body. ``axis`` is a unit vector, in the frames of base and body alike; ``pole`` leads from the pole of the
    base to that of the body at zero coordinate; ``center`` is in the frame of the body. A revolute joint turns by its
    coordinate plus ``offset``, which is zero but in the tree that ``Tree.straight`` gives.
    """

    name: str
    base: int
    joint: str
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    axis: Vector
    pole: Vector
    mass: Expression
    center: Vector
    inertia: tuple[Expression, ...]
    offset: Expression = ZERO

    @property
    def freedoms(self) -> int:
        """Number of velocities of the joint."""
        return FREEDOMS[self.joint]

    @cached_property
    def names(self) -> frozenset[str]:
        """What its mass, its centre and its inertia depend on."""
        return frozenset().union(*(names_in(e) for e in (self.mass, *self.center, *self.inertia)))

    def varies(self, parameters: Collection[str]) -> bool:
        """Do they depend on anything but these parameters: on time, or on states?"""
        return not all(name in parameters for name in self.names)


@dataclass(frozen=True)
class Frame:
    """A frame fixed in a body, by its axes in the frame of the body and the way to its origin from the pole."""

    x: Vector
    y: Vector
    z: Vector
    origin: Vector

    def vector(self, entries: Sequence[Expression]) -> Vector:
        """A vector given in this frame, in that of the body."""
        x, y, z = (
            sum((e * axis[i] for e, axis in zip(entries, (self.x, self.y, self.z), strict=True)), se.Integer(0))
            for i in range(3)
        )
        return x, y, z

    def point(self, entries: Sequence[Expression]) -> Vector:
        """A point given in this frame, in that of the body, from the pole."""
        x, y, z = (o + v for o, v in zip(self.origin, self.vector(entries), strict=True))
        return x, y, z


@dataclass(frozen=True)
class BodyPoint:
    """A point ``at`` in the frame of a body, which is given by its number, from its pole."""

    body: int
    at: Vector


@dataclass(frozen=True)
class Tree:
    """Bodies in an order in which each comes after its base, and the acceleration of gravity in ground axes.

    ``frames`` holds for each body the frame in which a person gives its points, where these are not the bodies' own.
    ``straight`` is the same tree with frames that are parallel not at zero coordinates but where the angles that were
    stated beside the coordinates are zero: its axes and poles are plain, its bodies have an ``offset``.

    >>> import svyaz
    >>> [body.name for body in svyaz.load("chain:2").tree.bodies]
    ['1', '2']
    """

    bodies: tuple[Body, ...]
    gravity: Vector
    frames: tuple[Frame, ...] = ()
    straight: Tree | None = None

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The number of the base of each body; GROUND is -1."""
        return tuple(body.base for body in self.bodies)

    @cached_property
    def carried(self) -> tuple[tuple[int, ...], ...]:
        """The bodies that each body carries directly."""
        found: list[list[int]] = [[] for _ in self.bodies]
        for body, base in enumerate(self.parents):
            if base != GROUND:
                found[base].append(body)
        return tuple(map(tuple, found))

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of all coordinates, body by body."""
        return tuple(q for body in self.bodies for q in body.coordinates)

    @cached_property
    def velocities(self) -> tuple[str, ...]:
        """Names of all velocities, body by body: as many as there are degrees of freedom."""
        return tuple(v for body in self.bodies for v in body.velocities)

    @cached_property
    def freedoms(self) -> tuple[str, ...]:
        """A name for each degree of freedom: the coordinate, or the velocity of a free joint."""
        return tuple(
            name for body in self.bodies for name in (body.velocities if body.joint == "free" else body.coordinates)
        )

    @cached_property
    def first_velocity(self) -> tuple[int, ...]:
        """For each body the place of its first velocity among all."""
        places, place = [], 0
        for body in self.bodies:
            places.append(place)
            place += body.freedoms
        return tuple(places)

    @cached_property
    def rates(self) -> dict[str, Expression]:
        """The rate of each coordinate in terms of coordinates and velocities; see ``free_rates`` for free joints."""
        found: dict[str, Expression] = {}
        for body in self.bodies:
            if body.joint == "free":
                found.update(free_rates(body))
            else:
                found.update({q: velocity(q) for q in body.coordinates})
        return found

    def path(self, body: int) -> tuple[int, ...]:
        """The bodies from this one down to the ground, itself first."""
        found = []
        while body != GROUND:
            found.append(body)
            body = self.parents[body]
        return tuple(found)


def free_rates(body: Body) -> dict[str, Expression]:
    """(x, y, z)˙ = R(e) v and ė = ½ e ∘ (0, ω) of a free joint, e = (e0, e1, e2, e3), v and ω in body axes."""
    e0, e1, e2, e3 = (se.Symbol(name) for name in body.coordinates[3:])
    v = [se.Symbol(name) for name in body.velocities[:3]]
    wx, wy, wz = (se.Symbol(name) for name in body.velocities[3:])
    rows = quaternion_rotation((e0, e1, e2, e3))
    half = se.Rational(1, 2)
    values = [sum((r * s for r, s in zip(row, v, strict=True)), se.Integer(0)) for row in rows]
    values += [
        -half * (e1 * wx + e2 * wy + e3 * wz),
        half * (e0 * wx + e2 * wz - e3 * wy),
        half * (e0 * wy + e3 * wx - e1 * wz),
        half * (e0 * wz + e1 * wy - e2 * wx),
    ]
    return dict(zip(body.coordinates, values, strict=True))


def free_velocities(body: Body) -> dict[str, Expression]:
    """v = Rᵀ (x, y, z)˙ and (0, ω) = 2 e⁻¹ ∘ ė of a free joint in terms of the rates of its coordinates, R that of e/|e|."""
    e = e0, e1, e2, e3 = tuple(se.Symbol(name) for name in body.coordinates[3:])
    rates = [velocity(q) for q in body.coordinates]
    square = sum((x * x for x in e), se.Integer(0))
    columns = zip(*quaternion_rotation(tuple(x / se.sqrt(square) for x in e)), strict=True)
    rows = ((-e1, e0, e3, -e2), (-e2, -e3, e0, e1), (-e3, e2, -e1, e0))
    values = [sum((r * s for r, s in zip(column, rates[:3], strict=True)), se.Integer(0)) for column in columns]
    values += [2 * sum((r * s for r, s in zip(row, rates[3:], strict=True)), se.Integer(0)) / square for row in rows]
    return dict(zip(body.velocities, values, strict=True))


def quaternion_rotation(e: tuple[Expression, ...]) -> Rotation:
    """The rotation matrix of a unit quaternion (scalar first), from body axes to base axes."""
    e0, e1, e2, e3 = e
    return (
        (1 - 2 * (e2 * e2 + e3 * e3), 2 * (e1 * e2 - e0 * e3), 2 * (e1 * e3 + e0 * e2)),
        (2 * (e1 * e2 + e0 * e3), 1 - 2 * (e1 * e1 + e3 * e3), 2 * (e2 * e3 - e0 * e1)),
        (2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1 * e1 + e2 * e2)),
    )


def axis_rotation(axis: Vector, sine: Expression, cosine: Expression) -> Rotation:
    """Rotation about a unit vector: cos 1 + sin [n×] + (1 - cos) n nᵀ, with entries of coordinate axes left plain."""
    x, y, z = axis
    rest = 1 - cosine

    def diagonal(n: Expression) -> Expression:
        return cosine + rest * n * n if n * n != 1 else n * n

    return (
        (diagonal(x), rest * x * y - sine * z, rest * x * z + sine * y),
        (rest * x * y + sine * z, diagonal(y), rest * y * z - sine * x),
        (rest * x * z - sine * y, rest * y * z + sine * x, diagonal(z)),
    )


def constant(tree: Tree, parameters: Collection[str], what: str) -> Tree:
    """The tree, whose masses depend on parameters alone; ``what`` asks for it."""
    for body in tree.bodies:
        if body.varies(parameters):
            message = (
                f"the mass distribution of '{body.name}' changes in the course of a motion: {what} is for constant ones"
            )
            raise ModelError([Problem(message)])
    return tree


def numbers(tree: Tree, values: Mapping[str, float]) -> Tree:
    """The same tree with numbers (plain floats) for all expressions of the parameters; masses must not change."""
    constant(tree, values, "this computation")
    evaluate = Evaluator(values)

    def floats(expressions: tuple) -> tuple:
        return tuple(evaluate(e) for e in expressions)

    bodies = tuple(
        Body(
            body.name,
            body.base,
            body.joint,
            body.coordinates,
            body.velocities,
            floats(body.axis),
            floats(body.pole),
            evaluate(body.mass),
            floats(body.center),
            floats(body.inertia),
        )
        for body in tree.bodies
    )
    return Tree(bodies, floats(tree.gravity))
