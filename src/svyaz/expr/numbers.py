"""Many expressions at many points, as numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr.calculus import Expression, evaluate, substitute


def at_points(expressions: Sequence[Expression], names: Sequence[str]) -> Callable[[Array], Array]:
    """A function of points (k, number of names) that gives the expressions (k, number of expressions), common parts computed
    once; what is not finite is computed once more by itself, and is not a number where it has no real value.
    """
    # SymEngine calls common parts x0, x1, … and takes them for arguments of these names that no expression contains
    own = {se.Symbol(name): se.Symbol(f"argument {k}") for k, name in enumerate(names)}
    numbers = None
    if expressions:
        try:
            numbers = se.Lambdify(
                list(own.values()), [substitute(e, own) for e in expressions], cse=True, backend="lambda"
            )
        except (RuntimeError, NotImplementedError, TypeError, ValueError):  # a function that it does not know
            numbers = None

    def values(points: Array) -> Array:
        found = np.full((len(points), len(expressions)), np.nan)
        if numbers is not None:
            found[:] = np.asarray(numbers(np.ascontiguousarray(points, dtype=float))).reshape(found.shape)
        for row, k in np.argwhere(~np.isfinite(found)):
            found[row, k] = evaluate(expressions[k], dict(zip(names, map(float, points[row]), strict=True)))
        return found

    return values
