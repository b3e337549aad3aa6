"""Linear systems inside of loops: PA = LU with partial pivoting, of real matrices and of complex ones in two real parts.

The diagonal of U stands by its reciprocals. What is done to a number does not depend on other numbers but for the rows that
are exchanged: so the parts serve one matrix as they stand, and several at once where rows are exchanged lane by lane (see
`svyaz.integrate.kernels`). Products that go into a sum are fused as the text says it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import choose, fused
from svyaz.integrate.compiling import part

Pivots = Array | NDArray[np.int64]


@part
def factorise(a: Array, pivots: Pivots) -> bool:
    """PA = LU in place; false where a pivot is zero or not finite, and then the factors mean nothing."""
    good = True
    for k in range(a.shape[0]):
        good = good & brought_up(a, pivots, k)
        eliminate(a, k)
    return good


@part
def substitute(lu: Array, pivots: Pivots, b: Array) -> None:
    """Solve with the factors, in place."""
    n = lu.shape[0]
    exchange(pivots, b)
    for i in range(n):
        total = b[i]
        for j in range(i):
            total = fused(-lu[i, j], b[j], total)
        b[i] = total
    for i in range(n - 1, -1, -1):
        total = b[i]
        for j in range(i + 1, n):
            total = fused(-lu[i, j], b[j], total)
        b[i] = total * lu[i, i]


@part
def has_positive_determinant(lu: Array, pivots: Pivots) -> bool:
    """By the factors: the signs of the pivots and the exchanges of rows."""
    sign = 1.0
    for k in range(lu.shape[0]):
        parity = choose(pivots[k] > float(k), -1.0, 1.0)
        sign = choose(lu[k, k] > 0.0, parity, -parity) * sign
    return sign > 0.0


@part
def factorise_complex(re: Array, im: Array, pivots: Pivots) -> bool:
    """``factorise`` for re + i im."""
    good = True
    for k in range(re.shape[0]):
        good = good & brought_up_complex(re, im, pivots, k)
        eliminate_complex(re, im, k)
    return good


@part
def substitute_complex(re: Array, im: Array, pivots: Pivots, b: Array, c: Array) -> None:
    """``substitute`` for the right-hand side b + i c."""
    n = re.shape[0]
    exchange(pivots, b)
    exchange(pivots, c)
    for i in range(n):
        p, q = b[i], c[i]
        for j in range(i):
            p = fused(-re[i, j], b[j], fused(im[i, j], c[j], p))
            q = fused(-re[i, j], c[j], fused(-im[i, j], b[j], q))
        b[i], c[i] = p, q
    for i in range(n - 1, -1, -1):
        p, q = b[i], c[i]
        for j in range(i + 1, n):
            p = fused(-re[i, j], b[j], fused(im[i, j], c[j], p))
            q = fused(-re[i, j], c[j], fused(-im[i, j], b[j], q))
        b[i] = fused(p, re[i, i], -(q * im[i, i]))
        c[i] = fused(p, im[i, i], q * re[i, i])


@part
def eliminate(a: Array, k: int) -> None:
    """Column k below the diagonal."""
    n = a.shape[0]
    inverse = 1.0 / a[k, k]
    a[k, k] = inverse
    for i in range(k + 1, n):
        factor = a[i, k] * inverse
        a[i, k] = factor
        for j in range(k + 1, n):
            a[i, j] = fused(-factor, a[k, j], a[i, j])


@part
def eliminate_complex(re: Array, im: Array, k: int) -> None:
    """The same; the pivot is scaled before its square is taken, which might overflow."""
    n = re.shape[0]
    unit = 1.0 / (abs(re[k, k]) + abs(im[k, k]))
    c, d = re[k, k] * unit, im[k, k] * unit
    size = unit / fused(c, c, d * d)
    u, v = c * size, -(d * size)
    re[k, k], im[k, k] = u, v
    for i in range(k + 1, n):
        p, q = fused(re[i, k], u, -(im[i, k] * v)), fused(re[i, k], v, im[i, k] * u)
        re[i, k], im[i, k] = p, q
        for j in range(k + 1, n):
            re[i, j] = fused(-p, re[k, j], fused(q, im[k, j], re[i, j]))
            im[i, j] = fused(-p, im[k, j], fused(-q, re[k, j], im[i, j]))


@part
def brought_up(a: Array, pivots: Pivots, k: int) -> bool:
    """Exchange row k with that of the largest number in column k below it; is this number neither zero nor infinite?"""
    best, row = abs(a[k, k]), k
    for i in range(k + 1, a.shape[0]):
        if abs(a[i, k]) > best:
            best, row = abs(a[i, k]), i
    pivots[k] = row
    if row != k:
        swap(a, k, row)
    return 0.0 < best < np.inf


@part
def brought_up_complex(re: Array, im: Array, pivots: Pivots, k: int) -> bool:
    """The same by |re| + |im|, as LAPACK chooses."""
    best, row = abs(re[k, k]) + abs(im[k, k]), k
    for i in range(k + 1, re.shape[0]):
        size = abs(re[i, k]) + abs(im[i, k])
        if size > best:
            best, row = size, i
    pivots[k] = row
    if row != k:
        swap(re, k, row)
        swap(im, k, row)
    return 0.0 < best < np.inf


@part
def swap(a: Array, k: int, row: int) -> None:
    """Exchange two rows."""
    for j in range(a.shape[0]):
        a[k, j], a[row, j] = a[row, j], a[k, j]


@part
def exchange(pivots: Pivots, b: Array) -> None:
    """Exchange the entries of a right-hand side as the rows were."""
    for k in range(b.size):
        row = int(pivots[k])
        if row != k:
            b[k], b[row] = b[row], b[k]
