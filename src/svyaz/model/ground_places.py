"""Points of the bodies of long trees: places and velocities in the ground frame from those of the bodies, each made once.

From the ground outward, with R the axes of a body, p its pole, ω its angular velocity, n the axis of its joint:

    p = p_base + R_base (pole + n q),    ω = ω_base + n' q̇,    ṗ = ṗ_base + ω_base × (p - p_base) + n' q̇,    n' = R_base n,

with n q and the last term where the joint slides, n' q̇ in ω where it turns; a point r of the body is at P = p + R r and moves
with ṗ + ω × R r. The accelerations with q̈ = 0 are those of

    ω̇ = ω̇_base + ω_base × n' q̇,    p̈ = p̈_base + ω̇_base × (p - p_base) + ω_base × (ω_base × (p - p_base)) + (ω_base + ω) × n' q̇.

A joint of several freedoms slides along and turns about several directions: n' q̇ is a sum.

Turns about the same axis one after another are one turn by the sum of their angles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import symengine as se

from svyaz.expr import ONE, ZERO, Expression
from svyaz.model.joint import SYMBOLS
from svyaz.model.rotations import Rotation, Vector, axis_rotation
from svyaz.model.tree import GROUND, Body, Tree
from svyaz.model.vectors import add, compose, cross, scale, transform

MANY_COORDINATES = 16
"""Of more coordinates than these, places of points are made so, and not by themselves."""
UNITS: Rotation = tuple(tuple(se.Integer(int(i == j)) for j in range(3)) for i in range(3))  # type: ignore[assignment]
STILL: Vector = (ZERO, ZERO, ZERO)


@dataclass(frozen=True)
class _Pose:
    """Axes and pole, with the way to it from that of the base; the directions of the joint in ground axes; the axes are
    ``under`` turned by ``angle`` about ``axis``.
    """

    axes: Rotation = UNITS
    pole: Vector = STILL
    arm: Vector = STILL
    turns: tuple[Vector, ...] = ()
    slides: tuple[Vector, ...] = ()
    under: Rotation = UNITS
    axis: Vector = STILL
    angle: Expression = ZERO


@dataclass(frozen=True)
class _Speed:
    """Angular velocity and velocity of the pole, and what the joint adds to each."""

    spin: Vector = STILL
    pole: Vector = STILL
    turned: Vector = STILL
    slid: Vector = STILL


@dataclass(frozen=True)
class _Swing:
    """The rates of both where no joint accelerates."""

    spin: Vector = STILL
    pole: Vector = STILL


@dataclass(frozen=True)
class GroundPlaces:
    """The bodies of a tree.

    Places, velocities and accelerations are made when they are first asked for: most models name places alone.
    """

    tree: Tree

    def place(self, body: int, at: Vector) -> Vector:
        """That of a point of a body."""
        pose = self._poses[body]
        return add(pose.pole, transform(pose.axes, at))

    def velocity(self, body: int, at: Vector) -> Vector:
        """That of a point of a body."""
        speed = self._speeds[body]
        return add(speed.pole, cross(speed.spin, transform(self._poses[body].axes, at)))

    def acceleration(self, body: int, at: Vector) -> Vector:
        """That of a point of a body where no joint accelerates."""
        arm, spin, swing = transform(self._poses[body].axes, at), self._speeds[body].spin, self._swings[body]
        return add(add(swing.pole, cross(swing.spin, arm)), cross(spin, cross(spin, arm)))

    def moves(self, body: int, place: Vector) -> dict[str, Vector]:
        """∂P/∂q by the freedoms that move a place of a body: n' × (P - p) of joints that turn, n' of those that slide."""
        found: dict[str, Vector] = {}
        for k in self.tree.path(body):
            pose = self._poses[k]
            arm = add(place, scale(-ONE, pose.pole))
            for name, turn, slide in zip(self.tree.bodies[k].freedom_names, pose.turns, pose.slides, strict=True):
                found[name] = add(slide, cross(turn, arm))
        return found

    @cached_property
    def _poses(self) -> list[_Pose]:
        found: list[_Pose] = []
        for body in self.tree.bodies:
            found.append(_pose_on_base(body, _Pose() if body.base == GROUND else found[body.base]))
        return found

    @cached_property
    def _speeds(self) -> list[_Speed]:
        found: list[_Speed] = []
        for body, pose in zip(self.tree.bodies, self._poses, strict=True):
            base = _Speed() if body.base == GROUND else found[body.base]
            slid, turned = (_combination(body.velocities, ways) for ways in (pose.slides, pose.turns))
            speed = add(add(base.pole, cross(base.spin, pose.arm)), slid)
            found.append(_Speed(add(base.spin, turned), speed, turned, slid))
        return found

    @cached_property
    def _swings(self) -> list[_Swing]:
        found: list[_Swing] = []
        for body, pose, own in zip(self.tree.bodies, self._poses, self._speeds, strict=True):
            ground = body.base == GROUND
            spin, base = (STILL, _Swing()) if ground else (self._speeds[body.base].spin, found[body.base])
            pull = add(cross(spin, cross(spin, pose.arm)), cross(add(spin, own.spin), own.slid))
            pull = add(add(base.pole, cross(base.spin, pose.arm)), pull)
            found.append(_Swing(add(base.spin, cross(spin, own.turned)), pull))
        return found


def _combination(velocities: Sequence[str], ways: Sequence[Vector]) -> Vector:
    """Σ v n'."""
    found = STILL
    for name, way in zip(velocities, ways, strict=True):
        found = add(found, scale(se.Symbol(name), way))
    return found


def _pose_on_base(body: Body, base: _Pose) -> _Pose:
    """The pose of a body on its base."""
    kind, q = body.kind, [se.Symbol(name) for name in body.coordinates]
    arm = transform(base.axes, body.pole)
    axes, under, axis, angle = base.axes, base.under, base.axis, base.angle
    if kind.turns or kind.slides:
        along = transform(under if axis == body.axis else axes, body.axis)
        turns, slides = kind.directions(along, SYMBOLS)
        if kind.slides:
            arm = add(arm, scale(q[0], along))
        else:
            under, angle = (under, angle + q[0]) if axis == body.axis else (axes, q[0])
            axis = body.axis
            axes = compose(under, axis_rotation(axis, se.sin(angle), se.cos(angle)))
    else:
        rotation, way = kind.pose(body.axis, q, SYMBOLS)
        arm = add(arm, transform(base.axes, way))
        if kind.coordinates:
            axes = under = compose(base.axes, rotation)
            axis, angle = STILL, ZERO
        turns, slides = (tuple(transform(axes, n) for n in ways) for ways in kind.directions(body.axis, SYMBOLS))
    return _Pose(axes, add(base.pole, arm), arm, turns, slides, under, axis, angle)
