"""Equal steps, in native code: all members of a group, of one lane or of several.

What a member goes through does not depend on the lanes beside it: its states and totals have the bits of a run alone.
"""

from __future__ import annotations

from typing import NamedTuple

from svyaz.integrate.calls import (
    DONE,
    EVALUATIONS,
    FINISHED,
    RUNNING,
    STORED,
    WAITING,
    Counters,
    every_lane,
    failures,
    fused,
    lanes,
    own,
    width,
)
from svyaz.integrate.compiling import compiled, piece
from svyaz.integrate.members import admit, answer, has_ended, judge, observe, retire, settle, store, take
from svyaz.integrate.stages import Stages, step
from svyaz.integrate.state import DENSE, LIVE, NEXT, GroupRun

UNWATCHED = 256
"""So many steps are made before a loop looks whether it is to stop."""
NEAR = 1e-9
"""Times that differ by this part of a step are taken for one."""


class Schedule(NamedTuple):
    """Steps of size h from t0, `total` in number, the last one of size `last` so that t1 is met exactly.

    `every` is the number of steps from one stored row to the next.
    """

    t0: float
    t1: float
    h: float
    last: float
    total: int
    every: int


@piece
def next_step(t0: float, t1: float, most: int, p: GroupRun) -> int:
    """The next step of each lane, and how many more like it may follow at once, at most ``most``: no lane then makes its last
    step or passes a time of the grid, and all are sampled (observed, or their rows stored) after each of them or none.

    A time of the grid between two steps is reached by a shorter step of the same method from the last state, which the
    motion itself does not use: the output has the full order of any method, and the motion does not depend on the grid.
    """
    s, group, grid = p.state, p.group, p.output.grid
    step, time, x = lanes(s.step), lanes(s.time), lanes(s.x)
    sampled = p.functions.observe != 0 or (p.output.rows.shape[1] > 0 and not p.output.on_grid)
    dense, unsampled = sampled, most
    alike = most if s.queue[LIVE] == width(s.x) else 0
    for lane in range(width(s.x)):
        step[0, lane], time[0, lane], s.inside[lane] = 0.0, x[0, lane], 0
        if s.code[lane] != RUNNING:
            alike = 0
            continue
        count, number = s.counters[lane], s.member[lane]
        h, total, interval = group.pace[number, 0], group.counts[number, 0], group.counts[number, 1]
        i = count[DONE] + 1
        lanes(s.done)[0, lane] = float(i)
        step[0, lane], time[0, lane] = h, t0 + i * h
        if i == total:
            step[0, lane], time[0, lane] = group.pace[number, 1], t1
        alike = min(alike, total - i - 1)
        dense = dense and interval == 1
        unsampled = min(unsampled, interval - count[WAITING] - 1)
        if p.output.on_grid and count[STORED] < grid.size:
            t = grid[count[STORED]]
            alike = min(alike, int((t - t0) / h) - i - 2)
            if t < time[0, lane] - NEAR * h:
                step[0, lane], time[0, lane], s.inside[lane] = t - x[0, lane], t, 1
    s.queue[DENSE] = 1 if dense else 0
    return min(alike, unsampled) if sampled and not dense else alike


@piece
def conclude(p: GroupRun, made: int) -> None:
    """Take the steps that fared well after ``made`` others, store rows and carry totals on."""
    s, group, output = p.state, p.group, p.output
    sampled = p.functions.observe != 0 or (output.rows.shape[1] > 0 and not output.on_grid)
    taken, seen = 0, 0
    for lane in range(width(s.x)):
        count, number = s.counters[lane], s.member[lane]
        good = s.code[lane] == RUNNING
        if p.functions.implicit.address == 0 and (good or output.on_grid):
            count[EVALUATIONS] += p.rule.stages
        if not good:
            continue
        if s.inside[lane]:
            store(s.y, lane, output, s)
            continue
        taken |= 1 << lane
        count[DONE] += 1
        if count[DONE] == group.counts[number, 0]:
            s.code[lane] = FINISHED
        if output.on_grid:
            end = lanes(s.y)[0, lane] + NEAR * group.pace[number, 0]
            while count[STORED] < output.grid.size and output.grid[count[STORED]] <= end:
                store(s.y, lane, output, s)
        elif sampled:
            count[WAITING] += 1
            if count[WAITING] == group.counts[number, 1] or s.code[lane] == FINISHED:
                count[WAITING] = 0
                if output.rows.shape[1] > 0:
                    store(s.y, lane, output, s)
                else:
                    seen |= 1 << lane
    take(s, taken)
    if seen != 0:
        observe(p, seen, 0)


@compiled
def fixed(chunk: int, t0: float, t1: float, p: GroupRun, stop: Counters) -> int:
    """At most ``chunk`` steps of each lane, from t0 to t1; less soon after another thread has set stop[0].

    The answer is RUNNING, or the code with which the last member ended.
    """
    s, group = p.state, p.group
    trials = 0
    while trials < chunk and stop[0] == 0 and not has_ended(p):
        if s.queue[LIVE] < width(s.x) and s.queue[NEXT] < len(group.starts):
            fresh = admit(p)
            for lane in range(width(s.x)):
                if (fresh >> lane) & 1 and group.counts[s.member[lane], 0] == 0:
                    s.code[lane] = FINISHED
            retire(p)
            if s.queue[LIVE] == 0:
                continue
        alike = next_step(t0, t1, min(chunk - trials - 1, UNWATCHED), p)
        at = Stages(
            p.functions.rates,
            own(group.constants, s.constants, s.member[0]),
            p.rule,
            s.slopes,
            s.z,
            p.functions.implicit,
        )
        made, dense = 0, s.queue[DENSE] != 0
        while True:
            status = step(at, s.step, s.x, s.y)
            s.y[0] = s.time[0]
            good = every_lane(s.x) & ~failures(status, s.x)
            lost, wild = settle(p, s.y, good)
            trials += 1
            if made >= alike or (lost | wild) != 0 or good != every_lane(s.x):
                break
            take(s, good)
            made += 1
            s.done[0] = s.done[0] + 1.0
            s.time[0] = fused(s.done[0], s.step[0], t0)
            if dense and p.output.rows.shape[1] > 0:
                for lane in range(width(s.x)):
                    store(s.x, lane, p.output, s)
            elif dense:
                observe(p, good, 0)
        if made > 0:
            for lane in range(width(s.x)):
                s.counters[lane, DONE] += made
                s.counters[lane, EVALUATIONS] += made * p.rule.stages if p.functions.implicit.address == 0 else 0
                s.counters[lane, WAITING] += 0 if dense else made
        if (lost | wild) != 0 or good != every_lane(s.x):
            judge(s, every_lane(s.x), status, lost, wild)
        conclude(p, made)
        retire(p)
    return answer(p)
