"""Steps chosen by an estimate of the error, in native code.

Names and layout are those of `svyaz.integrate.stages`; `k` has a row for each stage, one for the slope at the end of the
step, one for each stage of dense output, and room for the weights of the interpolant. The working array is (6, n + 1):
state, next state, argument of a stage, state between steps, zeros. `clock` = [step to try, error of the last step].
Of an explicit method k[0] always holds the slope of the state in row 0: a rejected step does not evaluate it again.

E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), II.4-II.6; E. Hairer,
G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), IV.2 for the control.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import (
    AFTER_REJECTION,
    DONE,
    EVALUATIONS,
    FINISHED,
    REJECTED,
    RUNNING,
    SINGULAR,
    STALLED,
    STATUS,
    STORED,
    Address,
    Callee,
    Counters,
    bounded,
    call,
    copy,
    place,
    read,
    settle,
    write,
)
from svyaz.integrate.compiling import compiled, part, piece
from svyaz.integrate.stages import Addresses, Scheme, add, addresses, combine, slopes_of, solved

STEP, ERROR, LAST_STEP, FACTORISED = range(4)  # places in clock; the last two are Radau's


class Control(NamedTuple):
    """What is asked of the steps: tolerances and the rule of the next step (see `tableau.Controller`)."""

    t1: float
    rtol: float
    atol: Array
    exponent: float
    memory: float
    smallest: float
    largest: float
    safety: float


class Estimate(NamedTuple):
    """Estimates of the error: their number, the first row of the scheme, whether they use the slope at the end of the
    step, addresses of zeros [t, y…] and of the absolute tolerances, the relative one.
    """

    estimates: int
    row: int
    fsal: bool
    zero: Address
    atol: Address
    rtol: float


class Interpolant(NamedTuple):
    """Dense output: factors (rows of k, d) of the nested basis, and the numbers 0, 1, … of the rows of k."""

    factors: Array
    identity: NDArray[np.int64]


class Output(NamedTuple):
    """Where states are stored: rows (·, n + 1), at the times of `grid`, or after every step."""

    rows: Array
    grid: Array
    on_grid: bool


@part
def gather(at: Addresses, row: int, h: float, x: Address, y: Address) -> None:
    """`combine` as a call: a copy of it at each place would cost more to compile than the calls cost to run."""
    combine(at, row, h, x, y)


@part
def evaluate(at: Addresses, begin: int, end: int, h: float, x: Address) -> int:
    """`slopes_of` as a call."""
    return slopes_of(at, begin, end, h, x)


@part
def square_sum(v: Address, a: Address, b: Address, atol: Address, rtol: float, n: int) -> float:
    """Σ (vᵢ / (atolᵢ + rtol max(|aᵢ|, |bᵢ|)))² over the states of three [t, y…]."""
    total = 0.0
    for m in range(1, n + 1):
        scale = read(atol, m - 1) + rtol * max(abs(read(a, m)), abs(read(b, m)))
        ratio = read(v, m) / scale
        total += ratio * ratio
    return total


@piece
def error_of(at: Addresses, by: Estimate, h: float, x: Address, y: Address) -> float:
    """Error of a step from x to y, 1 being what is allowed.

    With two estimates, those of dop853, err = e₅²/√(e₅² + 0.01 e₃²): Hairer, Nørsett, Wanner (II.10.17).
    """
    gather(at, by.row, h, by.zero, at.z)
    first = square_sum(at.z, x, y, by.atol, by.rtol, at.n)
    error = np.sqrt(first / at.n)
    if by.estimates == 2 and first > 0.0:
        gather(at, by.row + 1, h, by.zero, at.z)
        error = first / np.sqrt((first + 0.01 * square_sum(at.z, x, y, by.atol, by.rtol, at.n)) * at.n)
    return error


@piece
def trial(at: Addresses, by: Estimate, h: float, x: Address, y: Address, count: Counters) -> float:
    """Try a step from x to y; the answer is its error, infinite where the right-hand side fails.

    The slope at y, row s of k, is there if the error is at most 1.
    """
    if at.solve != 0:
        status = solved(at, h, x, y)
    else:
        status = evaluate(at, 1, at.stages, h, x)
        gather(at, at.stages, h, x, y)
    end_slope = at.k + 8 * at.n * at.stages
    if status == 0 and by.fsal:
        status = call(at.f, y, at.constants, end_slope)
    error = np.inf
    if status == 0:
        error = error_of(at, by, h, x, y)
        if error <= 1.0 and not by.fsal:
            status = call(at.f, y, at.constants, end_slope)
    count[EVALUATIONS] += at.stages if at.solve == 0 else 1
    count[STATUS] = max(status, 0)
    return error if status == 0 else np.inf


@piece
def ratio_of_steps(error: float, before: float, control: Control, growth: float) -> float:
    """Next step over this one."""
    ratio = control.safety * error ** (-control.exponent) * before**control.memory
    if not ratio >= control.smallest:  # also where the error is not a number
        ratio = control.smallest
    return min(growth, ratio)


@part
def interpolate(at: Addresses, dense: Interpolant, theta: float, h: float, x: Address, y: Address) -> None:
    """y = x + h Σ k[i] Σ factors[i, j] φⱼ(θ) with φ = θ, θ(1 - θ), θ²(1 - θ), …"""
    height, degree = dense.factors.shape
    factors, weights = place(dense.factors), at.k + 8 * at.n * height
    for i in range(height):
        value, phi = 0.0, 1.0
        for j in range(degree):
            phi *= theta if j % 2 == 0 else 1.0 - theta
            value += phi * read(factors, i * degree + j)
        write(weights, i, value)
    add(place(dense.identity), weights, 0, height, at.k, at.n, h, x, y)


@compiled
def first_step(
    f: Callee, control: Control, order: float, work: Array, slopes: Array, clock: Array, count: Counters
) -> int:
    """Slope at the start and a first step."""
    return begun(f.address, place(f.constants), control, order, work, slopes, clock, count)


@piece
def begun(
    f: Address, c: Address, control: Control, order: float, work: Array, slopes: Array, clock: Array, count: Counters
) -> int:
    """Slope at the start and a first step from the size of y, y' and y'' (Hairer, Nørsett, Wanner II.4)."""
    n = work.shape[1] - 1
    x, k, atol = place(work), place(slopes), place(control.atol)
    y, z = x + 8 * (n + 1), x + 16 * (n + 1)
    status = call(f, x, c, k)
    count[EVALUATIONS] += 2
    if status != 0:
        count[STATUS] = status
        return SINGULAR
    copy(k, z + 8, n)
    d0 = np.sqrt(square_sum(x, x, x, atol, control.rtol, n) / n)
    d1 = np.sqrt(square_sum(z, x, x, atol, control.rtol, n) / n)
    span = control.t1 - read(x, 0)
    h = min(span, 1e-6 if d0 < 1e-5 or not d1 >= 1e-5 else 0.01 * d0 / d1)
    for m in range(n):
        write(y, m + 1, read(x, m + 1) + h * read(k, m))
    write(y, 0, read(x, 0) + h)
    clock[STEP], clock[ERROR] = h, 1e-4
    if not bounded(y, n) or call(f, y, c, k + 8 * n) != 0:
        return RUNNING  # the trial went too far: begin with the cautious step
    for m in range(n):
        write(z, m + 1, (read(k + 8 * n, m) - read(k, m)) / h)
    d2 = np.sqrt(square_sum(z, x, x, atol, control.rtol, n) / n)
    largest = max(d1, d2)
    if np.isfinite(largest):
        better = max(1e-6, h * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / order)
        clock[STEP] = min(100 * h, better, span)
    return RUNNING


@piece
def fill_grid(
    at: Addresses,
    after_step: Callee,
    dense: Interpolant,
    out: Output,
    h: float,
    x: Address,
    y: Address,
    between: Address,
    count: Counters,
) -> int:
    """Store the states at the times of the grid inside the step from x to y."""
    n, t, end, code = at.n, read(x, 0), read(y, 0), RUNNING
    height, size = dense.factors.shape[0], 8 * (n + 1)
    ready = height == at.stages + 1
    while count[STORED] < out.grid.size and out.grid[count[STORED]] <= end and code == RUNNING:
        time = out.grid[count[STORED]]
        row = place(out.rows) + size * count[STORED]
        if time == end:
            copy(y, row, n + 1)
        else:
            if not ready:
                count[STATUS] = evaluate(at, at.stages + 1, height, h, x)
                count[EVALUATIONS] += height - at.stages - 1
                ready = True
            interpolate(at, dense, (time - t) / h, h, x, between)
            write(between, 0, time)
            code = settle(after_step.address, place(after_step.constants), between, n, at.z)
            if count[STATUS] != 0:
                code = SINGULAR
            copy(between, row, n + 1)
        count[STORED] += 1 if code == RUNNING else 0
    return code


@compiled
def adaptive(
    chunk: int,
    f: Callee,
    solve: Callee,
    after_step: Callee,
    rule: Scheme,
    control: Control,
    order: float,
    errors: int,
    fsal: bool,
    dense: Interpolant,
    out: Output,
    work: Array,
    slopes: Array,
    clock: Array,
    count: Counters,
) -> int:
    """At most `chunk` trials from the state in row 0 of `work` towards t1; before the first one a first step is proposed."""
    if count[DONE] + count[REJECTED] == 0:
        begun = first_step(f, control, order, work, slopes, clock, count)
        if begun != RUNNING:
            return begun
    n = work.shape[1] - 1
    size = 8 * (n + 1)
    x = place(work)
    y, z, between, zero = x + size, x + 2 * size, x + 3 * size, x + 4 * size
    at = addresses(f, solve, rule, n, slopes, z)
    by = Estimate(errors, dense.factors.shape[0], fsal, zero, place(control.atol), control.rtol)
    for _ in range(chunk):
        t, h = read(x, 0), clock[STEP]
        if not 0.1 * h > 2.3e-16 * abs(t) or h < 1e-290:  # the time would not move
            return SINGULAR if count[STATUS] != 0 else STALLED
        final = t + 1.01 * h >= control.t1
        if final:
            h = control.t1 - t
        write(y, 0, control.t1 if final else t + h)
        error = trial(at, by, h, x, y, count)
        if not error <= 1.0:
            clock[STEP] = h * ratio_of_steps(error, 1.0, control, 0.9)
            count[REJECTED] += 1
            count[AFTER_REJECTION] = 1
            continue
        code = settle(after_step.address, place(after_step.constants), y, n, z)
        if code == RUNNING and out.on_grid:
            code = fill_grid(at, after_step, dense, out, h, x, y, between, count)
        if code != RUNNING:
            return code
        copy(y, x, n + 1)
        copy(at.k + 8 * n * at.stages, at.k, n)
        count[DONE] += 1
        if not out.on_grid:
            copy(x, place(out.rows) + size * count[STORED], n + 1)
            count[STORED] += 1
        if final:
            return FINISHED
        if after_step.address != 0:
            count[STATUS] = call(at.f, x, at.constants, at.k)
            count[EVALUATIONS] += 1
            if count[STATUS] != 0:
                return SINGULAR
        growth = 1.0 if count[AFTER_REJECTION] else control.largest
        clock[STEP] = h * ratio_of_steps(error, clock[ERROR], control, growth)
        clock[ERROR] = max(error, 1e-4)
        count[AFTER_REJECTION] = 0
    return RUNNING
