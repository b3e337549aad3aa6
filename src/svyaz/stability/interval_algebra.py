"""Vectors and matrices of intervals, many at a time: each is a pair of arrays (low, high), sums are rounded outwards.

Bounds may be infinite: what follows from ∞ - ∞ is not a number, and is taken for no bound by those who use it.
"""

from __future__ import annotations

import numpy as np

from svyaz.stability.intervals import Array, Interval


@np.errstate(invalid="ignore")
def sum_of(a: Interval, b: Interval) -> Interval:
    """Rounded outwards; an unbounded summand leaves no bound."""
    return np.nextafter(a[0] + b[0], -np.inf), np.nextafter(a[1] + b[1], np.inf)


def joined(a: Interval, b: Interval) -> Interval:
    """Columns of two interval matrices beside each other."""
    return np.concatenate([a[0], b[0]], axis=2), np.concatenate([a[1], b[1]], axis=2)


def _products(a: Interval, b: Interval) -> Interval:
    """Entry by entry; an exact zero times anything is zero."""
    with np.errstate(invalid="ignore"):
        corners = np.stack(np.broadcast_arrays(a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]))
    corners = np.where(np.isnan(corners), 0.0, corners)
    return corners.min(axis=0), corners.max(axis=0)


def times_vector(a: Interval, y: Interval) -> Interval:
    """Interval matrix times interval vector, (N, n, k) · (N, k)."""
    low, high = _products(a, (y[0][:, None, :], y[1][:, None, :]))
    return _rounded(low.sum(axis=2), high.sum(axis=2))


def contracted(a: Interval, y: Interval) -> Interval:
    """Σ_j a_ijk y_j."""
    low, high = _products(a, (y[0][:, None, :, None], y[1][:, None, :, None]))
    return _rounded(low.sum(axis=2), high.sum(axis=2))


@np.errstate(invalid="ignore", over="ignore")
def number_matrix_times(c: Array, a: Interval) -> Interval:
    """A matrix of numbers times an interval matrix, (N, k, n) · (N, n, k); without bounds where a has none."""
    middle, radius = 0.5 * (a[0] + a[1]), 0.5 * (a[1] - a[0])
    centre = c @ middle
    reach = np.abs(c) @ radius + 4e-16 * (np.abs(c) @ np.abs(middle))
    return centre - reach, centre + reach


@np.errstate(invalid="ignore", over="ignore")
def number_times(c: Array, b: Interval) -> Interval:
    """A matrix of numbers times an interval vector, (N, k, n) · (N, n); without bounds where b has none."""
    middle, radius = 0.5 * (b[0] + b[1]), 0.5 * (b[1] - b[0])
    centre = np.einsum("nij,nj->ni", c, middle)
    reach = np.einsum("nij,nj->ni", np.abs(c), radius + 4e-16 * np.abs(middle))
    return centre - reach, centre + reach


def _rounded(low: Array, high: Array) -> Interval:
    return low - 1e-15 * np.abs(low), high + 1e-15 * np.abs(high)
