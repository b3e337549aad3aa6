"""Runs of the native loops: the arrays a loop works on, and what it has stored so far.

A run is advanced in shares of some tens of milliseconds, so that progress can be shown and the user can stop it; all
that a loop knows stands in its arrays, hence a run that was interrupted anywhere still holds what was computed.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import current_thread, main_thread
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate.tableau import Tableau

if TYPE_CHECKING:
    from svyaz.integrate.adaptive import Control, Output
    from svyaz.integrate.calls import Native
    from svyaz.integrate.loops import Schedule

SHARE = 0.03  # seconds of native work between two looks at the outside world
STOPPED, EXHAUSTED = -1, -2  # interrupted by the user; more steps than allowed; other codes: svyaz.motion.calls
BUFFER = 4096  # rows that a loop with steps of its own choice fills before they are put away

# places in `count`, the whole numbers a loop keeps; the loops name them alike
DONE, STORED, EVALUATIONS, REJECTED = 0, 1, 2, 5


@dataclass
class Run:
    """A motion under way: `work` row 0 is [t, y…] now, `advance(chunk)` takes at most that many steps."""

    advance: Callable[[int], int]
    work: Array
    slopes: Array
    count: NDArray[np.int64]
    rows: Array
    kept: dict[int, Array] = field(default_factory=dict)

    @property
    def time(self) -> float:
        return float(self.work[0, 0])

    @property
    def trials(self) -> int:
        return int(self.count[DONE] + self.count[REJECTED])

    def put_away(self) -> None:
        """Make room for further rows; the number of steps done tells which rows are put away already."""
        if self.count[STORED]:
            self.kept[int(self.count[DONE])] = self.rows[: self.count[STORED]].copy()
            self.count[STORED] = 0

    def stored(self) -> Array:
        """All rows [t, y…] stored so far: a view where none were put away, for copying costs more than many a run."""
        if not self.kept:
            return self.rows[: self.count[STORED]]
        self.put_away()
        return np.vstack([*self.kept.values(), self.rows[:0]])


@contextmanager
def interrupts_kept() -> Iterator[None]:
    """An interrupt that comes meanwhile is raised at the end: within a callback of LLVM it would be lost."""
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or before is not signal.default_int_handler:
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


def drive(run: Run, progress: Callable[[float], object] | None) -> int:
    """Advance a run to its end; KeyboardInterrupt stops it between two shares and keeps what was computed."""
    from svyaz.integrate.calls import RUNNING

    chunk, code = 64, RUNNING
    try:
        while code == RUNNING:
            begin = perf_counter()
            code = run.advance(chunk)
            elapsed = perf_counter() - begin
            if elapsed < SHARE / 2:
                chunk *= 2
            elif elapsed > 2 * SHARE:
                chunk = max(1, chunk // 2)
            if progress is not None:
                progress(run.time)
    except KeyboardInterrupt:
        return STOPPED if code == RUNNING else code
    return code


def fixed_run(tableau: Tableau, flow: Native, project: Native, start: Array, plan: Schedule, grid: Array | None) -> Run:
    """An explicit method with a fixed step; `start` is [t, y…]."""
    from svyaz.integrate import loops

    rule = loops.scheme(tableau)
    run = _run(start, grid, plan.total // plan.every + 2, tableau.stages * (len(start) - 1))

    def advance(chunk: int) -> int:
        if grid is None:
            return int(loops.fixed(flow, project, rule, plan, chunk, run.work, run.slopes, run.count, run.rows))
        return int(
            loops.fixed_on_grid(flow, project, rule, plan, chunk, run.work, run.slopes, run.count, run.rows, grid)
        )

    run.advance = advance
    return run


def adaptive_run(
    tableau: Tableau,
    flow: Native,
    project: Native,
    start: Array,
    control: Control,
    grid: Array | None,
    max_steps: int,
) -> Run:
    """An explicit method that keeps its error within tolerances; `start` is [t, y…]."""
    from svyaz.integrate import adaptive, loops

    assert tableau.dense is not None
    rule, height = loops.scheme(tableau), len(tableau.dense)
    dense = adaptive.Interpolant(tableau.dense, np.arange(height, dtype=np.int64))
    run = _run(start, grid, BUFFER + 1, height * len(start))
    out, clock, errors, fsal = _output(run, grid), np.zeros(2), len(tableau.errors), tableau.fsal

    def begin() -> int:
        return int(adaptive.first_step(flow, control, float(tableau.order), run.work, run.slopes, clock, run.count))

    def trials(chunk: int) -> int:
        return int(
            adaptive.adaptive(
                flow, project, rule, control, errors, fsal, dense, out, chunk, run.work, run.slopes, clock, run.count
            )
        )

    run.advance = _free(run, control.t1, begin, trials, grid is None, max_steps)
    return run


def radau_run(
    flow: Native,
    jacobian: Native,
    project: Native,
    start: Array,
    control: Control,
    grid: Array | None,
    max_steps: int,
) -> Run:
    """Radau IIA that keeps its error within tolerances; `start` is [t, y…]."""
    from svyaz.integrate import adaptive, newton, radau

    n = len(start) - 1
    run = _run(start, grid, BUFFER + 1, 2 * n)
    memory, clock, out = newton.memory(n), np.zeros(4), _output(run, grid)

    def begin() -> int:
        # the estimate of the error is of order 3, its error goes with the fourth power of the step
        return int(adaptive.first_step(flow, control, 4.0, run.work, run.slopes, clock, run.count))

    def trials(chunk: int) -> int:
        return int(
            radau.free(flow, jacobian, project, control, out, chunk, run.work, run.slopes, memory, clock, run.count)
        )

    run.advance = _free(run, control.t1, begin, trials, grid is None, max_steps)
    return run


def fixed_radau_run(
    flow: Native, jacobian: Native, project: Native, start: Array, plan: Schedule, grid: Array | None
) -> Run:
    """Radau IIA with a fixed step; `start` is [t, y…]."""
    from svyaz.integrate import newton, radau

    run = _run(start, grid, plan.total // plan.every + 2, 0)
    memory, out = newton.memory(len(start) - 1), _output(run, grid)
    run.advance = lambda chunk: int(radau.fixed(flow, jacobian, project, plan, out, chunk, run.work, memory, run.count))
    return run


def _run(start: Array, grid: Array | None, rows: int, slopes: int) -> Run:
    """Arrays of a run, the start stored if it is wanted; what advances it is still to be said."""
    work, count = np.zeros((6, len(start))), np.zeros(16, dtype=np.int64)
    work[0] = start
    run = Run(_at_rest, work, np.zeros(slopes), count, np.empty((rows if grid is None else len(grid), len(start))))
    if grid is None or (len(grid) > 0 and grid[0] <= start[0]):
        run.rows[0] = start
        count[STORED] = 1
    return run


def _at_rest(chunk: int) -> int:
    raise RuntimeError("nothing advances this run")


def _output(run: Run, grid: Array | None) -> Output:
    from svyaz.integrate.adaptive import Output

    return Output(run.rows, np.zeros(0) if grid is None else grid, grid is not None)


def _free(
    run: Run,
    t1: float,
    begin: Callable[[], int],
    trials: Callable[[int], int],
    every_step: bool,
    max_steps: int,
) -> Callable[[int], int]:
    """Advance with steps of the method's own choice: begin once, then trials, not more than allowed."""
    from svyaz.integrate.calls import FINISHED, RUNNING

    def advance(chunk: int) -> int:
        if run.time >= t1:
            return FINISHED
        if run.trials == 0:
            code = begin()
            if code != RUNNING:
                return code
        if run.trials >= max_steps:
            return EXHAUSTED
        code = trials(min(chunk, BUFFER, max_steps - run.trials))
        if every_step:
            run.put_away()
        return code

    return advance
