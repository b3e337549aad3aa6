"""Branches of solutions of f(u, μ) = 0 followed along a parameter μ, with turning and branching points located.

With z = (u, μ) scaled by the sizes of its entries and J = ∂f/∂z (n, n+1), a branch is a curve with the unit tangent t, J t = 0.
A step goes along t and comes back to the curve across it (H. B. Keller's pseudo-arclength):

    [J(z); tᵀ] Δz = -[f(z); tᵀ(z - z₀ - h t)]

The curve turns back in μ where the last entry of t changes its sign, and meets another curve where det [J; tᵀ] does. There J
has two null vectors φ, and the directions of both curves solve ψᵀ f''(φ, φ) = 0, ψᵀ J = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.matrices import eigh, lstsq, svd

REGULAR, TURNING, BRANCHING = "regular", "turning", "branching"

FIRST, LONGEST, SHORTEST = 1e-3, 2e-2, 1e-9
"""Steps in scaled unknowns."""

TURN = 0.15
"""A tangent that turns by more than this angle between two points asks for a shorter step."""

UPRIGHT = 1e-9
"""A branch along which μ changes less than this, beside its length, does not turn back: μ is constant."""

MOST_POINTS, MOST_BRANCHES = 5000, 60
SAME = 1e-6
"""Points nearer than this, in scaled unknowns, are the same."""

ROUNDING = float(np.finfo(float).eps)
"""Scaled unknowns smaller than this are zero in what is reported."""

Values = Callable[[Array], tuple[Array, Array]]
"""z (n+1,) → f (n,), ∂f/∂z (n, n+1)."""


@dataclass(frozen=True)
class BranchPoint:
    """A point of a branch with its tangent, and whether it is regular, turns back, or belongs to several branches."""

    z: Array
    tangent: Array
    kind: str = REGULAR


@dataclass
class Curves:
    """f in scaled unknowns with the range of μ (the last unknown) and the box of the others.

    Equations are measured by ``level``, the same along all branches: the derivatives of one may vanish where branches meet.
    """

    values: Values
    scale: Array
    low: Array
    high: Array
    level: Array | float = 1.0
    branches: list[list[BranchPoint]] = field(default_factory=list)
    meetings: list[Array] = field(default_factory=list)
    incomplete: bool = False

    def at(self, z: Array) -> tuple[Array, Array]:
        """f and J at scaled z, each equation over its level (the curve is the same, and the determinant keeps its sign)."""
        value, slope = self.values(z * self.scale)
        return value / self.level, slope * self.scale / np.reshape(self.level, (-1, 1))

    def measure(self, starts: Sequence[Array]) -> None:
        """Set the level of each equation: the largest of its derivatives at the starts."""
        sizes = np.max([np.linalg.norm(self.values(start)[1] * self.scale, axis=1) for start in starts], axis=0)
        self.level = np.where(sizes > 0, sizes, 1.0)

    def tangent(self, z: Array, along: Array) -> Array:
        """The unit null vector of J that points along the other one."""
        t: Array = svd(self.at(z)[1])[2][-1]
        return t if float(t @ along) >= 0 else -t

    def determinant(self, z: Array, t: Array) -> float:
        """det [J; tᵀ]: its sign, and how far it is from zero."""
        return float(np.linalg.det(np.vstack([self.at(z)[1], t])))

    def corrected(self, guess: Array, t: Array) -> Array | None:
        """The point of the curve in the plane across t through the guess."""
        z = guess.copy()
        for _ in range(8):
            value, slope = self.at(z)
            if not (np.isfinite(value).all() and np.isfinite(slope).all()):
                return None
            try:
                change = np.linalg.solve(np.vstack([slope, t]), -np.append(value, t @ (z - guess)))
            except np.linalg.LinAlgError:
                return None
            z = z + change
            if np.abs(change).max() <= 1e-13 * (1 + np.abs(z).max()):
                return z
        return z if np.abs(change).max() <= 1e-10 else None

    def inside(self, z: Array) -> bool:
        """Within the range of μ and the box?"""
        return bool(np.all(z >= self.low - 1e-13) and np.all(z <= self.high + 1e-13))


def follow_all(curves: Curves, starts: Sequence[Array]) -> Curves:
    """Follow the branches through all starts in both directions, and those that meet them."""
    if len(starts):
        curves.measure(starts)
    for start in starts:
        z = start / curves.scale
        if not _known(curves, z):
            unit = np.zeros(len(z))
            unit[-1] = 1.0
            t = curves.tangent(z, unit)
            back = _followed(curves, z, -t)
            ahead = _followed(curves, z, t)
            curves.branches.append([*reversed(_turned(back)), *ahead[1:]])
    curves.branches[:] = [
        [replace(p, z=np.where(np.abs(p.z) < ROUNDING, 0.0, p.z)) for p in branch] for branch in curves.branches
    ]
    return curves


def _turned(points: Sequence[BranchPoint]) -> list[BranchPoint]:
    return [BranchPoint(p.z, -p.tangent, p.kind) for p in points]


def _known(curves: Curves, z: Array) -> bool:
    """Does the point lie on a branch that was followed: no farther from a chord of it than the chord is curved?"""
    for branch in curves.branches:
        points = np.array([p.z for p in branch])
        if len(points) < 2:
            continue
        a, chord = points[:-1], np.diff(points, axis=0)
        lengths = np.maximum(np.einsum("ij,ij->i", chord, chord), 1e-300)
        share = np.clip(np.einsum("ij,ij->i", z - a, chord) / lengths, 0.0, 1.0)
        gaps = np.linalg.norm(z - a - share[:, None] * chord, axis=1)
        if np.any(gaps <= SAME + TURN * share * (1 - share) * np.sqrt(lengths)):
            return True
    return False


def _followed(curves: Curves, start: Array, t: Array) -> list[BranchPoint]:
    """From a point in one direction until μ or an unknown leaves its range, or the curve closes."""
    found = [BranchPoint(start, t)]
    step, z = FIRST, start
    sign = curves.determinant(z, t)
    while len(found) < MOST_POINTS:
        ahead = curves.corrected(z + step * t, t)
        turned = None if ahead is None else curves.tangent(ahead, t)
        if ahead is None or turned is None or float(turned @ t) < np.cos(TURN) or np.linalg.norm(ahead - z) > 2 * step:
            step /= 2
            if step < SHORTEST:
                curves.incomplete = True
                return found
            continue
        if not curves.inside(ahead):
            last = _at_the_side(curves, z, t, step)
            return [*found, last] if np.linalg.norm(last.z - z) > SAME else found
        now = curves.determinant(ahead, turned)
        special = []
        if now * sign < 0:
            special.append(_meeting(curves, _located(curves, z, t, step, curves.determinant, BRANCHING), t))
            _branch_off(curves, special[0])
        if turned[-1] * t[-1] < 0 and max(abs(turned[-1]), abs(t[-1])) > UPRIGHT:
            turning = _located(curves, z, t, step, lambda _, v: float(v[-1]), TURNING)
            met = any(np.linalg.norm(turning.z - p) < 1e3 * SAME for p in curves.meetings)
            if not met and not any(abs(p.tangent[-1]) < 1e3 * UPRIGHT for p in special):
                special.append(turning)
        found += sorted(special, key=lambda p: float(t @ p.z))
        z, t, sign = ahead, turned, now
        found.append(BranchPoint(z, t))
        if len(found) > 8 and np.linalg.norm(z - start) < step and float(t @ found[0].tangent) > 0.9:
            return found  # the curve is closed
        step = min(1.5 * step, LONGEST)
    curves.incomplete = True
    return found


def _at_the_side(curves: Curves, z: Array, t: Array, step: float) -> BranchPoint:
    """The last point inside: μ (or another unknown) at the end of its range."""
    low, high, best = 0.0, step, BranchPoint(z, t)
    for _ in range(60):
        middle = 0.5 * (low + high)
        point = curves.corrected(z + middle * t, t)
        if point is not None and curves.inside(point):
            low, best = middle, BranchPoint(point, curves.tangent(point, t))
        else:
            high = middle
        if high - low <= 1e-14:
            break
    return best


def _located(
    curves: Curves, z: Array, t: Array, step: float, test: Callable[[Array, Array], float], kind: str
) -> BranchPoint:
    """Where the test changes its sign between z and the point a step ahead, by bisection and the secant."""
    low, high = 0.0, step
    first = test(z, t)
    end = curves.corrected(z + step * t, t)
    assert end is not None, "the step was made"
    last = test(end, curves.tangent(end, t))
    point, v = z, t
    for k in range(80):
        cut = low + (high - low) * (0.5 if k % 2 else min(max(first / (first - last), 0.01), 0.99))
        here = curves.corrected(z + cut * t, t)
        if here is None:
            break
        point, v = here, curves.tangent(here, t)
        now = test(point, v)
        if now * first <= 0:
            high, last = cut, now
        else:
            low, first = cut, now
        if high - low <= 1e-13 or now == 0:
            break
    return BranchPoint(point, v, kind)


def _meeting(curves: Curves, found: BranchPoint, t: Array) -> BranchPoint:
    """The branching point of a branch that comes along t, exact to rounding: a solution of f + ε ψ = 0, Jᵀψ = 0, ψᵀψ = 1.

    [J; tᵀ] is singular there: along the branch Newton's method comes no nearer than the square root of the rounding.
    """
    n = len(found.z) - 1
    x = np.concatenate([found.z, [0.0], svd(curves.at(found.z)[1])[0][:, -1]])

    def equations(x: Array) -> Array:
        (value, slope), psi = curves.at(x[: n + 1]), x[n + 2 :]
        return np.concatenate([value + x[n + 1] * psi, slope.T @ psi, [0.5 * (psi @ psi - 1.0)]])

    for _ in range(8):
        steps = 1e-5 * np.eye(len(x))
        jacobian = np.array([(equations(x + step) - equations(x - step)) / 2e-5 for step in steps]).T
        if not np.isfinite(jacobian).all():
            return found
        change = lstsq(jacobian, -equations(x), rcond=1e-12)
        x = x + change
        if np.abs(change).max() <= 1e-13:
            break
    z = x[: n + 1]
    if np.linalg.norm(z - found.z) > LONGEST or np.abs(equations(x)).max() > 1e-11:
        return found
    ways = directions(curves, z)
    own = t if ways is None else max(ways, key=lambda way: abs(float(way @ t)))
    return BranchPoint(z, own if float(own @ t) >= 0 else -own, BRANCHING)


def _branch_off(curves: Curves, meeting: BranchPoint) -> None:
    """Follow the other curve through a meeting point, both ways."""
    if any(np.linalg.norm(meeting.z - other) < 1e3 * SAME for other in curves.meetings):
        return
    curves.meetings.append(meeting.z)
    if len(curves.meetings) > MOST_BRANCHES:
        curves.incomplete = True
        return
    ways = directions(curves, meeting.z)
    if ways is None:
        direction = _across(meeting.tangent, svd(curves.at(meeting.z)[1])[2][-2:])
    else:
        direction = min(ways, key=lambda way: abs(float(way @ meeting.tangent)))
    for sense in (1.0, -1.0):
        way = sense * direction
        near = curves.corrected(meeting.z + FIRST * way, way)
        if near is None or not curves.inside(near) or _known(curves, near):
            continue
        t = curves.tangent(near, way)
        if abs(float(t @ meeting.tangent)) > np.cos(TURN):
            continue  # it fell back to the curve we came along
        index = len(curves.branches)
        curves.branches.append([meeting])
        curves.branches[index] = [meeting, *_followed(curves, near, t)]


def directions(curves: Curves, z: Array) -> tuple[Array, Array] | None:
    """The tangents of the two curves that meet at z: ψᵀ f''(φ, φ) = 0 in the plane of the null vectors φ of J."""
    left, _, right = svd(curves.at(z)[1])
    psi, basis, small = left[:, -1], right[-2:], 1e-5
    second = [(curves.at(z + small * b)[1] - curves.at(z - small * b)[1]) / (2 * small) for b in basis]
    form = np.array([[psi @ second[i] @ basis[j] for j in range(2)] for i in range(2)])
    values, vectors = eigh(0.5 * (form + form.T))
    if not (values[0] < -1e-8 and values[1] > 1e-8):
        return None
    ways = [
        (np.sqrt(values[1]) * vectors[:, 0] + sign * np.sqrt(-values[0]) * vectors[:, 1]) @ basis for sign in (1, -1)
    ]
    one, other = (np.asarray(way / np.linalg.norm(way)) for way in ways)
    return one, other


def _across(t: Array, null: Array) -> Array:
    """The unit vector of the plane across t."""
    rest = [v - (v @ t) * t for v in null]
    best = max(rest, key=lambda v: float(np.linalg.norm(v)))
    return np.asarray(best / np.linalg.norm(best))
