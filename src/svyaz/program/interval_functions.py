"""Bounds of the operations of straight-line programs over intervals, rounded outwards.

An interval is a pair of arrays (low, high). An infinite end, or one that is not a number, is no bound: sums and products of
unbounded intervals lead to both, and every operation passes them on. Where a quotient, a tangent or the angle of atan2 jumps
inside an interval, a ``branch`` (+1 or -1) asks for the values on one side of the jump.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array

Interval = tuple[Array, Array]

TURN = 2 * np.pi

ROUNDING = 1.2e-16
"""Half a unit in the last place, and a little more: what one of + - * / √ is off."""

FUNCTION_ROUNDING = 9e-16
"""Four units in the last place: what the functions of a library are off at most."""

UNDERFLOW = 1e-300


@np.errstate(invalid="ignore", over="ignore")
def outwards(low: Array, high: Array, rounding: float = ROUNDING) -> Interval:
    """The interval with this part of its ends added."""
    return low - (rounding * np.abs(low) + UNDERFLOW), high + (rounding * np.abs(high) + UNDERFLOW)


def add(a: Interval, b: Interval) -> Interval:
    return outwards(a[0] + b[0], a[1] + b[1])


def subtract(a: Interval, b: Interval) -> Interval:
    return outwards(a[0] - b[1], a[1] - b[0])


def multiply(a: Interval, b: Interval) -> Interval:
    products = [a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]]
    low, high = _hull(products)
    if np.isnan(low).any():
        ends = ((x, y) for x in a for y in b)
        low, high = _hull([_without_nan(p, x, y) for p, (x, y) in zip(products, ends, strict=True)])
    return outwards(low, high)


def _hull(values: list[Array]) -> Interval:
    """Bounds of four arrays; none where one of them is not a number."""
    first, second, third, fourth = values
    return (
        np.minimum(np.minimum(first, second), np.minimum(third, fourth)),
        np.maximum(np.maximum(first, second), np.maximum(third, fourth)),
    )


def _without_nan(product: Array, x: Array, y: Array) -> Array:
    """0 · ∞ = 0: an unbounded factor times an exact zero."""
    return np.where(np.isnan(product) & ((x == 0) | (y == 0)), 0.0, product)


def divide(a: Interval, b: Interval, branch: Array | None = None) -> Interval:
    """a/b, without bounds where b may vanish; with a branch, for the part of b on that side of zero."""
    vanishing = (b[0] <= 0) & (b[1] >= 0)
    if branch is None:
        low, high = multiply(a, outwards(1 / b[1], 1 / b[0]))
        return np.where(vanishing, -np.inf, low), np.where(vanishing, np.inf, high)
    above = np.where(vanishing, (b[1] > 0) & ((b[0] >= 0) | (branch > 0)), b[0] > 0)
    low = np.where(vanishing & ~above, -np.inf, 1 / b[1])
    high = np.where(vanishing & above, np.inf, 1 / b[0])
    return multiply(a, outwards(low, high))


def straddles(b: Interval) -> NDArray[np.bool_]:
    """Does zero lie inside?"""
    return np.asarray((b[0] < 0) & (b[1] > 0))


def _absolute(a: Interval) -> Interval:
    sizes = np.abs(a[0]), np.abs(a[1])
    return np.where(straddles(a), 0.0, np.minimum(*sizes)), np.maximum(*sizes)


def whole_power(a: Interval, exponent: int, branch: Array | None = None) -> Interval:
    """aⁿ: it rises with a, or with |a|."""
    if exponent < 0:
        one = np.ones(1)
        return divide((one, one), whole_power(a, -exponent), branch)
    even = exponent % 2 == 0
    lower, upper = _absolute(a) if even else a
    low, high = lower, upper
    for _ in range(exponent - 1):
        low, high = low * lower, high * upper
    if exponent == 0:
        low = high = np.ones_like(lower)
    low, high = outwards(low, high, exponent * ROUNDING)
    return np.maximum(low, 0.0) if even else low, high


def is_whole(b: Interval) -> bool:
    """Is it one whole number?"""
    return bool(b[0].size == 1 and np.all(b[0] == b[1]) and np.all(b[0] == np.round(b[0])))


def power(a: Interval, b: Interval, branch: Array | None = None) -> Interval:
    """aᵇ of a ≥ 0, which rises or falls with a and with b; a whole exponent may have any base."""
    if is_whole(b):
        return whole_power(a, int(b[0].ravel()[0]), branch)
    bases = np.maximum(a[0], 0.0), np.maximum(a[1], 0.0)
    low, high = outwards(*_hull([np.power(x, y) for x in bases for y in b]), FUNCTION_ROUNDING)
    return np.maximum(low, 0.0), high


def _increasing(
    function: Callable[[Array], Array],
    domain: tuple[float, float] = (-np.inf, np.inf),
    values: tuple[float, float] = (-np.inf, np.inf),
    rounding: float = FUNCTION_ROUNDING,
) -> Callable[[Interval], Interval]:
    """An increasing function with this domain and these bounds of its values; not a number where it is not defined."""

    def apply(a: Interval) -> Interval:
        nowhere = (a[1] < domain[0]) | (a[0] > domain[1])
        low, high = (np.asarray(function(np.where(nowhere, np.nan, np.clip(end, *domain)))) for end in a)
        low, high = outwards(low, high, rounding)
        return np.clip(low, *values), np.clip(high, *values)

    return apply


def _arc_cosine(a: Interval) -> Interval:
    nowhere = (a[1] < -1) | (a[0] > 1)
    high, low = (np.arccos(np.where(nowhere, np.nan, np.clip(end, -1.0, 1.0))) for end in a)
    low, high = outwards(low, high, FUNCTION_ROUNDING)
    return np.maximum(low, 0.0), high


def _sine(a: Interval) -> Interval:
    return _wave(a, np.sin, np.pi / 2)


def _cosine(a: Interval) -> Interval:
    return _wave(a, np.cos, 0.0)


def _wave(a: Interval, function: Callable[[Array], Array], crest: float) -> Interval:
    """Between the values at the ends, or up to ±1 where a crest or a trough lies between them."""
    ends = function(a[0]), function(a[1])
    low, high = outwards(np.minimum(*ends), np.maximum(*ends), FUNCTION_ROUNDING)
    high = np.where(_contains(a, crest), 1.0, high)
    low = np.where(_contains(a, crest + np.pi), -1.0, low)
    return np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)


def _contains(a: Interval, point: float, period: float = TURN) -> NDArray[np.bool_]:
    """May the interval contain point + k period, k whole?"""
    slack = 1e-15 * (1.0 + np.maximum(np.abs(a[0]), np.abs(a[1])))
    first = np.ceil((a[0] - slack - point) / period)
    return np.asarray(point + period * first <= a[1] + slack) | ~np.isfinite(slack)


def has_pole(a: Interval) -> NDArray[np.bool_]:
    """May the tangent have a pole in the interval?"""
    return _contains(a, np.pi / 2, np.pi)


def _tangent(a: Interval, branch: Array | None = None) -> Interval:
    """Without bounds where there may be a pole; with a branch, for the part below (+1) or above (-1) a single pole."""
    pole = has_pole(a)
    low, high = outwards(np.tan(a[0]), np.tan(a[1]), FUNCTION_ROUNDING)
    no_low, no_high = pole, pole
    if branch is not None:
        single = (a[1] - a[0] < 3.1) & (np.cos(a[0]) * np.cos(a[1]) < 0)
        no_low, no_high = pole & ~(single & (branch > 0)), pole & ~(single & (branch < 0))
    return np.where(no_low, -np.inf, low), np.where(no_high, np.inf, high)


def crosses_cut(y: Interval, x: Interval) -> NDArray[np.bool_]:
    """May the angle of (x, y) jump by a turn, or be undefined?"""
    return np.asarray((y[0] <= 0) & (y[1] >= 0) & (x[0] <= 0))


def _angle(y: Interval, x: Interval, branch: Array | None = None) -> Interval:
    """atan2(y, x); any angle where the cut y = 0, x < 0 may pass through, unless a branch tells the side y ≥ 0 or y ≤ 0."""
    cut = crosses_cut(y, x)
    given = np.isfinite(y[0]) & np.isfinite(y[1]) & np.isfinite(x[0]) & np.isfinite(x[1])
    if branch is not None:
        upper, lower = cut & (branch > 0), cut & (branch < 0)
        y = np.where(upper, np.maximum(y[0], 0.0), y[0]), np.where(lower, np.minimum(y[1], 0.0), y[1])
        cut = np.zeros_like(cut)
    below = y[0] + y[1] < 0
    sized = np.where(below, -y[1], y[0]) + 0.0, np.where(below, -y[0], y[1]) + 0.0
    across = sized[0] < 0  # to the right of the origin, or without a branch
    high = np.arctan2(np.where(x[0] >= 0, sized[1], np.maximum(sized[0], 0.0)), x[0])
    low = np.where(across, np.arctan2(sized[0], x[0]), np.arctan2(np.where(x[1] > 0, sized[0], sized[1]), x[1]))
    low, high = np.where(below, -high, low), np.where(below, -low, high)
    free = cut | ~given
    low, high = outwards(np.where(free, -np.pi, low), np.where(free, np.pi, high), FUNCTION_ROUNDING)
    return low, high


OPERATIONS: dict[str, Callable[..., Interval]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "neg": lambda a: (-a[1], -a[0]),
    "sqrt": _increasing(np.sqrt, (0.0, np.inf), (0.0, np.inf), ROUNDING),
    "sin": _sine,
    "cos": _cosine,
    "tan": _tangent,
    "asin": _increasing(np.arcsin, (-1.0, 1.0)),
    "acos": _arc_cosine,
    "atan": _increasing(np.arctan),
    "sinh": _increasing(np.sinh),
    "cosh": lambda a: _increasing(np.cosh, values=(1.0, np.inf))(_absolute(a)),
    "tanh": _increasing(np.tanh, values=(-1.0, 1.0)),
    "exp": _increasing(np.exp, values=(0.0, np.inf)),
    "log": _increasing(np.log, (0.0, np.inf)),
    "abs": _absolute,
    "sign": lambda a: (np.sign(a[0]), np.sign(a[1])),
    "pow": power,
    "min": lambda a, b: (np.minimum(a[0], b[0]), np.minimum(a[1], b[1])),
    "max": lambda a, b: (np.maximum(a[0], b[0]), np.maximum(a[1], b[1])),
    "atan2": _angle,
}

JUMPS: dict[str, Callable[..., NDArray[np.bool_]]] = {
    "div": lambda _, b: straddles(b),
    "pow": lambda a, b: straddles(a) & (is_whole(b) and bool(b[0].ravel()[0] < 0) and bool(b[0].ravel()[0] % 2)),
    "tan": has_pole,
    "atan2": crosses_cut,
}
"""Where an operation has two branches over an interval."""
