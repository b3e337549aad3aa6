"""Equations E₀(q) + E₁(q) y = 0 in numbers and intervals, and their zeros by Newton's method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.matrices import pinv, svd
from svyaz.program import Interval, Program, numbers, ranges


@dataclass(frozen=True)
class BoxProblem:
    """E₀ (n,), E₁ (n, k), ∂E₀/∂q (n, d) and ∂E₁/∂q (n, k, d) as the outputs of one program of q, in this order.

    ``surfaces`` gives the expressions that vanish where the equations jump, which no derivative tells; where the equations are
    those of one side of each of them, ``wanted`` tells it: 1 or -1.
    """

    program: Program
    values: Mapping[str, float]
    equations: int
    bounded: int
    free: int
    surfaces: Program | None = None
    wanted: tuple[int, ...] = ()

    def at(self, low: Array, high: Array) -> tuple[Interval, Interval, Interval, Interval]:
        """The four arrays over parts (N, d), each with its bounds."""
        lower, upper = (self._shaped(bound) for bound in ranges(self.program, self.values, low, high))
        first, second, third, fourth = zip(lower, upper, strict=True)
        return first, second, third, fourth

    def sides(self, low: Array, high: Array) -> NDArray[np.intp]:
        """On which side of each surface parts lie (N, surfaces): 1, -1, or 0 where it may pass through them."""
        if self.surfaces is None:
            return np.zeros((len(low), 0), dtype=np.intp)
        least, most = ranges(self.surfaces, self.values, low, high)
        return np.where(least > 0, 1, np.where(most < 0, -1, 0))

    def smooth(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """In which parts the equations do not jump."""
        if self.surfaces is None or self.wanted:
            return np.ones(len(low), dtype=bool)
        return np.asarray(np.all(self.sides(low, high) != 0, axis=1))

    def in_force(self, low: Array, high: Array) -> NDArray[np.bool_]:
        """In which parts these may be the equations."""
        if not self.wanted:
            return np.ones(len(low), dtype=bool)
        return np.asarray(np.all(self.sides(low, high) * np.array(self.wanted) >= 0, axis=1))

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


def newton(problem: BoxProblem, starts: Array, steps: int = 60, scale: Array | None = None) -> Array:
    """Zeros by Newton's method from many starts (N, d + k); NaN for none.

    Unless the system is square, the steps are the shortest in the sense of least squares, unknowns measured by ``scale``.
    """
    unit = np.ones(starts.shape[1]) if scale is None else scale

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


def among(zero: Array, points: Array, tolerance: float) -> bool:
    """Is the point one of these (N, n), to a part of their sizes?"""
    return bool(np.any(np.all(np.abs(points - zero) <= tolerance * (1 + np.abs(points)), axis=1)))
