"""Interval arithmetic on straight-line programs, many boxes at a time.

A value is a pair of arrays (low, high); every operation rounds outwards, so that the range of an output over a box is
always contained in the interval computed (the natural interval extension: R. E. Moore 1966).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.program.functions import remembered
from svyaz.program.interpret import parameter_row
from svyaz.program.native import Native, compile_program
from svyaz.program.tape import Program

Interval = tuple[Array, Array]

TURN = 2 * np.pi


def ranges(program: Program, values: Mapping[str, float], low: Array, high: Array) -> Interval:
    """Bounds (N, outputs) of all outputs over N boxes; ``low`` and ``high`` have the shape (N, inputs).

    Where a function is defined nowhere in a box, there is no value: the bounds are those of nothing, ∞ and -∞.
    """
    parameters = parameter_row(program, values)
    shape = (len(low), len(program.outputs))
    bounds = np.empty(shape), np.empty(shape)
    nowhere = np.zeros(len(low), dtype=bool)
    places = [place for _, place in program.outputs]
    lot = max(1, MOST_NUMBERS // max(1, len(program.nodes)))
    with np.errstate(all="ignore"):
        for k in range(0, len(low), lot):
            part = slice(k, k + lot)
            least, most, nowhere[part] = _evaluated(program, parameters, low[part], high[part])
            bounds[0][part], bounds[1][part] = least[places].T, most[places].T
    undefined = np.isnan(bounds[0]) | np.isnan(bounds[1])
    bounds[0][undefined], bounds[1][undefined] = -np.inf, np.inf
    bounds[0][nowhere], bounds[1][nowhere] = np.inf, -np.inf
    return bounds


MOST_NUMBERS = 2_000_000
"""So many values of nodes are held at a time."""


def _evaluated(
    program: Program, parameters: Sequence[float], low: Array, high: Array
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Bounds (nodes, N) of all nodes, and where a function is defined nowhere."""
    least, most = np.empty((len(program.nodes), len(low))), np.empty((len(program.nodes), len(low)))
    nowhere = np.zeros(len(low), dtype=bool)
    for op, places, arguments in _stages(program):
        if op == "number":
            nodes = (program.nodes[k] for k in places)
            given = np.array([float(node[1]) if node[0] == "const" else parameters[node[1]] for node in nodes])
            least[places] = most[places] = given[:, None]
        elif op == "input":
            least[places], most[places] = low.T[arguments[0]], high.T[arguments[0]]
        else:
            taken: list[Interval] = [(least[a], most[a]) for a in arguments]
            if op == "pow" and program.nodes[arguments[1][0]][0] in ("const", "parameter"):
                taken[1] = taken[1][0][:, :1], taken[1][1][:, :1]
            nowhere |= np.any(_undefined(op, taken), axis=0)
            least[places], most[places] = OPERATIONS[op](*taken)
    return least, most, nowhere


Stage = tuple[str, NDArray[np.intp], tuple[NDArray[np.intp], ...]]
"""An operation, the nodes that it gives, and those that it takes: operands of one kind at one depth, done at once."""


@remembered
def _stages(program: Program) -> list[Stage]:
    """The nodes in an order in which those of one operation stand together; powers stand alone."""
    depth: list[int] = []
    groups: dict[tuple[int, str, int], list[int]] = {}
    for k, node in enumerate(program.nodes):
        op = "number" if node[0] in ("const", "parameter") else node[0]
        leaf = op in ("number", "input")
        if op == "mul" and node[1] == node[2]:
            op = "square"
        if not leaf and op not in OPERATIONS:
            raise ValueError(f"no bounds are known for the operation '{op}'")
        depth.append(0 if leaf else 1 + max(depth[a] for a in node[1:]))
        groups.setdefault((depth[-1], op, k if op == "pow" else 0), []).append(k)
    found: list[Stage] = []
    for (_, op, _), places in sorted(groups.items()):
        count = 0 if op == "number" else 1 if op in ("input", "square") else len(program.nodes[places[0]]) - 1
        arguments = (np.array([program.nodes[k][1 + i] for k in places], dtype=np.intp) for i in range(count))
        found.append((op, np.array(places, dtype=np.intp), tuple(arguments)))
    return found


def _undefined(op: str, arguments: list[Interval]) -> NDArray[np.bool_] | bool:
    """Where does an argument that depends on the box lie outside of the domain altogether?"""
    low, high = arguments[0]
    if op == "log":
        return np.asarray(high <= 0)
    if op == "sqrt":
        return np.asarray(high < 0)
    if op in ("asin", "acos"):
        return np.asarray((low > 1) | (high < -1))
    if op == "pow" and not _is_whole(arguments[1]):
        return np.asarray(high < 0)
    return False


def _is_whole(b: Interval) -> bool:
    """Is it one whole number?"""
    return bool(b[0].size == 1 and np.all(b[0] == b[1]) and np.all(b[0] == np.round(b[0])))


LONG = 1500
"""A program of more operations than this is compiled."""


@remembered
def _compiled(program: Program) -> Native:
    return compile_program(program)


def numbers(program: Program, values: Mapping[str, float], points: Array) -> Array:
    """The outputs (N, outputs) at N points (N, inputs), without bounds; those of long programs by native code."""
    if len(program.nodes) > LONG:
        native = _compiled(program)
        return native.evaluate(np.ascontiguousarray(points), native.constants(values))
    parameters = parameter_row(program, values)
    found: list[Array] = []
    with np.errstate(all="ignore"):
        for node in program.nodes:
            op = node[0]
            if op in ("const", "parameter"):
                found.append(np.array([float(node[1]) if op == "const" else parameters[node[1]]]))
            elif op == "input":
                found.append(points[:, node[1]])
            else:
                found.append(np.asarray(NUMBERS[op](*(found[a] for a in node[1:]))))
    outputs = np.empty((len(points), len(program.outputs)))
    for k, (_, place) in enumerate(program.outputs):
        outputs[:, k] = found[place]
    return outputs


NUMBERS: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "pow": np.power,
    "min": np.minimum,
    "max": np.maximum,
    "atan2": np.arctan2,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    **{
        name: getattr(np, name)
        for name in ("sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "abs", "sign")
    },
}


def outwards(low: Array, high: Array) -> Interval:
    """One unit in the last place outwards."""
    return np.nextafter(low, -np.inf), np.nextafter(high, np.inf)


def _hull(*corners: Array) -> Interval:
    stacked = np.broadcast_arrays(*corners)
    return outwards(np.fmin.reduce(stacked), np.fmax.reduce(stacked))


def add(a: Interval, b: Interval) -> Interval:
    return outwards(a[0] + b[0], a[1] + b[1])


def subtract(a: Interval, b: Interval) -> Interval:
    return outwards(a[0] - b[1], a[1] - b[0])


def multiply(a: Interval, b: Interval) -> Interval:
    first, second, third, fourth = a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1]
    least = np.minimum(np.minimum(first, second), np.minimum(third, fourth))
    most = np.maximum(np.maximum(first, second), np.maximum(third, fourth))
    if np.isnan(least).any():
        return _hull(*(_product(x, y) for x in a for y in b))
    return outwards(least, most)


def _product(x: Array, y: Array) -> Array:
    """0 · ∞ = 0: an unbounded factor times an exact zero."""
    product = np.asarray(x * y)
    return np.where(np.isnan(product) & ((x == 0) | (y == 0)), 0.0, product)


def divide(a: Interval, b: Interval) -> Interval:
    through_zero = (b[0] <= 0) & (b[1] >= 0)
    low, high = multiply(a, _hull(1 / b[1], 1 / b[0]))
    return np.where(through_zero, -np.inf, low), np.where(through_zero, np.inf, high)


def _square(a: Interval) -> Interval:
    ends = a[0] * a[0], a[1] * a[1]
    low = np.where((a[0] <= 0) & (a[1] >= 0), 0.0, np.fmin(*ends))
    low, high = outwards(low, np.fmax(*ends))
    return np.fmax(low, 0.0), high


def _monotone(
    function: Callable[[Array], Array], least: float = -np.inf, most: float = np.inf
) -> Callable[..., Interval]:
    """An increasing function, defined between ``least`` and ``most``."""

    def apply(a: Interval) -> Interval:
        low, high = np.asarray(function(np.clip(a[0], least, most))), np.asarray(function(np.clip(a[1], least, most)))
        nowhere = (a[1] < least) | (a[0] > most)
        low, high = outwards(*outwards(low, high))
        return np.where(nowhere, np.nan, low), np.where(nowhere, np.nan, high)

    return apply


def _sine(a: Interval) -> Interval:
    return _wave(a, np.sin, np.pi / 2)


def _cosine(a: Interval) -> Interval:
    return _wave(a, np.cos, 0.0)


def _wave(a: Interval, function: Callable[[Array], Array], crest: float) -> Interval:
    """Between the values at the ends, or up to ±1 where a crest or a trough lies between them."""
    ends = function(a[0]), function(a[1])
    low, high = outwards(*outwards(np.fmin(*ends), np.fmax(*ends)))
    slack = 1e-12
    high = np.where(_contains(a, crest, slack), 1.0, high)
    low = np.where(_contains(a, crest + np.pi, slack), -1.0, low)
    return np.clip(low, -1.0, 1.0), np.clip(high, -1.0, 1.0)


def _contains(a: Interval, point: float, slack: float) -> NDArray[np.bool_]:
    """Does the interval contain point + 2πk?"""
    first = np.ceil((a[0] - slack - point) / TURN)
    return np.asarray(point + TURN * first <= a[1] + slack) | ~np.isfinite(a[0]) | ~np.isfinite(a[1])


def _tangent(a: Interval) -> Interval:
    pole = _contains(a, np.pi / 2, 1e-12) | _contains(a, -np.pi / 2, 1e-12)
    low, high = outwards(*outwards(np.tan(a[0]), np.tan(a[1])))
    return np.where(pole, -np.inf, low), np.where(pole, np.inf, high)


def _falling(function: Callable[..., Interval]) -> Callable[..., Interval]:
    def apply(a: Interval) -> Interval:
        low, high = function((-a[1], -a[0]))
        return low, high

    return apply


def _even(function: Callable[..., Interval]) -> Callable[..., Interval]:
    """An even function that increases with |a|."""

    def apply(a: Interval) -> Interval:
        return function(_absolute(a))

    return apply


def _absolute(a: Interval) -> Interval:
    inside = (a[0] <= 0) & (a[1] >= 0)
    ends = np.abs(a[0]), np.abs(a[1])
    return np.where(inside, 0.0, np.fmin(*ends)), np.fmax(*ends)


def _power(a: Interval, b: Interval) -> Interval:
    """Positive bases only: aᵇ = exp(b log a); a whole exponent may have any base."""
    if _is_whole(b):
        return _whole_power(a, int(b[0].ravel()[0]))
    return OPERATIONS["exp"](multiply(b, OPERATIONS["log"](a)))


def _whole_power(a: Interval, exponent: int) -> Interval:
    if exponent < 0:
        one = np.ones(1)
        return divide((one, one), _whole_power(a, -exponent))
    result = (np.ones_like(a[0]), np.ones_like(a[1]))
    if exponent % 2 == 0:
        a = _absolute(a)
    for _ in range(exponent):
        result = multiply(result, a)
    return result


def _smaller(a: Interval, b: Interval) -> Interval:
    return np.fmin(a[0], b[0]), np.fmin(a[1], b[1])


def _larger(a: Interval, b: Interval) -> Interval:
    return np.fmax(a[0], b[0]), np.fmax(a[1], b[1])


def _any_angle(a: Interval, b: Interval) -> Interval:
    full = np.pi + 1e-15
    return np.full(np.broadcast(a[0], b[0]).shape, -full), np.full(np.broadcast(a[0], b[0]).shape, full)


OPERATIONS: dict[str, Callable[..., Interval]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "square": _square,
    "div": divide,
    "neg": lambda a: (-a[1], -a[0]),
    "sqrt": _monotone(np.sqrt, 0.0),
    "sin": _sine,
    "cos": _cosine,
    "tan": _tangent,
    "asin": _monotone(np.arcsin, -1.0, 1.0),
    "acos": _falling(_monotone(lambda x: np.pi / 2 + np.arcsin(x), -1.0, 1.0)),
    "atan": _monotone(np.arctan),
    "sinh": _monotone(np.sinh),
    "cosh": _even(_monotone(np.cosh)),
    "tanh": _monotone(np.tanh),
    "exp": _monotone(np.exp),
    "log": _monotone(np.log, 0.0),
    "abs": _absolute,
    "sign": _monotone(np.sign),
    "pow": _power,
    "min": _smaller,
    "max": _larger,
    "atan2": _any_angle,
}
