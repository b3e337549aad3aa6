"""Power series of straight-line programs: the outputs as series in s when the inputs are.

A value is the array of its coefficients, a₀ + a₁ s + … + a_N s^N, or an array (…, N + 1) of many such. An elementary
function f(a) with f' = g satisfies k f_k = Σ j a_j g_{k-j} (R. E. Moore 1966); where it is not analytic at a₀ its
coefficients are not numbers.

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
    """The coefficients (outputs, …, N + 1) for inputs (…, N + 1) that are series of the same length each."""
    parameters = parameter_row(program, values)
    shape = np.shape(inputs[0])
    found: list[Coefficients] = []
    with np.errstate(all="ignore"):
        for node in program.nodes:
            op = node[0]
            if op in ("const", "parameter"):
                value = _constant(float(node[1]) if op == "const" else parameters[node[1]], shape[-1])
            elif op == "input":
                value = inputs[node[1]]
            else:
                value = OPERATIONS.get(op, _unknown)(*(found[a] for a in node[1:]))
            if disturbance is not None and op != "input":
                value = _disturbed(value, shape, disturbance)
            found.append(value)
    return np.array([np.broadcast_to(found[place], shape) for _, place in program.outputs])


def _disturbed(value: Coefficients, shape: tuple[int, ...], disturbance: np.random.Generator) -> Coefficients:
    """Each series off by a random part of itself; whole numbers are exact."""
    whole = _whole(value)
    if np.all(whole):
        return value
    return np.where(whole[..., None], value, value * (1 + DISTURBED * disturbance.uniform(-1, 1, shape)))


def _constant(value: float, length: int) -> Coefficients:
    row = np.zeros(length)
    row[0] = value
    return row


def _whole(a: Coefficients) -> NDArray[np.bool_]:
    """Is each of them a whole number?"""
    return np.logical_and(~a[..., 1:].any(axis=-1), a[..., 0] == np.round(a[..., 0]))


def multiply(a: Coefficients, b: Coefficients) -> Coefficients:
    length = a.shape[-1]
    if a.ndim == b.ndim == 1:
        return np.convolve(a, b)[:length]
    result = a[..., :1] * b
    for k in range(1, length):
        result[..., k:] += a[..., k : k + 1] * b[..., : length - k]
    return result


def _folded(a: Coefficients, b: Coefficients) -> Coefficients:
    """Σ a_j b_{k-j} of k coefficients each."""
    found: Coefficients = np.sum(a * b[..., ::-1], axis=-1)
    return found


def divide(a: Coefficients, b: Coefficients) -> Coefficients:
    result = np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=np.result_type(a, b))
    for k in range(a.shape[-1]):
        result[..., k] = (a[..., k] - _folded(b[..., 1 : k + 1], result[..., :k])) / b[..., 0]
    return result


def _one_by_one(function: Callable[..., Coefficients]) -> Callable[..., Coefficients]:
    """A function that decides by its arguments, of each of many series."""

    def apply(*arguments: Coefficients) -> Coefficients:
        if all(a.ndim == 1 for a in arguments):
            return function(*arguments)
        many = np.broadcast_arrays(*arguments)
        rows = zip(*(a.reshape(-1, a.shape[-1]) for a in many), strict=True)
        return np.array([function(*row) for row in rows]).reshape(many[0].shape)

    return apply


def _integrated(first: Coefficients, slope: Coefficients) -> Coefficients:
    """The series with this first coefficient and this derivative."""
    begun = np.broadcast_to(np.asarray(first)[..., None], (*slope.shape[:-1], 1))
    return np.concatenate([begun, slope[..., :-1] / np.arange(1, slope.shape[-1])], axis=-1)


def _derivative(a: Coefficients) -> Coefficients:
    return np.concatenate([a[..., 1:] * np.arange(1, a.shape[-1]), np.zeros((*a.shape[:-1], 1))], axis=-1)


def _by_slope(
    value: Callable[[Coefficients], Coefficients], slope: Callable[[Coefficients], Coefficients]
) -> Callable[[Coefficients], Coefficients]:
    """A function whose derivative is a series of the argument."""

    def apply(a: Coefficients) -> Coefficients:
        return _integrated(value(a[..., 0]), multiply(slope(a), _derivative(a)))

    return apply


def _by_equation(
    value: Callable[[Coefficients], Coefficients], slope: Callable[[Coefficients], Coefficients]
) -> Callable[[Coefficients], Coefficients]:
    """A function f with f' = slope(f): each pass makes one more coefficient right."""

    def apply(a: Coefficients) -> Coefficients:
        result = np.zeros(a.shape, dtype=np.result_type(a, float))
        result[..., 0] = value(a[..., 0])
        change = _derivative(a)
        for _ in range(a.shape[-1] - 1):
            result = _integrated(result[..., 0], multiply(slope(result), change))
        return result

    return apply


def _waves(
    a: Coefficients,
    sign: float,
    first: Callable[[Coefficients], Coefficients],
    second: Callable[[Coefficients], Coefficients],
) -> tuple[Coefficients, Coefficients]:
    """(f, g) with f' = g a', g' = sign f a'."""
    f, g = (np.zeros(a.shape, dtype=np.result_type(a, float)) for _ in range(2))
    f[..., 0], g[..., 0] = first(a[..., 0]), second(a[..., 0])
    weighted = a * np.arange(a.shape[-1])
    for k in range(1, a.shape[-1]):
        f[..., k] = _folded(weighted[..., 1 : k + 1], g[..., :k]) / k
        g[..., k] = sign * _folded(weighted[..., 1 : k + 1], f[..., :k]) / k
    return f, g


def power(a: Coefficients, b: Coefficients) -> Coefficients:
    """aᵇ: a whole exponent may have any base, any other needs one that is not zero."""
    whole = _whole(b)
    if b.ndim > 1 and (whole.any() or b[..., 1:].any()):
        return _one_by_one(power)(a, b)
    if whole.all():
        return _whole_power(a, int(b[0].real))
    if not b[..., 1:].any():
        result = np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=np.result_type(a, float))
        result[..., 0] = np.power(a[..., 0], b[..., 0])
        for k in range(1, a.shape[-1]):
            j = np.arange(1, k + 1)
            weights = (b[..., :1] * j - (k - j)) * a[..., 1 : k + 1]
            result[..., k] = _folded(weights, result[..., :k]) / (k * a[..., 0])
        return result
    return OPERATIONS["exp"](multiply(b, OPERATIONS["log"](a)))


def _whole_power(a: Coefficients, exponent: int) -> Coefficients:
    result = _one(a)
    for _ in range(abs(exponent)):
        result = multiply(result, a)
    return result if exponent >= 0 else divide(_one(a), result)


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
    return np.full(arguments[0].shape, np.nan)


def _one(a: Coefficients) -> Coefficients:
    return _constant(1.0, a.shape[-1])


def _angle(y: Coefficients, x: Coefficients) -> Coefficients:
    slope = divide(
        multiply(x, _derivative(y)) - multiply(y, _derivative(x)),
        multiply(x, x) + multiply(y, y),
    )
    return _integrated(np.arctan2(y[..., 0].real, x[..., 0].real), slope)


def _root(a: Coefficients) -> Coefficients:
    return power(a, _constant(0.5, a.shape[-1]))


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
    "min": _one_by_one(_chosen(-1.0)),
    "max": _one_by_one(_chosen(1.0)),
    "abs": _one_by_one(lambda a: multiply(_sign(a), a)),
    "sign": _one_by_one(_sign),
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
