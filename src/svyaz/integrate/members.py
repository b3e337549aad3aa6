"""How members come into the lanes of a loop, are observed there, and leave them with what they have; in native code."""

from __future__ import annotations

import numpy as np

from svyaz.arrays import Array
from svyaz.integrate.calls import (
    COUNTERS,
    DIVERGED,
    DONE,
    NEWTON,
    NO_CONVERGENCE,
    PROJECTION,
    REJECTED,
    RUNNING,
    SINGULAR,
    STATUS,
    STORED,
    WAITING,
    call,
    choose,
    every_lane,
    failures,
    lanes,
    mask,
    own,
    unbounded,
    width,
)
from svyaz.integrate.compiling import part, piece
from svyaz.integrate.state import CODE, IDLE, LIVE, NEXT, REJECTIONS, STEPS, WIDTH, GroupRun, LaneState, Output


@piece
def spread(row: Array, target: Array, lane: int) -> None:
    """A row of numbers into a lane."""
    numbers = lanes(target)
    for i in range(row.size):
        numbers[i, lane] = row[i]


@piece
def gather(source: Array, lane: int, row: Array) -> None:
    """The numbers of a lane into a row, as many as it takes."""
    numbers = lanes(source)
    for i in range(row.size):
        row[i] = numbers[i, lane]


@piece
def store(source: Array, lane: int, output: Output, s: LaneState) -> None:
    """The state of a lane into the next of its rows."""
    count = s.counters[lane]
    gather(source, lane, output.rows[s.member[lane], count[STORED]])
    count[STORED] += 1


@part
def observe(p: GroupRun, on: int, fresh: int) -> None:
    """Observe the states of all lanes and carry on the totals of those that are on, which begin in those that are fresh.

    What cannot be observed is not a number, and once a change or a value is none the largest of them is none either.
    """
    s, columns = p.state, p.output.columns
    status = call(p.functions.observe, s.x, own(p.group.watched, s.watched, s.member[0]), s.seen)
    lost = mask(failures(status, s.x), s.x)
    taken, begun = mask(on, s.x), mask(fresh, s.x)
    for j in range(columns.size):
        at, value = WIDTH * j, choose(lost, np.nan, s.seen[columns[j]])
        first = choose(begun, value, s.totals[at])
        size = choose(begun, np.nan, s.totals[at + 1])
        change = choose(begun, 0.0 * value, s.totals[at + 2])
        top = choose(begun, value, s.totals[at + 3])
        last = choose(begun, np.nan, s.totals[at + 4])
        own_size, moved = abs(value), abs(value - first)
        finite = taken & (own_size < np.inf)
        s.totals[at] = first
        s.totals[at + 1] = choose(finite, choose(own_size <= size, size, own_size), size)
        s.totals[at + 2] = choose(taken & (change == change), choose(moved <= change, change, moved), change)
        s.totals[at + 3] = choose(taken & (top == top), choose(value <= top, top, value), top)
        s.totals[at + 4] = choose(finite, value, last)


@piece
def admit(p: GroupRun) -> int:
    """Put members into the lanes that have none, with a bit for each in the answer; the first time, lanes for which there is no
    member stand still at the last one.
    """
    group, s, output = p.group, p.state, p.output
    fresh, first, following = 0, s.queue[NEXT] == 0, s.queue[NEXT]
    for lane in range(width(s.x)):
        if s.code[lane] != IDLE:
            continue
        number = following
        if number < len(group.starts):
            following += 1
            s.code[lane] = RUNNING
            fresh |= 1 << lane
        elif first:
            number = len(group.starts) - 1
        else:
            continue
        s.member[lane] = number
        for i in range(COUNTERS):
            s.counters[lane, i] = 0
        spread(group.starts[number], s.x, lane)
        if width(s.x) > 1:
            spread(group.constants[number], s.constants, lane)
            if p.functions.observe != 0:
                spread(group.watched[number], s.watched, lane)
            if p.functions.after_step != 0:
                spread(group.projected[number], s.projected, lane)
        early = output.grid.size > 0 and output.grid[0] <= group.starts[number, 0]
        if (early if output.on_grid else output.rows.shape[1] > 0) and (fresh >> lane) & 1:
            store(s.x, lane, output, s)
    s.queue[LIVE] += following - s.queue[NEXT]
    s.queue[NEXT] = following
    if fresh != 0 and p.functions.observe != 0:
        observe(p, fresh, fresh)
    return fresh


@piece
def retire(p: GroupRun) -> None:
    """Take the members that have ended out of their lanes, with what they have."""
    s, ended, unseen = p.state, 0, 0
    for lane in range(width(s.x)):
        if s.code[lane] not in (RUNNING, IDLE):
            ended |= 1 << lane
            unseen |= (1 << lane) if s.counters[lane, WAITING] > 0 else 0
    if unseen != 0 and p.functions.observe != 0:
        observe(p, unseen, 0)
    if ended != 0:
        leave(p, ended)


@piece
def leave(p: GroupRun, ended: int) -> None:
    """The lanes of the members that have ended are idle, and their answers, ends and totals are kept."""
    group, s, left = p.group, p.state, 0
    for lane in range(width(s.x)):
        if not (ended >> lane) & 1:
            continue
        number = s.member[lane]
        left += 1
        for j in range(group.totals.shape[1]):
            for i in range(WIDTH):
                group.totals[number, j, i] = lanes(s.totals)[WIDTH * j + i, lane]
        gather(s.x, lane, group.ends[number])
        group.answers[number, CODE] = s.code[lane]
        group.answers[number, STEPS] = s.counters[lane, DONE]
        if group.answers.shape[1] > REJECTIONS:
            group.answers[number, REJECTIONS] = s.counters[lane, REJECTED]
        s.code[lane] = IDLE
    s.queue[LIVE] -= left


@piece
def settle(p: GroupRun, y: Array, on: int) -> tuple[int, int]:
    """Apply the map after a step to the states y of the lanes that are on: the lanes in which it fails, and those whose state
    may not be kept.
    """
    s, lost = p.state, 0
    if p.functions.after_step != 0 and on != 0:
        constants = own(p.group.projected, s.projected, s.member[0])
        lost = on & failures(call(p.functions.after_step, y, constants, s.z), y)
        good = mask(on & ~lost, y)
        for m in range(y.size - 1):
            y[m + 1] = choose(good, s.z[m], y[m + 1])
    return lost, on & unbounded(y)


@part
def judge(s: LaneState, on: int, status: int, lost: int, wild: int) -> None:
    """Say of each lane that is on and fails why: its rates have no value (or no implicit step is found), the map after a step
    has none, or its state is out of bounds.
    """
    bad = on & failures(status, s.x)
    for lane in range(width(s.x)):
        if s.code[lane] != RUNNING:
            continue
        if (bad >> lane) & 1:
            s.code[lane] = NEWTON if width(s.x) == 1 and status == NO_CONVERGENCE else SINGULAR
            s.counters[lane, STATUS] = max(status, 0) if width(s.x) == 1 else 1
        elif (lost >> lane) & 1:
            s.code[lane] = PROJECTION
        elif (wild >> lane) & 1:
            s.code[lane] = DIVERGED


@piece
def take(s: LaneState, on: int) -> None:
    """x = y in the lanes that are on."""
    if on == every_lane(s.x):
        for m in range(s.x.size):
            s.x[m] = s.y[m]
    else:
        taken = mask(on, s.x)
        for m in range(s.x.size):
            s.x[m] = choose(taken, s.y[m], s.x[m])


@piece
def has_ended(p: GroupRun) -> bool:
    """Are all members through?"""
    return p.state.queue[LIVE] == 0 and p.state.queue[NEXT] == len(p.group.starts)


@piece
def answer(p: GroupRun) -> int:
    """What a loop answers: RUNNING, or the code of the last member once all are through."""
    return p.group.answers[len(p.group.starts) - 1, CODE] if has_ended(p) else RUNNING
