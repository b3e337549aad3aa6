"""Linear systems in the native loops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from svyaz.integrate.compiling import compiled

Numbers = NDArray[np.float64] | NDArray[np.complex128]
Pivots = NDArray[np.float64] | NDArray[np.int64]


@compiled
def factorise(a: Numbers, pivots: Pivots) -> bool:
    """PA = LU in place with partial pivoting; false for a singular matrix or one that is not finite."""
    n = a.shape[0]
    for k in range(n):
        best, row = abs(a[k, k]), k
        for i in range(k + 1, n):
            if abs(a[i, k]) > best:
                best, row = abs(a[i, k]), i
        if not 0.0 < best < np.inf:
            return False
        pivots[k] = row
        if row != k:
            for j in range(n):
                a[k, j], a[row, j] = a[row, j], a[k, j]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    a[i, j] -= factor * a[k, j]
    return True


@compiled
def substitute(lu: Numbers, pivots: Pivots, b: Numbers) -> None:
    """Solve with the factors, in place."""
    n = lu.shape[0]
    for k in range(n):
        row = int(pivots[k])
        if row != k:
            b[k], b[row] = b[row], b[k]
    for i in range(n):
        total = b[i]
        for j in range(i):
            total -= lu[i, j] * b[j]
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total -= lu[i, j] * b[j]
        b[i] = total / lu[i, i]
