"""A plain interpreter along a motion: values, their rates in time, and the sizes of their terms, at many rows at once.

A jet is an array (2, 2, k) at k rows: [0] the value, [1] its rate, each with the sum of the sizes of its terms. Forwards the
interpreter gives outputs, backwards the gradient of one output, whose entries are jets again. Nothing is optimised and nothing
is compiled: it is simple enough to check other roads against.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from svyaz.arrays import Array
from svyaz.program import Program, call_outside

DAMPED = 1e-3
"""What cancels in a factor, or in the argument of a function, counts by this part in the size of the product."""

ON_CORNER = 1e-12
"""An argument of sign, abs, min or max within this part of its terms lies on the corner, where corners are open."""

_TURN = np.array([[-1.0], [1.0]])


def jet(value: Array | float, rate: Array | float = 0.0) -> Array:
    """The jet of an input."""
    value = np.atleast_1d(np.asarray(value, dtype=float))
    found = np.empty((2, 2, max(value.size, np.size(rate))))
    found[0, 0], found[1, 0] = value, rate
    np.abs(found[:, 0], out=found[:, 1])
    return found


def jets_of(values: Mapping[str, Array | float], rates: Mapping[str, Array]) -> dict[str, Array]:
    """The jets of inputs by name; what has no rate is constant."""
    return {name: jet(value, rates.get(name, 0.0)) for name, value in values.items()}


@lru_cache(maxsize=4096)
def _constant(value: float) -> Array:
    return jet(value)


def negative(a: Array) -> Array:
    """-a."""
    return a * _TURN


def product(a: Array, b: Array) -> Array:
    """a b."""
    a0, b0 = a[0], b[0]
    first = a0 * b0
    found = np.empty((2, *first.shape))
    found[0] = first
    np.add(a0 * b[1], a[1] * b0, out=found[1])
    return found


def factor(a: Array) -> Array:
    """A sum as a factor of a product: what cancels in it counts less."""
    found = a.copy()
    found[:, 1] *= DAMPED
    found[:, 1] += (1.0 - DAMPED) * np.abs(a[:, 0])
    return found


class Corners:
    """Which side of a corner counts. Where the argument is not larger than ``near`` (k,), the corner is open: the side is +1,
    or -1 at the one that is ``turned``; elsewhere it is the sign of the argument. Those that were open are ``seen``.
    """

    def __init__(self, near: Array | None = None, turned: object = None) -> None:
        self.near, self.turned = near, turned
        self.seen: dict[object, Array] = {}

    def side(self, key: object, argument: Array) -> Array:
        """The side at a node of a program."""
        value, size = argument[0]
        found: Array = np.sign(value)
        if self.near is not None:
            is_open = np.abs(value) <= self.near + ON_CORNER * size * (self.near >= 0.0)
            if is_open.any():
                self.seen[key] = is_open
                found = np.where(is_open, -1.0 if key == self.turned else 1.0, found)
        return found


_Slopes = tuple[Array, Array, Array]


def _tan(a: Array) -> _Slopes:
    f = np.tan(a)
    return f, 1 + f * f, 2 * f * (1 + f * f)


def _tanh(a: Array) -> _Slopes:
    f = np.tanh(a)
    return f, 1 - f * f, -2 * f * (1 - f * f)


def _sqrt(a: Array) -> _Slopes:
    f = np.sqrt(a)
    return f, 0.5 / f, -0.25 / (f * a)


def _asin(a: Array) -> _Slopes:
    b = 1.0 / np.sqrt(1 - a * a)
    return np.arcsin(a), b, a * b**3


def _acos(a: Array) -> _Slopes:
    f, slope, bend = _asin(a)
    return np.pi / 2 - f, -slope, -bend


def _atan(a: Array) -> _Slopes:
    b = 1.0 / (1 + a * a)
    return np.arctan(a), b, -2 * a * b * b


_SMOOTH: Mapping[str, Callable[[Array], _Slopes]] = {
    "sqrt": _sqrt,
    "sin": lambda a: (np.sin(a), np.cos(a), -np.sin(a)),
    "cos": lambda a: (np.cos(a), -np.sin(a), -np.cos(a)),
    "tan": _tan,
    "asin": _asin,
    "acos": _acos,
    "atan": _atan,
    "sinh": lambda a: (np.sinh(a), np.cosh(a), np.sinh(a)),
    "cosh": lambda a: (np.cosh(a), np.sinh(a), np.cosh(a)),
    "tanh": _tanh,
    "exp": lambda a: (np.exp(a), np.exp(a), np.exp(a)),
    "log": lambda a: (np.log(a), 1 / a, -1 / (a * a)),
    "over": lambda a: (1 / a, -1 / (a * a), 2 / (a * a * a)),
}
"""f, f' and f'' of functions of one argument."""


def _smooth(a: Array, slopes: _Slopes) -> tuple[Array, Array]:
    """The jets of f(a) and of f'(a)."""
    f, slope, bend = slopes
    (_, size), (rate, pace) = a
    steep, bent = np.abs(slope), np.abs(bend)
    value = np.array([[f, np.abs(f) + DAMPED * steep * size], [slope * rate, steep * pace]])
    return value, np.array([[slope, steep + DAMPED * bent * size], [bend * rate, bent * pace]])


def _power(a: Array, b: Array) -> tuple[Array, list[Array]]:
    """a^b, of a varying exponent as exp(b log a)."""
    x, e = a[0, 0], b[0, 0]
    if not b[1].any():
        value, by_a = _smooth(a, (x**e, e * x ** (e - 1), e * (e - 1) * x ** (e - 2)))
        return value, [by_a, product(value, jet(np.log(np.abs(x))))]
    logarithm, over = _smooth(a, _SMOOTH["log"](x))
    inner = product(b, logarithm)
    value, _ = _smooth(inner, _SMOOTH["exp"](inner[0, 0]))
    return value, [product(value, product(b, over)), product(value, logarithm)]


def _angle(y: Array, x: Array) -> tuple[Array, list[Array]]:
    """atan2(y, x)."""
    square = product(x, x) + product(y, y)
    over, _ = _smooth(square, _SMOOTH["over"](square[0, 0]))
    by_y, by_x = product(x, over), negative(product(y, over))
    rate = by_y[0] * y[1] + by_x[0] * x[1]
    angle = np.arctan2(y[0, 0], x[0, 0])
    return np.array([[angle, np.abs(angle) + DAMPED], rate]), [by_y, by_x]


def _outside(values: Sequence[Array]) -> Array:
    rows = np.broadcast_arrays(*(a[0, 0] for a in values))
    return jet(np.array([call_outside(*map(float, row)) for row in zip(*rows, strict=True)]))


def _sum(a: Array, b: Array) -> tuple[Array, list[Array]]:
    return a + b, [_ONE, _ONE]


def _difference(a: Array, b: Array) -> tuple[Array, list[Array]]:
    return a + negative(b), [_ONE, _MINUS]


def _quotient(a: Array, b: Array) -> tuple[Array, list[Array]]:
    over, slope = _smooth(b, _SMOOTH["over"](b[0, 0]))
    return product(a, over), [over, product(a, slope)]


_ONE, _MINUS, _NONE = jet(1.0), jet(-1.0), jet(0.0)
_NO_SLOPES: Sequence[Array] = ()
SUMS = ("add", "sub")
_PLAIN: Mapping[str, Callable[..., tuple[Array, list[Array]]]] = {
    "add": _sum,
    "sub": _difference,
    "neg": lambda a: (negative(a), [_MINUS]),
    "mul": lambda a, b: (product(a, b), [b, a]),
    "div": _quotient,
    "pow": _power,
    "atan2": _angle,
    "outside": lambda *a: (_outside(a), []),
}


def _cornered(op: str, a: Sequence[Array], key: object, corners: Corners) -> tuple[Array, list[Array]]:
    """sign, abs, min and max on the side that counts."""
    if op in ("sign", "abs"):
        side = jet(corners.side(key, a[0]))
        return (side, [_NONE]) if op == "sign" else (product(side, a[0]), [side])
    side = corners.side(key, a[0] + negative(a[1])) * (1.0 if op == "max" else -1.0)
    first, second = jet(0.5 + 0.5 * side), jet(0.5 - 0.5 * side)
    return factor(product(first, a[0]) + product(second, a[1])), [first, second]


def _step(op: str, a: Sequence[Array], key: object, corners: Corners) -> tuple[Array, list[Array]]:
    """A node at its arguments, and its derivatives by them."""
    if op in _PLAIN:
        return _PLAIN[op](*a)
    if op not in _SMOOTH:
        return _cornered(op, a, key, corners)
    value, slope = _smooth(a[0], _SMOOTH[op](a[0][0, 0]))
    return value, [slope]


class Tape:
    """A program without linear systems, interpreted at jets of its inputs and parameters."""

    def __init__(self, program: Program, inputs: Mapping[str, Array], corners: Corners | None = None) -> None:
        names = {"parameter": program.parameters, "input": program.inputs}
        self.program = program
        self.values: list[Array] = []
        self._factors: list[Array] = []
        self._slopes: list[Sequence[Array]] = []
        corners = corners or Corners()
        with np.errstate(all="ignore"):
            for number, node in enumerate(program.nodes):
                op, slopes = node[0], _NO_SLOPES
                if op == "const":
                    value = _constant(node[1])
                elif op in names:
                    value = inputs[names[op][node[1]]]
                else:
                    known = self.values if op in SUMS else self._factors
                    value, slopes = _step(op, [known[a] for a in node[1:]], (id(program), number), corners)
                self.values.append(value)
                self._factors.append(factor(value) if op in SUMS else value)
                self._slopes.append(slopes)

    def output(self, place: int = 0) -> Array:
        """The jet of an output."""
        return self.values[self.program.outputs[place][1]]

    def outputs(self) -> list[Array]:
        """The jets of all outputs."""
        return [self.values[node] for _, node in self.program.outputs]

    def gradient(self, place: int = 0) -> dict[str, Array]:
        """The jets of the derivatives of an output by all inputs on which it depends."""
        nodes, found = self.program.nodes, dict[str, Array]()
        adjoint: dict[int, Array] = {self.program.outputs[place][1]: _ONE}
        with np.errstate(all="ignore"):
            for number in range(self.program.outputs[place][1], -1, -1):
                own = adjoint.pop(number, None)
                if own is None:
                    continue
                if nodes[number][0] == "input":
                    found[self.program.inputs[nodes[number][1]]] = own
                for argument, slope in zip(nodes[number][1:], self._slopes[number], strict=False):
                    if nodes[argument][0] == "const":
                        continue
                    part = own if slope is _ONE else negative(own) if slope is _MINUS else product(own, slope)
                    adjoint[argument] = factor(adjoint[argument] + part) if argument in adjoint else part
        return found
