"""Many runs with fixed steps, several at once: a member in each lane of the vector registers.

A member that ends leaves its lane to the next one. Its states and totals have the bits that ``loops.ensemble`` gives: every
operation on a number is the same, and is done in the same order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
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
from svyaz.integrate.compiling import compiled, part
from svyaz.integrate.lane_code import NAMES, lane_functions
from svyaz.integrate.loops import CODE, STEPS, UNWATCHED, WIDTH, Group, ensemble
from svyaz.integrate.stages import scheme
from svyaz.integrate.tableau import Tableau
from svyaz.program import Native, lane_width, lanes_of, lined_up

IDLE = 99
"""What has become of a lane for which there is no member any more."""

BLOCK = 7
"""Words that tell ``add`` of a row of the scheme."""


class Functions(NamedTuple):
    """Addresses: rates, what is observed, the map after a step (each of several lanes, 0 where there is none), and helpers."""

    rates: Address
    observe: Address
    after_step: Address
    add: Address
    note: Address
    unbound: Address
    take: Address


class Desk(NamedTuple):
    """Where lanes are worked on, all numbers lane by lane: x, y, z (each (n + 1) · width), slopes, what is seen, totals,
    constants of the three functions, the steps, how many were made, what is on; and for each lane its member, its steps, the
    steps since a row, how it ended.
    """

    x: Array
    y: Array
    z: Array
    slopes: Array
    seen: Array
    totals: Array
    constants: Array
    watched: Array
    projected: Array
    steps: Array
    counted: Array
    on: Array
    member: NDArray[np.int64]
    done: NDArray[np.int64]
    waiting: NDArray[np.int64]
    ended: NDArray[np.int64]


def ensemble_in_lanes(
    tableau: Tableau,
    functions: tuple[Address, Address, Address],
    width: int,
    span: tuple[float, float],
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> None:
    """``ensemble`` for at least ``width`` members; the functions are those of several lanes."""
    n = group.starts.shape[1] - 1
    helpers = lane_functions(max(2, width))
    states = (n + 1) * width
    desk = Desk(
        x=lined_up(states),
        y=lined_up(states),
        z=lined_up(states),
        slopes=lined_up(tableau.stages * n * width),
        seen=lined_up(max(1, observed) * width),
        totals=lined_up(max(1, columns.size) * WIDTH * width),
        constants=lined_up(group.constants.shape[1] * width),
        watched=lined_up(group.watched.shape[1] * width),
        projected=lined_up(group.projected.shape[1] * width),
        steps=lined_up(width),
        counted=lined_up(width),
        on=lined_up(width),
        member=np.zeros(width, dtype=np.int64),
        done=np.zeros(width, dtype=np.int64),
        waiting=np.zeros(width, dtype=np.int64),
        ended=np.zeros(width, dtype=np.int64),
    )
    rule = scheme(tableau)
    blocks = np.zeros((tableau.stages + 1, BLOCK), dtype=np.int64)
    for row in range(1, tableau.stages + 1):
        begin, end = int(rule.first[row]), int(rule.first[row + 1])
        words = (rule.column.ctypes.data + 8 * begin, rule.weight.ctypes.data + 8 * begin, end - begin)
        blocks[row, :6] = (*words, desk.slopes.ctypes.data, n, desk.x.ctypes.data)
        blocks[row, 6:].view(np.float64)[0] = rule.node[row]
    seen = np.array([desk.seen.ctypes.data, columns.ctypes.data, columns.size], dtype=np.int64)
    timing = np.array([n, desk.counted.ctypes.data, desk.steps.ctypes.data, 0], dtype=np.int64)
    timing[3:].view(np.float64)[0] = float(span[0])
    called = Functions(*functions, *(helpers[name].address for name in NAMES))
    _lanes(
        called,
        tableau.stages,
        n,
        width,
        float(span[0]),
        float(span[1]),
        group,
        columns,
        desk,
        blocks,
        seen,
        timing,
        stop,
    )


def run_ensemble(
    tableau: Tableau,
    codes: tuple[Native | None, Native | None, Native | None],
    span: tuple[float, float],
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> None:
    """Run all members of a group, in lanes where there are enough of them and their programs allow it.

    codes: the rates, what is observed, the map after a step; None where there is none. The rest is as for ``ensemble``.
    """
    width = lane_width()
    if len(group.starts) >= 2 * width > 2 and (group.counts[:, 0] > 0).all():
        wide = [None if code is None else lanes_of(code) for code in codes]
        if all((one is None) == (code is None) for one, code in zip(wide, codes, strict=True)):
            rates, seen, after = (0 if one is None else one.address for one in wide)
            ensemble_in_lanes(tableau, (rates, seen, after), width, span, group, columns, observed, stop)
            return
    rates, seen, after = (0 if code is None else code.address for code in codes)
    ensemble(tableau, (rates, seen, after), span, group, columns, observed, stop)


@part
def _spread(source: Address, target: Address, lane: int, width: int, count: int) -> None:
    """A row of numbers into a lane."""
    for i in range(count):
        write(target, i * width + lane, read(source, i))


@part
def _gathered(source: Address, target: Address, lane: int, width: int, count: int) -> None:
    """A lane as a row of numbers."""
    for i in range(count):
        write(target, i, read(source, i * width + lane))


@part
def _seen(f: Functions, n: int, width: int, desk: Desk, block: Address) -> None:
    """Observe all lanes and carry the totals of those that are on; what cannot be observed is not a number."""
    bad = call(f.observe, place(desk.x), place(desk.watched), place(desk.seen))
    if bad != 0:
        for lane in range(width):
            if (bad >> lane) & 1:
                for i in range(desk.seen.size // width):
                    write(place(desk.seen), i * width + lane, np.nan)
    call(f.note, block, place(desk.on), place(desk.totals))


@part
def _begin(
    f: Functions,
    n: int,
    width: int,
    lane: int,
    number: int,
    group: Group,
    columns: Counters,
    desk: Desk,
    block: Address,
) -> None:
    """Put a member into a lane and observe its start."""
    desk.member[lane], desk.done[lane], desk.waiting[lane], desk.ended[lane] = number, 0, 0, RUNNING
    _spread(place(group.starts) + 8 * (n + 1) * number, place(desk.x), lane, width, n + 1)
    for_rates, for_seen, for_after = group.constants.shape[1], group.watched.shape[1], group.projected.shape[1]
    _spread(place(group.constants) + 8 * for_rates * number, place(desk.constants), lane, width, for_rates)
    _spread(place(group.watched) + 8 * for_seen * number, place(desk.watched), lane, width, for_seen)
    _spread(place(group.projected) + 8 * for_after * number, place(desk.projected), lane, width, for_after)
    if f.observe == 0:
        return
    for i in range(width):
        desk.on[i] = 0.0
    _seen(f, n, width, desk, block)
    for j in range(columns.size):
        at = WIDTH * j * width + lane
        value = read(place(desk.seen), columns[j] * width + lane)
        desk.totals[at] = desk.totals[at + 3 * width] = value
        desk.totals[at + width] = desk.totals[at + 4 * width] = np.nan
        desk.totals[at + 2 * width] = 0.0 * value
    desk.on[lane] = 1.0
    call(f.note, block, place(desk.on), place(desk.totals))


@part
def _end(
    f: Functions, n: int, width: int, lane: int, group: Group, columns: Counters, desk: Desk, block: Address
) -> None:
    """Take the member of a lane away with what it has."""
    number = desk.member[lane]
    if f.observe != 0:
        if desk.waiting[lane] > 0:
            for i in range(width):
                desk.on[i] = 0.0
            desk.on[lane] = 1.0
            _seen(f, n, width, desk, block)
        totals = place(group.totals) + 8 * WIDTH * columns.size * number
        _gathered(place(desk.totals), totals, lane, width, WIDTH * columns.size)
    _gathered(place(desk.x), place(group.ends) + 8 * (n + 1) * number, lane, width, n + 1)
    group.answers[number, CODE] = desk.ended[lane]
    group.answers[number, STEPS] = desk.done[lane]


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
        _begin(f, n, width, lane, following, group, columns, desk, block)
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
                _seen(f, n, width, desk, block)
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
            _seen(f, n, width, desk, block)
        if not news & 2:
            continue
        for lane in range(width):
            if desk.ended[lane] == RUNNING or desk.ended[lane] == IDLE:
                continue
            _end(f, n, width, lane, group, columns, desk, block)
            if following < count:
                _begin(f, n, width, lane, following, group, columns, desk, block)
                following += 1
            else:
                desk.ended[lane] = IDLE
                live -= 1
    return following
