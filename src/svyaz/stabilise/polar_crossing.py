"""Past poles of coordinates: near a pole the motion is computed in the chart that is regular there.

The rates are those of the equations as they are, whose errors grow no faster than 1/f on the way past the pole, and the motion
is given in the old coordinates again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import pi
from weakref import WeakKeyDictionary

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import Equations
from svyaz.integrate import Path, Status, solve
from svyaz.stabilise.branch_crossing import SingularCrossing
from svyaz.stabilise.poles import MOST_COORDINATES, CoordinatePole, poles_of
from svyaz.stabilise.segment import Segment

SPIKE = 8.0
"""Poles are looked for where a velocity exceeds so many times what it is along half of a path, or where the path ends early."""

NEAR, FAR = 0.1, 0.25
"""A pole that comes nearer than NEAR is passed in another chart, from FAR before it to FAR behind it."""

ACCURATE, LONGEST = 1e-12, 1000
"""The error allowed in a step of a crossing, and the number of its steps: it covers twice FAR, whatever goes on beside it."""
AT_POLE = 1e-13
HIT = 1e-9
"""Nearer to the pole than this the motion goes through it: δ changes its sign, ψ does not change."""

_not_passed: WeakKeyDictionary[Segment, dict[CoordinatePole, tuple[float, float]]] = WeakKeyDictionary()
"""Spans of time of crossings that took too many steps: they are not tried again from within, in part after part of a run."""


def has_poles(segment: Segment) -> bool:
    """Has the kinetic energy a pole that can be passed?"""
    return len(segment.equations.accelerated) <= MOST_COORDINATES and bool(poles_of(segment.equations))


def find_pole_crossing(
    segment: Segment, path: Path, end: float, step: float | None, grid: Array | None
) -> SingularCrossing | None:
    """The first pole that a path comes near to before ``end``, passed."""
    equations, count = segment.equations, len(segment.equations.accelerated)
    if count > MOST_COORDINATES or not count or not _has_spikes(equations, path):
        return None
    found = []
    for pole in poles_of(equations):
        delta = pole.distance(path.states[:, equations.states.index(pole.theta)])
        inside = np.abs(delta) < NEAR
        inside[1:] |= (np.sign(delta[1:]) != np.sign(delta[:-1])) & (np.abs(delta[1:] - delta[:-1]) < 2 * FAR)
        rows = np.flatnonzero(inside & (path.times < end))
        if len(rows):
            outside = np.flatnonzero(np.abs(delta[: rows[0]]) > FAR)
            found.append((int(outside[-1]) if len(outside) else 0, pole))
    for row, pole in sorted(found, key=lambda pair: pair[0]):
        crossed = _Polar(segment, pole).passed(path, row, end, step, grid)
        if crossed is not None:
            return crossed
    return None


def _has_spikes(equations: Equations, path: Path) -> bool:
    if path.status is not Status.FINISHED:
        return True
    places = [equations.states.index(str(v)) for v in equations.velocities if str(v) in equations.states]
    speeds = np.abs(path.states[:, places])
    slow = SPIKE * (speeds + 1e-12) < speeds.max(axis=0)
    return bool(np.any(2 * np.count_nonzero(slow, axis=0) > len(speeds)))


@dataclass(frozen=True)
class _Polar:
    """The motion of a segment in the chart about a pole: the states of the equations with X, Y, χ in place of θ, ψ, q.

    A motion through the pole keeps its ψ, the ``line``, and δ changes its sign: so the equations are taken there, since the
    sides of jumps and forces along θ need not be the same at -δ and ψ + π.
    """

    segment: Segment
    pole: CoordinatePole
    line: float | None = None

    @cached_property
    def _places(self) -> tuple[int, int, int, int, list[int], list[int], Array]:
        """θ, ψ, θ', ψ' and the other coordinates that turn with ψ, their velocities, and their z/z_ψ."""
        equations, pole = self.segment.equations, self.pole
        states, q, v = equations.states, equations.accelerated, [str(s) for s in equations.velocities]
        k, p = q.index(pole.theta), q.index(pole.psi)
        with_psi = [j for j, r in enumerate(pole.ratio) if r and j != p]
        return (
            states.index(q[k]),
            states.index(q[p]),
            states.index(v[k]),
            states.index(v[p]),
            [states.index(q[j]) for j in with_psi],
            [states.index(v[j]) for j in with_psi],
            np.array([pole.ratio[j] for j in with_psi]),
        )

    def into(self, y: Array) -> Array:
        """A state of the equations in the chart."""
        k, p, dk, dp, others, rates, ratio = self._places
        z, delta = y.copy(), self.pole.distance(y[k])
        f, df = self.pole.chart(delta)
        c, s = np.cos(y[p]), np.sin(y[p])
        z[k], z[p] = f * c, f * s
        z[dk], z[dp] = df * y[dk] * c - f * y[dp] * s, df * y[dk] * s + f * y[dp] * c
        z[others] -= ratio * y[p]
        z[rates] -= ratio * y[dp]
        return z

    def out(self, z: Array, psi: float, side: float) -> Array:
        """The state of the equations with this ψ, δ on this side."""
        k, p, dk, dp, others, rates, ratio = self._places
        y = z.copy()
        radius = float(np.hypot(z[k], z[p]))
        delta = side * self.pole.back(np.array(radius))
        f, df = self.pole.chart(delta)
        c, s = np.cos(psi), np.sin(psi)
        y[k], y[p] = self.pole.at + delta, psi
        y[dk], y[dp] = (z[dk] * c + z[dp] * s) / df, (z[dp] * c - z[dk] * s) / f if radius > 0 else 0.0
        y[others] += ratio * psi
        y[rates] += ratio * y[dp]
        return y

    def rates(self, t: float, z: Array) -> Array:
        """ż: by ψ and δ > 0 of the point itself, or by the ψ of the line."""
        k, p, dk, dp, others, rates, ratio = self._places
        if np.hypot(z[k], z[p]) < AT_POLE:  # as if a little along the velocity, where ψ does not turn
            speed, z = float(np.hypot(z[dk], z[dp])), z.copy()
            z[[k, p]] = AT_POLE * (z[[dk, dp]] / speed if speed > 0.0 else np.array([1.0, 0.0]))
        psi = float(np.arctan2(z[p], z[k]))
        behind = self.line is not None and np.cos(psi - self.line) < 0.0
        y = self.out(z, psi + pi, -1.0) if behind else self.out(z, psi, 1.0)
        found = self.segment.code.evaluate(np.concatenate([[t], y])[None, :], self.segment.constants)[0]
        f, df = self.pole.chart(self.pole.distance(y[k]))
        bend = f * df / 2 if self.pole.angle else 0.0  # f''
        c, s, turn, slope = np.cos(y[p]), np.sin(y[p]), y[dp], y[dk]
        along = bend * slope**2 + df * found[dk] - f * turn**2
        across = 2 * df * slope * turn + f * found[dp]
        dz = found.copy()
        dz[k], dz[p] = z[dk], z[dp]
        dz[dk], dz[dp] = along * c - across * s, along * s + across * c
        dz[others] = z[rates]
        dz[rates] = found[rates] - ratio * found[dp]
        return dz

    def passed(
        self, path: Path, row: int, end: float, step: float | None, grid: Array | None, swerves: bool = False
    ) -> SingularCrossing | None:
        """From a row past the pole, and back to the old coordinates at least FAR behind it, or at the end.

        A motion that aims at the pole is taken to go through it unless it is known that it ``swerves``.
        """
        start, first = float(path.times[row]), path.states[row]
        k, p, dk, dp, *_ = self._places
        delta = float(self.pole.distance(first[k]))
        if not np.isfinite(first).all() or (abs(delta) < 1e-6 and len(path.times) > 1):
            return None  # a motion that leaves the pole by itself is held there by constraints
        tried = _not_passed.get(self.segment, {}).get(self.pole, (0.0, 0.0))
        if tried[0] < start < tried[1]:
            return None
        z = self.into(first)
        speed = float(np.hypot(z[dk], z[dp]))
        if speed == 0.0 and abs(delta) >= HIT:
            return None
        length = 4 * FAR / speed if speed > 0.0 else self._while_leaving(start, z, end)
        if step is not None:
            length = step * max(2, np.ceil(length / step))
        length = min(length, end - start)
        span = (start, start + length)
        times = self._times(*span, step, grid)
        aims = speed > 0.0 and abs(z[k] * z[dp] - z[p] * z[dk]) < HIT * speed
        polar = replace(self, line=float(first[p])) if aims and not swerves else self
        way = solve(polar.rates, z, span, method="dop853", rtol=ACCURATE, max_steps=LONGEST)
        if not way.finished:  # or whirls about: the motion of a pilot that is lost
            _not_passed.setdefault(self.segment, {})[self.pole] = span
            return None
        near = way.states[int(np.argmin(np.hypot(way.states[:, k], way.states[:, p])))]
        pace = float(near[dk] ** 2 + near[dp] ** 2)
        ahead = -(near[k] * near[dk] + near[p] * near[dp]) / pace if pace > 0.0 else 0.0
        moment = float(np.clip(way.times[int(np.argmin(np.hypot(way.states[:, k], way.states[:, p])))] + ahead, *span))
        begun = abs(delta) < HIT  # at the pole itself: the motion leaves to the side to which θ moves
        through = begun or abs(near[k] * near[dp] - near[p] * near[dk]) < HIT * float(np.hypot(near[dk], near[dp]))
        side = -float(np.sign(first[dk]) or 1.0) if begun else float(np.sign(delta))
        moment = start if begun else moment
        if polar.line is not None and not through:
            return self.passed(path, row, end, step, grid, swerves=True)
        course = _PolarCourse(polar, way, first, side, moment if through else np.inf)
        states = np.array([course.at(float(time)) for time in times])
        return SingularCrossing(row, moment, 0.0, times, states, course.at, self.pole.text)

    def _while_leaving(self, start: float, z: Array, end: float) -> float:
        """How long a motion that rests at the pole stays near it."""
        pull = float(np.hypot(*self.rates(start, z)[list(self._places[2:4])]))
        return end - start if pull == 0.0 else min(end - start, float(np.sqrt(4 * FAR / pull)))

    def _times(self, start: float, end: float, step: float | None, grid: Array | None) -> Array:
        if grid is not None:
            return np.concatenate([[start], grid[(grid > start) & (grid < end)], [end]])
        if step is None:
            return np.linspace(start, end, 33)
        return np.linspace(start, end, 1 + max(1, round((end - start) / step)))


@dataclass(frozen=True)
class _PolarCourse:
    """The motion past a pole by its steps in the chart (``way``) from a ``first`` state of the equations.

    It begins on a ``side`` of the pole, and goes through it at the moment ``crossed`` if that is finite.
    """

    polar: _Polar
    way: Path
    first: Array
    side: float
    crossed: float

    def at(self, time: float) -> Array:
        """The state of the equations at a time: by one step of the method from the last one before it."""
        times, z = self.way.times, self.way.states
        if time <= times[0]:
            return self.first
        j = int(np.searchsorted(times, time, side="right")) - 1
        here = z[j]
        if time > times[j]:
            length = time - float(times[j])
            here = solve(self.polar.rates, z[j], (float(times[j]), time), method="dop853", step=length).states[-1]
        angle = self._next_angle(self._angles[j], z[j], here, time)
        return self.polar.out(here, angle, self._side(time))

    def _side(self, time: float) -> float:
        return -self.side if time > self.crossed else self.side  # X = f cos ψ with f < 0 on the other side

    @cached_property
    def _angles(self) -> list[float]:
        """ψ at the ends of the steps."""
        _, p, *_ = self.polar._places
        times, z, found = self.way.times, self.way.states, [float(self.first[p])]
        for j in range(1, len(z)):
            found.append(self._next_angle(found[-1], z[j - 1], z[j], float(times[j])))
        return found

    def _next_angle(self, angle: float, before: Array, here: Array, time: float) -> float:
        """ψ of a state in the chart, from that of the state before it."""
        k, p, dk, dp, *_ = self.polar._places
        if np.isfinite(self.crossed):
            return _nearest_direction(angle, self._side(time) * here[[k, p]])
        return angle + _turning_angle(before, here, (k, p, dk, dp))


def _nearest_direction(angle: float, point: Array) -> float:
    """The direction of a point as near to an angle as can be; at the pole the angle itself."""
    if np.hypot(*point) <= HIT:
        return angle
    gap = float(np.arctan2(point[1], point[0])) - angle
    return angle + gap - 2 * pi * round(gap / (2 * pi))


def _turning_angle(before: Array, after: Array, places: tuple[int, int, int, int]) -> float:
    """By which angle (X, Y) turns from a state to the next, in the sense in which it moves."""
    k, p, dk, dp = places
    gap = float(np.arctan2(after[p], after[k]) - np.arctan2(before[p], before[k]))
    gap -= 2 * pi * round(gap / (2 * pi))
    sense = before[k] * before[dp] - before[p] * before[dk]
    if abs(gap) > pi / 2 and gap * sense < 0:
        gap += 2 * pi if sense > 0 else -2 * pi
    return gap
