"""Radau IIA of order 5 for stiff motions: error-controlled, or steps of a given length, in native code.

Layout of `work`, `clock`, `count` as in `svyaz.integrate.adaptive`, with further entries of `clock`: [step to try, error
of the last step, last step, step of the factorised matrices]. `slope` is the slope of the state in row 0, n numbers.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.8: simplified Newton iterations,
the estimate of the error by an embedded formula of order 3, the predictive control of Gustafsson.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate.adaptive import ERROR, FACTORISED, LAST_STEP, STEP, Control
from svyaz.integrate.calls import (
    AFTER_REJECTION,
    DONE,
    EVALUATED,
    EVALUATIONS,
    FACTORISATIONS,
    FINISHED,
    FRESH,
    JACOBIANS,
    LENGTH,
    NO_CONVERGENCE,
    NO_FACTORS,
    REJECTED,
    RUNNING,
    SINGULAR,
    STALLED,
    STATUS,
    STORED,
    Address,
    Callee,
    Counters,
    call,
    copy,
    fused,
    numbers,
    place,
    settle,
    whole,
)
from svyaz.integrate.collocation import basis, begin_step, end_step, filtered, squares
from svyaz.integrate.compiling import Callback, callback, compiled, part, piece
from svyaz.integrate.implicit import (
    JACOBIAN,
    JACOBIAN_CONSTANTS,
    RATES,
    RATES_CONSTANTS,
    STATES,
    Located,
)
from svyaz.integrate.newton import (
    MOST_ITERATIONS,
    Memory,
    follows_growth,
    linearise,
    memory_in,
    memory_size,
    prepare,
    solve,
    solve_to_rounding,
)


class StoredRows(NamedTuple):
    """Where states are stored: rows (·, n + 1), at the times of `grid`, or after every step."""

    rows: Array
    grid: Array
    on_grid: bool


POWER = 4.0
"""The estimate of the error is of order 3: its error goes with this power of the step."""


@piece
def allowed(control: Control) -> float:
    """The size of a Newton iteration that is small enough."""
    return max(2.3e-15 / control.rtol, min(0.03, control.rtol**0.5))


@part
def trial(
    f: Located, control: Control, h: float, work: Array, slope: Array, m: Memory, clock: Array, count: Counters
) -> tuple[float, int, float]:
    """Try a step from row 0 to row 1 of `work`: (error, iterations, rate); iterations ≤ 0 say that Newton failed."""
    x, y, argument, n = work[0], work[1], work[2], m.scale.size
    begin_step(h, clock[LAST_STEP], x, m, control.atol, control.rtol)
    iterations, rate = solve(f, h, x, m, argument, allowed(control), count[STATUS : STATUS + 1])
    count[EVALUATIONS] += 3 * abs(iterations)
    if iterations <= 0:
        return np.inf, iterations, rate
    end_step(x, y, m)
    error = np.sqrt(squares(h, slope, x, y, m, control.atol, control.rtol) / n)
    if spoilt(error, count):
        filtered(x, m, argument)
        count[EVALUATIONS] += 1
        if call(f.address, place(argument), f.constants, place(m.slopes)) == 0:
            error = np.sqrt(squares(h, m.slopes[0], x, y, m, control.atol, control.rtol) / n)
    return error, iterations, rate


@piece
def spoilt(error: float, count: Counters) -> bool:
    """May a stiff start have spoilt the estimate? It is filtered once more then."""
    return error > 1.0 and (count[AFTER_REJECTION] != 0 or count[DONE] == 0)


@part
def ready(jacobian: Located, x: Address, h: float, m: Memory, clock: Array, count: Counters) -> bool:
    """Whether J and the factorised matrices for the step h are there, after making those that are not."""
    if count[JACOBIANS] == 0:
        count[STATUS] = linearise(jacobian, x, m)
        count[JACOBIANS] += 1
        count[FRESH] = 1
        if count[STATUS] != 0:
            return False
    if clock[FACTORISED] != h:
        clock[FACTORISED] = 0.0
        count[FACTORISATIONS] += 1
        if not (prepare(h, m) and follows_growth(m)):
            return False
        clock[FACTORISED] = h
    return True


@part
def refuse(h: float, clock: Array, count: Counters) -> bool:
    """After a failed iteration: is a new J wanted, the old one being of an earlier state? Else the step is halved."""
    if count[FRESH]:
        clock[STEP] = 0.5 * h
        count[REJECTED] += 1
        count[AFTER_REJECTION] = 1
        return False
    count[JACOBIANS] += 1
    count[FRESH] = 1
    clock[FACTORISED] = 0.0
    return True


@part
def predicted(h: float, error: float, clock: Array) -> float:
    """Next step over this one by the errors of two steps (Gustafsson; Hairer and Wanner (IV.8.25))."""
    if error == 0.0:
        return 10.0
    factor = 1.0 / np.sqrt(np.sqrt(error))
    if clock[LAST_STEP] > 0.0 and clock[ERROR] > 0.0:
        factor *= min(1.0, h / clock[LAST_STEP] * np.sqrt(np.sqrt(clock[ERROR] / error)))
    return factor


@part
def growth(control: Control, h: float, error: float, iterations: int, clock: Array) -> float:
    """Next step over this one, by its error and the trouble that it made."""
    factor = control.safety * (2 * MOST_ITERATIONS + 1) / (2 * MOST_ITERATIONS + iterations)
    return factor * predicted(h, error, clock)


@part
def reject(control: Control, h: float, factor: float, clock: Array, count: Counters) -> None:
    """Try again with a shorter step."""
    if not factor >= control.smallest:  # also where the error is not a number
        factor = control.smallest
    clock[STEP] = h * factor
    count[REJECTED] += 1
    count[AFTER_REJECTION] = 1


@part
def fill_grid(after_step: Callee, out: StoredRows, h: float, work: Array, z: Array, count: Counters) -> int:
    """Store the states at the times of the grid inside the step with the stages z from row 0 to row 1 of `work`."""
    n, x, y, between, code = z.shape[1], work[0], work[1], work[3], RUNNING
    while count[STORED] < out.grid.size and out.grid[count[STORED]] <= y[0] and code == RUNNING:
        time = out.grid[count[STORED]]
        row = out.rows[count[STORED]]
        if time == y[0]:
            copy(place(y), place(row), n + 1)
        else:
            between[0] = time
            p, q, r = basis((time - x[0]) / h)
            for j in range(n):
                between[j + 1] = x[j + 1] + fused(r, z[2, j], fused(q, z[1, j], p * z[0, j]))
            code = settle(after_step.address, place(after_step.constants), place(between), n, place(work[2]))
            copy(place(between), place(row), n + 1)
        count[STORED] += 1 if code == RUNNING else 0
    return code


@part
def next_step(
    control: Control, h: float, error: float, factor: float, renew: bool, clock: Array, count: Counters
) -> None:
    """After a good step: keep J and the factorised matrices while they serve, else choose a new step."""
    count[FRESH] = 1 if renew else 0
    if count[AFTER_REJECTION]:
        factor = min(factor, 1.0)
    if renew:
        count[JACOBIANS] += 1
        clock[FACTORISED] = 0.0
    elif 1.0 <= factor < 1.2:
        factor = 1.0
    clock[LAST_STEP] = h
    clock[STEP] = h * min(control.largest, max(control.smallest, factor))
    clock[ERROR] = max(error, 1e-2)
    count[AFTER_REJECTION] = 0


@piece
def ages(iterations: int, rate: float) -> bool:
    """Is J to be made anew?"""
    return iterations > 2 and rate > 1e-3


@piece
def stands(t: float, h: float) -> bool:
    """Would the time not move by such a step?"""
    return not 0.1 * h > 2.3e-16 * abs(t) or h < 1e-290


@piece
def is_final(t: float, h: float, end: float) -> bool:
    """Does such a step reach the end, or nearly?"""
    return fused(1.01, h, t) >= end


@compiled
def free(
    chunk: int,
    rates: Callee,
    jacobian_of_rates: Callee,
    after_step: Callee,
    control: Control,
    out: StoredRows,
    work: Array,
    slope: Array,
    memory: Array,
    clock: Array,
    count: Counters,
) -> int:
    """At most `chunk` trials with steps chosen by the error, from the state in row 0 of `work` towards t1."""
    n, x = work.shape[1] - 1, place(work)
    m = memory_in(place(memory), n)
    f = Located(rates.address, place(rates.constants))
    jacobian = Located(jacobian_of_rates.address, place(jacobian_of_rates.constants))
    y, z = x + 8 * (n + 1), x + 16 * (n + 1)
    for _ in range(chunk):
        t, h = work[0, 0], clock[STEP]
        if stands(t, h):
            return SINGULAR if count[STATUS] != 0 else STALLED
        final = is_final(t, h, control.t1)
        if final:
            h = control.t1 - t
        work[1, 0] = control.t1 if final else t + h
        error, iterations, rate = np.inf, 0, 0.0
        if ready(jacobian, x, h, m, clock, count):
            error, iterations, rate = trial(f, control, h, work, slope, m, clock, count)
        if iterations <= 0:
            if refuse(h, clock, count) and linearise(jacobian, x, m) != 0:
                clock[STEP] = 0.5 * h
            continue
        factor = growth(control, h, error, iterations, clock)
        if not error <= 1.0:
            reject(control, h, factor, clock, count)
            continue
        code = settle(after_step.address, place(after_step.constants), y, n, z)
        if code == RUNNING and out.on_grid:
            code = fill_grid(after_step, out, h, work, m.z, count)
        if code != RUNNING:
            return code
        copy(place(m.z), place(m.before), 3 * n)
        copy(y, x, n + 1)
        count[DONE] += 1
        if not out.on_grid:
            copy(x, place(out.rows) + 8 * (n + 1) * count[STORED], n + 1)
            count[STORED] += 1
        if final:
            return FINISHED
        count[STATUS] = call(f.address, x, f.constants, place(slope))
        count[EVALUATIONS] += 1
        if count[STATUS] != 0:
            return SINGULAR
        renew = ages(iterations, rate)
        next_step(control, h, error, factor, renew, clock, count)
        if renew:
            count[STATUS] = linearise(jacobian, x, m)
    return RUNNING


def _step(start: Address, c: Address, out: Address) -> int:
    n = whole(c, STATES)
    x, y = numbers(start, n + 1), numbers(out, n + 1)
    constants = numbers(c, memory_size(n))
    h, m = constants[LENGTH], memory_in(c, n)
    f = Located(whole(c, RATES), whole(c, RATES_CONSTANTS))
    jacobian = Located(whole(c, JACOBIAN), whole(c, JACOBIAN_CONSTANTS))
    if linearise(jacobian, place(x), m) != 0 or not prepare(h, m):
        return NO_FACTORS
    argument, status = constants[-n - 2 : -1], constants[-1:]
    iterations = solve_to_rounding(f, h, x, m, argument, status)
    constants[EVALUATED] += 3 * abs(iterations) + 1
    if iterations <= 0:
        return int(status[0]) if status[0] != 0 else NO_CONVERGENCE
    for j in range(n):
        y[j + 1] = x[j + 1] + m.z[2, j]
    return 0


@lru_cache(maxsize=1)
def step_function() -> Callback:
    """A step of given length as a native function (see `svyaz.integrate.implicit`)."""
    return callback(_step)
