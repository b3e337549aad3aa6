"""One step of a Runge–Kutta method, in native code.

Every function works on addresses: `x` is [t, y…] at the start of a step, `y` the same at its end, `z` the argument of
a stage, `k` the slopes, a row of n numbers a stage. The stages of an explicit method are made here; an implicit method
brings a native function that makes a whole step (see `svyaz.integrate.implicit`), which finds the length of the step in
front of its constants.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import LENGTH, Address, Callee, call, place, read, whole, write
from svyaz.integrate.compiling import piece
from svyaz.integrate.tableau import Tableau


class Scheme(NamedTuple):
    """Rows of a tableau without their zeros: entries first[i] … first[i + 1] of column and weight make row i.

    Row i < s is the argument of stage i, row s the result of the step; then come the stages for dense output and last
    the estimates of the error. `node` (s + 1 + e,) are the times of the stages in the step.
    """

    first: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: Array
    node: Array
    stages: int


@lru_cache(maxsize=64)
def scheme(tableau: Tableau) -> Scheme:
    """The tableau as the loops take it."""
    rows = [*tableau.a, tableau.b]
    nodes = [*tableau.c, 1.0]
    if tableau.extra_a is not None and tableau.extra_c is not None:
        rows += list(tableau.extra_a)
        nodes += list(tableau.extra_c)
    rows += list(tableau.errors)
    filled = [np.flatnonzero(row) for row in rows]
    return Scheme(
        first=np.concatenate(([0], np.cumsum([len(places) for places in filled]))).astype(np.int64),
        column=np.concatenate(filled).astype(np.int64),
        weight=np.concatenate([row[places] for row, places in zip(rows, filled, strict=True)]),
        node=np.array(nodes),
        stages=tableau.stages,
    )


class Addresses(NamedTuple):
    """Where things are, all addresses except the numbers of stages and of states; z is room for [t, y…].

    `solve` is the function that makes an implicit step, 0 for an explicit method; `memory` are its constants.
    """

    f: Address
    constants: Address
    first: Address
    column: Address
    weight: Address
    node: Address
    stages: int
    n: int
    k: Address
    z: Address
    solve: Address
    memory: Address


@piece
def add(column: int, weight: int, begin: int, end: int, k: int, n: int, h: float, x: int, y: int) -> None:
    """y = x + h Σ weightₑ k[columnₑ] over the entries begin … end, at least one; four, two and one states at a time."""
    w0 = read(weight, begin)
    slope0 = k + 8 * n * whole(column, begin)
    m = 0
    while m + 4 <= n:
        s0 = w0 * read(slope0, m)
        s1 = w0 * read(slope0, m + 1)
        s2 = w0 * read(slope0, m + 2)
        s3 = w0 * read(slope0, m + 3)
        for e in range(begin + 1, end):
            w = read(weight, e)
            slope = k + 8 * n * whole(column, e)
            s0 += w * read(slope, m)
            s1 += w * read(slope, m + 1)
            s2 += w * read(slope, m + 2)
            s3 += w * read(slope, m + 3)
        write(y, m + 1, read(x, m + 1) + h * s0)
        write(y, m + 2, read(x, m + 2) + h * s1)
        write(y, m + 3, read(x, m + 3) + h * s2)
        write(y, m + 4, read(x, m + 4) + h * s3)
        m += 4
    if m + 2 <= n:
        s0 = w0 * read(slope0, m)
        s1 = w0 * read(slope0, m + 1)
        for e in range(begin + 1, end):
            w = read(weight, e)
            slope = k + 8 * n * whole(column, e)
            s0 += w * read(slope, m)
            s1 += w * read(slope, m + 1)
        write(y, m + 1, read(x, m + 1) + h * s0)
        write(y, m + 2, read(x, m + 2) + h * s1)
        m += 2
    if m < n:
        s0 = w0 * read(slope0, m)
        for e in range(begin + 1, end):
            s0 += read(weight, e) * read(k + 8 * n * whole(column, e), m)
        write(y, m + 1, read(x, m + 1) + h * s0)


@piece
def combine(at: Addresses, row: int, h: float, x: int, y: int) -> None:
    """y = x + h Σ aᵢⱼ kⱼ for a row i of the scheme."""
    add(at.column, at.weight, whole(at.first, row), whole(at.first, row + 1), at.k, at.n, h, x, y)


@piece
def move(k: int, n: int, h: float, x: int, y: int) -> None:
    """y = x + h k, two states at a time: packed, the numbers just written one by one would be waited for."""
    m = 0
    while m + 2 <= n:
        first = read(x, m + 1) + h * read(k, m)
        second = read(x, m + 2) + h * read(k, m + 1)
        write(y, m + 1, first)
        write(y, m + 2, second)
        m += 2
    if m < n:
        write(y, m + 1, read(x, m + 1) + h * read(k, m))


@piece
def slopes_of(at: Addresses, begin: int, end: int, h: float, x: int) -> int:
    """Slopes begin … end - 1 of a step from x; the answer is the status of the right-hand side."""
    status = 0
    i = begin
    while i < end and status == 0:
        combine(at, i, h, x, at.z)
        write(at.z, 0, read(x, 0) + read(at.node, i) * h)
        status = call(at.f, at.z, at.constants, at.k + 8 * at.n * i)
        i += 1
    return status


@piece
def solved(at: Addresses, h: float, x: Address, y: Address) -> int:
    """One step of an implicit method from x to y, its slopes left in k; the answer is its status."""
    write(at.memory, LENGTH, h)
    return call(at.solve, x, at.memory, y)


@piece
def step(at: Addresses, h: float, x: Address, y: Address) -> int:
    """One step from x to y; the answer is the status of the right-hand side, or what an implicit step answers."""
    if at.solve != 0:
        return solved(at, h, x, y)
    status = call(at.f, x, at.constants, at.k)
    if at.stages == 1:  # Euler's method
        move(at.k, at.n, h, x, y)
        return status
    if status == 0:
        status = slopes_of(at, 1, at.stages, h, x)
    combine(at, at.stages, h, x, y)
    return status


@piece
def addresses(f: Callee, solve: Callee, rule: Scheme, n: int, slopes: Array, z: Address) -> Addresses:
    """The addresses of what a step needs."""
    return Addresses(
        f.address,
        place(f.constants),
        place(rule.first),
        place(rule.column),
        place(rule.weight),
        place(rule.node),
        rule.stages,
        n,
        place(slopes),
        z,
        solve.address,
        place(solve.constants),
    )
