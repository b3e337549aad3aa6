"""Vectors and matrices of intervals, many at a time.

Bounds may be infinite: what follows from ∞ - ∞ is not a number, and is taken for no bound by those who use it.
"""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.program import Interval

EPSILON = 2.3e-16
"""The unit of rounding, with something to spare: a sum of k products is off by at most (k + 2) times it, of their sizes."""


@np.errstate(invalid="ignore")
def sum_of(a: Interval, b: Interval) -> Interval:
    """Rounded outwards; an unbounded summand leaves no bound."""
    low, high = a[0] + b[0], a[1] + b[1]
    return low - EPSILON * np.abs(low), high + EPSILON * np.abs(high)


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
    return _summed(_products(a, (y[0][:, None, :], y[1][:, None, :])))


def contracted(a: Interval, y: Interval) -> Interval:
    """Σ_j a_ijk y_j."""
    return _summed(_products(a, (y[0][:, None, :, None], y[1][:, None, :, None])))


@np.errstate(invalid="ignore", over="ignore")
def _summed(terms: Interval) -> Interval:
    """The sum over the third axis; rounding is that of the terms, which may cancel, not that of their sum."""
    low, high = terms
    sizes = np.maximum(np.abs(low), np.abs(high)).sum(axis=2)
    off = EPSILON * (low.shape[2] + 2) * sizes
    return low.sum(axis=2) - off, high.sum(axis=2) + off


@np.errstate(invalid="ignore", over="ignore")
def number_matrix_times(c: Array, a: Interval) -> Interval:
    """A matrix of numbers times an interval matrix, (N, k, n) · (N, n, k); without bounds where a has none."""
    middle, radius = _middle(a)
    centre = c @ middle
    reach = np.abs(c) @ (radius + EPSILON * (c.shape[2] + 2) * np.abs(middle)) * (1 + 1e-14)
    return centre - reach, centre + reach


@np.errstate(invalid="ignore", over="ignore")
def number_times(c: Array, b: Interval) -> Interval:
    """A matrix of numbers times an interval vector, (N, k, n) · (N, n); without bounds where b has none."""
    middle, radius = _middle(b)
    centre = np.einsum("nij,nj->ni", c, middle)
    size = radius + EPSILON * (c.shape[2] + 2) * np.abs(middle)
    reach = np.einsum("nij,nj->ni", np.abs(c), size) * (1 + 1e-14)
    return centre - reach, centre + reach


def _middle(a: Interval) -> tuple[Array, Array]:
    """A number in the interval, and how far its ends are at most."""
    middle = 0.5 * (a[0] + a[1])
    return middle, np.maximum(a[1] - middle, middle - a[0]) * (1 + EPSILON)
