"""Integration of one phase, through the positions at which its constraints branch, and from them.

Where a motion starts at such a position, accelerations are quotients of quantities that vanish together. But the velocities say
along which branch the motion leaves, and on it the motion is smooth: it is the polynomial of ``branch_crossing`` whose first
state is the position itself, with all of Gauss' nodes behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import examine, examined, model_states, residuals
from svyaz.dynamics import measure_of, plain_rates
from svyaz.forms import Equations
from svyaz.integrate import Bridge, Path, Status, joined
from svyaz.stabilise.branch_crossing import Polynomial, SingularCrossing, Way, can_branch, find_branch_crossing
from svyaz.stabilise.degeneracy import least_values, varies
from svyaz.stabilise.options import Options
from svyaz.stabilise.perturbations import perturbation
from svyaz.stabilise.polar_crossing import find_pole_crossing, has_poles
from svyaz.stabilise.request import OFF
from svyaz.stabilise.segment import Segment, integrated, prepare

FARTHER = 3.0
"""Behind a branching position the method is first let run over so many times the time it has taken to get there."""


QUICK = 20_000
"""Steps after which a quick run is given up."""

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
    """Integrate over the phase; branching positions on the way are passed by continuity (see ``branch_crossing``)."""
    pieces: list[Path] = []
    time, stop, rows = span[0], span[1], grid

    def to_pass(path: Path) -> SingularCrossing | None:
        return next_crossing(segment, path, span[1], options, grid)

    left = departure_of(segment, state, span, options, grid)
    if left is not None:
        pieces.append(_across(left, np.inf))
        time, state = left.end, left.states[-1]
        rows = None if grid is None else _between(grid, time, stop)
    while time < span[1]:
        most = steps_left(options, pieces, max_steps)
        path, way, found = _looked_at(segment, state, (time, stop), options, rows, progress, most, to_pass)
        begun = time
        if found is None:
            pieces.append(path)
            if path.status is not Status.FINISHED or stop >= span[1]:
                break
            time, state = stop, path.states[-1]
        else:
            if grid is not None and found.row > 0:
                until = float(found.times[0])
                way = integrated(segment, state, (time, until), options, _between(grid, time, until), None, most)
            pieces += bridged(way, found)
            time, state = found.end, found.states[-1]
            if time >= span[1]:
                break
        stop = next_stop(begun, time, span[1], options.step)
        rows = None if grid is None else _between(grid, time, stop)
    if len(pieces) == 1:
        return pieces[0]
    whole = joined(pieces, pieces[-1].status, pieces[-1].reason)
    return whole if grid is None else _wanted(whole, grid)


def _looked_at(
    segment: Segment,
    state: Array,
    span: tuple[float, float],
    options: Options,
    rows: Array | None,
    progress: Callable[[float], object] | None,
    max_steps: int | None,
    to_pass: Callable[[Path], SingularCrossing | None],
) -> tuple[Path, Path, SingularCrossing | None]:
    """The path of the method over a span, the same path by its steps, and what it has to pass.

    A run that begins to creep is looked at before it goes on: behind a branching position the method may follow another
    branch, in millions of steps that are not wanted.
    """
    for wary in (True, False) if can_branch(segment) else (False,):
        path = way = integrated(segment, state, span, options, rows, progress, max_steps, wary)
        if rows is not None and len(path.times) <= path.steps and path.status is not Status.STOPPED:
            looked = can_branch(segment) and varies(segment, path)
            if looked or (passes_poles(segment, options) and has_poles(segment)):
                way = integrated(segment, state, span, options, None, None, max_steps, wary)
        found = to_pass(way)
        if found is not None or path.status is not Status.STALLED:
            break
    return path, way, found


def departure_of(
    segment: Segment, state: Array, span: tuple[float, float], options: Options, grid: Array | None
) -> SingularCrossing | None:
    """The first part of a phase that starts at a position at which its constraints branch."""
    model = _state_of_model(segment.equations, tuple(state), span[0])
    return departure(segment.equations, model, span, options.step, grid)


@lru_cache(maxsize=8)
def _state_of_model(equations: Equations, start: tuple[float, ...], time: float) -> Array:
    """A start is remembered: trial runs and pilots begin where the run begins."""
    return model_states(equations, np.array([time]), np.array([start]))[0]


def next_crossing(
    segment: Segment, path: Path, end: float, options: Options, grid: Array | None, near: float = np.inf
) -> SingularCrossing | None:
    """The first branching position or pole of coordinates that a path comes to before ``end``, passed.

    A pole that the motion stays at for long is passed up to the time ``near`` at most, if that is earlier.
    """
    if path.status is Status.STOPPED:
        return None
    found = find_branch_crossing(segment, path, end, options.step, grid)
    pole = (
        find_pole_crossing(segment, path, min(end, near), options.step, grid)
        if passes_poles(segment, options)
        else None
    )
    return pole if pole is not None and (found is None or pole.times[0] < found.times[0]) else found


def passes_poles(segment: Segment, options: Options) -> bool:
    """Are poles of coordinates passed in another chart, if there are such?"""
    return options.charts == "change" and not segment.equations.system.step_rule


def _between(grid: Array, start: float, end: float) -> Array:
    """The times of a grid between two others, and these."""
    return np.concatenate([[start], grid[(grid > start) & (grid < end)], [end]])


def branches(equations: Equations, options: Options, state: Array) -> bool:
    """Does the motion pass a position at which constraints branch? A quick run with error control tells."""
    quick = replace(options, stabilize=OFF, method="dop853", step=None, rtol=1e-6, atol=None, max_steps=QUICK)
    segment = prepare(equations, perturbation(equations, OFF), (), quick, 0.0, state)
    span = (0.0, options.until)
    return (
        find_branch_crossing(segment, integrated(segment, state, span, quick, None, None), span[1], None, None)
        is not None
    )


def steps_left(options: Options, pieces: Sequence[Path], max_steps: int | None = None) -> int:
    """How many steps a path with error control may still take, of which there are pieces; equal ones are counted beforehand."""
    most = options.max_steps if max_steps is None else max_steps
    return most if options.step is not None else max(0, most - sum(piece.steps for piece in pieces))


def next_stop(begun: float, time: float, end: float, step: float | None) -> float:
    """How far to go from a time at which a position was passed that was come to from ``begun``: what lies behind the next one
    is computed in vain. Where none was passed so far (-inf) to the end; with a fixed step after a whole number of them.
    """
    length = FARTHER * (time - begun)
    if step is not None and length < end - time:
        length = step * max(1, round(length / step))
    return end if time + 1.5 * length >= end else time + length


def _before(path: Path, found: SingularCrossing) -> Path:
    """The path up to the row before a branching position, which has been put onto the constraints."""
    kept = slice(0, int(np.searchsorted(path.times, found.times[0], side="right")))
    states = path.states[kept].copy()
    states[-1] = found.states[0]
    every_step = len(path.times) == path.steps + 1
    return replace(
        path,
        times=path.times[kept],
        states=states,
        status=Status.FINISHED,
        reason="",
        steps=len(states) - 1 if every_step else path.steps,
        step_sizes=None,
    )


def bridged(path: Path, found: SingularCrossing, until: float = np.inf) -> list[Path]:
    """The path up to a branching position, and the rows across it, as far as a time."""
    return [_before(path, found), _across(found, until)]


def _across(found: SingularCrossing, until: float) -> Path:
    kept = found.times <= until
    moment = min(found.moment, until)
    span = Bridge(float(found.times[0]), min(found.end, until), moment, found.at(moment), found.words)
    across = Path(found.times[kept], found.states[kept], Status.FINISHED, "", int(kept.sum()) - 1, 0, 0, 0.0)
    return replace(across, bridged=(span,))


def _wanted(path: Path, grid: Array) -> Path:
    """The rows of the grid alone, and the last one of a path that did not come to its end."""
    kept = np.isin(path.times, grid)
    if path.status is not Status.FINISHED:
        kept[-1] = True
    return replace(path, times=path.times[kept], states=path.states[kept])


LENGTHS = tuple(0.1 / 2**k for k in range(12))
"""Parts of the time over which the polynomial is looked for."""

DEPENDENT = 1e-8
"""A least singular value of the gradients, the longest of which has the length one, below which they are looked at."""

AGREEMENT = 1e-11
"""So well, as a part of the displacement, the polynomial must agree with that over half its length."""


def departure(
    equations: Equations, state: Array, span: tuple[float, float], step: float | None, grid: Array | None = None
) -> SingularCrossing | None:
    """The first part of a motion from a state of the model at which constraints are dependent, and are not nearby; None where
    it does not start so, or where its velocities are along no branch.
    """
    full = examined(equations)
    if not _dependent(full, tuple(state), span[0]):
        return None
    code = plain_rates(full)
    way = Way(equations, full, code, code.constants(full.system.constants), span[0], state, np.zeros(len(state)))
    for part in LENGTHS:
        length = part * (span[1] - span[0])
        if step is not None:
            length = min(step * max(1, round(length / step)), span[1] - span[0])
        curve = _curve(way, length)
        if curve is not None:
            return way.crossing(curve, span[0], 0, step, grid)
    return None


def _can_depart(full: Equations) -> bool:
    return bool(full.deviations) and not (full.servo or full.pulls or full.quasi or full.system.step_rule)


@lru_cache(maxsize=8)
def _dependent(full: Equations, start: tuple[float, ...], time: float) -> bool:
    """Are there constraints that may be dependent at a state, which they are, but not nearby, and satisfied?

    A start is remembered: trial runs and pilots begin where the run begins.
    """
    if not _can_depart(full):
        return False
    measure, state = measure_of(full), np.array(start)
    rows = measure.scaled_gradients(np.array([time]), state[None, :])
    longest = float(rows.lengths().max(initial=0.0))
    if not np.isfinite(longest) or least_values(rows, large=measure.large)[0] > DEPENDENT * longest:
        return False
    report = examine(full, state, time)
    return report.rank < report.rank_nearby and all(r.met for r in residuals(full, state, time).values())


def _curve(way: Way, length: float) -> Polynomial | None:
    """The polynomial over this length, if it agrees with that over half of it."""
    names, first = way.equations.states, np.zeros(len(way.state))
    for q, v in zip(way.equations.accelerated, way.equations.velocities, strict=True):
        first[names.index(q)] = way.state[names.index(str(v))]
    if not first.any():
        return None
    whole, half = way.curve(length, 0.0, first), way.curve(length / 2, 0.0, first)
    if whole is None or half is None:
        return None
    gap = np.abs(whole.at(np.array([0.5])) - half.at(np.ones(1)))[0] / way.size(length * first)
    return whole if np.max(gap) <= AGREEMENT else None
