"""What the native loops work on: members of a group, the lanes in which they run, and where their states go.

A loop runs the members of a group, ``width`` of them at a time, each in a lane; a run alone is a group of one member in one
lane. A member that ends leaves its lane to the next one. Arrays of lanes have an entry for each number of a state, which is a
number where there is one lane, and a vector of the numbers of all lanes else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array, aligned_zeros
from svyaz.integrate.calls import COUNTERS, FINISHED, Address, Callee, Counters
from svyaz.integrate.stages import Scheme

CODE, STEPS, REJECTIONS = range(3)
"""Columns of ``Group.answers``; the last may be missing."""

WIDTH = 5
"""Totals of one observed quantity: first value, largest size, largest change, largest value, last value."""

IDLE = 99
"""The code of a lane without a member."""

NEXT, LIVE, DENSE = range(3)
"""Places in ``LaneState.queue``: the member that comes next, how many lanes have one, whether all are sampled at every step."""

CLOCKS = 4


class Group(NamedTuple):
    """Members: rows of constants (k, ·), starts and ends [t, y…] (k, n + 1), totals (k, columns, WIDTH).

    ``pace`` (k, 2) is the step and the last step, ``counts`` (k, 2) the number of steps and the interval of rows,
    ``answers`` (k, 2) the code of the loops and the steps done.
    """

    constants: Array
    watched: Array
    projected: Array
    starts: Array
    ends: Array
    pace: Array
    counts: NDArray[np.int64]
    answers: NDArray[np.int64]
    totals: Array

    @property
    def finished(self) -> NDArray[np.bool_]:
        """Did each member come to its end (k,)?"""
        return self.answers[:, CODE] == FINISHED


class Functions(NamedTuple):
    """Addresses of functions for as many lanes as the loop has, 0 where there is none: the rates, what is observed, the map
    after a step. ``implicit`` is the function of an implicit step, which has one lane.
    """

    rates: Address
    observe: Address
    after_step: Address
    implicit: Callee


class Output(NamedTuple):
    """Rows [t, y…] (k, r, n + 1) of the members, at the times of ``grid`` where ``on_grid`` holds, else every few steps; none
    are kept where r is 0. The ``columns`` chosen of what is observed go into the totals of the members.
    """

    rows: Array
    grid: Array
    on_grid: bool
    columns: NDArray[np.int64]


class LaneState(NamedTuple):
    """The lanes. Arrays of lanes: state, next state and the argument of a stage, each [t, y…] (n + 1,); slopes (rows · n,);
    what is observed, its totals; constants of the functions; the step, the time after it and the steps done (1,).

    For steps that are chosen: zeros and a state between steps (n + 1,), tolerances (n,), the error of the step (1,), and room
    for numbers of lanes (4,). For each lane: its member, its code, whether its step ends between two of its steps (w,);
    counters (w, COUNTERS) and clocks (w, CLOCKS).
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
    step: Array
    time: Array
    done: Array
    zero: Array
    between: Array
    atol: Array
    error: Array
    room: Array
    member: NDArray[np.int64]
    code: NDArray[np.int64]
    inside: NDArray[np.int64]
    counters: Counters
    clocks: Array
    queue: NDArray[np.int64]

    def restart(self) -> None:
        """Begin anew with the first member."""
        self.queue.fill(0)
        self.code.fill(IDLE)


class GroupRun(NamedTuple):
    """All that a loop of a method with this scheme needs."""

    functions: Functions
    rule: Scheme
    group: Group
    output: Output
    state: LaneState


def lane_array(count: int, width: int) -> Array:
    """Zeros of ``width`` lanes: numbers, or vectors that begin where a line of the cache does."""
    if width == 1:
        return np.zeros(count)
    return aligned_zeros(count * width).view(np.dtype([("lanes", np.float64, (width,))]))


def lane_state(width: int, slopes: int, group: Group, observed: int) -> LaneState:
    """Lanes for members of a group, with room for so many slopes."""
    n = group.starts.shape[1] - 1
    # a lane alone takes its constants from the group
    tables = [group.constants, group.watched, group.projected]
    sizes = [table.shape[1] if width > 1 else 0 for table in tables]
    lengths = (n + 1, n + 1, n + 1, slopes, max(1, observed), group.totals.shape[1] * WIDTH, *sizes, 1, 1, 1)
    lengths += (n + 1, n + 1, n, 1, 4)
    member, inside = np.full(width, -1), np.zeros(width, dtype=np.int64)
    counters, clocks = np.zeros((width, COUNTERS), dtype=np.int64), np.zeros((width, CLOCKS))
    code, queue = np.full(width, IDLE), np.zeros(3, dtype=np.int64)
    fields: list[Any] = [lane_array(length, width) for length in lengths]
    return LaneState._make([*fields, member, code, inside, counters, clocks, queue])


def one_member(start: Array, constants: Callee, after_step: Callee) -> Group:
    """A group of one run from ``start`` = [t, y…], which is moved on in place."""
    return Group(
        constants=constants.constants.reshape(1, -1),
        watched=np.zeros((1, 1)),
        projected=after_step.constants.reshape(1, -1),
        starts=start.reshape(1, -1),
        ends=start.reshape(1, -1),
        pace=np.zeros((1, 2)),
        counts=np.ones((1, 2), dtype=np.int64),
        answers=np.zeros((1, 2), dtype=np.int64),
        totals=np.zeros((1, 0, WIDTH)),
    )
