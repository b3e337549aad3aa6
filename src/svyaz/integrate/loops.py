"""Equal steps, in native code.

The working array of a run is x (4, n + 1), row 0 the state [t, y…] with which a call begins and ends. `count` are the
whole numbers that are named in `svyaz.integrate.calls`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

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
from svyaz.integrate.compiling import compiled, part
from svyaz.integrate.stages import Addresses, Scheme, addresses, step

WIDTH = 5
"""Totals of one observed quantity: first value, largest size, largest change, largest value, last value."""


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
