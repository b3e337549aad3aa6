"""Watching for events inside the native loops.

A loop applies a map after each of its steps (see ``calls.settle``); here the map also looks whether a condition has risen
through zero since the step before, and refuses the new state if one has, which ends the loop with the state before that
step. Unless all conditions are far from zero, measured by what they change in a step, states between the ends of the step
are looked at too, on the cubic that has the rates at both ends, so that a condition that rises and falls within a step is
seen. One compiled function serves every model; what it needs, and what it remembers, stands in its constants:

    c[0], c[1] the conditions g(t, y) and their constants, c[2] their number m,
    c[3], c[4] the map that follows a step in any case (0: none), c[5], c[6] the rates, c[7] the number n of states,
    c[8] one after an alarm, then from c[HEAD] the numbers of ``Layout``. Whole numbers take the place of c[0] … c[7].

A condition counts only while it is armed: it must have been below minus its level before. Since the map remembers, a run has
constants of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from svyaz.integrate.calls import Address, call, copy, read, whole, write
from svyaz.integrate.compiling import Callback, callback, part

HEAD = 9
ALARM = 8
BETWEEN = 8
"""Into so many parts a step is divided."""
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
    size: int


def layout(n: int, m: int) -> Layout:
    """[t, y…] before and after a step with their rates, one between; of the conditions values, flags (armed, and armed on
    trial), levels, last values and last changes.
    """
    lengths = (n + 1, n, n + 1, n, n + 1, m, m, m, m, m, m)
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
def _between_ends(c: Address, n: int, m: int, before: Address, after: Address) -> bool:
    """Does a condition rise inside of the step?"""
    slope, end_slope = before + 8 * (n + 1), after + 8 * (n + 1)
    point = end_slope + 8 * n
    values = point + 8 * (n + 1)
    tried, level = values + 16 * m, values + 24 * m
    failed = call(whole(c, 5), before, whole(c, 6), slope) + call(whole(c, 5), after, whole(c, 6), end_slope)
    if failed != 0:
        return False
    h = read(after, 0) - read(before, 0)
    for k in range(1, BETWEEN):
        _between(k / BETWEEN, h, n, before, slope, after, end_slope, point)
        if call(whole(c, 0), point, whole(c, 1), values) == 0 and _risen(m, values, tried, level):
            return True
    return False


@part
def _event(c: Address, n: int, m: int) -> bool:
    """Has a condition risen on the way from the state before to the state after?"""
    before = c + 8 * HEAD
    after = before + 8 * (2 * n + 1)
    values = after + 8 * (3 * n + 2)
    armed, tried, level = values + 8 * m, values + 16 * m, values + 24 * m
    last, change = values + 32 * m, values + 40 * m
    copy(armed, tried, m)
    defined = call(whole(c, 0), after, whole(c, 1), values) == 0
    far = defined and _far(m, values, last, change)
    if not far and _between_ends(c, n, m, before, after):
        return True
    if defined:
        if not far:  # the values of states between have taken their place
            call(whole(c, 0), after, whole(c, 1), values)
        if _risen(m, values, tried, level):
            return True
        copy(values, last, m)
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
