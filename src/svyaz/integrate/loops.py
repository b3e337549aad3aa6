"""Equal steps, in native code.

The working array of a run is x (4, n + 1), row 0 the state [t, y…] with which a call begins and ends. `count` are the
whole numbers that are named in `svyaz.integrate.calls`.

Many runs with a fixed step in one native call, observed on the way: nothing but totals is kept.

Each member has constants, a start and a step of its own; its states are those of ``svyaz.integrate.loops.fixed`` to the
last bit. Totals of an observed quantity: first value, largest size, largest change, largest value, last value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import (
    COUNTERS,
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
from svyaz.integrate.compiling import bound, compiled, part, rebound
from svyaz.integrate.stages import Addresses, Scheme, addresses, scheme, step
from svyaz.integrate.tableau import Tableau

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
    there are no rows, the `columns` chosen of what `observe` gives go into `totals` (see `svyaz.integrate.loops`).
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
    chunk: int,
    f: Callee,
    solve: Callee,
    after_step: Callee,
    rule: Scheme,
    plan: Schedule,
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


CODE, STEPS = range(2)
UNWATCHED = 256
"""So many steps are made before a member looks whether it is to stop."""


class Group(NamedTuple):
    """Members of one call: rows of constants (k, ·), starts and ends [t, y…] (k, n + 1), totals (k, columns, WIDTH).

    ``pace`` (k, 2) is the step and the last step, ``counts`` (k, 2) the number of steps and the interval of rows,
    ``answers`` (k, 2) the code of the loops and the steps done.
    """

    constants: Array
    watched: Array
    projected: Array
    starts: Array
    ends: Array
    pace: Array
    counts: NDArray[np.int64]
    answers: NDArray[np.int64]
    totals: Array

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Did each member come to its end (k,)?"""
        return self.answers[:, CODE] == FINISHED


def prepare_members(
    tableau: Tableau,
    functions: tuple[Address, Address, Address],
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> Callable[..., int]:
    """What runs all members of a group by an explicit method with fixed steps from one time to another: ends, answers and
    totals are filled.

    functions: addresses of the rates, of what is observed (`observed` numbers, of which `columns` are wanted) and of the
    map after a step; 0 where there is none. A call is left, with what it has, soon after another thread has set stop[0].
    """
    n = group.starts.shape[1] - 1
    work, slopes, seen = np.zeros((4, n + 1)), np.zeros(tableau.stages * n), np.zeros(observed)
    before, count = (*functions, scheme(tableau)), np.zeros(COUNTERS, dtype=np.int64)
    after = (group, columns, work, slopes, seen, count, stop)
    return rebound(_members, len(before), 2, *before, 0.0, 0.0, *after)


@compiled
def _members(
    f: Address,
    observe: Address,
    after_step: Address,
    rule: Scheme,
    t0: float,
    t1: float,
    group: Group,
    columns: NDArray[np.int64],
    work: Array,
    slopes: Array,
    seen: Array,
    count: Counters,
    stop: Counters,
) -> int:
    """One member after another; work (4, n + 1), slopes (stages · n,), seen (all columns,), count (COUNTERS,) are room."""
    n = work.shape[1] - 1
    size = 8 * (n + 1)
    for i in range(len(group.starts)):
        at = addresses(Callee(f, group.constants[i]), Callee(0, slopes), rule, n, slopes, place(work) + 2 * size)
        watched = place(group.watched) + 8 * group.watched.shape[1] * i
        totals = place(group.totals) + 8 * WIDTH * columns.size * i
        save = Saving(0, 0, 0, observe, watched, place(columns), columns.size, place(seen), totals)
        plan = Schedule(t0, t1, group.pace[i, 0], group.pace[i, 1], group.counts[i, 0], group.counts[i, 1])
        after_constants = place(group.projected) + 8 * group.projected.shape[1] * i
        copy(place(group.starts) + size * i, place(work), n + 1)
        count[:] = 0
        if observe != 0:
            note(save, place(work), True)
        code = RUNNING
        while code == RUNNING and whole(place(stop), 0) == 0:
            code = equal_steps(at, after_step, after_constants, plan, save, UNWATCHED, place(work), count)
        if observe != 0 and count[WAITING] > 0:
            note(save, place(work), False)
        copy(place(work), place(group.ends) + size * i, n + 1)
        group.answers[i, CODE] = code
        group.answers[i, STEPS] = count[DONE]
    return len(group.starts)


def constants_writer(function: Address, given: Array, found: Array) -> Callable[[int], int]:
    """What writes rows of constants (k, c) from rows of values of parameters (k, p), by the native function that makes them:
    as many of the first ones as it is called with.
    """
    return bound(_constants, function, given, found)


@compiled
def _constants(count: int, function: Address, given: Array, found: Array) -> int:
    for k in range(count):
        row = place(found) + 8 * found.shape[1] * k
        call(function, place(given) + 8 * given.shape[1] * k, row, row)
    return count
