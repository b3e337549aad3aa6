"""A phase in stretches: where its rates jump, the motion crosses to the other side of a surface or slides along it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Expression
from svyaz.integrate import Path, Status, joined
from svyaz.motion.events.conditions import SIDED, Conditions, Key, conditions
from svyaz.motion.events.jamming import paradox
from svyaz.motion.events.locating import advance_to_event
from svyaz.motion.events.sides import Sides, sides_of
from svyaz.motion.limits import ended_at_limit
from svyaz.motion.phases import Advance, Mode, Wishes, grid_of, only, reached
from svyaz.stabilise import Options, Segment, steps_left

MOST_QUICK, QUICK = 30, 1e-9
"""So many jumps within this part of a phase are chatter: time would not go on."""

MOST_JUMPS = 100_000

BEGUN, UNSEEN = (
    "a slip in a plane begins at t = ",
    ": where it does so slowly, its direction may turn faster than fixed steps follow; a method with error control does",
)

Watch = Callable[[Segment, Sequence[tuple[Key, Expression]], Mapping[str, float]], Conditions]
"""From the code of a stretch, and the conditions at its surfaces with their constants, to all that is watched."""


def advance_in_stretches(
    segment: Segment,
    watch: Watch,
    continuing: Collection[Key],
    state: Array,
    span: tuple[float, float],
    options: Options,
    wishes: Wishes,
) -> Advance:
    """Integrate a phase up to its first event, stretch by stretch; ``watch`` and ``continuing`` are as for one stretch."""

    def rows(start: float) -> Callable[[float], Array | None]:
        return lambda end: grid_of(options, (start, end), wishes.rows)

    sides = sides_of(segment)
    if not sides.surfaces:
        watched = watch(segment, (), {})
        path = advance_to_event(segment, watched, continuing, state, span, options, rows(span[0]), wishes.progress)
        return Advance(ended_at_limit(segment, path))
    time, (side, touched) = span[0], sides.begun(span[0], state)
    pieces: list[Path] = []
    modes: list[Mode] = []
    moments: list[float] = []
    note = ""
    still, last_key = sides.still(time, state, span[1] - span[0]), None
    known: dict[tuple[object, ...], Conditions] = {}
    while True:
        found = sides.decided(time, state, side, touched, options)
        if found is None:
            pieces.append(_undecided(sides, touched, time, state))
            break
        side, sliding = found
        fresh = sides.beginning(time, state, side, sliding, still)
        note = note or (f"{BEGUN}{time:.9g}{UNSEEN}" if fresh and options.step else "")
        state = sides.held(time, state, side, sliding, fresh)
        jammed = paradox(sides, time, state, side, sliding)
        if jammed:
            pieces.append(_ended(time, state, jammed, Status.INFEASIBLE))
            break
        here = sides.segment_on(side, sliding, options, time, state)
        key, margins = (*sides.planes.word(side, sliding).tolist(), sliding), sides.margins(time, state, side, still)
        if key not in known:
            known[key] = watch(here, sides.watched(side, sliding), margins)
        watched = replace(known[key], margins=margins)
        rest = replace(options, max_steps=steps_left(options, pieces))
        path = advance_to_event(here, watched, continuing, state, (time, span[1]), rest, rows(time), wishes.progress)
        pieces.append(path)
        modes.append(Mode(time, state, here, tuple(sides.names[k] for k in sliding)))
        jumped = {int(name) for kind, name in path.events if kind in SIDED}
        ended = path.status is not Status.FINISHED or len(jumped) < len(path.events) or not jumped
        time, state = float(path.times[-1]), path.states[-1]
        jammed = paradox(sides, time, state, side, sliding)
        if jammed:
            pieces[-1] = replace(path, status=Status.INFEASIBLE, reason=jammed, events=())
            break
        if ended or reached(time, span[1]):
            break
        moments += [modes[-1].start] if key != last_key else []
        last_key = key
        if _chatters(moments, time, span):
            pieces.append(_chattering(sides, jumped, time, state))
            break
        still = np.maximum(still, sides.still(time, state, 0.0))
        values = sides.values(time, state, side)
        touched = set(sliding) | sides.planes.touched(values, still, side, jumped)
        continuing = frozenset(key for key in watched.keys if key[0] not in SIDED)
    last = pieces[-1]
    events = tuple(key for key in last.events if key[0] not in SIDED)
    path = ended_at_limit(segment, joined(pieces, last.status, last.reason, events))
    return Advance(
        only(path, grid_of(options, (span[0], float(path.times[-1])), wishes.rows)), note, modes=tuple(modes)
    )


def _chatters(moments: Sequence[float], time: float, span: tuple[float, float]) -> bool:
    """Do surfaces follow each other so fast that the phase would never end?"""
    quick = len(moments) >= MOST_QUICK and time - moments[-MOST_QUICK] <= QUICK * (span[1] - span[0])
    return quick or len(moments) > MOST_JUMPS


def _chattering(sides: Sides, jumped: Collection[int], time: float, state: Array) -> Path:
    told = " and ".join(f"{sides.names[k]} = 0" for k in sorted(jumped))
    reason = (
        f"the rates jump too often where {told}, near t = {time:.9g}: time does not go on; a smooth law in place of sign(), "
        "such as tanh(…/small), would be followed"
    )
    return _ended(time, state, reason, Status.SINGULAR)


def _ended(time: float, state: Array, reason: str, status: Status) -> Path:
    """A path that goes no further."""
    return Path(np.array([time]), state[None, :].copy(), status, reason, 0, 0, 0, 0.0)


def _undecided(sides: Sides, touched: Collection[int], time: float, state: Array) -> Path:
    told = " and ".join(f"{sides.names[k]} = 0" for k in sorted(touched))
    reason = (
        f"the rates jump where {told}, and at t = {time:.9g} no way to go on was found: neither does a side lead away from "
        "there, nor can the motion be held"
        + ("; where signs are multiplied with each other, this is not decided" if len(touched) > 1 else "")
    )
    return _ended(time, state, reason, Status.SINGULAR)


def within_limits(
    segment: Segment, state: Array, span: tuple[float, float], options: Options, wishes: Wishes
) -> Advance:
    """Integrate a phase without events of its own up to where a limit is passed, or past it if that is wished."""

    def watch(here: Segment, sides: Sequence[tuple[Key, Expression]], margins: Mapping[str, float]) -> Conditions:
        limits = here.equations.system.limits
        return conditions(here, (), (), span[0], limits=limits, passing=wishes.beyond, sides=sides, margins=margins)

    return advance_in_stretches(segment, watch, (), state, span, options, wishes)
