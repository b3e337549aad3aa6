"""Krawczyk's operator and bounds on f(q, y) = E₀(q) + E₁(q) y over parts of a box: what they exclude, narrow and prove.

    K(X) = m - C f(m) + (E - C f'(X)) (X - m),     C = f'(m)⁻¹

A zero in X lies in K(X); K(X) inside X proves a zero, and no second one, in X. (R. Krawczyk 1969; R. E. Moore 1977.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.program import Interval
from svyaz.stability.box_problem import BoxProblem
from svyaz.stability.interval_matrices import (
    EPSILON,
    contracted,
    joined,
    number_matrix_times,
    number_times,
    sum_of,
    times_vector,
)

SLACK = 1e-13

BRANCHED = 200
"""The branches of so many parts are looked at together."""


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
    alive = may_vanish(e0, e1, (low[:, d:], high[:, d:])) & np.all(low <= high, axis=1)
    alive &= problem.in_force(low[:, :d], high[:, :d])
    if problem.cuts is not None:
        torn = np.flatnonzero(alive & problem.torn(low[:, :d], high[:, :d]))
        alive[torn] = possible(problem, low[torn], high[torn])
    low, high, e1, d0, d1 = _choose(alive, low, high, e1, d0, d1)
    infinite = infinite[alive]
    bounded = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    proved = np.zeros(len(low), dtype=bool)
    steady = bounded & problem.smooth(low[:, :d], high[:, :d])
    if steady.any():
        inner = _choose(steady, low, high, e1, d0, d1)
        low[steady], high[steady], inside = krawczyk(problem, *inner)
        proved[steady] = inside & (problem.equations == low.shape[1])
    left = np.all(low <= high, axis=1)
    return Narrowed(low[left], high[left], bounded[left], proved[left], infinite[left])


def may_vanish(e0: Interval, e1: Interval, y: Interval) -> NDArray[np.bool_]:
    """In which parts E₀ + E₁ y = 0 is not excluded by bounds; where E₀ has no value, it is."""
    total = sum_of(e0, times_vector(e1, y))
    fixed = ~np.any((e1[0] != 0) | (e1[1] != 0), axis=2)
    low, high = np.where(fixed, e0[0], total[0]), np.where(fixed, e0[1], total[1])
    excluded = (low > SLACK) | (high < -SLACK) | (e0[0] > e0[1])
    return np.asarray(~np.any(excluded, axis=1))


def possible(problem: BoxProblem, low: Array, high: Array) -> NDArray[np.bool_]:
    """In which parts a zero is not excluded on some side of the poles and cuts that may pass through them."""
    d = problem.bounded
    found = np.zeros(len(low), dtype=bool)
    for k in range(0, len(low), BRANCHED):
        lot = slice(k, k + BRANCHED)
        for e0, e1 in problem.by_branches(low[lot, :d], high[lot, :d]):
            found[lot] |= may_vanish(e0, e1, (low[lot, d:], high[lot, d:]))
    return found


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
def krawczyk(
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


def _choose(mask: NDArray[np.bool_], low: Array, high: Array, *intervals: Interval) -> tuple:
    return (low[mask], high[mask], *((lo[mask], hi[mask]) for lo, hi in intervals))
