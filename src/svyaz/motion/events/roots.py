"""Where functions of time rise through zero in a step: their roots, and tops that reach zero between two looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array

TURNS = 4
"""So often the top of a condition is looked for among nearer states."""

MOST_HALVINGS = 200


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


def find_root(
    value: Callable[[float], float], low: float, high: float, ends: tuple[float, float] | None = None
) -> float:
    """The least number found, not below the root in (low, high], of a function that is negative at ``low`` and not at ``high``.

    Inverse quadratic interpolation or the secant, with a halving whenever the interval has not halved in three steps, and
    never nearer to an end than rounding allows, so that the other end follows. ``ends`` are the values there, if known.
    """
    a, b = low, high
    fa, fb = (value(low), value(high)) if ends is None else ends
    widths, out = [b - a], None
    for _ in range(MOST_HALVINGS):
        least = 2 * np.spacing(max(abs(a), abs(b)))
        if b - a <= least or fb == 0.0:
            return b
        slow = len(widths) > 3 and widths[-1] > 0.5 * widths[-4]
        middle = 0.5 * (a + b) if slow else min(max(_interpolated((a, fa), (b, fb), out), a + least), b - least)
        if not a < middle < b:
            middle = 0.5 * (a + b)
        f = value(middle)
        if f < 0.0:
            a, fa, out = middle, f, (a, fa)
        else:
            b, fb, out = middle, f, (b, fb)
        widths.append(b - a)
    return b


def _interpolated(low: tuple[float, float], high: tuple[float, float], out: tuple[float, float] | None) -> float:
    """Where the inverse quadratic polynomial through three points (x, f) vanishes if that is between two, else their secant."""
    (a, fa), (b, fb) = low, high
    if out is not None and out[1] not in (fa, fb, 0.0):
        c, fc = out
        u, v, w = fb / fc, fb / fa, fa / fc
        x = b + v * (w * (u - w) * (c - b) - (1.0 - u) * (b - a)) / ((w - 1.0) * (u - 1.0) * (v - 1.0))
        if a < x < b:
            return x
    return b - (b - a) * (fb / (fb - fa))
