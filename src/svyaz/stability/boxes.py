"""All zeros of a system in a box, by subdivision: what is discarded contains none, what is found is alone where it is.

    f(q, y) = E₀(q) + E₁(q) y = 0,     q in a box, y free                 (y: multipliers, currents, inputs)

For a part Q of the box, intervals bound E₀ and E₁; where C E₁(Q), C = E₁⁺ at the middle, is close to the unit matrix, they
bound y as well. With bounds on both, Krawczyk's operator

    K(X) = m - C f(m) + (E - C f'(X)) (X - m),     C = f'(m)⁻¹,

shrinks the part (a zero in X lies in K(X)); K(X) inside X proves a zero, and no second one, in X. Parts that remain are
halved. (R. Krawczyk 1969; R. E. Moore 1977.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.program import Program
from svyaz.stability.intervals import (
    Interval,
    contracted,
    joined,
    number_matrix_times,
    number_times,
    numbers,
    ranges,
    sum_of,
    times_vector,
)

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


@dataclass(frozen=True)
class BoxProblem:
    """E₀ (n,), E₁ (n, k), ∂E₀/∂q (n, d) and ∂E₁/∂q (n, k, d) as the outputs of one program of q, in this order."""

    program: Program
    values: Mapping[str, float]
    equations: int
    bounded: int
    free: int

    def at(self, low: Array, high: Array) -> tuple[Interval, Interval, Interval, Interval]:
        """The four arrays over parts (N, d), each with its bounds."""
        lower, upper = (self._shaped(bound) for bound in ranges(self.program, self.values, low, high))
        first, second, third, fourth = zip(lower, upper, strict=True)
        return first, second, third, fourth

    def _shaped(self, outputs: Array) -> list[Array]:
        n, d, k = self.equations, self.bounded, self.free
        pieces = np.split(outputs, np.cumsum([n, n * k, n * d]), axis=1)
        shapes = [(n,), (n, k), (n, d), (n, k, d)]
        return [piece.reshape(len(outputs), *shape) for piece, shape in zip(pieces, shapes, strict=True)]

    @np.errstate(invalid="ignore", over="ignore")
    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        """f (N, n) and f' (N, n, d + k) at points x = (q, y)."""
        q, y = x[:, : self.bounded], x[:, self.bounded :]
        e0, e1, d0, d1 = self._shaped(numbers(self.program, self.values, q))
        value = e0 + np.einsum("nij,nj->ni", e1, y)
        slope = np.concatenate([d0 + np.einsum("nijk,nj->nik", d1, y), e1], axis=2)
        return value, slope


@dataclass
class Zeros:
    """Points x = (q, y), proved to be alone in the boxes around them; parts that could not be decided.

    Parts looked at, and parts ``left`` when the work allowed was done.
    """

    points: list[Array] = field(default_factory=list)
    boxes: list[Interval] = field(default_factory=list)
    undecided: list[Interval] = field(default_factory=list)
    parts: int = 0
    left: int = 0

    @property
    def complete(self) -> bool:
        """Is it proved that there are no others?"""
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
    while waiting:
        parts = waiting.pop()
        if len(parts[0]) > LOT:
            waiting += [(parts[0][LOT:], parts[1][LOT:])]
            parts = parts[0][:LOT], parts[1][:LOT]
        if found.parts + len(parts[0]) > most or monotonic() >= end:
            found.left = sum(len(lot[0]) for lot in [*waiting, parts])
            break
        found.parts += len(parts[0])
        parts = _kept(problem, parts, found, width)
        if len(parts[0]):
            waiting.append(_halved(parts, width, problem.bounded))
        if progress is not None:
            progress(1.0 - sum(_volume(lot, width) for lot in waiting))
    return found


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


def _kept(problem: BoxProblem, parts: Interval, found: Zeros, width: Array) -> Interval:
    """Parts that may still contain a zero that was not found yet, shrunk."""
    d = problem.bounded
    low, high = parts
    e0, e1, d0, d1 = problem.at(low[:, :d], high[:, :d])
    low, high = _bounded_free(problem, low, high, e0, e1)
    total = sum_of(e0, times_vector(e1, (low[:, d:], high[:, d:])))
    fixed = ~np.any((e1[0] != 0) | (e1[1] != 0), axis=2)
    bounds = np.where(fixed, e0[0], total[0]), np.where(fixed, e0[1], total[1])
    alive = np.all((bounds[0] <= SLACK) & (bounds[1] >= -SLACK), axis=1) & np.all(low <= high, axis=1)
    low, high, e1, d0, d1 = _choose(alive, low, high, e1, d0, d1)
    if not len(low):
        return low, high
    bounded = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    settled = np.zeros(len(low), dtype=bool)
    if bounded.any():
        inner = _choose(bounded, low, high, e1, d0, d1)
        new_low, new_high, inside = _krawczyk(problem, *inner)
        proved = inside & (problem.equations == low.shape[1])
        low[bounded], high[bounded] = new_low, new_high
        settled[bounded] = proved | np.any(new_low > new_high, axis=1)
        _record(problem, 0.5 * (new_low[proved] + new_high[proved]), found)
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
    inverse = np.asarray(np.linalg.pinv(middle[usable], rcond=1e-10), dtype=float)
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
    value = problem.value_and_slope(middle)[0]
    centre = 0.5 * (slope[0] + slope[1])
    centre = np.where(np.isfinite(centre), centre, 0.0)
    inverse = np.asarray(np.linalg.pinv(centre, rcond=1e-12), dtype=float)
    near = number_matrix_times(inverse, slope)
    unit = np.eye(low.shape[1])
    rest = np.maximum(np.abs(near[0] - unit), np.abs(near[1] - unit))
    rounding = 4e-16 * np.einsum("nij,nj->ni", np.abs(inverse), np.abs(value) + 1e-14)
    radius = 0.5 * (high - low)
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


def newton(problem: BoxProblem, starts: Array, steps: int = 60, scale: Array | None = None) -> Array:
    """Zeros by Newton's method from many starts (N, d + k); NaN for none.

    Unless the system is square, the steps are the shortest in the sense of least squares, unknowns measured by ``scale``.
    """
    x = np.array(starts, dtype=float)
    unit = np.ones(x.shape[1]) if scale is None else scale
    going = np.ones(len(x), dtype=bool)
    for _ in range(steps):
        value, slope = problem.value_and_slope(x[going])
        good = np.isfinite(value).all(axis=1) & np.isfinite(slope).all(axis=(1, 2))
        rows = np.flatnonzero(going)
        x[rows[~good]] = np.nan
        rows = rows[good]
        inverse = np.linalg.pinv(slope[good] * unit, rcond=1e-12)
        change = -np.einsum("nij,nj->ni", inverse, value[good]) * unit
        x[rows] += change
        small = np.abs(change).max(axis=1, initial=0.0) <= 1e-13 * (1 + np.abs(x[rows]).max(axis=1, initial=0.0))
        going[:] = False
        going[rows[~small]] = True
        if not going.any():
            break
    finite = np.isfinite(x).all(axis=1)
    value, slope = problem.value_and_slope(np.where(finite[:, None], x, 0.0))
    size = np.einsum("nij,nj->ni", np.abs(slope), np.abs(np.where(finite[:, None], x, 0.0)))
    converged = finite & np.all(np.abs(value) <= 1e-9 * (1 + size), axis=1)
    x[~converged] = np.nan
    return x


def _record(problem: BoxProblem, starts: Array, found: Zeros) -> None:
    """Find the zeros near the starts; those that are new are kept with a box in which each is proved to be alone."""
    if not len(starts):
        return
    zeros = newton(problem, starts)
    zeros = _new(zeros[~np.isnan(zeros).any(axis=1)], found)
    low, high, proved = _alone(problem, zeros)
    found.points += list(zeros[proved])
    found.boxes += list(zip(low[proved], high[proved], strict=True))


def _new(zeros: Array, found: Zeros) -> Array:
    """Zeros that are not known yet, each once."""
    known = np.array(found.points).reshape(len(found.points), zeros.shape[1])
    kept: list[Array] = []
    for zero in zeros:
        if among(zero, known, SAME) or (kept and among(zero, np.array(kept), SAME)):
            continue
        kept.append(zero)
    return np.array(kept).reshape(len(kept), zeros.shape[1])


def among(zero: Array, points: Array, tolerance: float) -> bool:
    """Is the point one of these (N, n), to a part of their sizes?"""
    return bool(np.any(np.all(np.abs(points - zero) <= tolerance * (1 + np.abs(points)), axis=1)))


def _alone(problem: BoxProblem, zeros: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Boxes around the zeros, as large as possible, in which each is the only one; and for which that was proved."""
    d = problem.bounded
    low, high, proved = zeros.copy(), zeros.copy(), np.zeros(len(zeros), dtype=bool)
    for radius in (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6):
        left = np.flatnonzero(~proved)
        if not len(left):
            break
        spread = radius * (1 + np.abs(zeros[left]))
        low[left], high[left] = zeros[left] - spread, zeros[left] + spread
        _, e1, d0, d1 = problem.at(low[left][:, :d], high[left][:, :d])
        _, _, inside = _krawczyk(problem, low[left], high[left], e1, d0, d1)
        sure = inside & (problem.equations >= zeros.shape[1])
        proved[left] = sure | (problem.equations > zeros.shape[1] and radius <= 1e-3)
    return low, high, proved


def _covered(low: Array, high: Array, found: Zeros) -> NDArray[np.bool_]:
    """Which parts lie in a box in which the only zero is known?"""
    inside = np.zeros(len(low), dtype=bool)
    for lo, hi in found.boxes:
        inside |= np.all((low >= lo) & (high <= hi), axis=1)
    return inside


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
