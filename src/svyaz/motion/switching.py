"""Variable structure by events: phase after phase, until a condition rises through zero or a time is reached.

A phase has a set of constraints that act. It ends at the first event; then constraints begin and cease to act, those that
begin take their anchors from the state, and the velocities are made to fit. What belongs to a set of constraints (equations,
native code, gains) is made when the set is first met and used again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.forms import Equations
from svyaz.holding import Options, Segment, asked_rate, held_integrals
from svyaz.integrate import Path, Status
from svyaz.model import Constraint, System
from svyaz.motion.chapters import Chapter, collected
from svyaz.motion.collisions import impact_of, kept_contacts
from svyaz.motion.conditions import Conditions, Key
from svyaz.motion.events import advance_to_event, slopes
from svyaz.motion.impacts import Beginning, anchored, begin
from svyaz.motion.phase_runs import chapter_of, grid_of, refusal_of, stillborn, unfit_to_hold
from svyaz.motion.phases import START, Phase, entry, reached
from svyaz.motion.result import Motion
from svyaz.motion.stage import Stage, first_phase, next_time

Progress = Callable[[float], object]

MOST_QUICK, QUICK = 30, 1e-9
"""So many events (three for each constraint, if there are many) within this part of the run are chatter: it would never end."""

MOST_EVENTS = 100_000

AT_ONCE = 1e-6
"""What is looked at just after the start, as a part of the first phase."""

RISE, MOST_NOTES = 1e-9, 3
"""Energy that an impact adds, as a part of the largest kinetic energy at events, and that is spoken of; so often."""


def is_switched(system: System) -> bool:
    """Do events decide which constraints act?"""
    return any(c.switched for c in system.constraints)


def refuse_unfit(system: System, form: str) -> None:
    """Refuse forms and words that do not go with constraints that events switch."""
    if form != "multipliers":
        message = f"the form '{form}' cannot follow constraints that events switch on and off"
        raise ModelError([Problem(message, hint="use the form 'multipliers'")])
    if system.bypass:
        raise ModelError(
            [Problem("the jump over a singular point ([bypass]) does not go with constraints that events switch")]
        )


def run_switching(
    stage: Stage, state: Array, force: bool, progress: Progress | None, rows: Array | None = None
) -> Motion:
    """Phase after phase to the end of the run; ``rows`` are the times at which the state is wanted."""
    system, options = stage.system, stage.options
    phase, equations = first_phase(stage)
    chapters: list[Chapter] = []
    log: list[dict[str, Any]] = [entry(START, _names(phase.active), [])]
    continuing: Collection[Key] = ()
    while True:
        chapters.append(_episode(stage, phase, equations, state, continuing, force, progress, rows, not chapters))
        path = chapters[-1].path
        now, before = float(path.times[-1]), path.states[-1]
        if path.status is not Status.FINISHED or reached(now, options.until):
            break
        active, beginning = _after_event(stage, _switched(system, phase, path.events, now), phase, path)
        equations, new = stage.equations_with(active), tuple(c for c in active if c not in phase.active)
        continuing = {key for key in _keys(system, phase.active) if key not in path.events}
        log.append(entry(now, _names(active), _names(phase.active)))
        phase, state = Phase(now, next_time(stage, now), active, new), beginning.state
        most = max(MOST_QUICK, 3 * len(system.constraints))
        refusal = (beginning.status, beginning.reason) if beginning.status else _chatter(log, options, most)
        if refusal:
            failed = stillborn(equations, options, state, (now, phase.end), *refusal)
            chapters.append(replace(failed, after_event=True))
            break
        log[-1].update(stage.told_of_impact(now, before, state, beginning.impulses))
    motion = collected(system, "multipliers", options, chapters, log)
    return replace(motion, notes=(*motion.notes, *_rises(log)))


def _after_event(
    stage: Stage, active: tuple[Constraint, ...], phase: Phase, path: Path
) -> tuple[tuple[Constraint, ...], Beginning]:
    """The constraints that act after an event, and the state with which they begin.

    An impact keeps those contacts that it does not pull, and lets none be entered.
    """
    now, before = float(path.times[-1]), path.states[-1]
    impact = impact_of(stage, active, phase, path)
    if impact is not None:
        kept = kept_contacts(impact, impact.first_guess(active))
        if kept is None:
            told = ", ".join(f"'{c.name}'" for group in impact.groups for c in group)
            reason = (
                f"the impact at t = {now:.9g} has no solution for the constraints {told}: whichever of them act, one would "
                "have to pull or one that does not act would be entered"
            )
            return active, Beginning(before, status=Status.INFEASIBLE, reason=reason)
        active = impact.chosen(kept)
    new = tuple(c for c in active if c not in phase.active)
    equations = stage.equations_with(active)
    return active, begin(equations, new, anchored(equations, new, before, now), path)


def _names(constraints: Sequence[Constraint]) -> list[str]:
    return [c.name for c in constraints]


def _keys(system: System, active: Sequence[Constraint]) -> list[Key]:
    """Conditions that are watched while these constraints act."""
    return [("off" if c in active else "on", c.name) for c in system.constraints]


def _switched(system: System, phase: Phase, events: Collection[Key], now: float) -> tuple[Constraint, ...]:
    """The constraints that act after a moment: events and times switch them."""
    at_time = reached(now, phase.end)
    found = []
    for c in system.constraints:
        acts = c in phase.active
        if ("on", c.name) in events or (at_time and c.start == phase.end):
            acts = True
        if ("off", c.name) in events or (at_time and c.end == phase.end):
            acts = False
        if acts:
            found.append(c)
    return tuple(found)


def _episode(
    stage: Stage,
    phase: Phase,
    equations: Equations,
    state: Array,
    continuing: Collection[Key],
    force: bool,
    progress: Progress | None,
    rows: Array | None,
    first: bool,
) -> Chapter:
    """One phase up to the event that ends it."""
    options, span = stage.options, (phase.start, phase.end)
    refusal = refusal_of(equations, state, phase, first=True) if first else []
    if isinstance(refusal, tuple):
        return replace(stillborn(equations, options, state, span, *refusal), after_event=not first)
    held = held_integrals(stage.system, state, phase.start, asked_rate(options.stabilize))
    false = () if force else unfit_to_hold(equations, held, options, state, phase.start)
    if false:
        failed = stillborn(equations, options, state, span, Status.INFEASIBLE, "; ".join(false))
        return replace(failed, after_event=not first)
    names = tuple(_names(phase.active))
    notes = [*refusal, *([] if names in stage.decisions else stage.decide(phase, equations, held, state, continuing))]
    decision = stage.decisions[names]
    if not decision.allowed and not force:
        failed = stillborn(equations, options, state, span, Status.INFEASIBLE, decision.reason, decision.record)
        return replace(failed, after_event=not first)
    segment = replace(decision.segment, held=held).regained(decision.segment.perturbation)
    if first:
        watched = stage.conditions_at_start(segment, phase.active)
        notes.extend(_asleep(watched, segment, state, phase.end - phase.start))
    else:
        watched = stage.conditions_of(segment, phase.active, phase.start, state)

    def run(segment: Segment, options: Options) -> Path:
        def times(end: float) -> Array | None:
            return grid_of(options, (phase.start, end), rows)

        return advance_to_event(segment, watched, continuing, state, span, options, times, progress)

    chapter, _ = chapter_of(replace(decision, segment=segment), state, phase, run, None, notes)
    return replace(chapter, after_event=not first)


def _asleep(watched: Conditions, segment: Segment, state: Array, span: float) -> list[str]:
    """Notes on conditions that are positive from the beginning, or become so without having been negative."""
    if not watched.keys:
        return []
    levels, overdue = watched.levels(segment, START, state), watched.overdue(segment, START, state)
    now = watched.at(segment, START, state)
    soon = watched.at(segment, AT_ONCE * span, state + AT_ONCE * span * slopes(segment, START, state))
    notes = []
    for key, value, later, level in zip(watched.keys, now, soon, levels, strict=True):
        kind, name = key
        if value > level and key not in overdue:
            told = "is positive at the start already: it counts when it rises through zero again"
            notes.append(f"'{kind}' of the constraint '{name}' {told}")
        elif abs(value) <= level and later > 10 * level and later > 0.0:
            told = "is zero at the start and rises: it has not risen through zero and does not count"
            hint = "; active = true lets the constraint act from the beginning" if kind == "on" else ""
            notes.append(f"'{kind}' of the constraint '{name}' {told}{hint}")
    return notes


def _chatter(log: Sequence[Mapping[str, Any]], options: Options, most: int) -> tuple[Status, str] | None:
    """(status, reason) when events follow each other so fast that the run would never end."""
    if len(log) > MOST_EVENTS:
        return Status.INFEASIBLE, f"there were {MOST_EVENTS} events up to t = {log[-1]['t']:.9g}: the run is given up"
    if len(log) <= most or log[-1]["t"] - log[-most]["t"] > QUICK * (options.until - START):
        return None
    names = sorted({name for e in log[-most:] for name in (*e["on"], *e["off"])})
    told = ", ".join(f"'{name}'" for name in names)
    reason = (
        f"constraints are switched {most} times near t = {log[-1]['t']:.9g} ({told}): their conditions chatter, "
        "time does not go on"
    )
    return Status.INFEASIBLE, reason


def _rises(log: Sequence[Mapping[str, Any]]) -> list[str]:
    """Notes on impacts that added energy, which only constraints that move can do; the first few of them."""
    impacts = [e for e in log if "kinetic_after" in e]
    largest = max((max(e["kinetic_before"], e["kinetic_after"]) for e in impacts), default=0.0)
    rises = [(e["t"], e["kinetic_after"] - e["kinetic_before"]) for e in impacts]
    notes = [
        f"the energy rose by {rise:.3g} at the event at t = {time:.9g}: a constraint that begins to act moves"
        for time, rise in rises
        if rise > RISE * largest
    ]
    more = [f"… and at {len(notes) - MOST_NOTES} further events"] if len(notes) > MOST_NOTES else []
    return [*notes[:MOST_NOTES], *more]


def common_rows(a: Motion, b: Motion) -> tuple[Array, Array]:
    """States of two motions at the same times and in the same phase; rows at events are left out."""
    found = []
    for motion in (a, b):
        events = np.array([e["t"] for e in motion.phases[1:]])
        left = np.searchsorted(events, motion.times, side="left")
        right = np.searchsorted(events, motion.times, side="right")
        keys = zip(motion.times.tolist(), left.tolist(), strict=True)
        inside = (left == right).tolist()
        found.append({key: k for k, (key, fit) in enumerate(zip(keys, inside, strict=True)) if fit})
    shared = [key for key in found[0] if key in found[1]]
    rows_a, rows_b = ([places[key] for key in shared] for places in found)
    return a.states[rows_a], b.states[rows_b]
