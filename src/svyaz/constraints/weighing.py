"""Values of expressions at a few points, with the sums of the magnitudes of their terms, without a program.

For expressions that are looked at once: a program, which is shortened and compiled, costs more than all their values.
The magnitudes follow the rules of ``scales``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import symengine as se
from symengine.lib import symengine_wrapper as wrapper

from svyaz.arrays import Array
from svyaz.expr import Expression, from_leaves, real_value

_FUNCTIONS: Mapping[type, Callable[..., Array]] = {
    wrapper.Sin: np.sin,
    wrapper.Cos: np.cos,
    wrapper.Tan: np.tan,
    wrapper.ASin: np.arcsin,
    wrapper.ACos: np.arccos,
    wrapper.ATan: np.arctan,
    wrapper.Sinh: np.sinh,
    wrapper.Cosh: np.cosh,
    wrapper.Tanh: np.tanh,
    wrapper.Log: np.log,
    wrapper.Abs: np.abs,
    wrapper.sign: np.sign,
    wrapper.ATan2: np.arctan2,
    wrapper.Max: lambda *a: np.max(a, axis=0),
    wrapper.Min: lambda *a: np.min(a, axis=0),
}

_SUMMED = (wrapper.Abs, wrapper.Max, wrapper.Min)

Weighed = tuple[Array, Array]
"""Values (points,) and sums of magnitudes (points,)."""


def weighed(expressions: Sequence[Expression], values: Mapping[str, Array | float]) -> Weighed:
    """(values, sums of magnitudes), both (points, expressions), where the names have these values, (points,) each."""
    known: dict[Expression, Weighed] = {}
    with np.errstate(all="ignore"):
        for e, arguments in from_leaves(expressions):
            known[e] = _weighed(e, [known[a] for a in arguments], values)
    points = np.broadcast_shapes((1,), *(np.shape(v) for v in values.values()))
    if not expressions:
        return np.zeros((*points, 0)), np.zeros((*points, 0))
    found = [known[e] for e in expressions]
    value, size = (np.stack([np.broadcast_to(pair[k], points) for pair in found], axis=1) for k in (0, 1))
    return value, size


def _weighed(e: Expression, parts: list[Weighed], values: Mapping[str, Array | float]) -> Weighed:
    if not parts:
        value = np.asarray(values[str(e)] if e.is_Symbol else real_value(e), dtype=float)
        return value, np.abs(value)
    if e.is_Add:
        return sum((v for v, _ in parts), start=np.zeros(())), sum((s for _, s in parts), start=np.zeros(()))
    if e.is_Mul:
        value = size = np.ones(())
        for v, s in parts:
            value, size = value * v, size * s
        return value, size
    if e.is_Pow:
        (base, size), (power, _) = parts
        value = np.exp(power) if e.args[0] == se.E else np.power(base, power)
        whole = e.args[1].is_Integer and int(e.args[1]) > 0
        return value, np.power(size, power) if whole else np.abs(value)
    value = np.asarray(_FUNCTIONS[type(e)](*(v for v, _ in parts)))
    if isinstance(e, wrapper.Sin | wrapper.Cos):
        return value, np.ones(())
    return value, sum((s for _, s in parts), start=np.zeros(())) if isinstance(e, _SUMMED) else np.abs(value)
