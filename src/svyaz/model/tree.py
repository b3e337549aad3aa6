"""A tree of rigid bodies as it was stated: who carries whom, by which joint, and how its mass is distributed.

In the reference position, all joint coordinates zero, the frames of all bodies are parallel to the ground. The frame of
a body has its origin in the pole of the body, a point of the joint axis. Vectors are triples of expressions of the
parameters; an inertia is (xx, yy, zz, xy, xz, yz) about the pole, xy being +∫ x y dm.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import symengine as se

from svyaz.expr import ZERO, Evaluator, Expression, ModelError, Problem, names_in
from svyaz.model.joint import Joint
from svyaz.model.rotations import Vector

GROUND = -1
"""The base of a body that stands on the ground."""

MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True)
class Body:
    """One body with the joint that ties it to its base.

    ``base`` is the number of the body that carries it, or GROUND. ``kind`` says what the ``coordinates`` and ``velocities`` of
    the joint mean. ``axis`` is a unit vector, in the frames of base and body alike; ``pole`` leads from the pole of the
    base to that of the body at zero coordinate; ``center`` is in the frame of the body. A revolute joint turns by its
    coordinate plus ``offset``, which is zero but in the tree that ``Tree.straight`` gives.
    """

    name: str
    base: int
    kind: Joint
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
        return len(self.velocities)

    @property
    def joint(self) -> str:
        """The name of the kind of joint."""
        return self.kind.name

    @property
    def freedom_names(self) -> tuple[str, ...]:
        """A name for each freedom: the coordinate, or the velocity where it is no rate of a coordinate."""
        return self.velocities if self.kind.velocities else self.coordinates

    @property
    def quaternion(self) -> tuple[str, ...]:
        """The coordinates that are a unit quaternion, scalar first; none for most joints."""
        return self.coordinates[self.kind.quaternion]

    @property
    def rates(self) -> dict[str, Expression]:
        """The rate of each coordinate in terms of coordinates and velocities."""
        q, v = (list(map(se.Symbol, names)) for names in (self.coordinates, self.velocities))
        return dict(zip(self.coordinates, self.kind.rates(q, v), strict=True))

    @cached_property
    def names(self) -> frozenset[str]:
        """What its mass, its centre and its inertia depend on."""
        return frozenset().union(*(names_in(e) for e in (self.mass, *self.center, *self.inertia)))

    def varies(self, parameters: Collection[str]) -> bool:
        """Do they depend on anything but these parameters: on time, or on states?"""
        return not all(name in parameters for name in self.names)


def links_of_chain(body: Body, axes: Sequence[Vector], first: int) -> list[Body]:
    """The body on its axes; where its joint is a chain of others, behind massless bodies, numbered from ``first``."""
    none, found, base, pole = (ZERO, ZERO, ZERO), list[Body](), body.base, body.pole
    links = body.kind.chain(axes)
    if not links:
        return [replace(body, axis=axes[0] if axes else none)]
    for (name, kind, axis), q, v in zip(links, body.coordinates, body.velocities, strict=True):
        own = Body(f"{body.name} {name}", base, kind, (q,), (v,), axis, pole, ZERO, none, (ZERO,) * len(MOMENTS))
        found.append(own)
        base, pole = first + len(found) - 1, none
    found[-1] = replace(found[-1], name=body.name, mass=body.mass, center=body.center, inertia=body.inertia)
    return found


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
        """A name for each degree of freedom: the coordinate, or the velocity where it is no rate of a coordinate."""
        return tuple(name for body in self.bodies for name in body.freedom_names)

    @cached_property
    def by_rates(self) -> bool:
        """Are all velocities rates of coordinates?"""
        return not any(body.kind.velocities for body in self.bodies)

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
        """The rate of each coordinate in terms of coordinates and velocities."""
        return {q: rate for body in self.bodies for q, rate in body.rates.items()}

    def path(self, body: int) -> tuple[int, ...]:
        """The bodies from this one down to the ground, itself first."""
        found = []
        while body != GROUND:
            found.append(body)
            body = self.parents[body]
        return tuple(found)


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
        replace(
            body,
            axis=floats(body.axis),
            pole=floats(body.pole),
            mass=evaluate(body.mass),
            center=floats(body.center),
            inertia=floats(body.inertia),
            offset=ZERO,
        )
        for body in tree.bodies
    )
    return Tree(bodies, floats(tree.gravity))
