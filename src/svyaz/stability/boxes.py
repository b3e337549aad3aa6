"""All zeros of a system in a box, by subdivision: what is discarded contains none, what is found is alone where it is.

    f(q, y) = E₀(q) + E₁(q) y = 0,     q in a box, y free                 (y: multipliers, currents, inputs)

For a part Q of the box, intervals bound E₀ and E₁; where C E₁(Q), C = E₁⁺ at the middle, is close to the unit matrix, they
bound y as well. With bounds on both, Krawczyk's operator narrows the part, or proves that it holds exactly one zero. Parts
that remain are halved. Where f may jump inside a part, f' bounds nothing: such parts are only halved.

A part leaves the search in four ways: it is proved to be empty; it lies in a box with exactly one zero, and that zero is in the
answer; it is undecided, or has no bounds (a pole), and then nothing is claimed of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.program import Interval
from svyaz.stability.box_problem import BoxProblem, among, newton
from svyaz.stability.krawczyk import krawczyk, may_vanish, narrowed, possible

AT_ONCE = 32
"""So many parts cost little more than one."""

LOT = 2000
"""So many parts are worked on at a time."""

LEAST_WIDTH = 1e-7
"""Parts smaller than this, relative to the box, are left undecided."""

TRY_NEWTON = 0.05
SAME = 1e-10
"""Newton's method is not asked to prove a second time what it reached to this part of its size."""

REFINEMENTS = 40
"""So often at most the enclosure of a zero is narrowed."""

ROUNDED = 1e-14
"""An enclosure this narrow, beside the unknown and its unit, is not narrowed further: one of zero would shrink for ever."""

RADII = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Of the boxes around a zero in which it may be proved to be alone."""

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


@dataclass(frozen=True)
class EnclosedZero:
    """A point x = (q, y), how far the zero is from it at most, and a box in which there is no second one."""

    point: Array
    doubt: Array
    low: Array
    high: Array

    def holds(self, other: EnclosedZero) -> bool:
        """Does this one's box contain the other zero? Then they are the same."""
        lower, upper = other.point - other.doubt, other.point + other.doubt
        return bool(np.all((lower >= self.low) & (upper <= self.high)))

    def beside(self, other: EnclosedZero) -> bool:
        """Is it proved that they are two?"""
        return bool(np.any(np.abs(self.point - other.point) > (self.doubt + other.doubt) * (1 + 1e-12)))


@dataclass
class Zeros:
    """Zeros that are proved to be alone in the boxes around them; parts that could not be decided, and lots of parts in
    which the equations have no bounds (poles). ``cleared``: is it proved nevertheless that there are no zeros in these?

    Parts looked at, and parts ``left`` when the work allowed was done.
    """

    zeros: list[EnclosedZero] = field(default_factory=list)
    undecided: list[Interval] = field(default_factory=list)
    unbounded: list[Interval] = field(default_factory=list)
    parts: int = 0
    left: int = 0
    cleared: bool = True

    @property
    def points(self) -> list[Array]:
        return [zero.point for zero in self.zeros]

    @property
    def complete(self) -> bool:
        """Is it proved that there are no others?"""
        return self.cleared and not self.undecided and not self.left


def all_zeros(
    problem: BoxProblem,
    low: Array,
    high: Array,
    most: float = np.inf,
    seconds: float = np.inf,
    progress: Callable[[float], object] | None = None,
    starts: Array | None = None,
) -> Zeros:
    """All zeros with q in the box [low, high]; after so many parts or seconds the rest is left.

    ``progress`` is told the part of the volume of the box that is done. Newton's method tries the ``starts`` first.
    """
    found, end = Zeros() if starts is None else zeros_near(problem, starts), monotonic() + seconds
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
    if found.undecided:
        low, high = (np.array(side) for side in zip(*found.undecided, strict=True))
        open_ones = np.flatnonzero(~_covered(low, high, found))
        found.undecided = [found.undecided[k] for k in open_ones]
    if found.unbounded:
        low, high = _stacked(found.unbounded)
        found.cleared = not possible(problem, low, high).any()
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
    _record_near(problem, starts, found)
    return found


def _unbounded(problem: BoxProblem, low: Array, high: Array) -> Interval:
    """The whole box with y anywhere."""
    free = np.full(problem.free, np.inf)
    return np.concatenate([low, -free])[None, :], np.concatenate([high, free])[None, :]


def _kept(problem: BoxProblem, parts: Interval, found: Zeros, width: Array, fine: float) -> Interval:
    """Parts that must be looked at more closely; zeros, undecided parts, and fine ones without bounds go to ``found``."""
    d = problem.bounded
    low, high, bounded, proved, infinite = narrowed(problem, parts)
    aside = infinite & np.all(high[:, :d] - low[:, :d] <= fine * width, axis=1)
    found.unbounded += [(low[aside], high[aside])] if aside.any() else []
    low, high, bounded, proved = (x[~aside] for x in (low, high, bounded, proved))
    settled = proved & _covered(low, high, found)
    new = np.flatnonzero(proved & ~settled)
    settled[new] = _record(problem, low[new], high[new], found)
    small = np.all(high[:, :d] - low[:, :d] <= TRY_NEWTON * width, axis=1) & ~settled & bounded
    untried = small & ~_covered(low, high, found)
    _record_near(problem, 0.5 * (low[untried] + high[untried]), found)
    settled |= small & _covered(low, high, found)
    tiny = np.all(high[:, :d] - low[:, :d] <= LEAST_WIDTH * width, axis=1) & ~settled
    found.undecided += [(low[k], high[k]) for k in np.flatnonzero(tiny)]
    return low[~settled & ~tiny], high[~settled & ~tiny]


def _record(problem: BoxProblem, low: Array, high: Array, found: Zeros) -> NDArray[np.bool_]:
    """Keep the zeros of boxes in which Krawczyk's operator proved one; of which boxes it is in the answer now.

    A zero is known already when one of two boxes contains both, and new when its enclosure is apart from those of all others.
    """
    kept = np.zeros(len(low), dtype=bool)
    if not len(low):
        return kept
    tight = _refined(problem, low, high)
    middle = 0.5 * (tight[0] + tight[1])
    points = newton(problem, middle)
    points = np.where(np.all((points >= tight[0]) & (points <= tight[1]), axis=1)[:, None], points, middle)
    doubts = np.maximum(tight[1] - points, points - tight[0])
    exact = problem.equations == low.shape[1] or _may_be_zero(problem, tight)
    for k in np.flatnonzero(np.broadcast_to(exact, len(low))):
        zero = EnclosedZero(points[k], doubts[k], low[k], high[k])
        if any(other.holds(zero) or zero.holds(other) for other in found.zeros):
            kept[k] = True
        elif all(zero.beside(other) for other in found.zeros):
            found.zeros.append(zero)
            kept[k] = True
    return kept


def _refined(problem: BoxProblem, low: Array, high: Array) -> Interval:
    """Boxes that hold one zero each, narrowed as far as rounding allows."""
    d = problem.bounded
    for _ in range(REFINEMENTS):
        _, e1, d0, d1 = problem.at(low[:, :d], high[:, :d])
        lower, upper, _ = krawczyk(problem, low, high, e1, d0, d1)
        wide = high - low > ROUNDED * (problem.unit + np.abs(high))
        gain = np.any(wide & (upper - lower < 0.98 * (high - low)))
        low, high = lower, upper
        if not gain:
            break
    return low, high


def _may_be_zero(problem: BoxProblem, tight: Interval) -> NDArray[np.bool_]:
    """Where equations that outnumber the unknowns may all vanish in the enclosure of the zero of their combinations."""
    d = problem.bounded
    e0, e1, _, _ = problem.at(tight[0][:, :d], tight[1][:, :d])
    return may_vanish(e0, e1, (tight[0][:, d:], tight[1][:, d:]))


def _record_near(problem: BoxProblem, starts: Array, found: Zeros) -> None:
    """Look for zeros near the starts; new ones are kept with a box in which each is proved to be alone."""
    if not len(starts):
        return
    zeros = newton(problem, starts)
    zeros = _new(problem, zeros[~np.isnan(zeros).any(axis=1)], found)
    low, high, proved = _alone(problem, zeros)
    _record(problem, low[proved], high[proved], found)


def _new(problem: BoxProblem, zeros: Array, found: Zeros) -> Array:
    """Those that no box of a known zero contains, each once."""
    fresh = zeros[~_covered(zeros, zeros, found)]
    known = np.empty_like(fresh)
    count = 0
    for zero in fresh:
        if not among(zero, known[:count], SAME, problem.unit):
            known[count] = zero
            count += 1
    return known[:count]


def _alone(problem: BoxProblem, zeros: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Boxes around the zeros, as large as possible, in which each is the only one; and for which that was proved."""
    d = problem.bounded
    low, high, proved = zeros.copy(), zeros.copy(), np.zeros(len(zeros), dtype=bool)
    for radius in RADII:
        left = np.flatnonzero(~proved)
        if not len(left):
            break
        spread = radius * (problem.unit + np.abs(zeros[left]))
        low[left], high[left] = zeros[left] - spread, zeros[left] + spread
        _, e1, d0, d1 = problem.at(low[left][:, :d], high[left][:, :d])
        _, _, inside = krawczyk(problem, low[left], high[left], e1, d0, d1)
        smooth = problem.smooth(low[left][:, :d], high[left][:, :d])
        proved[left] = smooth & inside & (problem.equations >= zeros.shape[1])
    return low, high, proved


def _covered(low: Array, high: Array, found: Zeros) -> NDArray[np.bool_]:
    """Which parts lie in a box in which the only zero is known?"""
    inside = np.zeros(len(low), dtype=bool)
    for zero in found.zeros:
        inside |= np.all((low >= zero.low) & (high <= zero.high), axis=1)
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
