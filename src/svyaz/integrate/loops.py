"""Explicit methods with a fixed step, in native code.

Every function works on addresses: `x` is [t, y…] at the start of a step, `y` the same at its end, `z` the argument of
a stage, `k` the slopes, a row of n numbers a stage. The working array of a run is x (4, n + 1), row 0 the state with
which a call begins and ends. `count` = [steps done, rows stored, evaluations, steps since a row was stored, status].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import (
    FINISHED,
    RUNNING,
    SINGULAR,
    Native,
    call,
    compiled,
    copy,
    piece,
    place,
    read,
    settle,
    whole,
    write,
)
from svyaz.integrate.tableau import Tableau

DONE, STORED, EVALUATIONS, WAITING, STATUS = range(5)


class Scheme(NamedTuple):
    """Rows of a tableau without their zeros: entries first[i] … first[i + 1] of column and weight make row i.

    Row i < s is the argument of stage i, row s the result of the step; then come the stages for dense output and last
    the estimates of the error.
    """

    first: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: Array
    node: Array
    stages: int


class Schedule(NamedTuple):
    """Steps of size h from t0, `total` in number, the last one of size `last` so that t1 is met exactly."""

    t0: float
    t1: float
    h: float
    last: float
    total: int
    every: int


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


class Places(NamedTuple):
    """Where things are, all addresses except the numbers of stages and of states; z is room for [t, y…]."""

    f: int
    constants: int
    first: int
    column: int
    weight: int
    node: int
    stages: int
    n: int
    k: int
    z: int


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
def combine(at: Places, row: int, h: float, x: int, y: int) -> None:
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
def slopes_of(at: Places, begin: int, end: int, h: float, x: int) -> int:
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
def step(at: Places, h: float, x: int, y: int) -> int:
    """One step of an explicit method from x to y; the answer is the status of the right-hand side."""
    status = call(at.f, x, at.constants, at.k)
    if at.stages == 1:  # Euler's method
        move(at.k, at.n, h, x, y)
        return status
    if status == 0:
        status = slopes_of(at, 1, at.stages, h, x)
    combine(at, at.stages, h, x, y)
    return status


@piece
def places(f: Native, rule: Scheme, n: int, slopes: Any, z: int) -> Places:
    """The addresses of what a step needs."""
    return Places(
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
    )


@compiled
def fixed(
    f: Native, project: Native, rule: Scheme, plan: Schedule, chunk: int, work: Any, slopes: Any, count: Any, rows: Any
) -> int:
    """At most `chunk` steps; every `plan.every`-th [t, y…] and the last one go to rows (·, n + 1)."""
    n = work.shape[1] - 1
    size = 8 * (n + 1)
    x, y, z = place(work), place(work) + size, place(work) + 2 * size
    at = places(f, rule, n, slopes, z)
    row = place(rows) + size * count[STORED]
    after, after_constants = project.address, place(project.constants)
    i, waiting, code = count[DONE], count[WAITING], RUNNING
    stop = min(plan.total, i + chunk)
    while i < stop:
        final = i + 1 == plan.total
        h = plan.last if final else plan.h
        status = step(at, h, x, y)
        if status != 0:
            count[STATUS] = status
            code = SINGULAR
            break
        write(y, 0, plan.t1 if final else plan.t0 + (i + 1) * plan.h)
        code = settle(after, after_constants, y, n, z)
        if code != RUNNING:
            break
        x, y = y, x
        i += 1
        waiting += 1
        if waiting == plan.every or final:
            waiting = 0
            copy(x, row, n + 1)
            row += size
    if x != place(work):
        copy(x, place(work), n + 1)
    count[STORED] = (row - place(rows)) // size
    count[EVALUATIONS] += (i - count[DONE]) * rule.stages
    count[DONE], count[WAITING] = i, waiting
    return FINISHED if i == plan.total else code


@compiled
def fixed_on_grid(
    f: Native,
    project: Native,
    rule: Scheme,
    plan: Schedule,
    chunk: int,
    work: Any,
    slopes: Any,
    count: Any,
    rows: Any,
    grid: Any,
) -> int:
    """As `fixed`, storing the state at the times of `grid`; rows (len(grid), n + 1).

    A time between two steps is reached by a shorter step of the same method from the last state, which the motion
    itself does not use: the output has the full order of any method, and the motion does not depend on the grid.
    """
    n = work.shape[1] - 1
    size = 8 * (n + 1)
    x, y, z, between = place(work), place(work) + size, place(work) + 2 * size, place(work) + 3 * size
    at = places(f, rule, n, slopes, z)
    after, after_constants = project.address, place(project.constants)
    i, code, status = count[DONE], RUNNING, 0
    stop = min(plan.total, i + chunk)
    while i < stop and code == RUNNING:
        end = plan.t1 if i + 1 == plan.total else plan.t0 + (i + 1) * plan.h
        t, target = end, y
        inside = count[STORED] < grid.size and grid[count[STORED]] < end - 1e-9 * plan.h
        if inside:
            t, target = grid[count[STORED]], between
            h = t - read(x, 0)
        else:
            h = plan.last if i + 1 == plan.total else plan.h
        status = step(at, h, x, target)
        count[EVALUATIONS] += rule.stages
        if status != 0:
            count[STATUS] = status
            code = SINGULAR
            break
        write(target, 0, t)
        code = settle(after, after_constants, target, n, z)
        if code != RUNNING:
            break
        if inside:
            copy(between, place(rows) + size * count[STORED], n + 1)
            count[STORED] += 1
            continue
        copy(y, x, n + 1)
        i += 1
        while count[STORED] < grid.size and grid[count[STORED]] <= end + 1e-9 * plan.h:
            copy(y, place(rows) + size * count[STORED], n + 1)
            count[STORED] += 1
    count[DONE] = i
    return FINISHED if i == plan.total else code
