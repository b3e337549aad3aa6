"""Where members in lanes are worked on: how they come into a lane, are observed there, and leave it with what they have."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import RUNNING, Address, Counters, call, place, read, write
from svyaz.integrate.compiling import part
from svyaz.integrate.lane_code import NAMES, lane_functions
from svyaz.integrate.loops import CODE, STEPS, WIDTH, Group
from svyaz.integrate.stages import Scheme
from svyaz.program import lined_up

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


def desk_for(width: int, stages: int, group: Group, columns: int, observed: int) -> Desk:
    """A desk for members of a group, with room for so many slopes."""
    n = group.starts.shape[1] - 1
    states = (n + 1) * width
    return Desk(
        x=lined_up(states),
        y=lined_up(states),
        z=lined_up(states),
        slopes=lined_up(stages * n * width),
        seen=lined_up(max(1, observed) * width),
        totals=lined_up(max(1, columns) * WIDTH * width),
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


def told_rows(rule: Scheme, rows: int, n: int, slopes: Array, x: Array) -> NDArray[np.int64]:
    """What ``add`` is told of so many rows of the scheme, which begin at x."""
    blocks = np.zeros((rows, BLOCK), dtype=np.int64)
    for row in range(1, rows):
        begin, end = int(rule.first[row]), int(rule.first[row + 1])
        words = (rule.column.ctypes.data + 8 * begin, rule.weight.ctypes.data + 8 * begin, end - begin)
        blocks[row, :6] = (*words, slopes.ctypes.data, n, x.ctypes.data)
        blocks[row, 6:].view(np.float64)[0] = rule.node[row] if row < len(rule.node) else 0.0
    return blocks


def told_seen(desk: Desk, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """What ``note`` is told of what is observed."""
    return np.array([desk.seen.ctypes.data, columns.ctypes.data, columns.size], dtype=np.int64)


def called(functions: tuple[Address, Address, Address], width: int) -> Functions:
    """The functions of several lanes with their helpers."""
    helpers = lane_functions(max(2, width))
    return Functions(*functions, *(helpers[name].address for name in NAMES))


@part
def spread(source: Address, target: Address, lane: int, width: int, count: int) -> None:
    """A row of numbers into a lane."""
    for i in range(count):
        write(target, i * width + lane, read(source, i))


@part
def gathered(source: Address, target: Address, lane: int, width: int, count: int) -> None:
    """A lane as a row of numbers."""
    for i in range(count):
        write(target, i, read(source, i * width + lane))


@part
def see(f: Functions, n: int, width: int, desk: Desk, block: Address) -> None:
    """Observe all lanes and carry the totals of those that are on; what cannot be observed is not a number."""
    bad = call(f.observe, place(desk.x), place(desk.watched), place(desk.seen))
    if bad != 0:
        for lane in range(width):
            if (bad >> lane) & 1:
                for i in range(desk.seen.size // width):
                    write(place(desk.seen), i * width + lane, np.nan)
    call(f.note, block, place(desk.on), place(desk.totals))


@part
def begin(
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
    spread(place(group.starts) + 8 * (n + 1) * number, place(desk.x), lane, width, n + 1)
    for_rates, for_seen, for_after = group.constants.shape[1], group.watched.shape[1], group.projected.shape[1]
    spread(place(group.constants) + 8 * for_rates * number, place(desk.constants), lane, width, for_rates)
    spread(place(group.watched) + 8 * for_seen * number, place(desk.watched), lane, width, for_seen)
    spread(place(group.projected) + 8 * for_after * number, place(desk.projected), lane, width, for_after)
    if f.observe == 0:
        return
    for i in range(width):
        desk.on[i] = 0.0
    see(f, n, width, desk, block)
    for j in range(columns.size):
        at = WIDTH * j * width + lane
        value = read(place(desk.seen), columns[j] * width + lane)
        desk.totals[at] = desk.totals[at + 3 * width] = value
        desk.totals[at + width] = desk.totals[at + 4 * width] = np.nan
        desk.totals[at + 2 * width] = 0.0 * value
    desk.on[lane] = 1.0
    call(f.note, block, place(desk.on), place(desk.totals))


@part
def retire(
    f: Functions, n: int, width: int, lane: int, group: Group, columns: Counters, desk: Desk, block: Address
) -> None:
    """Take the member of a lane away with what it has."""
    number = desk.member[lane]
    if f.observe != 0:
        if desk.waiting[lane] > 0:
            for i in range(width):
                desk.on[i] = 0.0
            desk.on[lane] = 1.0
            see(f, n, width, desk, block)
        totals = place(group.totals) + 8 * WIDTH * columns.size * number
        gathered(place(desk.totals), totals, lane, width, WIDTH * columns.size)
    gathered(place(desk.x), place(group.ends) + 8 * (n + 1) * number, lane, width, n + 1)
    group.answers[number, CODE] = desk.ended[lane]
    group.answers[number, STEPS] = desk.done[lane]
