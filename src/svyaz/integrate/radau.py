"""Radau IIA of order 5 for stiff motions: error-controlled, or steps of a given length, in native code.

Layout of `work`, `clock`, `count` as in `svyaz.integrate.adaptive`, with further entries of `clock`: [step to try, error
of the last step, last step, step of the factorised matrices]. `slope` is the slope of the state in row 0, n numbers.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.8: simplified Newton iterations,
the estimate of the error by an embedded formula of order 3, the predictive control of Gustafsson.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate.adaptive import ERROR, FACTORISED, LAST_STEP, STEP, Control, Output
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
    numbers,
    place,
    settle,
    whole,
)
from svyaz.integrate.compiling import Callback, callback, compiled, part
from svyaz.integrate.implicit import (
    JACOBIAN,
    JACOBIAN_CONSTANTS,
    RATES,
    RATES_CONSTANTS,
    STATES,
    Located,
    substitute,
)
from svyaz.integrate.newton import (
    MOST_ITERATIONS,
    NODES,
    Memory,
    linearise,
    memory_in,
    memory_size,
    prepare,
    solve,
    solve_to_rounding,
    transform,
)

POWER = 4.0
"""The estimate of the error is of order 3: its error goes with this power of the step."""

_R6 = 6.0**0.5
EMBEDDED = np.array([(-13 - 7 * _R6) / 3, (-13 + 7 * _R6) / 3, -1 / 3])
# collocation polynomial through 0, z₁, z₂, z₃: Σᵢ zᵢ Σⱼ COLLOCATION[i, j] θ^(j+1)
COLLOCATION = np.array(
    [
        [(13 + 7 * _R6) / 3, (-23 - 22 * _R6) / 3, (10 + 15 * _R6) / 3],
        [(13 - 7 * _R6) / 3, (-23 + 22 * _R6) / 3, (10 - 15 * _R6) / 3],
        [1 / 3, -8 / 3, 10 / 3],
    ]
)


@part
def collocation(z: Array, j: int, theta: float) -> float:
    """Change of state j at t₀ + θh by the collocation polynomial through the stages z."""
    value = 0.0
    for i in range(3):
        row = COLLOCATION[i]
        value += z[i, j] * theta * (row[0] + theta * (row[1] + theta * row[2]))
    return value


@part
def guess(h: float, last: float, m: Memory) -> None:
    """Stages of the step h from the collocation polynomial of the step before, or zero at the start."""
    for j in range(m.scale.size):
        for i in range(3):
            m.z[i, j] = 0.0
            if last > 0.0:
                m.z[i, j] = collocation(m.before, j, 1.0 + NODES[i] * h / last) - m.before[2, j]
    transform(m)


@part
def error_of(h: float, slope: Array, x: Array, y: Array, m: Memory, control: Control) -> float:
    """Size of (γ/h - J)⁻¹(slope + Σ eᵢzᵢ/h), which is left in m.right, 1 being what is allowed."""
    n = m.scale.size
    for j in range(n):
        combination = EMBEDDED[0] * m.z[0, j] + EMBEDDED[1] * m.z[1, j] + EMBEDDED[2] * m.z[2, j]
        m.right[j] = slope[j] + combination / h
    substitute(m.real, m.real_pivots, m.right)
    total = 0.0
    for j in range(n):
        scale = control.atol[j] + control.rtol * max(abs(x[j + 1]), abs(y[j + 1]))
        total += (m.right[j] / scale) ** 2
    return np.sqrt(total / n)


@part
def trial(
    f: Located, control: Control, h: float, work: Array, slope: Array, m: Memory, clock: Array, count: Counters
) -> tuple[float, int, float]:
    """Try a step from row 0 to row 1 of `work`: (error, iterations, rate); iterations ≤ 0 say that Newton failed."""
    x, y, argument, n = work[0], work[1], work[2], m.scale.size
    for j in range(n):
        m.scale[j] = control.atol[j] + control.rtol * abs(x[j + 1])
    guess(h, clock[LAST_STEP], m)
    tolerance = max(2.3e-15 / control.rtol, min(0.03, control.rtol**0.5))
    iterations, rate = solve(f, h, x, m, argument, tolerance, count[STATUS : STATUS + 1])
    count[EVALUATIONS] += 3 * abs(iterations)
    if iterations <= 0:
        return np.inf, iterations, rate
    for j in range(n):
        y[j + 1] = x[j + 1] + m.z[2, j]
    error = error_of(h, slope, x, y, m, control)
    if error > 1.0 and (count[AFTER_REJECTION] or count[DONE] == 0):
        # a stiff start spoils the estimate: filter it once more
        argument[0] = x[0]
        for j in range(n):
            argument[j + 1] = x[j + 1] + m.right[j]
        count[EVALUATIONS] += 1
        if call(f.address, place(argument), f.constants, place(m.slopes)) == 0:
            error = error_of(h, m.slopes[0], x, y, m, control)
    return error, iterations, rate


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
        if not prepare(h, m):
            return False
        clock[FACTORISED] = h
    return True


@part
def refuse(jacobian: Located, x: Address, h: float, m: Memory, clock: Array, count: Counters) -> None:
    """After a failed iteration: a new J if the old one was of an earlier state, else half the step."""
    if count[FRESH]:
        clock[STEP] = 0.5 * h
        count[REJECTED] += 1
        count[AFTER_REJECTION] = 1
    else:
        count[JACOBIANS] += 1
        count[FRESH] = 1
        clock[FACTORISED] = 0.0
        if linearise(jacobian, x, m) != 0:
            clock[STEP] = 0.5 * h


@part
def predicted(h: float, error: float, clock: Array) -> float:
    """Next step over this one by the errors of two steps (Gustafsson; Hairer and Wanner (IV.8.25))."""
    if error == 0.0:
        return 10.0
    factor = error**-0.25
    if clock[LAST_STEP] > 0.0 and clock[ERROR] > 0.0:
        factor *= min(1.0, h / clock[LAST_STEP] * (clock[ERROR] / error) ** 0.25)
    return factor


@part
def fill_grid(after_step: Callee, out: Output, h: float, work: Array, m: Memory, count: Counters) -> int:
    """Store the states at the times of the grid inside the step from row 0 to row 1 of `work`."""
    n, x, y, between, code = m.scale.size, work[0], work[1], work[3], RUNNING
    while count[STORED] < out.grid.size and out.grid[count[STORED]] <= y[0] and code == RUNNING:
        time = out.grid[count[STORED]]
        row = out.rows[count[STORED]]
        if time == y[0]:
            copy(place(y), place(row), n + 1)
        else:
            between[0] = time
            for j in range(n):
                between[j + 1] = x[j + 1] + collocation(m.z, j, (time - x[0]) / h)
            code = settle(after_step.address, place(after_step.constants), place(between), n, place(work[2]))
            copy(place(between), place(row), n + 1)
        count[STORED] += 1 if code == RUNNING else 0
    return code


@part
def next_step(
    jacobian: Located,
    control: Control,
    h: float,
    factor: float,
    renew: bool,
    work: Array,
    m: Memory,
    clock: Array,
    count: Counters,
) -> None:
    """After a good step: keep J and the factorised matrices while they serve, else choose a new step."""
    count[FRESH] = 0
    if count[AFTER_REJECTION]:
        factor = min(factor, 1.0)
    if renew:
        count[STATUS] = linearise(jacobian, place(work), m)
        count[JACOBIANS] += 1
        count[FRESH] = 1
        clock[FACTORISED] = 0.0
    elif 1.0 <= factor < 1.2:
        factor = 1.0
    clock[LAST_STEP] = h
    clock[STEP] = h * min(control.largest, max(control.smallest, factor))
    count[AFTER_REJECTION] = 0


@compiled
def free(
    chunk: int,
    rates: Callee,
    jacobian_of_rates: Callee,
    after_step: Callee,
    control: Control,
    out: Output,
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
        if not 0.1 * h > 2.3e-16 * abs(t) or h < 1e-290:  # the time would not move
            return SINGULAR if count[STATUS] != 0 else STALLED
        final = t + 1.01 * h >= control.t1
        if final:
            h = control.t1 - t
        work[1, 0] = control.t1 if final else t + h
        error, iterations, rate = np.inf, 0, 0.0
        if ready(jacobian, x, h, m, clock, count):
            error, iterations, rate = trial(f, control, h, work, slope, m, clock, count)
        if iterations <= 0:
            refuse(jacobian, x, h, m, clock, count)
            continue
        factor = control.safety * (2 * MOST_ITERATIONS + 1) / (2 * MOST_ITERATIONS + iterations)
        factor *= predicted(h, error, clock)
        if not error <= 1.0:
            if not factor >= control.smallest:  # also where the error is not a number
                factor = control.smallest
            clock[STEP] = h * factor
            count[REJECTED] += 1
            count[AFTER_REJECTION] = 1
            continue
        code = settle(after_step.address, place(after_step.constants), y, n, z)
        if code == RUNNING and out.on_grid:
            code = fill_grid(after_step, out, h, work, m, count)
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
        next_step(jacobian, control, h, factor, iterations > 2 and rate > 1e-3, work, m, clock, count)
        clock[ERROR] = max(error, 1e-2)
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
