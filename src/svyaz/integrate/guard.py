"""Watching for events inside the native loops.

A loop applies a map after each of its steps (see ``calls.settle``); here the map also looks whether a condition has risen
through zero since the step before, and refuses the new state if one has, which ends the loop with the state before that
step. Unless all conditions are far from zero, measured by what they change in a step, states between the ends of the step
are looked at too, on the cubic that has the rates at both ends, and where a condition has a top between them it is looked
at there, on a polynomial of the fifth degree, so that one that rises and falls within a small part of a step is seen.
One compiled function serves every model; what it needs, and what it remembers, stands in its constants:

    c[0], c[1] the conditions g(t, y) and their constants, c[2] their number m,
    c[3], c[4] the map that follows a step in any case (0: none), c[5], c[6] the rates, c[7] the number n of states,
    c[8] one after an alarm, c[9] a top alarms that is below zero by so many times what that polynomial is off,
    then from c[HEAD] the numbers of ``Layout``. Whole numbers take the place of c[0] … c[7].

A condition counts only while it is armed: it must have been below minus its level before. Since the map remembers, a run has
constants of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from svyaz.integrate.calls import Address, call, copy, read, whole, write
from svyaz.integrate.compiling import Callback, callback, part

HEAD = 10
ALARM, SHARE = 8, 9
BETWEEN = 8
"""Into so many parts a step is divided."""
TURNS = 2
"""So many times the top of a condition is looked for among nearer states."""
FAR = 16.0
"""So many times its change in this step and the one before, a condition is far from zero."""


class Layout(NamedTuple):
    """Where in the constants numbers stand for n states and m conditions."""

    before: int
    slope_before: int
    after: int
    slope_after: int
    point: int
    values: int
    armed: int
    tried: int
    level: int
    last: int
    change: int
    samples: int
    bend: int
    size: int


def layout(n: int, m: int) -> Layout:
    """[t, y…] before and after a step with their rates, one between; of the conditions values, flags (armed, and armed on
    trial), levels, last values, last changes, values at all parts of a step; what the cubic lacks.
    """
    lengths = (n + 1, n, n + 1, n, n + 1, m, m, m, m, m, m, (BETWEEN + 1) * m, 4 * n)
    places = [HEAD]
    for length in lengths:
        places.append(places[-1] + length)
    return Layout(*places)


@part
def _between(
    theta: float, h: float, n: int, before: Address, slope: Address, after: Address, end_slope: Address, point: Address
) -> None:
    """Hermite's cubic: the state at the part θ of a step of length h."""
    a, b = (1 + 2 * theta) * (1 - theta) ** 2, theta**2 * (3 - 2 * theta)
    c, d = h * theta * (1 - theta) ** 2, h * theta**2 * (theta - 1)
    write(point, 0, read(before, 0) + theta * h)
    for k in range(n):
        value = a * read(before, k + 1) + b * read(after, k + 1) + c * read(slope, k) + d * read(end_slope, k)
        write(point, k + 1, value)


@part
def _risen(m: int, values: Address, tried: Address, level: Address) -> bool:
    """Has an armed condition risen? Those that are low enough are armed."""
    risen = False
    for i in range(m):
        g = read(values, i)
        if g >= 0.0 and read(tried, i) > 0.0:
            risen = True
        elif g < -read(level, i):
            write(tried, i, 1.0)
    return risen


@part
def _far(m: int, values: Address, last: Address, change: Address) -> bool:
    """Are all conditions far from zero? Their changes are kept."""
    far = True
    for i in range(m):
        g, before = read(values, i), read(last, i)
        moved = max(abs(g - before), read(change, i))
        if not (g * before > 0.0 and min(abs(g), abs(before)) > FAR * moved):
            far = False
        write(change, i, abs(g - before))
    return far


@part
def _bent(h: float, n: int, before: Address, point: Address, bend: Address, c: Address) -> bool:
    """What the cubic p lacks: y = p + θ²(1 - θ)² (K + L (1 - 2θ)) has the rates ∂y/∂θ = h f at a quarter and three quarters.

    There the factor of K has the slopes ±3/16, and that of L 3/128; f is taken on the polynomial that K and L gave before.
    Are the rates defined?
    """
    slope, after = before + 8 * (n + 1), before + 8 * (2 * n + 1)
    end_slope = after + 8 * (n + 1)
    lacks = bend + 16 * n
    for side in (0, 1):
        theta = 0.25 + 0.5 * side
        _refined(theta, h, n, before, slope, after, end_slope, point, bend)
        rates = lacks + 8 * n * side
        if call(whole(c, 5), point, whole(c, 6), rates) != 0:
            return False
        a, b, d = 6 * theta * (1 - theta), (1 - theta) * (1 - 3 * theta), theta * (3 * theta - 2)
        for k in range(n):
            cubic = a * (read(after, k + 1) - read(before, k + 1)) + h * (b * read(slope, k) + d * read(end_slope, k))
            write(rates, k, h * read(rates, k) - cubic)
    for k in range(n):
        early, late = read(lacks, k), read(lacks, n + k)
        write(bend, k, (early - late) * (8 / 3))
        write(bend, n + k, (early + late) * (64 / 3))
    return True


@part
def _refined(
    theta: float,
    h: float,
    n: int,
    before: Address,
    slope: Address,
    after: Address,
    end_slope: Address,
    point: Address,
    bend: Address,
) -> None:
    """The state at the part θ of a step, on the cubic with what it lacks."""
    _between(theta, h, n, before, slope, after, end_slope, point)
    weight = (theta * (1 - theta)) ** 2
    for k in range(n):
        lack = read(bend, k) + (1 - 2 * theta) * read(bend, n + k)
        write(point, k + 1, read(point, k + 1) + weight * lack)


@part
def _condition(theta: float, i: int, c: Address, n: int, m: int) -> float:
    """g_i at the part θ of the step, on the polynomial of the fifth degree."""
    before = c + 8 * HEAD
    after = before + 8 * (2 * n + 1)
    end_slope = after + 8 * (n + 1)
    point = end_slope + 8 * n
    values = point + 8 * (n + 1)
    bend = values + 8 * (6 + BETWEEN + 1) * m
    h = read(after, 0) - read(before, 0)
    _refined(theta, h, n, before, before + 8 * (n + 1), after, end_slope, point, bend)
    if call(whole(c, 0), point, whole(c, 1), values) != 0:
        return -np.inf
    return read(values, i)


@part
def _vertex(left: float, middle: float, right: float) -> float:
    """Where the parabola through three values has its top, in parts of their distance from the middle; NaN if it has none."""
    curve = left - 2 * middle + right
    return 0.5 * (left - right) / curve if curve < 0.0 else np.nan


@part
def _passes(theta: float, i: int, c: Address, n: int, m: int) -> bool:
    """Does a condition with a top at about the part θ of the step reach zero there?"""
    before = c + 8 * HEAD
    point = before + 8 * (4 * n + 2)
    values = point + 8 * (n + 1)
    bend = values + 8 * (6 + BETWEEN + 1) * m
    h = read(before + 8 * (2 * n + 1), 0) - read(before, 0)
    rough = best = -np.inf
    for k in range(2 * n):
        write(bend, k, 0.0)
    for _ in range(2):
        rough, best = best, _condition(theta, i, c, n, m)
        if not _bent(h, n, before, point, bend, c):
            return max(rough, best) >= 0.0
    rough, best = best, _condition(theta, i, c, n, m)
    off, width = abs(best - rough), 0.25 / BETWEEN
    for _ in range(TURNS):
        low, high = max(theta - width, 0.0), min(theta + width, 1.0)
        width = 0.5 * (high - low)
        theta = low + width
        middle = _condition(theta, i, c, n, m)
        left, right = _condition(low, i, c, n, m), _condition(high, i, c, n, m)
        shift = _vertex(left, middle, right)
        best = max(best, middle, left, right)
        if not abs(shift) <= 1.0:
            break
        theta += shift * width
        best = max(best, _condition(theta, i, c, n, m))
        width *= 0.25
    slack = read(c, SHARE) * off if off > read(values, 3 * m + i) else 0.0
    return best >= -slack


@part
def _top(c: Address, n: int, m: int) -> bool:
    """Does an armed condition that is below zero at all parts of the step reach it between two of them?"""
    values = c + 8 * (HEAD + 5 * n + 3)
    armed, level, samples = values + 8 * m, values + 24 * m, values + 48 * m
    for i in range(m):
        on = read(armed, i) > 0.0
        least = greatest = read(samples, i)
        for k in range(1, BETWEEN + 1):
            least, greatest = min(least, read(samples, k * m + i)), max(greatest, read(samples, k * m + i))
        for k in range(1, BETWEEN):
            left, middle = read(samples, (k - 1) * m + i), read(samples, k * m + i)
            right = read(samples, (k + 1) * m + i)
            on = on or left < -read(level, i)
            shift = _vertex(left, middle, right)
            first, last = -1.0 if k == 1 else -0.5, 1.0 if k == BETWEEN - 1 else 0.5
            near = max(left, middle, right) + (greatest - least) >= 0.0
            if on and near and first <= shift <= last and _passes((k + shift) / BETWEEN, i, c, n, m):
                return True
    return False


@part
def _between_ends(c: Address, n: int, m: int, before: Address, after: Address) -> bool:
    """Does a condition rise inside of the step? The values at its ends stand among the samples."""
    slope, end_slope = before + 8 * (n + 1), after + 8 * (n + 1)
    point = end_slope + 8 * n
    values = point + 8 * (n + 1)
    tried, level, samples = values + 16 * m, values + 24 * m, values + 48 * m
    failed = call(whole(c, 5), before, whole(c, 6), slope) + call(whole(c, 5), after, whole(c, 6), end_slope)
    if failed != 0:
        return False
    h = read(after, 0) - read(before, 0)
    for k in range(1, BETWEEN):
        _between(k / BETWEEN, h, n, before, slope, after, end_slope, point)
        defined = call(whole(c, 0), point, whole(c, 1), values) == 0
        if defined and _risen(m, values, tried, level):
            return True
        for i in range(m):
            write(samples, k * m + i, read(values, i) if defined else np.nan)
    return _top(c, n, m)


@part
def _event(c: Address, n: int, m: int) -> bool:
    """Has a condition risen on the way from the state before to the state after?"""
    before = c + 8 * HEAD
    after = before + 8 * (2 * n + 1)
    values = after + 8 * (3 * n + 2)
    armed, tried, level = values + 8 * m, values + 16 * m, values + 24 * m
    last, change, first = values + 32 * m, values + 40 * m, values + 48 * m
    final = first + 8 * BETWEEN * m
    copy(armed, tried, m)
    defined = call(whole(c, 0), after, whole(c, 1), values) == 0
    copy(last, first, m)
    for i in range(m):
        write(final, i, read(values, i) if defined else np.nan)
    if not (defined and _far(m, values, last, change)) and _between_ends(c, n, m, before, after):
        return True
    if defined:
        if _risen(m, final, tried, level):
            return True
        copy(final, last, m)
    copy(tried, armed, m)
    copy(after, before, n + 1)
    return False


def _after_step(x: Address, c: Address, out: Address) -> int:
    m, n = whole(c, 2), whole(c, 7)
    if whole(c, 3) != 0:
        if call(whole(c, 3), x, whole(c, 4), out) != 0:
            return 1
    else:
        copy(x + 8, out, n)
    if read(x, 0) <= read(c + 8 * HEAD, 0):
        return 0  # a state between the ends of a step that was looked at already
    after = c + 8 * (HEAD + 2 * n + 1)
    write(after, 0, read(x, 0))
    copy(out, after + 8, n)
    if _event(c, n, m):
        write(c, ALARM, 1.0)
        return 1
    return 0


@lru_cache(maxsize=1)
def after_step_function() -> Callback:
    """The compiled map."""
    return callback(_after_step)
