"""Many runs with steps chosen by an estimate of the error, several at once: a member in each lane of the vector registers.

All lanes try a step together, each of its own length; what a lane rejects it tries again with the others' next trial, and a
member that ends leaves its lane to the next one. States, slopes and estimates are computed for all lanes, the rule of the next
step for one after another by the functions of `svyaz.integrate.adaptive`: a member has the bits of a run alone. Members that
cannot be finished here (singular, diverged, stalled, too many trials) are left to such a run, which says why.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.adaptive import ERROR, STEP, Control, begun, ratio_of_steps, square_sum
from svyaz.integrate.calls import (
    COUNTERS,
    FINISHED,
    RUNNING,
    STALLED,
    Address,
    Counters,
    bounded,
    call,
    copy,
    place,
    read,
    whole,
    write,
)
from svyaz.integrate.compiling import Callback as Addressed
from svyaz.integrate.compiling import compiled, part, rebound
from svyaz.integrate.lane_desk import (
    BLOCK,
    IDLE,
    Desk,
    Functions,
    begin,
    called,
    desk_for,
    gathered,
    retire,
    see,
    spread,
    told_rows,
    told_seen,
)
from svyaz.integrate.loops import CODE, Group
from svyaz.integrate.stages import scheme
from svyaz.integrate.tableau import Tableau
from svyaz.program import Native, lane_width, lanes_of, lined_up

TRIALS = 50_000
"""So many a member may make here."""


class Pair(NamedTuple):
    """What is known of an embedded pair: stages, estimates of the error and the first of their rows, whether they use the slope
    at the end of a step; the order for the first step.
    """

    stages: int
    estimates: int
    row: int
    fsal: bool
    order: float


class Trials(NamedTuple):
    """Of each lane: the step to try, the error of the last one that was taken, that of this trial, its first estimate, whether
    this is the last step, whether the trial before was rejected, how many were; and room for a member alone.
    """

    step: Array
    before: Array
    error: Array
    first: Array
    final: NDArray[np.int64]
    after: NDArray[np.int64]
    rejected: NDArray[np.int64]
    work: Array
    slopes: Array
    clock: Array
    counters: Counters


def prepare_free_ensemble(
    tableau: Tableau,
    codes: tuple[Addressed, Native | None],
    control: Control,
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> tuple[Callable[..., int], NDArray[np.int64]] | None:
    """What runs members with steps of their own in lanes up to a time, and where it leaves the rejected trials (k,) of each;
    None where there are no lanes for it.

    codes: the rates, and what is observed after every step. Members whose answer is not FINISHED are left to a run alone.
    """
    width, (rates, observe) = lane_width(), codes
    explicit = not tableau.implicit and not tableau.loops and tableau.embedded and tableau.dense is not None
    if not explicit or len(group.starts) < 2 * width or width == 1 or not isinstance(rates, Native):
        return None
    wide = [None if code is None else lanes_of(code) for code in (rates, observe)]
    if wide[0] is None or (observe is not None and wide[1] is None):
        return None
    addresses = (wide[0].address, 0 if wide[1] is None else wide[1].address)
    n, stages = group.starts.shape[1] - 1, tableau.stages
    desk = desk_for(width, stages + 1, group, columns.size, observed)
    rule, errors = scheme(tableau), len(tableau.errors)
    last = len(rule.first) - 1
    blocks = told_rows(rule, last, n, desk.slopes, desk.x)
    nothing = lined_up((n + 1) * width)
    blocks[last - errors :, 5] = nothing.ctypes.data  # estimates are no states: they begin at zero
    step, before, error, first = (lined_up(max(1, width)) for _ in range(4))
    final, after, refused = (np.zeros(max(1, width), dtype=np.int64) for _ in range(3))
    room = np.zeros((6, n + 1)), np.zeros(2 * max(1, n)), np.zeros(4), np.zeros(COUNTERS, dtype=np.int64)
    trials = Trials(step, before, error, first, final, after, refused, *room)
    rejected = np.zeros(len(group.starts), dtype=np.int64)
    pair = Pair(stages, errors, last - errors, bool(tableau.fsal), float(tableau.order))
    functions = (called((*addresses, 0), width), rates.address, pair)
    work = (n, width, group, columns, desk, trials, blocks, told_seen(desk, columns), rejected, stop)
    loop = rebound(_free, len(functions), 1, *functions, control, *work)

    def run(end: float, _alive: Array = nothing) -> int:
        return loop(end)

    return run, rejected


@part
def _next(
    f: Functions,
    alone: Address,
    pair: Pair,
    control: Control,
    n: int,
    width: int,
    lane: int,
    number: int,
    group: Group,
    columns: Counters,
    desk: Desk,
    trials: Trials,
    block: Address,
) -> int:
    """Put the next member that can begin into a lane; the answer is the number of the one after it."""
    count = len(group.starts)
    while number < count:
        copy(place(group.starts) + 8 * (n + 1) * number, place(trials.work), n + 1)
        constants = place(group.constants) + 8 * group.constants.shape[1] * number
        code = begun(alone, constants, control, pair.order, trials.work, trials.slopes, trials.clock, trials.counters)
        if code == RUNNING:
            begin(f, n, width, lane, number, group, columns, desk, block)
            spread(place(trials.slopes), place(desk.slopes), lane, width, n)
            trials.step[lane], trials.before[lane] = trials.clock[STEP], trials.clock[ERROR]
            trials.after[lane], trials.rejected[lane] = 0, 0
            return number + 1
        group.answers[number, CODE] = code
        number += 1
    desk.ended[lane] = IDLE
    return number


@part
def _lengths(width: int, control: Control, desk: Desk, trials: Trials) -> None:
    """The step of each lane; lanes without a member stand still, and so does one whose time would not move any more."""
    for lane in range(width):
        t, h = read(place(desk.x), lane), trials.step[lane]
        if desk.ended[lane] == RUNNING and (not 0.1 * h > 2.3e-16 * abs(t) or h < 1e-290):
            desk.ended[lane] = STALLED
        trials.final[lane] = 0
        if desk.ended[lane] != RUNNING:
            desk.steps[lane] = 0.0
            continue
        if t + 1.01 * h >= control.t1:
            h = control.t1 - t
            trials.final[lane] = 1
        desk.steps[lane] = h


@part
def _tried(
    f: Functions, pair: Pair, control: Control, n: int, width: int, desk: Desk, trials: Trials, rows: Address
) -> int:
    """All lanes try a step from x to y; a bit for each whose rates fail."""
    wide = 8 * n * width
    x, y, z, k = place(desk.x), place(desk.y), place(desk.z), place(desk.slopes)
    h, c = place(desk.steps), place(desk.constants)
    bad = 0
    for i in range(1, pair.stages):
        call(f.add, rows + 8 * BLOCK * i, h, z)
        bad |= call(f.rates, z, c, k + wide * i)
    call(f.add, rows + 8 * BLOCK * pair.stages, h, y)
    for lane in range(width):
        t = read(x, lane)
        write(y, lane, control.t1 if trials.final[lane] else t + desk.steps[lane])
    if pair.fsal:
        bad |= call(f.rates, y, c, k + wide * pair.stages)
    return bad


@part
def _squares(n: int, width: int, lane: int, control: Control, desk: Desk, trials: Trials) -> float:
    """The square sum of an estimate, which stands in z, of one lane."""
    v = place(trials.work)
    a, b = v + 8 * (n + 1), v + 16 * (n + 1)
    gathered(place(desk.z), v, lane, width, n + 1)
    gathered(place(desk.x), a, lane, width, n + 1)
    gathered(place(desk.y), b, lane, width, n + 1)
    return square_sum(v, a, b, place(control.atol), control.rtol, n)


@part
def _errors(
    f: Functions, pair: Pair, control: Control, n: int, width: int, bad: int, desk: Desk, trials: Trials, rows: Address
) -> None:
    """The error of each lane's trial, as ``adaptive.error_of`` has it; infinite where rates failed."""
    call(f.add, rows + 8 * BLOCK * pair.row, place(desk.steps), place(desk.z))
    for lane in range(width):
        trials.first[lane] = _squares(n, width, lane, control, desk, trials)
        first = trials.first[lane]
        trials.error[lane] = np.sqrt(first / n)
    if pair.estimates == 2:
        call(f.add, rows + 8 * BLOCK * (pair.row + 1), place(desk.steps), place(desk.z))
        for lane in range(width):
            first = trials.first[lane]
            if first > 0.0:
                second = _squares(n, width, lane, control, desk, trials)
                trials.error[lane] = first / np.sqrt((first + 0.01 * second) * n)
    fit = 0
    for lane in range(width):
        if (bad >> lane) & 1:
            trials.error[lane] = np.inf
        if desk.ended[lane] == RUNNING and trials.error[lane] <= 1.0:
            fit = 1
    if fit and not pair.fsal:
        lost = call(f.rates, place(desk.y), place(desk.constants), place(desk.slopes) + 8 * n * width * pair.stages)
        for lane in range(width):
            if (lost >> lane) & 1:
                trials.error[lane] = np.inf


@part
def _taken(pair: Pair, control: Control, n: int, width: int, desk: Desk, trials: Trials) -> int:
    """Take the steps that are good enough and choose the next ones; 1 if some were taken, plus 2 if some members have ended."""
    answer = 0
    x, y, k = place(desk.x), place(desk.y), place(desk.slopes)
    ends = k + 8 * n * width * pair.stages
    for lane in range(width):
        desk.on[lane] = 0.0
        if desk.ended[lane] != RUNNING:
            answer |= 2 if desk.ended[lane] != IDLE else 0
            continue
        h, error = desk.steps[lane], trials.error[lane]
        if not error <= 1.0:
            trials.step[lane] = h * ratio_of_steps(error, 1.0, control, 0.9)
            trials.rejected[lane] += 1
            trials.after[lane] = 1
        else:
            gathered(y, place(trials.work), lane, width, n + 1)
            if not bounded(place(trials.work), n):
                desk.ended[lane] = STALLED
                answer |= 2
                continue
            spread(place(trials.work), x, lane, width, n + 1)
            for m in range(n):
                write(k, m * width + lane, read(ends, m * width + lane))
            desk.done[lane] += 1
            desk.on[lane] = 1.0
            answer |= 1
            growth = 1.0 if trials.after[lane] else control.largest
            trials.step[lane] = h * ratio_of_steps(error, trials.before[lane], control, growth)
            trials.before[lane] = max(error, 1e-4)
            trials.after[lane] = 0
            if trials.final[lane]:
                desk.ended[lane] = FINISHED
                answer |= 2
        if desk.ended[lane] == RUNNING and desk.done[lane] + trials.rejected[lane] >= TRIALS:
            desk.ended[lane] = STALLED
            answer |= 2
    return answer


@compiled
def _free(
    f: Functions,
    alone: Address,
    pair: Pair,
    control: Control,
    n: int,
    width: int,
    group: Group,
    columns: NDArray[np.int64],
    desk: Desk,
    trials: Trials,
    blocks: NDArray[np.int64],
    seen: NDArray[np.int64],
    rejected: NDArray[np.int64],
    stop: Counters,
) -> int:
    """All members of a group."""
    rows, block = place(blocks), place(seen)
    following = 0
    live = 0
    for lane in range(width):
        following = _next(f, alone, pair, control, n, width, lane, following, group, columns, desk, trials, block)
        live += 1 if desk.ended[lane] == RUNNING else 0
    while live > 0 and whole(place(stop), 0) == 0:
        _lengths(width, control, desk, trials)
        bad = _tried(f, pair, control, n, width, desk, trials, rows)
        _errors(f, pair, control, n, width, bad, desk, trials, rows)
        news = _taken(pair, control, n, width, desk, trials)
        if news & 1 and f.observe != 0:
            see(f, n, width, desk, block)
        if not news & 2:
            continue
        for lane in range(width):
            if desk.ended[lane] == RUNNING or desk.ended[lane] == IDLE:
                continue
            retire(f, n, width, lane, group, columns, desk, block)
            rejected[desk.member[lane]] = trials.rejected[lane]
            following = _next(f, alone, pair, control, n, width, lane, following, group, columns, desk, trials, block)
            live -= 1 if desk.ended[lane] == IDLE else 0
    return following
