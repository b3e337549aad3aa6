"""Many runs with fixed steps, several at once: a member in each lane of the vector registers.

A member that ends leaves its lane to the next one. Its states and totals have the bits that ``loops.prepare_members`` gives:
every operation on a number is the same, and is done in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from svyaz.integrate.calls import (
    DIVERGED,
    FINISHED,
    PROJECTION,
    RUNNING,
    SINGULAR,
    Address,
    Counters,
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
from svyaz.integrate.loops import CODE, UNWATCHED, Group, Schedule, prepare_members
from svyaz.integrate.solving import schedule
from svyaz.integrate.stages import scheme
from svyaz.integrate.tableau import Tableau
from svyaz.program import Native, lane_width, lanes_of


def prepare_lanes(
    tableau: Tableau,
    functions: tuple[Address, Address, Address],
    width: int,
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> Callable[[float, float], object]:
    """``prepare_members`` for at least ``width`` members; the functions are those of several lanes."""
    n = group.starts.shape[1] - 1
    desk = desk_for(width, tableau.stages, group, columns.size, observed)
    blocks = told_rows(scheme(tableau), tableau.stages + 1, n, desk.slopes, desk.x)
    timing = np.array([n, desk.counted.ctypes.data, desk.steps.ctypes.data, 0], dtype=np.int64)
    before, begun = (called(functions, width), tableau.stages, n, width), timing[3:].view(np.float64)
    after = (group, columns, desk, blocks, told_seen(desk, columns), timing, stop)
    loop = rebound(_lanes, len(before), 2, *before, 0.0, 0.0, *after)

    def run(begin: float, end: float) -> None:
        begun[0] = begin
        loop(begin, end)

    return run


def prepare_ensemble(
    tableau: Tableau,
    codes: tuple[Addressed | None, Addressed | None, Addressed | None],
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> Callable[[float, float], object]:
    """What runs all members of a group from one time to another, in lanes where there are enough of them and their programs
    allow it.

    codes: the rates, what is observed, the map after a step; None where there is none. The rest is as for
    ``prepare_members``.
    """
    width = lane_width()
    if len(group.starts) >= 2 * width > 2 and (group.counts[:, 0] > 0).all():
        wide = [lanes_of(code) if isinstance(code, Native) else None for code in codes]
        if all((one is None) == (code is None) for one, code in zip(wide, codes, strict=True)):
            rates, seen, after = (0 if one is None else one.address for one in wide)
            return prepare_lanes(tableau, (rates, seen, after), width, group, columns, observed, stop)
    rates, seen, after = (0 if code is None else code.address for code in codes)
    return prepare_members(tableau, (rates, seen, after), group, columns, observed, stop)


def prepare_steps(
    tableau: Tableau, codes: tuple[Addressed, Addressed | None], group: Group, step: float
) -> Callable[[float, float, float], object]:
    """What moves all members of a group from one time to another over a way of some length, which the ``step`` divides; in
    lanes where their programs allow it: of eight members there none comes to the end if one does not.

    codes: the rates, and the map after a step or None.
    """
    move = _schedule_loop(tableau, codes, group)

    @lru_cache(maxsize=1)
    def planned(length: float) -> Schedule:
        return schedule((0.0, length), min(step, length))

    return lambda begin, end, length: move(planned(length)._replace(t0=begin, t1=end))


def _schedule_loop(
    tableau: Tableau, codes: tuple[Addressed, Addressed | None], group: Group
) -> Callable[[Schedule], object]:
    """What moves all members by one schedule."""
    width, n = lane_width(), group.starts.shape[1] - 1
    nothing, never = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    wide = [lanes_of(code) if isinstance(code, Native) else None for code in codes] if width > 1 else []
    rates, after = (0 if code is None else code.address for code in codes)
    if not wide or wide[0] is None or (after and wide[1] is None):
        loop = prepare_members(tableau, (rates, 0, after), group, nothing, 0, never)

        def run(plan: Schedule) -> None:
            group.pace[:], group.counts[:] = (plan.h, plan.last), (plan.total, plan.every)
            loop(plan.t0, plan.t1)

        return run
    rates, after = (0 if one is None else one.address for one in wide)
    desk = desk_for(width, tableau.stages, group, 0, 0)
    blocks = told_rows(scheme(tableau), tableau.stages + 1, n, desk.slopes, desk.x)
    before = (called((rates, 0, after), width), tableau.stages, n, width)
    plan = Schedule(0.0, 0.0, 0.0, 0.0, 1, 1)
    together = rebound(_equal_steps, len(before), len(plan), *before, plan, group, desk, blocks)
    return lambda plan: together(*plan)


@compiled
def _equal_steps(
    f: Functions,
    stages: int,
    n: int,
    width: int,
    plan: Schedule,
    group: Group,
    desk: Desk,
    blocks: NDArray[np.int64],
) -> int:
    """All members of a group by the same steps; the last lanes take the last member again."""
    count, constants, projected = len(group.starts), group.constants.shape[1], group.projected.shape[1]
    rows = place(blocks)
    sizes = rows + 8 * (BLOCK * stages + 4)
    x, y = place(desk.x), place(desk.y)
    first = 0
    while first < count:
        for lane in range(width):
            member = min(first + lane, count - 1)
            spread(place(group.starts) + 8 * (n + 1) * member, x, lane, width, n + 1)
            spread(place(group.constants) + 8 * constants * member, place(desk.constants), lane, width, constants)
            if f.after_step != 0:
                spread(place(group.projected) + 8 * projected * member, place(desk.projected), lane, width, projected)
            write(x, lane, plan.t0)
            desk.ended[lane] = RUNNING
        fine = True
        for i in range(1, plan.total + 1):
            final = i == plan.total
            for lane in range(width):
                desk.steps[lane] = plan.last if final else plan.h
            bad = _step(f, stages, n, desk, rows)
            for lane in range(width):
                write(y, lane, plan.t1 if final else plan.t0 + i * plan.h)
            fine = _settled(f, n, width, bad, sizes, desk)
            if not fine:
                break
            copy(y, x, (n + 1) * width)
        for lane in range(width):
            member = min(first + lane, count - 1)
            gathered(x, place(group.ends) + 8 * (n + 1) * member, lane, width, n + 1)
            group.answers[member, CODE] = FINISHED if fine else DIVERGED
        first += width
    return first


@part
def _step(f: Functions, stages: int, n: int, desk: Desk, blocks: Address) -> int:
    """One step of all lanes from x to y; a bit for each lane whose rates fail."""
    wide = 8 * n * desk.steps.size
    x, z, k, h, c = place(desk.x), place(desk.z), place(desk.slopes), place(desk.steps), place(desk.constants)
    bad = call(f.rates, x, c, k)
    for i in range(1, stages):
        call(f.add, blocks + 8 * BLOCK * i, h, z)
        bad |= call(f.rates, z, c, k + wide * i)
    call(f.add, blocks + 8 * BLOCK * stages, h, place(desk.y))
    return bad


@part
def _settled(f: Functions, n: int, width: int, bad: int, sizes: Address, desk: Desk) -> bool:
    """Say of each lane that fails why; the map after a step is applied to the others. Did all lanes fare well?"""
    y = place(desk.y)
    lost = 0
    if f.after_step != 0:
        lost = call(f.after_step, y, place(desk.projected), place(desk.z))
        for lane in range(width):
            if ((bad | lost) >> lane) & 1 == 0:
                for m in range(n):
                    write(y, (m + 1) * width + lane, read(place(desk.z), m * width + lane))
    wild = call(f.unbound, y, sizes, y)
    if bad | lost | wild == 0:
        return True
    for lane in range(width):
        if desk.ended[lane] == IDLE:
            continue
        if (wild >> lane) & 1:
            desk.ended[lane] = DIVERGED
        if (lost >> lane) & 1:
            desk.ended[lane] = PROJECTION
        if (bad >> lane) & 1:
            desk.ended[lane] = SINGULAR
    return False


@part
def _lengths(width: int, group: Group, desk: Desk) -> None:
    """The step of each lane; lanes without a member stand still."""
    for lane in range(width):
        number = desk.member[lane]
        final = desk.done[lane] + 1 == group.counts[number, 0]
        desk.steps[lane] = group.pace[number, 1] if final else group.pace[number, 0]
        if desk.ended[lane] != RUNNING:
            desk.steps[lane] = 0.0


@part
def _times(width: int, t0: float, t1: float, group: Group, desk: Desk) -> None:
    """The time of each lane after its step, without the rounding of a sum of steps."""
    for lane in range(width):
        number = desk.member[lane]
        i = desk.done[lane] + 1
        write(place(desk.y), lane, t1 if i == group.counts[number, 0] else t0 + i * group.pace[number, 0])


@part
def _taken(n: int, width: int, fine: bool, group: Group, desk: Desk) -> int:
    """Take the steps of the lanes that fared well; 1 if some of them want to be observed, plus 2 if some have ended."""
    if fine:
        copy(place(desk.y), place(desk.x), (n + 1) * width)
    answer = 0
    for lane in range(width):
        desk.on[lane] = 0.0
        if desk.ended[lane] != RUNNING:
            answer |= 2 if desk.ended[lane] != IDLE else 0
            continue
        if not fine:
            for m in range(n + 1):
                write(place(desk.x), m * width + lane, read(place(desk.y), m * width + lane))
        number = desk.member[lane]
        desk.done[lane] += 1
        desk.waiting[lane] += 1
        if desk.done[lane] >= group.counts[number, 0]:
            desk.ended[lane] = FINISHED
            answer |= 2
        if desk.waiting[lane] == group.counts[number, 1] or desk.ended[lane] == FINISHED:
            desk.waiting[lane] = 0
            desk.on[lane] = 1.0
            answer |= 1
    return answer


@part
def _quiet(f: Functions, width: int, live: int, group: Group, desk: Desk) -> int:
    """So many steps can be made in which no lane makes its last one and all of them are observed, or none."""
    if live < width or f.after_step != 0:
        return 0
    fewest = UNWATCHED
    for lane in range(width):
        number = desk.member[lane]
        desk.counted[lane] = float(desk.done[lane])
        desk.on[lane] = 1.0
        fewest = min(fewest, group.counts[number, 0] - desk.done[lane] - 1)
        if f.observe != 0 and group.counts[number, 1] != 1:
            fewest = 0
    return fewest


@compiled
def _lanes(
    f: Functions,
    stages: int,
    n: int,
    width: int,
    t0: float,
    t1: float,
    group: Group,
    columns: NDArray[np.int64],
    desk: Desk,
    blocks: NDArray[np.int64],
    seen: NDArray[np.int64],
    timing: NDArray[np.int64],
    stop: Counters,
) -> int:
    """All members of a group."""
    count, rows, block = len(group.starts), place(blocks), place(seen)
    sizes = rows + 8 * (BLOCK * stages + 4)
    following = 0
    live = width
    for lane in range(width):
        begin(f, n, width, lane, following, group, columns, desk, block)
        following += 1
    while live > 0 and whole(place(stop), 0) == 0:
        _lengths(width, group, desk)
        quiet = _quiet(f, width, live, group, desk)
        made = 0
        bad = 0
        while made < quiet:
            bad = _step(f, stages, n, desk, rows)
            if bad != 0 or call(f.take, place(desk.y), place(timing), place(desk.x)) != 0:
                break
            made += 1
            if f.observe != 0:
                see(f, n, width, desk, block)
        for lane in range(width):
            desk.done[lane] += made
            desk.waiting[lane] += made if f.observe == 0 else 0
        if 0 < made == quiet:
            continue
        if quiet == 0:
            bad = _step(f, stages, n, desk, rows)
        _times(width, t0, t1, group, desk)
        fine = _settled(f, n, width, bad, sizes, desk)
        news = _taken(n, width, fine and live == width, group, desk)
        if news & 1 and f.observe != 0:
            see(f, n, width, desk, block)
        if not news & 2:
            continue
        for lane in range(width):
            if desk.ended[lane] == RUNNING or desk.ended[lane] == IDLE:
                continue
            retire(f, n, width, lane, group, columns, desk, block)
            if following < count:
                begin(f, n, width, lane, following, group, columns, desk, block)
                following += 1
            else:
                desk.ended[lane] = IDLE
                live -= 1
    return following
