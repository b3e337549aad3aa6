"""Power series of straight-line programs: the outputs as series in s when the inputs are.

A value is the array of its coefficients, a₀ + a₁ s + … + a_N s^N. An elementary function f(a) with f' = g satisfies
k f_k = Σ j a_j g_{k-j} (R. E. Moore 1966); where it is not analytic at a₀ its coefficients are not numbers.

How much of a coefficient is rounding is seen by repeating the evaluation with every intermediate result off by a random
part in 10¹³ of itself (stochastic arithmetic, J. Vignes 1978): exact zeros stay, differences of large terms scatter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from svyaz.program import Program, parameter_row

Coefficients = NDArray[np.inexact]

DISTURBED = 1e-13
"""The relative disturbance of intermediate results by which rounding is made visible."""


def series(
    program: Program,
    values: Mapping[str, float],
    inputs: Sequence[Coefficients],
    disturbance: np.random.Generator | None = None,
) -> Coefficients:
    """The coefficients (outputs, N + 1) for inputs that are series of the same length each."""
    parameters = parameter_row(program, values)
    length = len(inputs[0])
    found: list[Coefficients] = []
    with np.errstate(all="ignore"):
        for node in program.nodes:
            op = node[0]
            if op in ("const", "parameter"):
                value = _constant(float(node[1]) if op == "const" else parameters[node[1]], length)
            elif op == "input":
                value = inputs[node[1]]
            else:
                value = OPERATIONS.get(op, _unknown)(*(found[a] for a in node[1:]))
            if disturbance is not None and op != "input" and not _whole(value):
                value = value * (1 + DISTURBED * disturbance.uniform(-1, 1, length))
            found.append(value)
    return np.array([found[place] for _, place in program.outputs])


def _constant(value: float, length: int) -> Coefficients:
    row = np.zeros(length)
    row[0] = value
    return row


def _whole(a: Coefficients) -> bool:
    """Is it a whole number? Those are exact."""
    return not a[1:].any() and bool(a[0] == np.round(a[0]))


def multiply(a: Coefficients, b: Coefficients) -> Coefficients:
    return np.convolve(a, b)[: len(a)]


def divide(a: Coefficients, b: Coefficients) -> Coefficients:
    result = np.zeros(len(a), dtype=np.result_type(a, b))
    for k in range(len(a)):
        result[k] = (a[k] - b[1 : k + 1] @ result[:k][::-1]) / b[0]
    return result


def _integrated(first: complex, slope: Coefficients) -> Coefficients:
    """The series with this first coefficient and this derivative."""
    return np.concatenate([np.array([first]), slope[:-1] / np.arange(1, len(slope))])


def _derivative(a: Coefficients) -> Coefficients:
    return np.concatenate([a[1:] * np.arange(1, len(a)), np.zeros(1)])


def _by_slope(
    value: Callable[[complex], complex], slope: Callable[[Coefficients], Coefficients]
) -> Callable[[Coefficients], Coefficients]:
    """A function whose derivative is a series of the argument."""

    def apply(a: Coefficients) -> Coefficients:
        return _integrated(value(a[0]), multiply(slope(a), _derivative(a)))

    return apply


def _by_equation(
    value: Callable[[complex], complex], slope: Callable[[Coefficients], Coefficients]
) -> Callable[[Coefficients], Coefficients]:
    """A function f with f' = slope(f): each pass makes one more coefficient right."""

    def apply(a: Coefficients) -> Coefficients:
        result = np.zeros(len(a), dtype=np.result_type(a, float))
        result[0] = value(a[0])
        change = _derivative(a)
        for _ in range(len(a) - 1):
            result = _integrated(result[0], multiply(slope(result), change))
        return result

    return apply


def _waves(a: Coefficients, sign: float, first: Callable[..., complex], second: Callable[..., complex]) -> tuple:
    """(f, g) with f' = g a', g' = sign f a'."""
    f, g = np.zeros(len(a), dtype=np.result_type(a, float)), np.zeros(len(a), dtype=np.result_type(a, float))
    f[0], g[0] = first(a[0]), second(a[0])
    weighted = a * np.arange(len(a))
    for k in range(1, len(a)):
        f[k] = weighted[1 : k + 1] @ g[:k][::-1] / k
        g[k] = sign * (weighted[1 : k + 1] @ f[:k][::-1]) / k
    return f, g


def power(a: Coefficients, b: Coefficients) -> Coefficients:
    """aᵇ: a whole exponent may have any base, any other needs one that is not zero."""
    if _whole(b):
        return _whole_power(a, int(b[0].real))
    if not b[1:].any():
        result = np.zeros(len(a), dtype=np.result_type(a, float))
        result[0] = np.power(a[0], b[0])
        for k in range(1, len(a)):
            j = np.arange(1, k + 1)
            result[k] = ((b[0] * j - (k - j)) * a[1 : k + 1]) @ result[:k][::-1] / (k * a[0])
        return result
    return OPERATIONS["exp"](multiply(b, OPERATIONS["log"](a)))


def _whole_power(a: Coefficients, exponent: int) -> Coefficients:
    result = _constant(1.0, len(a))
    for _ in range(abs(exponent)):
        result = multiply(result, a)
    return result if exponent >= 0 else divide(_constant(1.0, len(a)), result)


def _chosen(way: float) -> Callable[[Coefficients, Coefficients], Coefficients]:
    """The larger (way 1) or smaller (way -1) of two; where they meet neither."""

    def apply(a: Coefficients, b: Coefficients) -> Coefficients:
        gap = way * (a[0] - b[0]).real
        if gap == 0 and not np.array_equal(a, b):
            return np.full(len(a), np.nan)
        return a if gap >= 0 else b

    return apply


def _sign(a: Coefficients) -> Coefficients:
    if a[0].real == 0 and a[1:].any():
        return np.full(len(a), np.nan)
    return _constant(float(np.sign(a[0].real)), len(a))


def _unknown(*arguments: Coefficients) -> Coefficients:
    """A function of which nothing is known has no series."""
    return np.full(len(arguments[0]), np.nan)


def _one(a: Coefficients) -> Coefficients:
    return _constant(1.0, len(a))


def _angle(y: Coefficients, x: Coefficients) -> Coefficients:
    slope = divide(
        multiply(x, _derivative(y)) - multiply(y, _derivative(x)),
        multiply(x, x) + multiply(y, y),
    )
    return _integrated(np.arctan2(y[0].real, x[0].real), slope)


def _root(a: Coefficients) -> Coefficients:
    return power(a, _constant(0.5, len(a)))


def _of_sine(a: Coefficients) -> Coefficients:
    return divide(_one(a), _root(_one(a) - multiply(a, a)))


OPERATIONS: dict[str, Callable[..., Coefficients]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": multiply,
    "div": divide,
    "neg": np.negative,
    "pow": power,
    "sqrt": _root,
    "min": _chosen(-1.0),
    "max": _chosen(1.0),
    "abs": lambda a: multiply(_sign(a), a),
    "sign": _sign,
    "atan2": _angle,
    "sin": lambda a: _waves(a, -1.0, np.sin, np.cos)[0],
    "cos": lambda a: _waves(a, -1.0, np.sin, np.cos)[1],
    "sinh": lambda a: _waves(a, 1.0, np.sinh, np.cosh)[0],
    "cosh": lambda a: _waves(a, 1.0, np.sinh, np.cosh)[1],
    "exp": _by_equation(np.exp, lambda f: f),
    "tan": _by_equation(np.tan, lambda f: _one(f) + multiply(f, f)),
    "tanh": _by_equation(np.tanh, lambda f: _one(f) - multiply(f, f)),
    "log": _by_slope(np.log, lambda a: divide(_one(a), a)),
    "atan": _by_slope(np.arctan, lambda a: divide(_one(a), _one(a) + multiply(a, a))),
    "asin": _by_slope(np.arcsin, _of_sine),
    "acos": _by_slope(np.arccos, lambda a: -_of_sine(a)),
}
