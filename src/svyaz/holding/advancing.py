"""Integration of one phase, through the positions at which its constraints branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import examined
from svyaz.holding.options import Options
from svyaz.holding.passages import Passage, first_passage
from svyaz.holding.segment import Segment, integrated
from svyaz.integrate import Path, Status, joined

FINE = 2000
"""Where rows are wanted at given times only, branching positions are looked for at this many moments at least."""

FARTHER = 3.0
"""Behind a branching position the method is first let run over so many times the time it has taken to get there."""


Advancing = Callable[
    [Segment, Array, tuple[float, float], Options, Array | None, Callable[[float], object] | None, int | None], Path
]
"""``advance``, or the same without a look at branching positions."""


def advance(
    segment: Segment,
    state: Array,
    span: tuple[float, float],
    options: Options,
    grid: Array | None,
    progress: Callable[[float], object] | None,
    max_steps: int | None = None,
) -> Path:
    """Integrate over the phase; branching positions on the way are passed by continuity (see ``passages``)."""
    fine = grid
    if grid is not None and examined(segment.equations).deviations:
        fine = np.union1d(grid, np.linspace(*span, FINE))
    pieces: list[Path] = []
    time, stop = span[0], span[1]
    while True:
        rows = None if fine is None else np.concatenate([[time], fine[(fine > time) & (fine < stop)], [stop]])
        path = integrated(segment, state, (time, stop), options, rows, progress, max_steps)
        found = None if path.status is Status.STOPPED else first_passage(segment, path, span[1], options.step, fine)
        begun = time
        if found is None:
            pieces.append(path)
            if path.status is not Status.FINISHED or stop >= span[1]:
                break
            time, state = stop, path.states[-1]
        else:
            pieces += [_before(path, found), _across(found)]
            time, state = found.end, found.states[-1]
            if time >= span[1]:
                break
        stop = _next_stop(span, time, FARTHER * (time - begun), options.step)
    whole = pieces[0] if len(pieces) == 1 else joined(pieces, pieces[-1].status, pieces[-1].reason)
    return whole if fine is grid else _wanted(whole, grid)


def _next_stop(span: tuple[float, float], time: float, length: float, step: float | None) -> float:
    """Some way behind a time, after a whole number of steps where their length is fixed."""
    if step is not None:
        length = step * max(1, round(length / step))
    return span[1] if time + 1.5 * length >= span[1] else time + length


def _before(path: Path, found: Passage) -> Path:
    """The path up to the row before a branching position, which has been put onto the constraints."""
    kept = slice(0, found.row + 1)
    states = path.states[kept].copy()
    states[-1] = found.states[0]
    every_step = len(path.times) == path.steps + 1
    return replace(
        path,
        times=path.times[kept],
        states=states,
        status=Status.FINISHED,
        reason="",
        steps=found.row if every_step else path.steps,
        step_sizes=None,
    )


def _across(found: Passage) -> Path:
    bridged = ((float(found.times[0]), found.moment, found.end),)
    return Path(found.times, found.states, Status.FINISHED, "", len(found.times) - 1, 0, 0, 0.0, bridged=bridged)


def _wanted(path: Path, grid: Array | None) -> Path:
    """The rows of the grid alone, and the last one of a path that did not come to its end."""
    assert grid is not None, "a finer grid was made for a grid"
    kept = np.isin(path.times, grid)
    if path.status is not Status.FINISHED:
        kept[-1] = True
    return replace(path, times=path.times[kept], states=path.states[kept])
