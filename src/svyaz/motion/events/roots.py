"""Where functions of time rise through zero in a step: their roots, and tops that reach zero between two looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array

TURNS = 4
"""So often the top of a condition is looked for among nearer states."""

MOST_HALVINGS = 200

MARGIN = 8.0
"""By this factor a step from an end of an interval grows that has not led beyond the root, for rounding."""


def first_top(
    values: Callable[[float], Array],
    rows: Sequence[tuple[float, Array]],
    counting: NDArray[np.bool_],
    first: bool,
    last: bool,
) -> float | None:
    """Where one of the ``counting`` conditions, below zero in three rows (time, g), has a top that reaches zero.

    Tops in the outer halves of the rows are looked for in the ``first`` and the ``last`` ones: the others see them better.
    """
    if len(rows) < 3:
        return None
    times, g = [time for time, _ in rows], np.array([value for _, value in rows])
    found = []
    largest, curves, tilts = g.max(axis=0), g[0] - 2 * g[1] + g[2], 0.5 * (g[0] - g[2])
    reaching = counting & (largest < 0.0) & (2 * largest - g.min(axis=0) >= 0.0) & (curves < 0.0)
    reaching &= (tilts <= curves * (-1.0 if first else -0.5)) & (tilts >= curves * (1.0 if last else 0.5))
    for i in np.flatnonzero(reaching):
        shift, width = float(tilts[i] / curves[i]), 0.5 * (times[2] - times[0])
        top = times[1] + shift * width
        for _ in range(TURNS):
            width = min(0.25 * width, top - times[0], times[2] - top)
            near = [(time, float(values(time)[i])) for time in (top, top - width, top + width)]
            best = max(near, key=lambda row: row[1])
            if best[1] >= 0.0:
                found.append(best[0])
                break
            shift = _vertex(near[1][1], near[0][1], near[2][1])
            if not abs(shift) <= 1.0:
                break
            top += shift * width
    return min(found, default=None)


def _vertex(left: float, middle: float, right: float) -> float:
    """Where the parabola through three values has its top, in parts of their distance from the middle; NaN if it has none."""
    curve = left - 2 * middle + right
    return 0.5 * (left - right) / curve if curve < 0.0 else float("nan")


Point = tuple[float, float]
"""x and f(x)."""


def find_root(
    value: Callable[[float], float],
    low: float,
    high: float,
    ends: tuple[float, float] | None = None,
    before: Point | None = None,
) -> float:
    """The least number found, not below the root in (low, high], of a function that is negative at ``low`` and not at ``high``.

    The root of the parabola through three points (D. E. Muller, 1956), which is exact for the gap of a free fall, or the
    secant; with a halving whenever the interval has not halved in three steps. Never nearer to an end than rounding allows, so
    that the other end follows; farther if that did not suffice. ``ends`` are the values there, ``before`` is a third point.
    """
    a, b = low, high
    fa, fb = (value(low), value(high)) if ends is None else ends
    widths, out, margin = [b - a], before, 0.0
    for _ in range(MOST_HALVINGS):
        least = 2 * np.spacing(max(abs(a), abs(b)))
        if b - a <= least or fb == 0.0:
            return b
        margin = max(margin, least)
        middle = min(max(_interpolated((a, fa), (b, fb), out), a + margin), b - margin)
        halved = (len(widths) > 3 and widths[-1] > 0.5 * widths[-4]) or not a < middle < b
        middle = 0.5 * (a + b) if halved else middle
        f, close = value(middle), min(middle - a, b - middle)
        stays = (f < 0.0) == (middle - a == close)
        margin = MARGIN * margin if stays and close <= margin else 0.0
        if f < 0.0:
            a, fa, out = middle, f, (a, fa)
        else:
            b, fb, out = middle, f, (b, fb)
        widths.append(b - a)
    return b


def _interpolated(low: Point, high: Point, out: Point | None) -> float:
    """Where the parabola through three points (x, f), or the secant of two, rises through zero between the first two."""
    (a, fa), (b, fb), rise = low, high, high[1] - low[1]
    slope, bend = 1.0 / (b - a), 0.0  # in units of the rise: squares of f itself may be no numbers
    if out is not None and out[0] not in (a, b):
        bend = (((out[1] - fb) / rise) / (out[0] - b) - slope) / (out[0] - a)
    first = slope - bend * (b - a)
    root = first + np.sqrt(max(first**2 - 4.0 * bend * (fa / rise), 0.0))
    return a - 2.0 * (fa / rise) / float(root) if root > 0.0 else b - (b - a) * (fb / rise)
