"""Many runs with a fixed step in one native call, observed on the way: nothing but totals is kept.

Each member has constants, a start and a step of its own; its states are those of ``svyaz.integrate.loops.fixed`` to the
last bit. Totals of an observed quantity: first value, largest size, largest change, largest value, last value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.calls import COUNTERS, DONE, WAITING, Address, Callee, Counters, copy, place
from svyaz.integrate.compiling import compiled
from svyaz.integrate.loops import WIDTH, Saving, Schedule, equal_steps, note
from svyaz.integrate.stages import Scheme, addresses, scheme
from svyaz.integrate.tableau import Tableau

CODE, STEPS = range(2)


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


def ensemble(
    tableau: Tableau,
    functions: tuple[Address, Address, Address],
    span: tuple[float, float],
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
) -> None:
    """Run all members of a group by an explicit method with fixed steps over a span; ends, answers and totals are filled.

    functions: addresses of the rates, of what is observed (`observed` numbers, of which `columns` are wanted) and of the
    map after a step; 0 where there is none.
    """
    n = group.starts.shape[1] - 1
    work, slopes, seen = np.zeros((4, n + 1)), np.zeros(tableau.stages * n), np.zeros(observed)
    count, t0, t1 = np.zeros(COUNTERS, dtype=np.int64), float(span[0]), float(span[1])
    _members(*functions, scheme(tableau), t0, t1, group, columns, work, slopes, seen, count)


@compiled
def _members(
    f: Address,
    observe: Address,
    after_step: Address,
    rule: Scheme,
    t0: float,
    t1: float,
    group: Group,
    columns: NDArray[np.int64],
    work: Array,
    slopes: Array,
    seen: Array,
    count: Counters,
) -> None:
    """One member after another; work (4, n + 1), slopes (stages · n,), seen (all columns,), count (COUNTERS,) are room."""
    n = work.shape[1] - 1
    size = 8 * (n + 1)
    for i in range(len(group.starts)):
        at = addresses(Callee(f, group.constants[i]), Callee(0, slopes), rule, n, slopes, place(work) + 2 * size)
        watched = place(group.watched) + 8 * group.watched.shape[1] * i
        totals = place(group.totals) + 8 * WIDTH * columns.size * i
        save = Saving(0, 0, 0, observe, watched, place(columns), columns.size, place(seen), totals)
        plan = Schedule(t0, t1, group.pace[i, 0], group.pace[i, 1], group.counts[i, 0], group.counts[i, 1])
        after_constants = place(group.projected) + 8 * group.projected.shape[1] * i
        copy(place(group.starts) + size * i, place(work), n + 1)
        count[:] = 0
        if observe != 0:
            note(save, place(work), True)
        code = equal_steps(at, after_step, after_constants, plan, save, plan.total, place(work), count)
        if observe != 0 and count[WAITING] > 0:
            note(save, place(work), False)
        copy(place(work), place(group.ends) + size * i, n + 1)
        group.answers[i, CODE] = code
        group.answers[i, STEPS] = count[DONE]
