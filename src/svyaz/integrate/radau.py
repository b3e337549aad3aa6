"""Radau IIA of order 5 for stiff motions: error-controlled or with a fixed step, in native code.

Layout of `work`, `clock`, `count` as in `svyaz.motion.adaptive`, with further entries of `clock`: [step to try, error
of the last step, last step, step of the factorised matrices]. `slope` is the slope of the state in row 0, n numbers.

E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.8: simplified Newton iterations,
the estimate of the error by an embedded formula of order 3, the predictive control of Gustafsson.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from svyaz.integrate.adaptive import AFTER_REJECTION, ERROR, REJECTED, STEP, Control, Output
from svyaz.integrate.calls import (
    FINISHED,
    NEWTON,
    RUNNING,
    SINGULAR,
    STALLED,
    Native,
    call,
    compiled,
    copy,
    part,
    place,
    settle,
)
from svyaz.integrate.loops import DONE, EVALUATIONS, STATUS, STORED, WAITING, Schedule
from svyaz.integrate.newton import (
    MOST_ITERATIONS,
    NODES,
    Memory,
    linearise,
    linearise_and_prepare,
    prepare,
    solve,
    solve_to_rounding,
    substitute,
    transform,
)

LAST_STEP, FACTORISED = 2, 3  # places in clock
FRESH, FACTORISATIONS, JACOBIANS = 7, 8, 9  # places in count; FRESH: J belongs to the state in row 0

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
def collocation(z: Any, j: int, theta: float) -> float:
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
def error_of(h: float, slope: Any, x: Any, y: Any, m: Memory, control: Control) -> float:
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
    f: Native, control: Control, h: float, work: Any, slope: Any, m: Memory, clock: Any, count: Any
) -> tuple[float, int, float]:
    """Try a step from row 0 to row 1 of `work`: (error, iterations, rate); iterations ≤ 0 say that Newton failed."""
    x, y, argument, n = work[0], work[1], work[2], m.scale.size
    for j in range(n):
        m.scale[j] = control.atol[j] + control.rtol * abs(x[j + 1])
    guess(h, clock[LAST_STEP], m)
    tolerance = max(2.3e-15 / control.rtol, min(0.03, control.rtol**0.5))
    iterations, rate = solve(f, h, x, m, argument, tolerance, count)
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
        if call(f.address, place(argument), place(f.constants), place(m.slopes)) == 0:
            error = error_of(h, m.slopes[0], x, y, m, control)
    return error, iterations, rate


@part
def ready(jacobian: Native, x: int, h: float, m: Memory, clock: Any, count: Any) -> bool:
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
def refuse(jacobian: Native, x: int, h: float, m: Memory, clock: Any, count: Any) -> None:
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
def predicted(h: float, error: float, clock: Any) -> float:
    """Next step over this one by the errors of two steps (Gustafsson; Hairer and Wanner (IV.8.25))."""
    if error == 0.0:
        return 10.0
    factor = error**-0.25
    if clock[LAST_STEP] > 0.0 and clock[ERROR] > 0.0:
        factor *= min(1.0, h / clock[LAST_STEP] * (clock[ERROR] / error) ** 0.25)
    return factor


@part
def fill_grid(project: Native, out: Output, h: float, work: Any, m: Memory, count: Any) -> int:
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
            code = settle(project.address, place(project.constants), place(between), n, place(work[2]))
            copy(place(between), place(row), n + 1)
        count[STORED] += 1 if code == RUNNING else 0
    return code


@part
def next_step(
    jacobian: Native,
    control: Control,
    h: float,
    factor: float,
    renew: bool,
    work: Any,
    m: Memory,
    clock: Any,
    count: Any,
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
    f: Native,
    jacobian: Native,
    project: Native,
    control: Control,
    out: Output,
    chunk: int,
    work: Any,
    slope: Any,
    m: Memory,
    clock: Any,
    count: Any,
) -> int:
    """At most `chunk` trials with steps chosen by the error, from the state in row 0 of `work` towards t1."""
    n, x = m.scale.size, place(work)
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
        code = settle(project.address, place(project.constants), y, n, z)
        if code == RUNNING and out.on_grid:
            code = fill_grid(project, out, h, work, m, count)
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
        count[STATUS] = call(f.address, x, place(f.constants), place(slope))
        count[EVALUATIONS] += 1
        if count[STATUS] != 0:
            return SINGULAR
        next_step(jacobian, control, h, factor, iterations > 2 and rate > 1e-3, work, m, clock, count)
        clock[ERROR] = max(error, 1e-2)
    return RUNNING


@part
def store(plan: Schedule, out: Output, final: bool, inside: bool, state: Any, count: Any) -> None:
    """Put a state of a fixed step where it is wanted."""
    if not out.on_grid:
        count[WAITING] += 1
        if count[WAITING] == plan.every or final:
            count[WAITING] = 0
            copy(place(state), place(out.rows[count[STORED]]), state.size)
            count[STORED] += 1
    elif inside:
        copy(place(state), place(out.rows[count[STORED]]), state.size)
        count[STORED] += 1
    else:
        while count[STORED] < out.grid.size and out.grid[count[STORED]] <= state[0] + 1e-9 * plan.h:
            copy(place(state), place(out.rows[count[STORED]]), state.size)
            count[STORED] += 1


@compiled
def fixed(
    f: Native,
    jacobian: Native,
    project: Native,
    plan: Schedule,
    out: Output,
    chunk: int,
    work: Any,
    m: Memory,
    count: Any,
) -> int:
    """At most `chunk` equal steps; times of the grid are reached by shorter steps as in `loops.fixed_on_grid`."""
    n, x, size = m.scale.size, place(work), 8 * (m.scale.size + 1)
    stop = min(plan.total, count[DONE] + chunk)
    while count[DONE] < stop:
        final = count[DONE] + 1 == plan.total
        t, h, target = plan.t0 + (count[DONE] + 1) * plan.h, plan.h, 1
        if final:
            t, h = plan.t1, plan.last
        inside = out.on_grid and count[STORED] < out.grid.size and out.grid[count[STORED]] < t - 1e-9 * plan.h
        if inside:
            t = out.grid[count[STORED]]
            h, target = t - work[0, 0], 3
        code = linearise_and_prepare(jacobian, x, h, m)
        if code != RUNNING:
            return code
        iterations = solve_to_rounding(f, h, work[0], m, work[2], count)
        count[EVALUATIONS] += 3 * abs(iterations) + 1
        if iterations <= 0:
            return SINGULAR if count[STATUS] != 0 else NEWTON
        work[target, 0] = t
        for j in range(n):
            work[target, j + 1] = work[0, j + 1] + m.z[2, j]
        code = settle(project.address, place(project.constants), x + size * target, n, x + 2 * size)
        if code != RUNNING:
            return code
        if not inside:
            copy(x + size, x, n + 1)
            count[DONE] += 1
        store(plan, out, final, inside, work[target], count)
    return FINISHED if count[DONE] == plan.total else RUNNING
