"""A tree of bodies along a motion, by the recursion of Newton and Euler: the forces that its motion takes, and its points.

Outwards go velocities and accelerations, inwards the forces and moments that each body needs (see ``newton_euler``); with the
forces go the sums of their sizes. Nothing of it is shared with the articulated bodies by which motions are computed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import arrays
from svyaz.model import GROUND, Body, System, tree_of
from svyaz.motion.jets import Tape, jet
from svyaz.program import Program, plain_program, remembered

AXES, PER_BODY = "xyz", 16
_ZERO = np.zeros((3, 1))


def _cross(a: Array, b: Array) -> Array:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _turned(rotation: Array, a: Array) -> Array:
    """R a."""
    found: Array = (rotation * a).sum(axis=1)
    return found


def _back(rotation: Array, a: Array) -> Array:
    """Rᵀ a."""
    found: Array = (rotation * a[:, None]).sum(axis=0)
    return found


def _size(a: Array) -> Array:
    found: Array = np.sqrt((a * a).sum(axis=0))
    return found


@dataclass(frozen=True)
class _JointMotion:
    """A body at the rows: from its axes to those of its base, from pole to pole, what each freedom moves (turn, slide), and the
    angular and linear velocity and acceleration that the joint adds, in body axes.
    """

    body: Body
    rotation: Array
    offset: Array
    turns: list[Array]
    slides: list[Array]
    omega: Array
    speed: Array
    alpha: Array
    pace: Array


@remembered
def _numbers_of_bodies(system: System) -> Program:
    """Axis, pole, mass, centre and inertia of each body, then the places of points in bodies, then gravity, as stated."""
    tree = tree_of(system)
    own = [e for b in tree.bodies for e in (*b.axis, *b.pole, b.mass, *b.center, *b.inertia)]
    return plain_program([*own, *(e for p in system.points.values() for e in p.at), *tree.gravity])


class TreeMotion:
    """The bodies of a tree at rows of a motion: ``values`` and ``rates`` of its states by name."""

    def __init__(self, system: System, values: Mapping[str, Array], rates: Mapping[str, Array]) -> None:
        self.system, self.tree = system, tree_of(system)
        flows = {"t": np.ones(1), **{name: rates[name] for name in system.rates}}
        tape = Tape(_numbers_of_bodies(system), {name: jet(x, flows.get(name, 0.0)) for name, x in values.items()})
        numbers, paces = ([a[level, 0] for a in tape.outputs()] for level in (0, 1))
        places = numbers[len(self.tree.bodies) * PER_BODY : -3]
        self._places = {name: _triple(places[3 * k : 3 * k + 3]) for k, name in enumerate(system.points)}
        self._rows = len(values["t"])
        self._gravity = _triple(numbers[-3:])
        self._masses: list[tuple[Array, Array, Array]] = []
        self._flows: list[tuple[Array, Array, Array]] = []
        self.joints: list[_JointMotion] = []
        for k, body in enumerate(self.tree.bodies):
            own = numbers[k * PER_BODY : (k + 1) * PER_BODY]
            self.joints.append(_joint(body, _triple(own[:3]), _triple(own[3:6]), values, rates))
            m, c, flow = own[6], _triple(own[7:10]), paces[k * PER_BODY : (k + 1) * PER_BODY]
            self._masses.append((m, m * c, _inertia(own[10:])))
            self._flows.append((flow[6], flow[6] * c + m * _triple(flow[7:10]), _inertia(flow[10:])))

    def forces(self) -> list[Array]:
        """The force (2, k) that each freedom takes, with its size."""
        still = (_ZERO, _ZERO, -self._gravity, np.zeros(1), _size(self._gravity))
        moving: list[tuple[Array, ...]] = []
        wrenches: list[tuple[Array, ...]] = []
        for joint, (m, d, inertia) in zip(self.joints, self._masses, strict=True):
            base, r, p = joint.body.base, joint.rotation, joint.offset
            omega_b, alpha_b, a_b, turning, pacing = still if base == GROUND else moving[base]
            carried = _back(r, omega_b)
            omega, twist = carried + joint.omega, _cross(carried, joint.omega)
            alpha = _back(r, alpha_b) + joint.alpha + twist
            swept, thrown = _cross(alpha_b, p), _cross(omega_b, _cross(omega_b, p))
            coriolis = _cross(2.0 * carried + joint.omega, joint.speed)
            a = _back(r, a_b + swept + thrown) + joint.pace + coriolis
            turning = turning + _size(joint.alpha) + _size(twist)
            pacing = pacing + _size(swept) + _size(thrown) + _size(joint.pace) + _size(coriolis)
            moving.append((omega, alpha, a, turning, pacing))
            force = m * a + _cross(alpha, d) + _cross(omega, _cross(omega, d))
            torque = _turned(inertia, alpha) + _cross(omega, _turned(inertia, omega)) + _cross(d, a)
            spin, far, heavy = turning + (omega * omega).sum(axis=0), _size(d), np.abs(inertia).max(axis=(0, 1))
            wrenches.append((force, torque, np.abs(m) * pacing + far * spin, heavy * spin + far * pacing))
        if any(part.any() for flow in self._flows for part in flow):
            wrenches = [tuple(map(np.add, w, flow)) for w, flow in zip(wrenches, self._momenta_of_flows(), strict=True)]
        found = [np.zeros((2, 1))] * len(self.system.freedoms)
        for k in range(len(self.joints) - 1, -1, -1):
            joint, (force, torque, f, n) = self.joints[k], wrenches[k]
            for j, (turn, slide) in enumerate(zip(joint.turns, joint.slides, strict=True)):
                own = (turn * torque + slide * force).sum(axis=0)
                found[self.tree.first_velocity[k] + j] = np.array(
                    [own, np.abs(own) + _size(turn) * n + _size(slide) * f]
                )
            if joint.body.base != GROUND:
                down, lever = _turned(joint.rotation, force), joint.offset
                below = wrenches[joint.body.base]
                moment = _turned(joint.rotation, torque) + _cross(lever, down)
                added = (down, moment, f, n + _size(lever) * f)
                wrenches[joint.body.base] = tuple(x + y for x, y in zip(below, added, strict=True))
        return found

    def _momenta_of_flows(self) -> list[tuple[Array, ...]]:
        """Forces and torques, with their sizes, that masses take which change while the velocities stay."""
        moving: list[tuple[Array, Array]] = []
        found: list[tuple[Array, ...]] = []
        for joint, (m, d, inertia) in zip(self.joints, self._flows, strict=True):
            base, r = joint.body.base, joint.rotation
            omega_b, v_b = (_ZERO, _ZERO) if base == GROUND else moving[base]
            omega, v = _back(r, omega_b) + joint.omega, _back(r, v_b + _cross(omega_b, joint.offset)) + joint.speed
            moving.append((omega, v))
            parts = m * v, _cross(omega, d), _turned(inertia, omega), _cross(d, v)
            a, b, c, e = map(_size, parts)
            found.append((parts[0] + parts[1], parts[2] + parts[3], a + b, c + e))
        return found

    def _way(self, name: str) -> tuple[list[tuple[int, Array]], Array, Array, Array]:
        """From the body of a point to the ground: each body with the place of the point in its axes; then place, velocity and
        acceleration of the point.
        """
        point = self.system.points[name]
        at = self._places[name]
        found, body, speed, pace = list[tuple[int, Array]](), point.body, _ZERO, _ZERO
        while body != GROUND:
            joint = self.joints[body]
            found.append((body, at))
            w, v = joint.omega, joint.speed
            pace = pace + 2.0 * _cross(w, speed) + _cross(w, _cross(w, at)) + _cross(joint.alpha, at)
            pace = _turned(joint.rotation, pace + _cross(w, v) + joint.pace)
            speed = _turned(joint.rotation, speed + _cross(w, at) + v)
            at, body = joint.offset + _turned(joint.rotation, at), joint.body.base
        return found, at, speed, pace

    def points(self, names: Collection[str]) -> tuple[dict[str, Array], dict[str, Array]]:
        """Jets of the coordinates of points, and of their rates, that are among the names; jets of the rates of coordinates."""
        jets: dict[str, Array] = {}
        speeds: dict[str, Array] = {}
        for name in self.system.points:
            if any(f"{name}_{axis}{dot}" in names for axis in AXES for dot in ("", "'")):
                _, at, speed, pace = self._way(name)
                for k, axis in enumerate(AXES):
                    own = f"{name}_{axis}"
                    jets |= {own: jet(at[k], speed[k]), f"{own}'": jet(speed[k], pace[k])}
                    speeds[own] = jets[f"{own}'"]
        return jets, speeds

    def reaction(self, slopes: Mapping[str, Array], dot: str) -> Array:
        """The forces (n, 2, k) on the freedoms of forces ``slopes`` (2, k) along coordinates of points, or of their rates."""
        found: Array = np.zeros((len(self.system.freedoms), 2, 1))
        for name in self.system.points:
            given = [slopes.get(f"{name}_{axis}{dot}", np.zeros((2, 1))) for axis in AXES]
            if any(f"{name}_{axis}{dot}" in slopes for axis in AXES):
                force = np.array(np.broadcast_arrays(*given))
                found = found + self._pushed(name, force[:, 0], _size(force[:, 1]), len(found))
        return found

    def _pushed(self, name: str, force: Array, size: Array, count: int) -> Array:
        found = np.zeros((count, 2, self._rows))
        for body, at in reversed(self._way(name)[0]):
            joint = self.joints[body]
            force = _back(joint.rotation, force)
            for j, (turn, slide) in enumerate(zip(joint.turns, joint.slides, strict=True)):
                moved = _cross(turn, at) + slide
                found[self.tree.first_velocity[body] + j] += _both((moved * force).sum(axis=0), _size(moved) * size)
        return found


def _both(value: Array, size: Array) -> Array:
    return np.array(np.broadcast_arrays(value, size))


def _inertia(entries: Sequence[Array]) -> Array:
    xx, yy, zz, xy, xz, yz = np.broadcast_arrays(*entries)
    return np.array([[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]])


def _triple(entries: Sequence[Array]) -> Array:
    return np.array(np.broadcast_arrays(*map(np.atleast_1d, entries)))


def _joint(
    body: Body, axis: Array, pole: Array, values: Mapping[str, Array], rates: Mapping[str, Array]
) -> _JointMotion:
    q = [values[name] for name in body.coordinates]
    x, y, z = axis
    turned, way = body.kind.pose((x, y, z), q, arrays())
    rotation, offset = _triple([e for row in turned for e in row]).reshape(3, 3, -1), pole + _triple(way)
    turns, slides = ([_triple(entries) for entries in ways] for ways in body.kind.directions((x, y, z), arrays()))

    def motion(table: Mapping[str, Array], directions: Sequence[Array]) -> Array:
        return sum((table[v] * d for v, d in zip(body.velocities, directions, strict=True)), _ZERO)

    return _JointMotion(
        body,
        rotation,
        offset,
        turns,
        slides,
        motion(values, turns),
        motion(values, slides),
        motion(rates, turns),
        motion(rates, slides),
    )
