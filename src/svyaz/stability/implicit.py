"""Series that satisfy equations: R(x(s), s) = 0 with a regular ∂R/∂x, coefficient by coefficient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from svyaz.arrays import Array
from svyaz.stability.series import Coefficients

POLISHED = 4
"""Newton's steps on the first coefficients."""

PASSES = 2
"""One pass settles a coefficient; the second makes it depend on the residual alone, and not on the slope that was given."""

Residual = Callable[[Coefficients], Coefficients]
"""x (unknowns, …, k) → R (equations, …, k), for series of any length k, one or many at a time."""


def jacobian(residual: Residual, start: Array) -> Array:
    """∂R/∂x at the start, a column for each unknown: the second coefficient for x = start + s e_j."""
    count = len(start)
    columns = []
    for j in range(count):
        x = np.zeros((count, 2))
        x[:, 0], x[j, 1] = start, 1.0
        with_s, without = residual(x)[:, 1], residual(x[:, :1] * np.array([1.0, 0.0]))[:, 1]
        columns.append(with_s - without)
    return np.array(columns, dtype=float).T


def implicit_series(
    residual: Residual, start: Array, slope: Array, length: int, many: tuple[int, ...] = ()
) -> Coefficients:
    """The coefficients (unknowns, length) of x(s) near the start; ``slope`` is ∂R/∂x there.

    The k-th coefficient of R is slope · x_k + terms of lower ones, so that each pass settles one more. Of ``many`` equations
    with the same slope the series are found at once, (unknowns, *many, length).
    """
    x = np.zeros((len(start), *many, length), dtype=complex)
    x[..., 0] = start.reshape(-1, *(1 for _ in many))
    inverse = np.linalg.inv(slope)
    for _ in range(POLISHED):
        x[..., 0] -= np.tensordot(inverse, residual(x[..., :1])[..., 0], axes=1)
    for k in range(1, length):
        for _ in range(PASSES):
            x[..., k] -= np.tensordot(inverse, residual(x[..., : k + 1])[..., k], axes=1)
    return x if np.abs(x.imag).max(initial=0.0) > 0 else np.asarray(x.real)
