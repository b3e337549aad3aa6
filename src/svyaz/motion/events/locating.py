"""Integration up to the first event: conditions are watched in the native loop, the moment is found by stepping again.

The step in which a condition rises is repeated from its beginning with other lengths, by the same method, so that the
state at the event has the accuracy of every other state and the moment is found to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.integrate import Ode, Path, Status, StepsFrom, joined
from svyaz.motion.events.conditions import LIMITS, SIDED, Conditions, Key
from svyaz.motion.events.contact_watch import check_contacts
from svyaz.motion.events.guarding import Guard
from svyaz.motion.events.roots import find_root, first_top
from svyaz.program import SingularSystem
from svyaz.stabilise import (
    Options,
    Segment,
    SingularCrossing,
    advance,
    bridged,
    departure_of,
    integrated,
    next_crossing,
    next_stop,
    steps_left,
)

SAMPLES = 16
"""Into so many parts the step with an event is divided to find the first one in it; a multiple of ``guard.BETWEEN``."""

BEHIND = 2.0
"""A pole of coordinates is passed as far as so many times the way to the next event, no farther: the rest would be in vain."""

TOGETHER = 1e-10
"""Events within this part of a step happen at the same moment."""

MOST_ARMING = 50
"""So many rows are looked at for conditions that count from there on."""

CHANGED = 10.0
"""A state at a surface that differs by more than so many times the tolerance is found again, with error control."""

SHORT = 0.1
"""What is over within this part of a step might be overlooked."""

MOVING = 1e-14
"""Times that differ by less than this part of them are the same, but for rounding."""


def advance_to_event(
    segment: Segment,
    watched: Conditions,
    continuing: Collection[Key],
    state: Array,
    span: tuple[float, float],
    options: Options,
    rows: Callable[[float], Array | None],
    progress: Callable[[float], object] | None,
) -> Path:
    """Integrate until the first event, or to the end of the span.

    ``continuing`` are conditions that were watched before the start as well and count there as soon as they are negative.
    ``rows`` gives the times of the rows that are wanted when the end is known; None means every step. A multiplier that
    should have released its constraint already is an event at the start, and so is a contact that would be entered at once.
    """
    if not watched.keys:
        return advance(segment, state, span, options, rows(span[1]), progress)
    outside = watched.outside(segment, span[0], state)
    at_once = () if watched.passing else outside
    at_once = at_once or watched.most_overdue(segment, span[0], state)
    if not at_once and watched.contacts is not None:
        at_once = watched.sinking(span, state, slopes(segment, span[0], state))
    if at_once:
        return replace(_row(span[0], state), steps=0, events=at_once)
    path = _to_event(segment, watched, continuing, state, span, options, progress)
    path = replace(path, passed=(*((*key, span[0]) for key in outside), *path.passed))
    if watched.contacts is not None:
        path = check_contacts(watched.contacts, segment, path, partial(_stepping_from, segment, path, options))
    grid = rows(float(path.times[-1]))
    if grid is None or path.status is not Status.FINISHED or len(path.times) < 2:
        return path
    again = advance(segment, state, (span[0], float(path.times[-1])), options, grid, None)
    if again.status is not Status.FINISHED:
        return path
    states = again.states.copy()
    states[-1] = path.states[-1]
    return replace(path, times=again.times, states=states, step_sizes=None)


def _to_event(
    segment: Segment,
    watched: Conditions,
    continuing: Collection[Key],
    state: Array,
    span: tuple[float, float],
    options: Options,
    progress: Callable[[float], object] | None,
) -> Path:
    time, end = span
    counting = [key in continuing or key[0] in (*LIMITS, *SIDED) for key in watched.keys]
    flags = np.array(counting) & (watched.at_start(segment, time, state) < 0.0)
    pieces: list[Path] = []
    passed: list[tuple[str, str, float]] = []
    first, begun = _first_stop(segment, watched, state, span, options), -np.inf
    while True:
        limit = first if time < first else end
        stop = next_stop(begun, time, limit, options.step)
        departs = time == span[0] and not watched.independent
        passage = departure_of(segment, state, (time, stop), options, None) if departs else None
        path, levels = _row(time, state), watched.levels(segment, time, state)
        for wary in (True, False) if passage is None else ():  # one that creeps may have missed a branching position
            guard = _guard(segment, watched, time, state, flags)
            guarded, most = replace(segment, projection=guard.flow), steps_left(options, pieces)
            path = integrated(guarded, state, (time, stop), options, None, progress, most, wary)
            near = time + BEHIND * (guard.end - time) if guard.alarmed else limit
            passage = next_crossing(segment, path, limit, options, None, near)
            if passage is not None or path.status is not Status.STALLED:
                break
        if passage is None:
            pieces.append(path)
            if not guard.alarmed:
                if path.status is not Status.FINISHED or stop >= end:
                    return replace(joined(pieces, path.status, path.reason, ()), passed=tuple(passed))
                begun = time if np.isfinite(begun) else begun
                time, state, flags = float(path.times[-1]), path.states[-1], guard.armed
                continue
            found = _locate_in_step(segment, watched, _step_of(segment, guard, path, options), options)
        else:
            found = _located(segment, watched, _across(segment, watched, path, passage, flags, levels))
            pieces += bridged(path, passage, found.time)
            begun = time
        pieces.append(_row(found.time, found.state))
        told = [key for key in found.fired if watched.passing and key[0] in LIMITS]
        passed += [(*key, found.time) for key in told]
        fired = tuple(key for key in found.fired if key not in told)
        time, state, flags = found.time, found.state, found.armed
        if found.reason or fired or time >= end:
            status = Status.SINGULAR if found.reason else Status.FINISHED
            return replace(joined(pieces, status, found.reason, fired), passed=tuple(passed))


def _guard(segment: Segment, watched: Conditions, time: float, state: Array, flags: NDArray[np.bool_]) -> Guard:
    """What watches the conditions from a state on, of which those with a flag count already."""
    guard = Guard(watched.bound(segment), segment.rates, segment.projection, sought=True)
    values = watched.at_start(segment, time, state)
    guard.begin(np.concatenate([[time], state]), values, watched.levels(segment, time, state), flags)
    return guard


def _first_stop(
    segment: Segment, watched: Conditions, state: Array, span: tuple[float, float], options: Options
) -> float:
    """Where to look first: a contact that parts only for a small part of a step is looked at when it is farthest away."""
    if watched.contacts is None or not watched.depths:
        return span[1]
    rise = watched.contacts.shortest_rise(span[0], state, slopes(segment, span[0], state), watched.depths)
    short = SHORT * min(options.step or np.inf, span[1] - span[0])
    return span[0] + rise if MOVING * abs(span[0]) < rise < short else span[1]


def slopes(segment: Segment, time: float, state: Array) -> Array:
    """The rates at a state; not a number where they are not defined."""
    try:
        return segment.code.evaluate(np.concatenate([[time], state]), segment.constants)
    except SingularSystem:
        return np.full(len(state), np.nan)


@dataclass(frozen=True)
class _Found:
    """Where the search in one step ended: at an event, or at the end of the step without one."""

    time: float
    state: Array
    fired: tuple[Key, ...]
    armed: NDArray[np.bool_]
    reason: str = ""


@dataclass(frozen=True)
class _Stretch:
    """A step in which a condition rises, or the way over a branching position: ``again`` gives its states."""

    start: float
    end: float
    armed: NDArray[np.bool_]
    levels: Array
    again: Callable[[float], Array | None]
    controlled: Callable[[float], Array | None] | None = None


def _step_of(segment: Segment, guard: Guard, path: Path, options: Options) -> _Stretch:
    """The step that was refused."""
    start, state = float(path.times[-1]), path.states[-1]
    again, controlled = (_stepping(segment, start, state, options, fixed) for fixed in (True, False))
    return _Stretch(start, guard.end, guard.armed, guard.levels, again, controlled)


def _across(
    segment: Segment,
    watched: Conditions,
    path: Path,
    passage: SingularCrossing,
    flags: NDArray[np.bool_],
    levels: Array,
) -> _Stretch:
    """The way over a branching position; a condition counts that did before, or that has been negative since then."""
    armed, rows = flags.copy(), range(0, passage.row + 1, max(1, passage.row // MOST_ARMING))
    for k in rows:
        armed |= watched.at(segment, float(path.times[k]), path.states[k]) < -levels
    return _Stretch(float(passage.times[0]), passage.end, armed, levels, passage.at)


def _locate_in_step(segment: Segment, watched: Conditions, stretch: _Stretch, options: Options) -> _Found:
    """The first event in a step. Forces that jump often change fast near the surface as well (Stribeck's friction), which a
    step that passes the surface does not see: there the steps are chosen by the error where this makes a difference.
    """
    found = _located(segment, watched, stretch)
    if options.rtol is None or stretch.controlled is None or not any(kind in SIDED for kind, _ in found.fired):
        return found
    state = stretch.controlled(found.time)
    allowed = CHANGED * options.rtol * np.maximum(1.0, np.abs(found.state))
    if state is None or (np.abs(state - found.state) <= allowed).all():
        return found
    return _located(segment, watched, replace(stretch, again=stretch.controlled))


def _located(segment: Segment, watched: Conditions, stretch: _Stretch) -> _Found:
    """The first moment in a stretch at which an armed condition rises through zero."""
    start, again, armed, levels = stretch.start, stretch.again, stretch.armed, stretch.levels
    length, before = stretch.end - start, again(start)
    assert before is not None, "a stretch begins with a state"
    low, here, state = start, watched.at(segment, start, before), before
    lost = "the equations of a step, or of the accelerations, have no unique solution after t = "
    looked = [(start, here)]
    counting = armed  # what did before the part of the step that lies behind

    def values(time: float) -> Array:
        reached = again(time)
        return np.full(len(here), np.nan) if reached is None else watched.at(segment, time, reached)

    for k in range(1, SAMPLES + 1):
        high = stretch.end if k == SAMPLES else start + length * k / SAMPLES
        reached = again(high)
        if reached is None:
            return _Found(low, state, (), armed, f"{lost}{low:.9g}")
        there = watched.at(segment, high, reached)
        looked.append((high, there))
        top = first_top(values, looked[-3:], counting, k == 2, k == SAMPLES)
        if top is not None:
            low, here = max((row for row in looked if row[0] < top), key=lambda row: row[0])
            high, there = top, values(top)
        risen = np.flatnonzero(armed & (there >= 0.0) & (here < 0.0))
        if len(risen):
            break
        counting, armed = armed, armed | (there < -levels)
        low, here, state = high, there, reached
    else:
        return _Found(low, state, (), armed)
    ends = float(np.max(here[risen])), float(np.max(there[risen]))
    earlier = next(((time, float(np.max(g[risen]))) for time, g in looked[::-1] if time < low), None)
    first = find_root(lambda time: _largest(watched, segment, again(time), time, risen), low, high, ends, earlier)
    at_event, late = again(first), again(min(first + TOGETHER * length, stretch.end))
    if at_event is None:
        return _Found(low, state, (), armed, f"{lost}{low:.9g}")
    after = there if late is None else watched.at(segment, min(first + TOGETHER * length, stretch.end), late)
    together = armed & ((after >= 0.0) | (watched.at(segment, first, at_event) >= 0.0))
    return _Found(first, at_event, tuple(watched.keys[i] for i in np.flatnonzero(together)), armed & ~together)


def _largest(
    watched: Conditions, segment: Segment, state: Array | None, time: float, which: NDArray[np.int64]
) -> float:
    """The largest of some conditions: it rises through zero when the first of them does."""
    return float("nan") if state is None else float(np.max(watched.at(segment, time, state)[which]))


def _stepping_from(segment: Segment, path: Path, options: Options, row: int) -> Callable[[float], Array | None]:
    """The states after a row of a path."""
    return _stepping(segment, float(path.times[row]), path.states[row], options, True)


def _stepping(
    segment: Segment, start: float, state: Array, options: Options, fixed: bool
) -> Callable[[float], Array | None]:
    """The state at a time after ``start`` by one step of the method, or by several with error control where that fails or is
    not ``fixed``; None where these fail too.
    """
    return _steps_of(segment, options.method, options.rtol, fixed).after(start, state)


@lru_cache(maxsize=64)
def _steps_of(segment: Segment, method: str, rtol: float | None, fixed: bool) -> StepsFrom:
    """What steps from any state of a segment, prepared once."""
    ode = Ode(segment.rates, segment.jacobian, segment.projection)
    return StepsFrom(ode, len(segment.equations.states), method, rtol, fixed=fixed)


def _row(time: float, state: Array) -> Path:
    """One step that was found by stepping again."""
    return Path(np.array([time]), state[None, :].copy(), Status.FINISHED, "", 1, 0, 0, 0.0)
