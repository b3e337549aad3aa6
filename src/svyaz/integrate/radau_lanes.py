"""Many runs by Radau IIA with steps chosen by an estimate of the error, several at once: a member in each lane.

All lanes try a step together, each of its own length, and iterate until each of them has converged or given up; a member
that ends leaves its lane to the next one. Rates, factors and stages are computed for all lanes (`radau_kernels`); J, the map
after a step, rows and the rule of the next step are the same parts as in `radau`, lane by lane. A member has the bits of a
run alone. Those whose J does not exist somewhere are left to such a run (``ALONE``).
"""

from __future__ import annotations

import numpy as np

from svyaz.integrate.adaptive import FACTORISED, LAST_STEP, STEP, Control
from svyaz.integrate.calls import (
    COUNTERS,
    DONE,
    EXHAUSTED,
    FINISHED,
    FRESH,
    JACOBIANS,
    REJECTED,
    RUNNING,
    SINGULAR,
    STALLED,
    STORED,
    Address,
    Callee,
    call,
    copy,
    place,
    read,
    settle,
    write,
)
from svyaz.integrate.compiling import compiled, part
from svyaz.integrate.implicit import Located
from svyaz.integrate.newton import FAILED, FURTHER, MOST_ITERATIONS, SOLVED, judged, size_of
from svyaz.integrate.radau import (
    POWER,
    StoredRows,
    ages,
    allowed,
    fill_grid,
    growth,
    is_final,
    next_step,
    refuse,
    reject,
    spoilt,
    stands,
)
from svyaz.integrate.radau_desk import Calls, StiffDesk, StiffRuns, desk_for, gathered, spread
from svyaz.integrate.radau_first import begun
from svyaz.integrate.radau_kernels import MOST_STATES, Kernels, StepPlaces, kernels, places
from svyaz.integrate.runs import Natives
from svyaz.integrate.state import IDLE
from svyaz.program import Native, lane_width, lanes_of

ALONE = 98
"""What has become of a member that is left to a run alone."""


def radau_in_lanes(natives: Natives, control: Control, members: StiffRuns, most: int) -> None:
    """Run all members, each with at most so many trials; those whose code is ``ALONE`` afterwards are left to a run alone."""
    width, n, owner = lane_width(), natives.size, natives.owners[0]
    many = len(members.starts) >= max(2 * width, n * n)  # code for many states takes long to compile
    wide = lanes_of(owner) if isinstance(owner, Native) and many and n <= MOST_STATES else None
    if wide is not None and members.starts[0, 0] < control.t1:
        run_in_lanes(wide.address, width, natives, control, members, most)


def run_in_lanes(wide: Address, width: int, natives: Natives, control: Control, members: StiffRuns, most: int) -> None:
    """The same, where ``wide`` are the rates of all lanes."""
    n = natives.size
    constants = np.repeat(natives.rates.constants, width)
    rates, jacobian = (Located(f.address, f.constants.ctypes.data) for f in (natives.rates, natives.jacobian))
    f = Calls(Located(wide, constants.ctypes.data), rates, jacobian, natives.after_step.address)
    desk = desk_for(n, width, control.rtol)
    _free(f, kernels(n, max(2, width)), places(n), control, most, n, width, members, desk)


@part
def _next(
    f: Calls,
    at: StepPlaces,
    control: Control,
    n: int,
    width: int,
    lane: int,
    number: int,
    members: StiffRuns,
    desk: StiffDesk,
) -> int:
    """Put the next member that can begin into a lane; the answer is the number of the one after it."""
    room, clock, count = place(desk.room), desk.clock[lane], desk.counters[lane]
    desk.ended[lane] = IDLE
    while number < len(members.starts) and desk.ended[lane] == IDLE:
        copy(place(members.starts) + 8 * (n + 1) * number, place(desk.work), n + 1)
        copy(place(members.atol) + 8 * n * number, place(control.atol), n)
        copy(place(desk.work), place(members.rows) + 8 * (n + 1) * members.grid.size * number, n + 1)
        for i in range(COUNTERS):
            count[i] = 0
        for i in range(4):
            clock[i] = 0.0
        count[STORED] = 1
        code = begun(f.rates.address, f.rates.constants, control, POWER, desk.work, desk.slopes, clock, count)
        desk.member[lane] = number
        if code == RUNNING:
            desk.ended[lane] = RUNNING
            spread(place(desk.work), room + 8 * width * at.x, lane, width, n + 1)
            spread(place(desk.slopes), room + 8 * width * at.slope, lane, width, n)
            spread(place(control.atol), room + 8 * width * at.atol, lane, width, n)
            _linearise(f, at, n, width, lane, desk)
            count[JACOBIANS] = count[FRESH] = 1
        else:
            members.codes[number], members.stored[number] = code, 1
        number += 1
    return number


@part
def _linearise(f: Calls, at: StepPlaces, n: int, width: int, lane: int, desk: StiffDesk) -> None:
    """J of a lane at its state, which stands in row 0 of `work`; without it the member is left to a run alone."""
    if call(f.jacobian.address, place(desk.work), f.jacobian.constants, place(desk.slopes)) != 0:
        desk.ended[lane] = ALONE
    spread(place(desk.slopes), place(desk.room) + 8 * width * at.jacobian, lane, width, n * n)


@part
def _lengths(at: StepPlaces, control: Control, most: int, width: int, desk: StiffDesk) -> bool:
    """The step of each lane; those without a member, or whose time would not move, stand still. Are other factors wanted?"""
    room, wanted = place(desk.room), False
    for lane in range(width):
        clock, count = desk.clock[lane], desk.counters[lane]
        t, h = read(room, at.x * width + lane), clock[STEP]
        if desk.ended[lane] == RUNNING and stands(t, h):
            desk.ended[lane] = STALLED
        if desk.ended[lane] == RUNNING and count[DONE] + count[REJECTED] >= most:
            desk.ended[lane] = EXHAUSTED
        desk.found[lane] = FAILED
        if desk.ended[lane] != RUNNING:
            continue
        final = is_final(t, h, control.t1)
        if final:
            h = control.t1 - t
        desk.final[lane] = 1 if final else 0
        desk.found[lane] = FURTHER
        write(room, at.y * width + lane, control.t1 if final else t + h)
        write(room, at.h * width + lane, h)
        write(room, at.last * width + lane, clock[LAST_STEP])
        if clock[FACTORISED] != h:
            clock[FACTORISED] = 0.0
            wanted = True
    return wanted


@part
def _factorised(k: Kernels, at: StepPlaces, width: int, desk: StiffDesk) -> None:
    """Factorise in all lanes; where the factors are there already, they are found again."""
    room = place(desk.room)
    bad = call(k.prepare, room, room, room)
    for lane in range(width):
        if (bad >> lane) & 1:
            desk.found[lane] = FAILED
        else:
            desk.clock[lane, FACTORISED] = read(room, at.h * width + lane)


@part
def _iterated(f: Calls, k: Kernels, at: StepPlaces, tolerance: float, n: int, width: int, desk: StiffDesk) -> bool:
    """Newton's iterations of all lanes; does one of them have its stages?"""
    room, v = place(desk.room), 8 * width
    arguments, slopes = room + v * at.arguments, room + v * at.slopes
    call(k.begin, room, room, room)
    some = False
    for iteration in range(MOST_ITERATIONS):
        bad = 0
        for i in range(3):
            bad |= call(f.wide.address, arguments + v * (n + 1) * i, f.wide.constants, slopes + v * n * i)
        call(k.correct, room, room, room)
        further = False
        for lane in range(width):
            write(room, at.on * width + lane, 0.0)
            if desk.found[lane] != FURTHER:
                continue
            size = np.inf if (bad >> lane) & 1 else size_of(read(room, at.total * width + lane), 3 * n)
            desk.found[lane], desk.rate[lane] = judged(iteration, size, desk.before[lane], tolerance)
            desk.before[lane] = size
            desk.iterations[lane] = iteration + 1
            if desk.found[lane] != FAILED:
                write(room, at.on * width + lane, 1.0)
            some = some or desk.found[lane] == SOLVED
            further = further or desk.found[lane] == FURTHER
        call(k.accept, room, room, room)
        if not further:
            break
    return some


@part
def _errors(f: Calls, k: Kernels, at: StepPlaces, n: int, width: int, desk: StiffDesk) -> None:
    """The error of each lane's step."""
    room, v = place(desk.room), 8 * width
    call(k.estimate, room, room, room)
    again = 0
    for lane in range(width):
        desk.error[lane] = np.sqrt(read(room, at.total * width + lane) / n)
        if desk.found[lane] == SOLVED and spoilt(desk.error[lane], desk.counters[lane]):
            again |= 1 << lane
    if again == 0:
        return
    call(k.filter, room, room, room)
    again &= ~call(f.wide.address, room + v * at.arguments, f.wide.constants, room + v * at.slopes)
    call(k.again, room, room, room)
    for lane in range(width):
        if (again >> lane) & 1:
            desk.error[lane] = np.sqrt(read(room, at.total * width + lane) / n)


@part
def _settled(
    f: Calls, at: StepPlaces, n: int, width: int, lane: int, h: float, members: StiffRuns, desk: StiffDesk
) -> int:
    """What `radau.free` does with a step that is good enough, before it is taken; y is left in row 1 of `work`."""
    room, v, number, count = place(desk.room), 8 * width, desk.member[lane], desk.counters[lane]
    y = place(desk.work) + 8 * (n + 1)
    memory = members.memories[number]
    gathered(room + v * at.y, y, lane, width, n + 1)
    code = settle(f.after_step, place(memory), y, n, y + 8 * (n + 1))
    if f.after_step != 0:
        spread(y, room + v * at.y, lane, width, n + 1)
    if code == RUNNING and count[STORED] < members.grid.size and members.grid[count[STORED]] <= desk.work[1, 0]:
        gathered(room + v * at.x, place(desk.work), lane, width, n + 1)
        gathered(room + v * at.z, place(desk.z), lane, width, 3 * n)
        out = StoredRows(members.rows[number], members.grid, True)
        code = fill_grid(Callee(f.after_step, memory), out, h, desk.work, desk.z, count)
    return code


@part
def _taken(f: Calls, at: StepPlaces, control: Control, n: int, width: int, members: StiffRuns, desk: StiffDesk) -> int:
    """Judge the step of each lane and choose the next one; the lanes that take theirs are on, a bit for each."""
    room, taken = place(desk.room), 0
    for lane in range(width):
        write(room, at.on * width + lane, 0.0)
        if desk.ended[lane] != RUNNING:
            continue
        clock, count, h = desk.clock[lane], desk.counters[lane], read(room, at.h * width + lane)
        if desk.found[lane] != SOLVED:
            if refuse(h, clock, count):
                gathered(room + 8 * width * at.x, place(desk.work), lane, width, n + 1)
                _linearise(f, at, n, width, lane, desk)
            continue
        factor = growth(control, h, desk.error[lane], desk.iterations[lane], clock)
        if not desk.error[lane] <= 1.0:
            reject(control, h, factor, clock, count)
            continue
        code = _settled(f, at, n, width, lane, h, members, desk)
        if code != RUNNING:
            desk.ended[lane] = code
            continue
        write(room, at.on * width + lane, 1.0)
        taken |= 1 << lane
        count[DONE] += 1
        if desk.final[lane]:
            desk.ended[lane] = FINISHED
            continue
        renew = ages(desk.iterations[lane], desk.rate[lane])
        next_step(control, h, desk.error[lane], factor, renew, clock, count)
        if renew:
            copy(place(desk.work) + 8 * (n + 1), place(desk.work), n + 1)
            _linearise(f, at, n, width, lane, desk)
    return taken


@compiled
def _free(
    f: Calls,
    k: Kernels,
    at: StepPlaces,
    control: Control,
    most: int,
    n: int,
    width: int,
    members: StiffRuns,
    desk: StiffDesk,
) -> int:
    """All members."""
    room, v = place(desk.room), 8 * width
    tolerance = allowed(control)
    following = 0
    live = 0
    for lane in range(width):
        following = _next(f, at, control, n, width, lane, following, members, desk)
        live += 1 if desk.ended[lane] != IDLE else 0
    while live > 0:
        if _lengths(at, control, most, width, desk):
            _factorised(k, at, width, desk)
        if _iterated(f, k, at, tolerance, n, width, desk):
            _errors(f, k, at, n, width, desk)
        taken = _taken(f, at, control, n, width, members, desk)
        if taken != 0:
            call(k.take, room, room, room)
            taken &= call(f.wide.address, room + v * at.x, f.wide.constants, room + v * at.slope)
        for lane in range(width):
            if desk.ended[lane] == RUNNING and (taken >> lane) & 1:
                desk.ended[lane] = SINGULAR
            if desk.ended[lane] == RUNNING or desk.ended[lane] == IDLE:
                continue
            number = desk.member[lane]
            members.codes[number], members.stored[number] = desk.ended[lane], desk.counters[lane, STORED]
            following = _next(f, at, control, n, width, lane, following, members, desk)
            live -= 1 if desk.ended[lane] == IDLE else 0
    return following
