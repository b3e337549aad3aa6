"""All zeros of a system in a box, by subdivision: what is discarded contains none, what is found is alone where it is.

    f(q, y) = E₀(q) + E₁(q) y = 0,     q in a box, y free                 (y: multipliers, currents, inputs)

For a part Q of the box, intervals bound E₀ and E₁; where C E₁(Q), C = E₁⁺ at the middle, is close to the unit matrix, they
bound y as well. With bounds on both, Krawczyk's operator

    K(X) = m - C f(m) + (E - C f'(X)) (X - m),     C = f'(m)⁻¹,

shrinks the part (a zero in X lies in K(X)); K(X) inside X proves a zero, and no second one, in X. Parts that remain are
halved. (R. Krawczyk 1969; R. E. Moore 1977.) Where f may jump inside a part, f' bounds nothing: such parts are only halved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.program import Interval
from svyaz.stability.box_problem import BoxProblem, among, newton
from svyaz.stability.interval_matrices import (
    EPSILON,
    contracted,
    joined,
    number_matrix_times,
    number_times,
    sum_of,
    times_vector,
)

AT_ONCE = 32
"""So many parts cost little more than one."""

LOT = 2000
"""So many parts are worked on at a time."""

LEAST_WIDTH = 1e-7
"""Parts smaller than this, relative to the box, are left undecided."""

TRY_NEWTON = 0.05
SLACK = 1e-13
SAME = 1e-8
"""Zeros that agree to this part of their sizes are one."""

CUT = 0.4878
"""Parts are not cut in the middle: zeros like to lie there."""


COARSE = 0.05
MOST_UNBOUNDED = 1000
"""Parts in which the equations have no bounds are set aside when they are no wider than this part of the box, and divided
further, four times finer at a time, while there are not too many of them.
"""

COVER = 3000
COVER_WIDTH = 1 / 64
"""A cover has at most so many parts; it need not be finer than this part of the box."""


@dataclass
class Zeros:
    """Points x = (q, y), proved to be alone in the boxes around them; parts that could not be decided, and lots of parts in
    which the equations have no bounds (poles).

    Parts looked at, and parts ``left`` when the work allowed was done.
    """

    points: list[Array] = field(default_factory=list)
    boxes: list[Interval] = field(default_factory=list)
    undecided: list[Interval] = field(default_factory=list)
    unbounded: list[Interval] = field(default_factory=list)
    parts: int = 0
    left: int = 0

    @property
    def complete(self) -> bool:
        """Is it proved that there are no others outside of the parts without bounds?"""
        return not self.undecided and not self.left


def all_zeros(
    problem: BoxProblem,
    low: Array,
    high: Array,
    most: float = np.inf,
    seconds: float = np.inf,
    progress: Callable[[float], object] | None = None,
) -> Zeros:
    """All zeros with q in the box [low, high]; after so many parts or seconds the rest is left.

    ``progress`` is told the part of the volume of the box that is done.
    """
    found, end = Zeros(), monotonic() + seconds
    width = np.where(high > low, high - low, 1.0)
    slack = 1e-9 * width
    waiting: list[Interval] = [_unbounded(problem, low - slack, high + slack)]
    fine = COARSE
    while waiting or _finer(found.unbounded, fine):
        if not waiting:
            fine = max(fine / 4, LEAST_WIDTH)
            parts, found.unbounded = _stacked(found.unbounded), []
            waiting.append(_halved(parts, width, problem.bounded))
        parts = waiting.pop()
        if len(parts[0]) > LOT:
            waiting += [(parts[0][LOT:], parts[1][LOT:])]
            parts = parts[0][:LOT], parts[1][:LOT]
        if found.parts + len(parts[0]) > most or monotonic() >= end:
            found.left = sum(len(lot[0]) for lot in [*waiting, parts])
            break
        found.parts += len(parts[0])
        parts = _kept(problem, parts, found, width, fine)
        if len(parts[0]):
            waiting.append(_divided(parts, width, problem.bounded))
        if progress is not None:
            progress(1.0 - sum(_volume(lot, width) for lot in waiting))
    return found


def _finer(unbounded: list[Interval], fine: float) -> bool:
    """Is it worth while to divide the parts without bounds further? Not when they are many, or as narrow as parts get."""
    return 0 < sum(len(lot[0]) for lot in unbounded) <= MOST_UNBOUNDED and fine > LEAST_WIDTH


def _stacked(parts: list[Interval]) -> Interval:
    return np.vstack([lot[0] for lot in parts]), np.vstack([lot[1] for lot in parts])


def cover(problem: BoxProblem, low: Array, high: Array, seconds: float = np.inf) -> Interval:
    """Parts of the box, as fine as a few thousand of them can be, outside of which there are proved to be no zeros."""
    end, d = monotonic() + seconds, problem.bounded
    width = np.where(high > low, high - low, 1.0)
    parts = _unbounded(problem, low - 1e-9 * width, high + 1e-9 * width)
    while len(parts[0]):
        lots = [narrowed(problem, (parts[0][k : k + LOT], parts[1][k : k + LOT])) for k in range(0, len(parts[0]), LOT)]
        parts = _stacked([(lot.low, lot.high) for lot in lots])
        widest = float(((parts[1] - parts[0])[:, :d] / width).max(initial=0.0))
        if 2 * len(parts[0]) > COVER or widest <= COVER_WIDTH or monotonic() >= end:
            break
        parts = _halved(parts, width, d)
    return parts


def _volume(parts: Interval, width: Array) -> float:
    """Together, beside that of the box."""
    d = len(width)
    return float(np.prod((parts[1] - parts[0])[:, :d] / width, axis=1).sum())


def zeros_near(problem: BoxProblem, starts: Array) -> Zeros:
    """Zeros to which Newton's method leads from these starts, those that are proved to be alone where they are."""
    found = Zeros()
    _record(problem, starts, found)
    return found


def _unbounded(problem: BoxProblem, low: Array, high: Array) -> Interval:
    """The whole box with y anywhere."""
    free = np.full(problem.free, np.inf)
    return np.concatenate([low, -free])[None, :], np.concatenate([high, free])[None, :]


class Narrowed(NamedTuple):
    """Parts that may hold zeros, as narrow as bounds make them.

    ``bounded``: are there bounds on y? ``proved``: does the part hold one zero for certain? ``infinite``: have the equations
    no bounds there?
    """

    low: Array
    high: Array
    bounded: NDArray[np.bool_]
    proved: NDArray[np.bool_]
    infinite: NDArray[np.bool_]


def narrowed(problem: BoxProblem, parts: Interval) -> Narrowed:
    """What is left of the parts."""
    d = problem.bounded
    low, high = parts
    e0, e1, d0, d1 = problem.at(low[:, :d], high[:, :d])
    infinite = np.any(~np.isfinite(np.hstack([*e0, *(e.reshape(len(low), -1) for e in e1)])), axis=1)
    low, high = _bounded_free(problem, low, high, e0, e1)
    total = sum_of(e0, times_vector(e1, (low[:, d:], high[:, d:])))
    fixed = ~np.any((e1[0] != 0) | (e1[1] != 0), axis=2)
    bounds = np.where(fixed, e0[0], total[0]), np.where(fixed, e0[1], total[1])
    alive = np.all((bounds[0] <= SLACK) & (bounds[1] >= -SLACK), axis=1) & np.all(low <= high, axis=1)
    alive &= problem.in_force(low[:, :d], high[:, :d])
    low, high, e1, d0, d1 = _choose(alive, low, high, e1, d0, d1)
    infinite = infinite[alive]
    bounded = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    proved = np.zeros(len(low), dtype=bool)
    steady = bounded & problem.smooth(low[:, :d], high[:, :d])
    if steady.any():
        inner = _choose(steady, low, high, e1, d0, d1)
        low[steady], high[steady], inside = _krawczyk(problem, *inner)
        proved[steady] = inside & (problem.equations == low.shape[1])
    left = np.all(low <= high, axis=1)
    return Narrowed(low[left], high[left], bounded[left], proved[left], infinite[left])


def _kept(problem: BoxProblem, parts: Interval, found: Zeros, width: Array, fine: float) -> Interval:
    """Parts that must be looked at more closely; zeros, undecided parts, and fine ones without bounds go to ``found``."""
    d = problem.bounded
    low, high, bounded, settled, infinite = narrowed(problem, parts)
    aside = infinite & np.all(high[:, :d] - low[:, :d] <= fine * width, axis=1)
    found.unbounded += [(low[aside], high[aside])] if aside.any() else []
    low, high, bounded, settled = (x[~aside] for x in (low, high, bounded, settled))
    _record(problem, 0.5 * (low[settled] + high[settled]), found)
    small = np.all(high[:, :d] - low[:, :d] <= TRY_NEWTON * width, axis=1) & ~settled & bounded
    untried = small & ~_covered(low, high, found)
    _record(problem, 0.5 * (low[untried] + high[untried]), found)
    settled |= small & _covered(low, high, found)
    tiny = np.all(high[:, :d] - low[:, :d] <= LEAST_WIDTH * width, axis=1) & ~settled
    found.undecided += [(low[k], high[k]) for k in np.flatnonzero(tiny)]
    return low[~settled & ~tiny], high[~settled & ~tiny]


@np.errstate(invalid="ignore", over="ignore")
def _bounded_free(problem: BoxProblem, low: Array, high: Array, e0: Interval, e1: Interval) -> Interval:
    """Bounds on y from C E₁ y = -C E₀ where C E₁ is near the unit matrix, C = E₁⁺ in the middle."""
    k, d = problem.free, problem.bounded
    low, high = low.copy(), high.copy()
    if not k:
        return low, high
    middle = 0.5 * (e1[0] + e1[1])
    usable = np.isfinite(middle).all(axis=(1, 2)) & np.isfinite(e0[0]).all(axis=1) & np.isfinite(e0[1]).all(axis=1)
    if not usable.any():
        return low, high
    inverse = problem.inverse(middle[usable], slice(d, None), rcond=1e-10)
    near = number_matrix_times(inverse, (e1[0][usable], e1[1][usable]))
    rest = np.maximum(np.abs(near[0] - np.eye(k)), np.abs(near[1] - np.eye(k)))
    row_sums = rest.sum(axis=2)
    beta = row_sums.max(axis=1)
    centre = number_times(inverse, (-e0[1][usable], -e0[0][usable]))
    size = np.maximum(np.abs(centre[0]), np.abs(centre[1])).max(axis=1) / np.where(beta < 0.99, 1 - beta, np.nan)
    reach = row_sums * size[:, None] * (1 + 1e-12) + 1e-300
    good = np.isfinite(reach).all(axis=1)
    rows = np.flatnonzero(usable)[good]
    low[rows, d:] = np.maximum(low[rows, d:], (centre[0] - reach)[good])
    high[rows, d:] = np.minimum(high[rows, d:], (centre[1] + reach)[good])
    return low, high


def _value_at(problem: BoxProblem, points: Array) -> Interval:
    """f at points x = (q, y), and how far rounding may have put it off: the true value is as near as that."""
    d = problem.bounded
    e0, e1, _, _ = problem.at(points[:, :d], points[:, :d])
    low, high = sum_of(e0, times_vector(e1, (points[:, d:], points[:, d:])))
    return 0.5 * (low + high), np.maximum(0.5 * (high - low), 0.0) * (1 + 1e-12) + 1e-300


@np.errstate(invalid="ignore", over="ignore")
def _krawczyk(
    problem: BoxProblem, low: Array, high: Array, e1: Interval, d0: Interval, d1: Interval
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """X ∩ K(X), and where K(X) lies inside X; what has no bounds stays as it is.

    Inside means that C f has one zero in X: f has one if it is square, and at most one if it has more equations.
    """
    d = problem.bounded
    y = low[:, d:], high[:, d:]
    slope = joined(sum_of(d0, contracted(d1, y)), e1)
    middle = 0.5 * (low + high)
    value, doubt = _value_at(problem, middle)
    centre = 0.5 * (slope[0] + slope[1])
    centre = np.where(np.isfinite(centre), centre, 0.0)
    inverse = problem.inverse(centre, slice(None), rcond=1e-12)
    near = number_matrix_times(inverse, slope)
    unit = np.eye(low.shape[1])
    rest = np.maximum(np.abs(near[0] - unit), np.abs(near[1] - unit))
    size = np.abs(inverse)
    several = EPSILON * (low.shape[1] + 2)
    rounding = np.einsum("nij,nj->ni", size, (1 + several) * doubt + several * np.abs(value)) + several * np.abs(middle)
    radius = np.maximum(high - middle, middle - low) * (1 + several)
    reach = np.einsum("nij,nj->ni", rest, radius) * (1 + 1e-12) + rounding
    target = middle - np.einsum("nij,nj->ni", inverse, value)
    new_low, new_high = target - reach, target + reach
    inside = np.all((new_low > low) & (new_high < high), axis=1) & np.isfinite(reach).all(axis=1)
    usable = np.isfinite(reach)
    return (
        np.where(usable, np.maximum(low, new_low), low),
        np.where(usable, np.minimum(high, new_high), high),
        inside,
    )


def _record(problem: BoxProblem, starts: Array, found: Zeros) -> None:
    """Find the zeros near the starts; those that are new are kept with a box in which each is proved to be alone."""
    if not len(starts):
        return
    zeros = newton(problem, starts)
    zeros = _new(problem, zeros[~np.isnan(zeros).any(axis=1)], found)
    low, high, proved = _alone(problem, zeros)
    found.points += list(zeros[proved])
    found.boxes += list(zip(low[proved], high[proved], strict=True))


def _new(problem: BoxProblem, zeros: Array, found: Zeros) -> Array:
    """Zeros that are not known yet, each once."""
    known = np.empty((len(found.points) + len(zeros), zeros.shape[1]))
    first = count = len(found.points)
    known[:first] = found.points if first else known[:0]
    for zero in zeros:
        if not among(zero, known[:count], SAME, problem.unit):
            known[count] = zero
            count += 1
    return known[first:count]


def _alone(problem: BoxProblem, zeros: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Boxes around the zeros, as large as possible, in which each is the only one; and for which that was proved."""
    d = problem.bounded
    low, high, proved = zeros.copy(), zeros.copy(), np.zeros(len(zeros), dtype=bool)
    for radius in (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6):
        left = np.flatnonzero(~proved)
        if not len(left):
            break
        spread = radius * (problem.unit + np.abs(zeros[left]))
        low[left], high[left] = zeros[left] - spread, zeros[left] + spread
        _, e1, d0, d1 = problem.at(low[left][:, :d], high[left][:, :d])
        _, _, inside = _krawczyk(problem, low[left], high[left], e1, d0, d1)
        sure = inside & (problem.equations >= zeros.shape[1])
        smooth = problem.smooth(low[left][:, :d], high[left][:, :d])
        proved[left] = smooth & (sure | (problem.equations > zeros.shape[1] and radius <= 1e-3))
    return low, high, proved


def _covered(low: Array, high: Array, found: Zeros) -> NDArray[np.bool_]:
    """Which parts lie in a box in which the only zero is known?"""
    inside = np.zeros(len(low), dtype=bool)
    for lo, hi in found.boxes:
        inside |= np.all((low >= lo) & (high <= hi), axis=1)
    return inside


def _divided(parts: Interval, width: Array, d: int) -> Interval:
    """Each part halved; again and again while there are few."""
    parts = _halved(parts, width, d)
    while len(parts[0]) < AT_ONCE:
        parts = _halved(parts, width, d)
    return parts


def _halved(parts: Interval, width: Array, d: int) -> Interval:
    """Each part cut across its relatively widest side."""
    low, high = parts
    side = np.argmax((high - low)[:, :d] / width, axis=1)
    rows = np.arange(len(low))
    cut = low[rows, side] + CUT * (high[rows, side] - low[rows, side])
    lower, upper = high.copy(), low.copy()
    lower[rows, side], upper[rows, side] = cut, cut
    return np.vstack([low, upper]), np.vstack([lower, high])


def _choose(mask: NDArray[np.bool_], low: Array, high: Array, *intervals: Interval) -> tuple:
    return (low[mask], high[mask], *((lo[mask], hi[mask]) for lo, hi in intervals))
