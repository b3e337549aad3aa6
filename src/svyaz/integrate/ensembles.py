"""Many runs with a fixed step in one native call, observed on the way: nothing but totals is kept.

Each member has constants, a start and a step of its own; its states are those of ``svyaz.motion.loops.fixed`` to the
last bit. Totals of an observed quantity: first value, largest size, largest change, largest value, last value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import (
    FINISHED,
    RUNNING,
    SINGULAR,
    Native,
    call,
    compiled,
    copy,
    piece,
    place,
    read,
    settle,
    write,
)
from svyaz.integrate.loops import Scheme, places, step

STATUS, STEPS = range(2)
WIDTH = 5
"""Totals of one observed quantity."""


class Group(NamedTuple):
    """Members of one call: rows of constants (k, ·), starts and ends [t, y…] (k, n + 1), totals (k, columns, WIDTH).

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


@piece
def note(observe: int, constants: int, x: int, columns: Any, seen: int, totals: int, first: bool) -> None:
    """Observe the state at x and carry the totals of the chosen columns on; what cannot be observed is not a number."""
    status = call(observe, x, constants, seen)
    for j in range(columns.size):
        at = totals + 8 * WIDTH * j
        value = read(seen, columns[j])
        if status != 0:
            value = np.nan
        if first:
            write(at, 0, value)
            write(at, 1, np.nan)
            write(at, 2, 0.0 * value)
            write(at, 3, value)
            write(at, 4, np.nan)
        size = abs(value)
        if size < np.inf:
            write(at, 4, value)
            if not size <= read(at, 1):
                write(at, 1, size)
        # once a change or a value is not a number, the largest of them is none either
        change = abs(value - read(at, 0))
        if not change <= read(at, 2) and read(at, 2) == read(at, 2):
            write(at, 2, change)
        if not value <= read(at, 3) and read(at, 3) == read(at, 3):
            write(at, 3, value)


@compiled
def ensemble(
    f: int,
    observe: int,
    project: int,
    rule: Scheme,
    t0: float,
    t1: float,
    group: Group,
    columns: Any,
    work: Any,
    slopes: Any,
    seen: Any,
) -> None:
    """Run all members of a group, one after another; work (4, n + 1), slopes (stages · n,), seen (all columns,)."""
    n = work.shape[1] - 1
    size = 8 * (n + 1)
    for i in range(len(group.starts)):
        x, y, z = place(work), place(work) + size, place(work) + 2 * size
        at = places(Native(f, group.constants[i]), rule, n, slopes, z)
        watched = place(group.watched) + 8 * group.watched.shape[1] * i
        projected = place(group.projected) + 8 * group.projected.shape[1] * i
        totals = place(group.totals) + 8 * WIDTH * columns.size * i
        copy(place(group.starts) + size * i, x, n + 1)
        total, every = group.counts[i, 0], group.counts[i, 1]
        done, waiting, code = 0, 0, RUNNING
        if observe != 0:
            note(observe, watched, x, columns, place(seen), totals, True)
        while done < total:
            final = done + 1 == total
            status = step(at, group.pace[i, 1] if final else group.pace[i, 0], x, y)
            if status != 0:
                code = SINGULAR
                break
            write(y, 0, t1 if final else t0 + (done + 1) * group.pace[i, 0])
            code = settle(project, projected, y, n, z)
            if code != RUNNING:
                break
            x, y = y, x
            done += 1
            waiting += 1
            if waiting == every or final:
                waiting = 0
                if observe != 0:
                    note(observe, watched, x, columns, place(seen), totals, False)
        if waiting > 0 and observe != 0:
            note(observe, watched, x, columns, place(seen), totals, False)
        copy(x, place(group.ends) + size * i, n + 1)
        group.answers[i, STATUS] = FINISHED if done == total else code
        group.answers[i, STEPS] = done
