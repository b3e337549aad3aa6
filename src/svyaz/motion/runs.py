"""Runs of the native loops: the arrays a loop works on, and what it has stored so far.

A run is advanced in shares of some tens of milliseconds, so that progress can be shown and the user can stop it; all
that a loop knows stands in its arrays, hence a run that was interrupted anywhere still holds what was computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from svyaz.motion.tableau import Floats, Tableau

if TYPE_CHECKING:
    from svyaz.motion.calls import Native

SHARE = 0.03  # seconds of native work between two looks at the outside world
STOPPED = -1  # the code of a run that the user interrupted; the others are in svyaz.motion.calls


@dataclass
class Run:
    """A motion under way: `work` row 0 is [t, y…] now, `advance(chunk)` takes at most that many steps."""

    advance: Callable[[int], int]
    work: Floats
    count: np.ndarray
    rows: Floats
    largest_chunk: int = 1 << 40
    kept: list[Floats] = field(default_factory=list)

    @property
    def time(self) -> float:
        return float(self.work[0, 0])

    def keep(self) -> None:
        """Move the stored rows out of the way of further ones (for loops that store an unknown number of steps)."""
        from svyaz.motion.loops import STORED

        self.kept.append(self.rows[: self.count[STORED]].copy())
        self.count[STORED] = 0

    def stored(self) -> Floats:
        """All rows [t, y…] stored so far."""
        from svyaz.motion.loops import STORED

        return np.vstack([*self.kept, self.rows[: self.count[STORED]]])


def drive(run: Run, progress: Callable[[float], object] | None) -> int:
    """Advance a run to its end; KeyboardInterrupt stops it between two shares and keeps what was computed."""
    from svyaz.motion.calls import RUNNING

    chunk, code = 64, RUNNING
    try:
        while code == RUNNING:
            begin = perf_counter()
            code = run.advance(chunk)
            elapsed = perf_counter() - begin
            if elapsed < SHARE / 2:
                chunk = min(2 * chunk, run.largest_chunk)
            elif elapsed > 2 * SHARE:
                chunk = max(1, chunk // 2)
            if progress is not None:
                progress(run.time)
    except KeyboardInterrupt:
        if code == RUNNING:
            return STOPPED
    return code


def fixed_run(
    tableau: Tableau,
    flow: Native,
    project: Native,
    start: Floats,
    plan: tuple[float, float, float, float, int, int],
    grid: Floats | None,
) -> Run:
    """An explicit method with a fixed step; `start` is [t, y…]."""
    from svyaz.motion import loops

    rule, schedule = loops.scheme(tableau), loops.Schedule(*plan)
    work, slopes = np.zeros((4, len(start))), np.zeros((tableau.stages, len(start) - 1))
    work[0] = start
    count = np.zeros(8, dtype=np.int64)
    size = schedule.total // schedule.every + 2 if grid is None else len(grid)
    rows = np.zeros((size, len(start)))
    if grid is None or (len(grid) and grid[0] <= start[0]):
        rows[0] = start
        count[loops.STORED] = 1

    def advance(chunk: int) -> int:
        if grid is None:
            return int(loops.fixed(flow, project, rule, schedule, chunk, work, slopes, count, rows))
        return int(loops.fixed_on_grid(flow, project, rule, schedule, chunk, work, slopes, count, rows, grid))

    return Run(advance, work, count, rows)
