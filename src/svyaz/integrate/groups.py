"""Many runs in one native call: in lanes where there are enough of them and their programs allow it, else one after another."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate import adaptive, loops
from svyaz.integrate.adaptive import Control, embedded
from svyaz.integrate.calls import Address, Callee, Counters, call, place
from svyaz.integrate.compiling import Callback as Addressed
from svyaz.integrate.compiling import bound, compiled, rebound
from svyaz.integrate.solving import schedule
from svyaz.integrate.stages import scheme
from svyaz.integrate.state import REJECTIONS, Functions, Group, GroupRun, LaneState, Output, lane_state
from svyaz.integrate.tableau import Tableau
from svyaz.program import Native, lane_width, lanes_of

LANES = 8
"""The lanes of which loops are compiled beside those of one."""
EVER = 1 << 62
"""More steps than are made."""
TRIALS = 50_000
"""So many a member may make in lanes."""


def prepare_group(
    tableau: Tableau,
    functions: tuple[Address, Address, Address],
    width: int,
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> Callable[[float, float], object]:
    """What runs all members of a group by an explicit method with fixed steps from one time to another: ends, answers and
    totals are filled.

    functions: addresses of the rates, of what is observed (`observed` numbers, of which `columns` are wanted) and of the
    map after a step, each for ``width`` lanes; 0 where there is none. A call is left, with what it has, soon after another
    thread has set stop[0].
    """
    count, size = group.starts.shape
    state = lane_state(width, tableau.stages * (size - 1), group, observed)
    problem = _problem(tableau, functions, group, columns, state)
    loop = rebound(loops.fixed, 1, 2, EVER, 0.0, 0.0, problem, stop)

    def run(begin: float, end: float) -> None:
        state.restart()
        if count:
            loop(begin, end)

    return run


def _problem(
    tableau: Tableau,
    functions: tuple[Address, Address, Address],
    group: Group,
    columns: NDArray[np.int64],
    state: LaneState,
) -> GroupRun:
    """Members of which totals are kept, and no rows."""
    count, size = group.starts.shape
    nowhere = Output(np.empty((count, 0, size)), np.zeros(0), False, columns)
    return GroupRun(Functions(*functions, Callee(0, np.zeros(2))), scheme(tableau), group, nowhere, state)


def prepare_ensemble(
    tableau: Tableau,
    codes: tuple[Addressed | None, Addressed | None, Addressed | None],
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> Callable[[float, float], object]:
    """``prepare_group`` for native codes, in lanes where there are enough members and the programs allow it.

    codes: the rates, what is observed, the map after a step; None where there is none.
    """
    width, functions = _functions(codes, len(group.starts))
    return prepare_group(tableau, functions, width, group, columns, observed, stop)


def _functions(
    codes: tuple[Addressed | None, Addressed | None, Addressed | None], count: int
) -> tuple[int, tuple[Address, Address, Address]]:
    """The number of lanes in which to run so many members, and the addresses of the functions for them."""
    width = lane_width()
    if count >= 2 * width > 2:
        wide = [lanes_of(code) if isinstance(code, Native) else None for code in codes]
        if all((one is None) == (code is None) for one, code in zip(wide, codes, strict=True)):
            rates, observe, after = (0 if one is None else one.address for one in wide)
            return width, (rates, observe, after)
    rates, observe, after = (0 if code is None else code.address for code in codes)
    return 1, (rates, observe, after)


def prepare_steps(
    tableau: Tableau, codes: tuple[Addressed, Addressed | None], group: Group, step: float
) -> Callable[[float, float, float], object]:
    """What moves all members of a group from one time to another over a way of some length, which the ``step`` divides.

    codes: the rates, and the map after a step or None.
    """
    nothing, never = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    loop = prepare_ensemble(tableau, (codes[0], None, codes[1]), group, nothing, 0, never)

    @lru_cache(maxsize=1)
    def plan(length: float) -> None:
        steps = schedule((0.0, length), min(step, length))
        group.pace[:], group.counts[:] = (steps.h, steps.last), (steps.total, steps.every)

    def run(begin: float, end: float, length: float) -> None:
        plan(length)
        loop(begin, end)

    return run


def prepare_free_ensemble(
    tableau: Tableau,
    codes: tuple[Addressed, Addressed | None],
    control: Control,
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> tuple[Callable[[float], object], NDArray[np.int64]] | None:
    """What runs members with steps of their own in lanes up to a time, and the rejected trials (k,) of each; None where there
    are no lanes for it.

    codes: the rates, and what is observed after every step. Members that are not finished are left to a run alone.
    """
    explicit = not tableau.implicit and not tableau.loops and tableau.embedded and tableau.dense is not None
    width, functions = _functions((codes[0], codes[1], None), len(group.starts))
    if not explicit or width == 1:
        return None
    return prepare_free_group(tableau, functions, width, control, group, columns, observed, stop)


def prepare_free_group(
    tableau: Tableau,
    functions: tuple[Address, Address, Address],
    width: int,
    control: Control,
    group: Group,
    columns: NDArray[np.int64],
    observed: int,
    stop: Counters,
) -> tuple[Callable[[float], object], NDArray[np.int64]]:
    """``prepare_free_ensemble`` for functions of ``width`` lanes by their addresses."""
    count, size = group.starts.shape
    by, answers = embedded(tableau), np.zeros((count, 3), dtype=np.int64)
    state = lane_state(width, len(by.factors) * size, group, observed)
    problem = _problem(tableau, functions, group._replace(answers=answers), columns, state)
    loop = rebound(adaptive.adaptive, 1, 1, EVER, control._replace(most=TRIALS), by, problem, stop)

    def run(end: float) -> None:
        state.restart()
        if count:
            loop(end)
        group.answers[:] = answers[:, :2]

    return run, answers[:, REJECTIONS]


def constants_writer(function: Address, given: Array, found: Array) -> Callable[[int], int]:
    """What writes rows of constants (k, c) from rows of values of parameters (k, p), by the native function that makes them:
    as many of the first ones as it is called with.
    """
    return bound(_constants, function, given, found)


@compiled
def _constants(count: int, function: Address, given: Array, found: Array) -> int:
    for k in range(count):
        call(function, place(given[k]), place(found[k]), place(found[k]))
    return count
