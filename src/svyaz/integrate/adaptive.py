"""Steps chosen by an estimate of the error, in native code: all members of a group, of one lane or of several.

All lanes try a step together, each of its own length; what a lane rejects it tries again with the next trial of the others.
Names are those of `svyaz.integrate.stages` and `state`; `slopes` have a row for each stage, one for the slope at the end of
the step, one for each stage of dense output, and room for the weights of the interpolant. Row 0 always holds the slope of the
state: a rejected step does not evaluate it again.

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
    EXHAUSTED,
    FINISHED,
    REJECTED,
    RUNNING,
    SINGULAR,
    STALLED,
    STATUS,
    STORED,
    Counters,
    bits,
    call,
    choose,
    entry,
    every_lane,
    failures,
    fused,
    lanes,
    mask,
    own,
    square_root,
    tail,
    unbounded,
    width,
)
from svyaz.integrate.compiling import compiled, part, piece
from svyaz.integrate.members import admit, answer, has_ended, judge, observe, retire, settle, spread, store, take
from svyaz.integrate.stages import Stages, add, combine, scheme, slopes_of, solved
from svyaz.integrate.state import LIVE, NEXT, GroupRun, LaneState
from svyaz.integrate.tableau import Tableau

STEP, ERROR, LAST_STEP, FACTORISED = range(4)  # places in a clock; the last two are Radau's
TIME, THETA, SIZE, CURVE = range(4)  # places in the room for numbers of lanes


class Control(NamedTuple):
    """What is asked of the steps: the end, tolerances (a row for each member, or one for all), the rule of the next step (see
    `tableau.Controller`), how many trials a member may make, and the order of the method for the first step.
    """

    t1: float
    rtol: float
    atol: Array
    exponent: float
    memory: float
    smallest: float
    largest: float
    safety: float
    most: int
    order: float


class Embedded(NamedTuple):
    """Estimates of the error: their number, the first row of the scheme, whether they use the slope at the end of the step.
    Dense output: factors (rows of slopes, d) of the nested basis, and the numbers 0, 1, … of these rows.
    """

    estimates: int
    row: int
    fsal: bool
    factors: Array
    identity: NDArray[np.int64]


def embedded(tableau: Tableau) -> Embedded:
    """What a method with an estimate of its error brings along."""
    assert tableau.dense is not None, "a method that chooses its steps has dense output"
    height, errors = len(tableau.dense), len(tableau.errors)
    row = len(scheme(tableau).first) - 1 - errors
    return Embedded(errors, row, bool(tableau.fsal), tableau.dense, np.arange(height, dtype=np.int64))


@piece
def gather_slopes(at: Stages, row: int, h: float, x: Array, y: Array) -> None:
    """`combine` as a call: a copy of it at each place would cost more to compile than the calls cost to run."""
    combine(at, row, h, x, y)


@part
def evaluate(at: Stages, begin: int, end: int, h: float, x: Array) -> int:
    """`slopes_of` as a call."""
    return slopes_of(at, begin, end, h, x)


@piece
def square_sum(v: Array, a: Array, b: Array, atol: Array, rtol: float) -> float:
    """Σ (vᵢ / (atolᵢ + rtol max(|aᵢ|, |bᵢ|)))² over the states of three [t, y…]."""
    total = choose(v[1] < 0.0, 0.0, 0.0)
    for m in range(1, v.size):
        first, second = abs(entry(a, m)), abs(entry(b, m))
        ratio = entry(v, m) / fused(rtol, choose(second > first, second, first), entry(atol, m - 1))
        total = fused(ratio, ratio, total)
    return total


@piece
def error_of(at: Stages, by: Embedded, control: Control, s: LaneState) -> float:
    """Error of a step from x to y, 1 being what is allowed.

    With two estimates, those of dop853, err = e₅²/√(e₅² + 0.01 e₃²): Hairer, Nørsett, Wanner (II.10.17).
    """
    h, n = s.step[0], float(s.x.size - 1)
    gather_slopes(at, by.row, h, s.zero, at.z)
    first = square_sum(at.z, s.x, s.y, s.atol, control.rtol)
    error = square_root(first / n)
    if by.estimates == 2:
        gather_slopes(at, by.row + 1, h, s.zero, at.z)
        second = square_sum(at.z, s.x, s.y, s.atol, control.rtol)
        error = choose(first > 0.0, first / square_root(fused(0.01, second, first) * n), error)
    return error


@piece
def trial(at: Stages, by: Embedded, control: Control, s: LaneState) -> int:
    """Try a step from x to y in all lanes; their errors are left in `s.error`, infinite where the rates fail. The slope at y,
    row s of the slopes, is there where the error is at most 1. The answer is the status of the rates.
    """
    h, stages, full = s.step[0], at.rule.stages, every_lane(s.x)
    if at.implicit.address != 0:
        status = solved(at, s.step, s.x, s.y)
    else:
        status = slopes_of(at, 1, stages, h, s.x)
        gather_slopes(at, stages, h, s.x, s.y)
    s.y[0] = s.time[0]
    ends = tail(at.slopes, (s.x.size - 1) * stages)
    if by.fsal and failures(status, s.x) != full:
        status |= call(at.rates, s.y, at.constants, ends)
    if failures(status, s.x) != full:
        s.error[0] = error_of(at, by, control, s)
        if not by.fsal and bits(s.error[0] <= 1.0) != 0:
            status |= call(at.rates, s.y, at.constants, ends)
    s.error[0] = choose(mask(failures(status, s.x), s.x), np.inf, s.error[0])
    return status


@piece
def ratio_of_steps(error: float, before: float, control: Control, growth: float) -> float:
    """Next step over this one."""
    ratio = control.safety * error ** (-control.exponent) * before**control.memory
    if not ratio >= control.smallest:  # also where the error is not a number
        ratio = control.smallest
    return min(growth, ratio)


@piece
def interpolate(at: Stages, by: Embedded, theta: float, h: float, x: Array, y: Array) -> None:
    """y = x + h Σ k[i] Σ factors[i, j] φⱼ(θ) with φ = θ, θ(1 - θ), θ²(1 - θ), …"""
    height, degree = by.factors.shape
    weights = tail(at.slopes, (x.size - 1) * height)
    for i in range(height):
        phi = theta
        value = phi * by.factors[i, 0]
        for j in range(1, degree):
            phi = phi * (theta if j % 2 == 0 else 1.0 - theta)
            value = fused(phi, by.factors[i, j], value)
        weights[i] = value
    add(by.identity, weights, 0, height, at.slopes, h, x, y)


@part
def begin_steps(at: Stages, control: Control, s: LaneState, fresh: int) -> None:
    """Slope at the start of the lanes that are fresh, and a first step from the size of y, y' and y'' (Hairer, Nørsett, Wanner
    II.4).
    """
    n = s.x.size - 1
    begun, slopes, moved = mask(fresh, s.x), s.slopes, tail(s.slopes, n)
    status = call(at.rates, s.x, at.constants, moved)
    bad = failures(status, s.x)
    for m in range(n):
        s.z[m + 1] = moved[m]
        slopes[m] = choose(begun, moved[m], slopes[m])
    d0 = square_root(square_sum(s.x, s.x, s.x, s.atol, control.rtol) / float(n))
    d1 = square_root(square_sum(s.z, s.x, s.x, s.atol, control.rtol) / float(n))
    span = control.t1 - s.x[0]
    usual = choose(d0 < 1e-5, 1e-6, choose(d1 >= 1e-5, 0.01 * d0 / d1, 1e-6))
    h = choose(usual < span, usual, span)
    for m in range(n):
        s.y[m + 1] = fused(h, moved[m], s.x[m + 1])
    s.y[0] = s.x[0] + h
    s.room[TIME], s.room[SIZE] = h, d1
    wild = bad | unbounded(s.y)
    if wild & fresh != fresh:
        wild |= failures(call(at.rates, s.y, at.constants, moved), s.x)
        for m in range(n):
            s.z[m + 1] = (moved[m] - slopes[m]) / h
        s.room[CURVE] = square_root(square_sum(s.z, s.x, s.x, s.atol, control.rtol) / float(n))
    for lane in range(width(s.x)):
        if not (fresh >> lane) & 1:
            continue
        s.counters[lane, EVALUATIONS] += 2
        if (bad >> lane) & 1:
            s.code[lane], s.counters[lane, STATUS] = SINGULAR, status if width(s.x) == 1 else 1
        step, d1_own, d2_own = lanes(s.room)[TIME, lane], lanes(s.room)[SIZE, lane], lanes(s.room)[CURVE, lane]
        s.clocks[lane, STEP], s.clocks[lane, ERROR] = step, 1e-4
        largest = max(d1_own, d2_own)
        if not (wild >> lane) & 1 and np.isfinite(largest):  # else the trial went too far: begin with the cautious step
            better = max(1e-6, step * 1e-3) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / control.order)
            s.clocks[lane, STEP] = min(100 * step, better, control.t1 - lanes(s.x)[0, lane])


@piece
def next_lengths(control: Control, s: LaneState) -> None:
    """The step of each lane and the time after it; lanes without a member stand still, and so does one whose time would not
    move any more or which has made all its trials.
    """
    step, time, x = lanes(s.step), lanes(s.time), lanes(s.x)
    for lane in range(width(s.x)):
        count, t, h = s.counters[lane], x[0, lane], s.clocks[lane, STEP]
        step[0, lane], time[0, lane] = 0.0, t
        if s.code[lane] != RUNNING:
            continue
        if not 0.1 * h > 2.3e-16 * abs(t) or h < 1e-290:
            s.code[lane] = SINGULAR if count[STATUS] != 0 else STALLED
        elif count[DONE] + count[REJECTED] >= control.most:
            s.code[lane] = EXHAUSTED
        elif t + 1.01 * h >= control.t1:
            step[0, lane], time[0, lane] = control.t1 - t, control.t1
        else:
            step[0, lane], time[0, lane] = h, t + h


@piece
def accept(at: Stages, control: Control, status: int, s: LaneState) -> int:
    """The lanes whose trial is good enough; the others are to try a shorter step."""
    good, bad = 0, failures(status, s.x)
    for lane in range(width(s.x)):
        if s.code[lane] != RUNNING:
            continue
        count, error = s.counters[lane], lanes(s.error)[0, lane]
        count[EVALUATIONS] += at.rule.stages if at.implicit.address == 0 else 1
        count[STATUS] = max(status, 0) if width(s.x) == 1 else (bad >> lane) & 1
        if error <= 1.0:
            good |= 1 << lane
        else:
            s.clocks[lane, STEP] = lanes(s.step)[0, lane] * ratio_of_steps(error, 1.0, control, 0.9)
            count[REJECTED] += 1
            count[AFTER_REJECTION] = 1
    return good


@piece
def fill_grid(p: GroupRun, at: Stages, by: Embedded, good: int) -> None:
    """Store the states at the times of the grid inside the steps of the lanes that are good."""
    s, output, height = p.state, p.output, by.factors.shape[0]
    ready, grid, room = height == at.rule.stages + 1, p.output.grid, lanes(p.state.room)
    while good != 0:
        status, inside = 0, 0
        for lane in range(width(s.x)):
            place, end = s.counters[lane, STORED], lanes(s.y)[0, lane]
            if not (good >> lane) & 1 or place >= grid.size or grid[place] > end:
                continue
            if grid[place] == end:
                store(s.y, lane, output, s)
                continue
            inside |= 1 << lane
            room[TIME, lane] = grid[place]
            room[THETA, lane] = (grid[place] - lanes(s.x)[0, lane]) / lanes(s.step)[0, lane]
            s.counters[lane, EVALUATIONS] += 0 if ready else height - at.rule.stages - 1
        good = inside
        if inside == 0:
            break
        if not ready:
            status = evaluate(at, at.rule.stages + 1, height, s.step[0], s.x)
            ready = True
        interpolate(at, by, s.room[THETA], s.step[0], s.x, s.between)
        s.between[0] = s.room[TIME]
        lost, wild = settle(p, s.between, inside)
        if (status | lost | wild) != 0:
            judge(s, inside, status, lost, wild)
        for lane in range(width(s.x)):
            if (inside >> lane) & 1 and s.code[lane] == RUNNING:
                store(s.between, lane, output, s)
            elif (inside >> lane) & 1:
                good &= ~(1 << lane)


@piece
def follow(p: GroupRun, at: Stages, control: Control, good: int) -> None:
    """Take the steps of the lanes that are good and choose the next ones."""
    s, n, output = p.state, p.state.x.size - 1, p.output
    take(s, good)
    taken, ends, further = mask(good, s.x), tail(at.slopes, n * at.rule.stages), 0
    for m in range(n):
        at.slopes[m] = choose(taken, ends[m], at.slopes[m])
    for lane in range(width(s.x)):
        if not (good >> lane) & 1:
            continue
        s.counters[lane, DONE] += 1
        if not output.on_grid and output.rows.shape[1] > 0:
            store(s.x, lane, output, s)
        if lanes(s.x)[0, lane] == control.t1:
            s.code[lane] = FINISHED
        else:
            further |= 1 << lane
    if further != 0 and p.functions.after_step != 0:
        moved, going = tail(at.slopes, n), mask(further, s.x)
        status = call(at.rates, s.x, at.constants, moved)
        for m in range(n):
            at.slopes[m] = choose(going, moved[m], at.slopes[m])
        if status != 0:
            judge(s, further, status, 0, 0)
        for lane in range(width(s.x)):
            s.counters[lane, EVALUATIONS] += (further >> lane) & 1
    for lane in range(width(s.x)):
        if not (further >> lane) & 1 or s.code[lane] != RUNNING:
            continue
        count, error = s.counters[lane], lanes(s.error)[0, lane]
        growth = 1.0 if count[AFTER_REJECTION] else control.largest
        ratio = ratio_of_steps(error, s.clocks[lane, ERROR], control, growth)
        s.clocks[lane, STEP] = lanes(s.step)[0, lane] * ratio
        s.clocks[lane, ERROR] = max(error, 1e-4)
        count[AFTER_REJECTION] = 0
    if p.functions.observe != 0:
        observe(p, good, 0)


@part
def enter(p: GroupRun, control: Control) -> int:
    """Put members into the lanes that have none, with their tolerances; those that have a way to go are named in the answer."""
    s, rows = p.state, control.atol
    fresh = admit(p)
    for lane in range(width(s.x)):
        spread(rows[min(max(0, s.member[lane]), len(rows) - 1)], s.atol, lane)
        if (fresh >> lane) & 1 and lanes(s.x)[0, lane] >= control.t1:
            s.code[lane] = FINISHED
            fresh &= ~(1 << lane)
    return fresh


@compiled
def adaptive(chunk: int, control: Control, by: Embedded, p: GroupRun, stop: Counters) -> int:
    """At most ``chunk`` trials of each lane towards t1; less soon after another thread has set stop[0].

    The answer is RUNNING, or the code with which the last member ended.
    """
    s, group = p.state, p.group
    for _ in range(chunk):
        if stop[0] != 0 or has_ended(p):
            break
        fresh = 0
        if s.queue[LIVE] < width(s.x) and s.queue[NEXT] < len(group.starts):
            fresh = enter(p, control)
        constants = own(group.constants, s.constants, s.member[0])
        at = Stages(p.functions.rates, constants, p.rule, s.slopes, s.z, p.functions.implicit)
        if fresh != 0:
            begin_steps(at, control, s, fresh)
        next_lengths(control, s)
        running = 0
        for lane in range(width(s.x)):
            running |= (1 << lane) if s.code[lane] == RUNNING else 0
        good = 0
        if running != 0:
            good = accept(at, control, trial(at, by, control, s), s)
        if good != 0:
            lost, wild = settle(p, s.y, good)
            if (lost | wild) != 0:
                judge(s, good, 0, lost, wild)
                good &= ~(lost | wild)
            if p.output.on_grid and p.output.grid.size > 0:
                fill_grid(p, at, by, good)
                for lane in range(width(s.x)):
                    good &= ~(1 << lane) if s.code[lane] != RUNNING else -1
            if good != 0:
                follow(p, at, control, good)
        retire(p)
    return answer(p)
