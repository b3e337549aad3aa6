"""Equations E₀(q) + E₁(q) y = 0 in numbers and intervals, and their zeros by Newton's method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.matrices import pinv, svd
from svyaz.program import Interval, Program, crosses_cut, numbers, ranges, ranges_by_branches


@dataclass(frozen=True)
class BoxProblem:
    """E₀ (n,), E₁ (n, k), ∂E₀/∂q (n, d) and ∂E₁/∂q (n, k, d) as the outputs of one program of q, in this order.

    ``surfaces`` gives the expressions that vanish where the equations jump, which no derivative tells; where the equations are
    those of one side of each of them, ``wanted`` tells it: 1 or -1. ``cuts`` gives y and x of each atan2(y, x) in turn, which
    jumps where y = 0 and x < 0. Equations are told over their ``level`` (n,), and what is
    small is so beside the ``unit`` of an unknown (d + k,): ones, where the numbers are ordinary.
    """

    program: Program
    values: Mapping[str, float]
    equations: int
    bounded: int
    free: int
    surfaces: Program | None = None
    wanted: tuple[int, ...] = ()
    level: Array | None = None
    unit: Array | float = 1.0
    cuts: Program | None = None

    def at(self, low: Array, high: Array) -> tuple[Interval, Interval, Interval, Interval]:
        """The four arrays over parts (N, d), each with its bounds."""
        lower, upper = ranges(self.program, self.values, low, high)
        first, second, third, fourth = zip(self._shaped(lower), self._shaped(upper), strict=True)
        return first, second, third, fourth

    def by_branches(self, low: Array, high: Array) -> Iterator[tuple[Interval, Interval]]:
        """E₀ and E₁ over parts (N, d), on each side of the poles and cuts that may pass through them."""
        count = self.equations * (1 + self.free)
        for bounds in ranges_by_branches(self.program, self.values, low, high, count):
            (e0, e1), (e0_high, e1_high) = (self._shaped(bound)[:2] for bound in bounds)
            yield (e0, e0_high), (e1, e1_high)

    def sides(self, low: Array, high: Array) -> NDArray[np.intp]:
        """On which side of each surface parts lie (N, surfaces): 1, -1, or 0 where it may pass through them."""
        if self.surfaces is None:
            return np.zeros((len(low), 0), dtype=np.intp)
        least, most = ranges(self.surfaces, self.values, low, high)
        return np.where(least > 0, 1, np.where(most < 0, -1, 0))

    def smooth(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """In which parts the equations do not jump."""
        whole = ~self.torn(low, high)
        if self.surfaces is None or self.wanted:
            return whole
        return np.asarray(whole & np.all(self.sides(low, high) != 0, axis=1))

    def torn(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """Through which parts the cut of an atan2 may pass."""
        if self.cuts is None:
            return np.zeros(len(low), dtype=bool)
        least, most = ranges(self.cuts, self.values, low, high)
        y, x = ((least[:, k::2], most[:, k::2]) for k in (0, 1))
        return np.asarray(np.any(crosses_cut(y, x), axis=1))

    def in_force(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """In which parts these may be the equations."""
        if not self.wanted:
            return np.ones(len(low), dtype=bool)
        return np.asarray(np.all(self.sides(low, high) * np.array(self.wanted) >= 0, axis=1))

    def _shaped(self, outputs: Array) -> list[Array]:
        n, d, k = self.equations, self.bounded, self.free
        shapes = [(n,), (n, k), (n, d), (n, k, d)]
        pieces = np.split(outputs, np.cumsum([n, n * k, n * d]), axis=1)
        given = [
            (piece, shape) for piece, shape in zip(pieces, shapes, strict=True) if piece.shape[1] == np.prod(shape)
        ]
        found = [piece.reshape(len(outputs), *shape) for piece, shape in given]
        if self.level is None:
            return found
        return [rows / self.level.reshape(n, *(1,) * (rows.ndim - 2)) for rows in found]

    def inverse(self, matrices: Array, columns: slice, rcond: float) -> Array:
        """The pseudoinverses of slopes (N, n, ·) by some of the unknowns, each measured by its unit."""
        unit = np.broadcast_to(self.unit, self.bounded + self.free)[columns]
        return np.asarray(pinv(matrices * unit, rcond=rcond) * unit[:, None])

    @np.errstate(invalid="ignore", over="ignore")
    def value_and_slope(self, x: Array) -> tuple[Array, Array]:
        """f (N, n) and f' (N, n, d + k) at points x = (q, y)."""
        q, y = x[:, : self.bounded], x[:, self.bounded :]
        e0, e1, d0, d1 = self._shaped(numbers(self.program, self.values, q))
        value = e0 + np.einsum("nij,nj->ni", e1, y)
        slope = np.concatenate([d0 + np.einsum("nijk,nj->nik", d1, y), e1], axis=2)
        return value, slope


ORDINARY = (1e-3, 1e3)
"""Sizes that are left as they are."""

NOISE, NOTHING = 100.0, 1e-12
"""What is not larger than so many times its rounding, or than this part of the largest of its kind, is nothing: what is left
where terms cancel. Equations with multipliers and inputs are one kind, those without another."""

SAMPLED = 32
"""So many positions tell the sizes of the equations."""


def measured(problem: BoxProblem, low: Array, high: Array) -> BoxProblem:
    """The problem with the sizes of its equations and unknowns in a box, so that no decision depends on units: atoms in metres
    have forces that an absolute tolerance would take for none.

    Sizes are powers of two: dividing by them rounds nothing.
    """
    width = np.where(high > low, high - low, np.maximum(np.abs(low), 1.0))
    points = low + np.random.default_rng(3).uniform(size=(SAMPLED, problem.bounded)) * (high - low)
    with np.errstate(all="ignore"):
        e0, e1, d0, _ = (np.maximum(_least(part), 0.0) for part in problem.at(points, points))
        sizes, pushed = _usual(np.maximum(e0, np.max(d0 * width, axis=2, initial=0.0))), e1.any(axis=(0, 2))
        largest = np.where(pushed, np.max(sizes * pushed, initial=0.0), np.max(sizes * ~pushed, initial=0.0))
        level = _ordinary(np.where(sizes > NOTHING * largest, sizes, 0.0))
        effect = _usual(np.max(e1 / level[:, None], axis=1, initial=0.0))
    unit = np.concatenate([_ordinary(np.maximum(np.abs(low), np.abs(high))), 1.0 / _ordinary(effect)])
    if (level == 1.0).all() and (unit == 1.0).all():
        return problem
    return replace(problem, level=level, unit=unit)


def _least(bounds: Interval) -> Array:
    """How large numbers are at least that were computed with bounds on their rounding, with something to spare."""
    return np.asarray(0.5 * np.abs(bounds[0] + bounds[1]) - NOISE * (bounds[1] - bounds[0]))


def _usual(sizes: Array) -> Array:
    """The median of each column (N, n), of the numbers that are finite; zero where there are none."""
    return np.array([np.median(good) if len(good := column[np.isfinite(column)]) else 0.0 for column in sizes.T])


def _ordinary(sizes: Array) -> Array:
    """One for sizes that are ordinary, or nothing, and powers of two for others."""
    plain = (sizes == 0.0) | ((sizes > ORDINARY[0]) & (sizes < ORDINARY[1])) | ~np.isfinite(sizes)
    return np.where(plain, 1.0, np.exp2(np.round(np.log2(np.where(plain, 1.0, sizes)))))


def newton(problem: BoxProblem, starts: Array, steps: int = 60, scale: Array | None = None) -> Array:
    """Zeros by Newton's method from many starts (N, d + k); NaN for none.

    Unless the system is square, the steps are the shortest in the sense of least squares, unknowns measured by ``scale``.
    """
    unit = problem.unit if scale is None else scale

    def step(value: Array, slope: Array, rows: NDArray[np.intp]) -> Array:
        return np.asarray(-np.einsum("nij,nj->ni", pinv(slope * unit, rcond=1e-12), value) * unit)

    return _iterated(problem, starts, steps, step)


DAMPED = 0.3
"""The first steps of Levenberg and Marquardt are damped by this part of the square of the largest singular value."""


def zeros_beside(problem: BoxProblem, starts: Array, width: Array) -> Array:
    """Zeros near the starts, which need not be isolated; NaN for none. ``width`` are the sides of the box, to measure q by.

    Levenberg's and Marquardt's method with a damping that falls with |f|, beside what it was and its slopes: it converges fast
    to families too (N. Yamashita, M. Fukushima 2001), and does not slide along them, where Newton's steps are not determined.
    y is measured so that it has as much effect as q.
    """
    d = problem.bounded
    first = np.linalg.norm(problem.value_and_slope(np.array(starts, dtype=float))[0], axis=1)

    def step(value: Array, slope: Array, rows: NDArray[np.intp]) -> Array:
        effect = np.linalg.norm(slope, axis=1)
        most = (effect[:, :d] * width).max(axis=1, initial=0.0)[:, None]
        unit = np.where(effect > 0, most / np.where(effect > 0, effect, 1.0), 1.0)
        unit[:, :d] = width
        u, values, vt = svd(slope * unit[:, None, :], full_matrices=False)
        largest = values.max(axis=1, initial=0.0)[:, None]
        off = np.linalg.norm(value, axis=1)
        size = np.minimum(off / np.where(first[rows] > 0, first[rows], 1.0), off / np.maximum(largest[:, 0], 1e-300))
        kept = values > 1e-12 * largest
        damped = np.where(kept, values**2 + DAMPED * np.minimum(size, 1.0)[:, None] * largest**2, 1.0)
        factor = np.where(kept & (damped > 0), values / np.where(damped > 0, damped, 1.0), 0.0)
        return np.asarray(-np.einsum("nij,ni->nj", vt, factor * np.einsum("nij,ni->nj", u, value)) * unit)

    return _iterated(problem, starts, 100, step)


Step = Callable[[Array, Array, NDArray[np.intp]], Array]
"""(f, f', which of the starts) → the change of x."""


def _iterated(problem: BoxProblem, starts: Array, steps: int, step: Step) -> Array:
    """Where the steps lead, if it is to a zero."""
    x = np.array(starts, dtype=float)
    going = np.ones(len(x), dtype=bool)
    for _ in range(steps):
        value, slope = problem.value_and_slope(x[going])
        good = np.isfinite(value).all(axis=1) & np.isfinite(slope).all(axis=(1, 2))
        rows = np.flatnonzero(going)
        x[rows[~good]] = np.nan
        rows = rows[good]
        change = step(value[good], slope[good], rows)
        x[rows] += change
        moved, reached = (np.abs(part / problem.unit).max(axis=1, initial=0.0) for part in (change, x[rows]))
        small = moved <= 1e-13 * (1 + reached)
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


def among(zero: Array, points: Array, tolerance: float, unit: Array | float) -> bool:
    """Is the point one of these (N, n), to a part of their sizes and units?"""
    return bool(np.any(np.all(np.abs(points - zero) <= tolerance * (unit + np.abs(points)), axis=1)))
