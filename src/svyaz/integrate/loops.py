"""Steps of a Runge–Kutta method, and the loop that takes equal ones, in native code.

Every function works on addresses: `x` is [t, y…] at the start of a step, `y` the same at its end, `z` the argument of
a stage, `k` the slopes, a row of n numbers a stage. The working array of a run is x (4, n + 1), row 0 the state with
which a call begins and ends. `count` are the whole numbers that are named in `svyaz.integrate.calls`.

The stages of an explicit method are made here; an implicit method brings a native function that makes a whole step (see
`svyaz.integrate.implicit`), which finds the length of the step in front of its constants.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import (
    DONE,
    EVALUATIONS,
    FINISHED,
    NEWTON,
    NO_CONVERGENCE,
    RUNNING,
    SINGULAR,
    STATUS,
    STORED,
    WAITING,
    Address,
    Callee,
    Counters,
    call,
    copy,
    place,
    read,
    settle,
    whole,
    write,
)
from svyaz.integrate.compiling import compiled, part, piece
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


class Schedule(NamedTuple):
    """Steps of size h from t0, `total` in number, the last one of size `last` so that t1 is met exactly.

    `every` is the number of steps from one stored row to the next.
    """

    t0: float
    t1: float
    h: float
    last: float
    total: int
    every: int


class Saving(NamedTuple):
    """What is kept of a run, all addresses except the numbers.

    rows (·, n + 1) take [t, y…], at the `times` increasing times of `grid`, or where that is 0 every few steps. Where
    there are no rows, the `columns` chosen of what `observe` gives go into `totals` (see `svyaz.integrate.ensembles`).
    """

    rows: Address
    grid: Address
    times: int
    observe: Address
    constants: Address
    chosen: Address
    columns: int
    seen: Address
    totals: Address


WIDTH = 5
"""Totals of one observed quantity: first value, largest size, largest change, largest value, last value."""


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
    write(at.memory, 0, h)
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


@part
def note(save: Saving, x: Address, first: bool) -> None:
    """Observe the state at x and carry the totals of the chosen columns on; what cannot be observed is not a number."""
    status = call(save.observe, x, save.constants, save.seen)
    for j in range(save.columns):
        at = save.totals + 8 * WIDTH * j
        value = read(save.seen, whole(save.chosen, j))
        if status != 0:
            value = np.nan
        if first:
            write(at, 0, value)
            write(at, 1, np.nan)
            write(at, 2, 0.0 * value)
            write(at, 3, value)
            write(at, 4, np.nan)
        size = abs(value)
        if size < np.inf:
            write(at, 4, value)
            if not size <= read(at, 1):
                write(at, 1, size)
        # once a change or a value is not a number, the largest of them is none either
        change = abs(value - read(at, 0))
        if not change <= read(at, 2) and read(at, 2) == read(at, 2):
            write(at, 2, change)
        if not value <= read(at, 3) and read(at, 3) == read(at, 3):
            write(at, 3, value)


@part
def equal_steps(
    at: Addresses,
    after_step: Address,
    after_constants: Address,
    plan: Schedule,
    save: Saving,
    chunk: int,
    work: Address,
    count: Counters,
) -> int:
    """At most `chunk` steps from the state in row 0 of `work`, where the last state is left.

    A time of the grid between two steps is reached by a shorter step of the same method from the last state, which the
    motion itself does not use: the output has the full order of any method, and the motion does not depend on the grid.
    """
    n, size = at.n, 8 * (at.n + 1)
    x, y, between = work, work + size, work + 3 * size
    i, stored, waiting, aside, code, inside = count[DONE], count[STORED], count[WAITING], 0, RUNNING, False
    stop = min(plan.total, i + chunk)
    while i < stop:
        final = i + 1 == plan.total
        t = plan.t1 if final else plan.t0 + (i + 1) * plan.h
        h, target = plan.last if final else plan.h, y
        inside = stored < save.times and read(save.grid, stored) < t - 1e-9 * plan.h
        if inside:
            t, target = read(save.grid, stored), between
            h = t - read(x, 0)
            aside += 1
        status = step(at, h, x, target)
        if status != 0:
            count[STATUS] = max(status, 0)
            code = NEWTON if status == NO_CONVERGENCE else SINGULAR
            break
        write(target, 0, t)
        code = settle(after_step, after_constants, target, n, at.z)
        if code != RUNNING:
            break
        if inside:
            copy(between, save.rows + size * stored, n + 1)
            stored += 1
            continue
        x, y = y, x
        i += 1
        if save.grid != 0:
            while stored < save.times and read(save.grid, stored) <= t + 1e-9 * plan.h:
                copy(x, save.rows + size * stored, n + 1)
                stored += 1
            continue
        waiting += 1
        if waiting == plan.every or final:
            waiting = 0
            if save.rows != 0:
                copy(x, save.rows + size * stored, n + 1)
                stored += 1
            elif save.observe != 0:
                note(save, x, False)
    if x != work:
        copy(x, work, n + 1)
    if save.grid != 0 and code != RUNNING and not inside:
        aside += 1
    if at.solve == 0:
        count[EVALUATIONS] += (i - count[DONE] + aside) * at.stages
    count[DONE], count[STORED], count[WAITING] = i, stored, waiting
    return FINISHED if i == plan.total else code


@compiled
def fixed(
    f: Callee,
    solve: Callee,
    after_step: Callee,
    rule: Scheme,
    plan: Schedule,
    chunk: int,
    work: Array,
    slopes: Array,
    count: Counters,
    rows: Array,
    grid: Array,
    on_grid: bool,
) -> int:
    """At most `chunk` steps; [t, y…] goes to rows (·, n + 1) at the times of `grid`, or every `plan.every` steps."""
    n = work.shape[1] - 1
    at = addresses(f, solve, rule, n, slopes, place(work) + 16 * (n + 1))
    save = Saving(place(rows), place(grid) if on_grid else 0, grid.size if on_grid else 0, 0, 0, 0, 0, 0, 0)
    after, after_constants = after_step.address, place(after_step.constants)
    return equal_steps(at, after, after_constants, plan, save, chunk, place(work), count)
