"""The driver of all motions: phase after phase, as a structure says which one comes next, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import entered, examined, model_states
from svyaz.integrate import Path, Status, refinement
from svyaz.model import System
from svyaz.motion.energy import account_of
from svyaz.motion.facts import Event
from svyaz.motion.limits import reaches, told_beyond
from svyaz.motion.notes import told_once
from svyaz.motion.phases import Advance, Beginning, Chapter, Structure, Wishes, grid_of
from svyaz.motion.plausible import defined_part
from svyaz.motion.result import Motion, common_rows
from svyaz.motion.self_check import RunCheck
from svyaz.motion.slides import slides_of, told_slides
from svyaz.stabilise import (
    AUTO,
    PROJECTION,
    Decision,
    Entry,
    ErrorBound,
    Jump,
    Options,
    Refusal,
    Segment,
    euler_bound,
    exceeds,
    exceeds_projection,
    find_jump,
    find_lost_constraints,
    find_lost_integrals,
    find_redundant_drift,
    find_unreachable_values,
    jump_log,
    note_singular_points,
    observed,
    projected_more,
    singular_point,
    state_scale,
)

if TYPE_CHECKING:
    from svyaz.stabilise import Choice

Observed = Mapping[str, Mapping[str, Array]]
"""Columns by kind and name."""

RISE, MOST_NOTES = 1e-9, 3
"""Energy that an impact adds, as a part of the largest kinetic energy at events, and that is spoken of; so often."""

MOST_REPETITIONS = 5
"""A run that exceeds its tolerance is repeated with half the step at most so often."""


def drive(structure: Structure, state: Array, wishes: Wishes) -> list[Chapter]:
    """Phase after phase from a state of the model, until the run is over or cannot go on."""
    chapters: list[Chapter] = []
    beginning: Beginning | None = structure.begin(state)
    while beginning is not None:
        decision = beginning.refusal or _unreal(beginning) or structure.settle(beginning, chapters, force=wishes.force)
        if isinstance(decision, Refusal):
            chapters.append(unborn(beginning, structure.options, decision))
            break
        chapters.append(_run(structure, beginning, decision, wishes))
        if chapters[-1].path.status is not Status.FINISHED:
            break
        beginning = structure.after(chapters)
    return chapters


def _unreal(beginning: Beginning) -> Refusal | None:
    """A phase that would begin with values that are no finite numbers, because an anchor or an impact is not defined."""
    own = entered(beginning.phase.equations, beginning.state, beginning.phase.start)
    defined = np.isfinite(own)
    if defined.all():
        return None
    lost = [name for name, good in zip(beginning.phase.equations.states, defined, strict=True) if not good]
    told = f"at t = {beginning.phase.start:.9g} {', '.join(lost)} would begin with no finite value"
    reason = f"{told}: what gives it is not defined there"
    return Refusal(Status.SINGULAR, reason)


def driven(structure: Structure, state: Array, wishes: Wishes) -> Motion:
    """The motion from a state of the model, as far as it is defined (by ``force`` as far as it runs)."""
    motion = collected(structure, drive(structure, state, wishes), wishes.initial_error, wishes.road)

    def again(rows: Array) -> Motion:
        return driven(structure.with_options(structure.options), state, replace(wishes, rows=rows, progress=None))

    return replace(motion if wishes.force else defined_part(motion), again=again)


def unborn(beginning: Beginning, options: Options, refusal: Refusal) -> Chapter:
    """A phase that was not run: its only row is the state it would have begun with."""
    start = beginning.phase.start
    own = entered(beginning.phase.equations, beginning.state, start)
    path = Path(np.array([start]), own[None, :].copy(), refusal.status, refusal.reason, 0, 0, 0, 0.0)
    return Chapter(beginning, path, options, decision=refusal.decision)


def _run(structure: Structure, beginning: Beginning, decision: Decision, wishes: Wishes) -> Chapter:
    """Run one phase, repeat it with half the step while a tolerance is exceeded, and note what was noticed."""
    options, segment, notes = decision.options, decision.segment, [*beginning.notes, *decision.notes]

    def run(segment: Segment, options: Options) -> Advance:
        return structure.advance(beginning, segment, options, wishes)

    for repetition in range(MOST_REPETITIONS + 1):
        found = run(segment, options)
        exceeded = exceeds(segment, found.path, options)
        if (
            not exceeded
            or repetition == MOST_REPETITIONS
            or options.stabilize != AUTO
            or options.step is None
            or found.path.status not in (Status.FINISHED, Status.LEFT)
        ):
            break
        options = options.with_step(options.step / 2)
        notes.append(f"{exceeded}: repeated with the step {options.step:g}")
    done = options.stabilize == PROJECTION and found.path.status in (Status.FINISHED, Status.LEFT)
    if done and exceeds_projection(segment, found.path):
        segment = projected_more(segment, beginning.phase.start, found.path.states[0])
        found = run(segment, options)
        notes.append(
            "the steps lead far off the constraints: repeated with twice as many corrections after each of them"
        )
        exceeded = exceeds(segment, found.path, options)
    path = found.path
    notes += filter(None, (exceeded, found.note))
    notes.extend(find_lost_constraints(segment, path, decision.gains.predicted if decision.gains else {}))
    notes.extend(find_lost_integrals(segment, path))
    notes.extend(note_singular_points(segment, path))
    grid = grid_of(options, (beginning.phase.start, beginning.phase.end), wishes.rows)
    joint = grid is not None and found.onward is not None and path.times[-1] not in grid
    ended = _ended_at_singularity(segment, path, options)
    return Chapter(beginning, ended, options, segment, decision, tuple(notes), found.onward, joint, found.modes)


def _ended_at_singularity(segment: Segment, path: Path, options: Options) -> Path:
    """A run that overflowed after a singular point, whose constraints contradict each other, whose integrals cannot have
    the values at which they are held, or whose rates jump ends there: it is singular.
    """
    found = (
        find_redundant_drift(segment, path)
        or singular_point(segment, path, options.step)
        or find_unreachable_values(segment, path)
        or find_jump(segment, path)
    )
    if found is None:
        return path
    row, words = found
    return replace(
        path, status=Status.SINGULAR, reason=words, times=path.times[: row + 1], states=path.states[: row + 1]
    )


def collected(structure: Structure, chapters: Sequence[Chapter], initial_error: float = 0.0, road: str = "") -> Motion:
    """The motion over all phases. A row at a switch by time belongs to the phase that ends there; at an event there are
    two, before it and after it. A set of constraints that was over at once, since one of them would pull or others would be
    entered, has none. ``initial_error`` is that of the first state; ``road`` names what is run in its errors.
    """
    system, times, states, tables, shown = structure.system, [], [], [], []
    check = RunCheck(system, road)
    for k, chapter in enumerate(chapters):
        first = 0 if k == 0 or chapter.beginning.entry is Entry.EVENT else 1
        first += int(0 < k < len(chapters) - 1 and chapter.over_at_once)
        shown.append(slice(first, -1 if chapter.joint else None))
        times.append(chapter.path.times[shown[-1]])
        own = chapter.path.states[shown[-1]]
        states.append(model_states(chapter.phase.equations, times[-1], own))
        table = _table(chapter, times[-1], own)
        check.add(chapter, shown[-1], table.get("multipliers", {}))
        tables.append(_determined(chapter, table, len(own)))
    check.finish()
    last, log = chapters[-1], _log(chapters)
    lengths = [len(t) for t in times]
    multipliers = _columns(tables, lengths, ["multipliers"])
    slides = slides_of(chapters)
    passed = [limit for c in chapters for limit in c.path.passed]
    limits = reaches(system, np.concatenate(times), np.concatenate(states), passed)
    beyond = told_beyond(limits) if last.path.status is not Status.LEFT else []
    return Motion(
        system=system,
        form=structure.form,
        method=last.options.method,
        step=last.options.step,
        rtol=structure.options.rtol,
        status=last.path.status.told,
        reason=last.path.reason,
        times=np.concatenate(times),
        states=np.concatenate(states),
        state_names=system.states,
        multipliers=multipliers,
        inputs=_controls(system, np.concatenate(states), multipliers),
        residuals=_columns(tables, lengths, ["residuals"]),
        hidden=_columns(tables, lengths, ["hidden"]),
        integrals=_columns(tables, lengths, ["integrals"]),
        quantities=_columns(tables, lengths, ["accelerations", "energies", "power"]),
        gains=chapters[0].decision.gains if chapters[0].decision else None,
        steps=sum(c.path.steps for c in chapters),
        rejected=sum(c.path.rejected for c in chapters),
        evaluations=sum(c.path.evaluations for c in chapters),
        seconds=sum(c.path.seconds for c in chapters),
        notes=told_once(
            [*(note for c in chapters for note in c.notes), *_rises(log), *beyond, *told_slides(slides)],
            {line for c in chapters if (choice := _choice(c)) is not None for line in choice.log},
        ),
        limits=limits,
        slides=slides,
        undetermined=tuple(dict.fromkeys(name for c in chapters for name in c.phase.equations.undetermined)),
        jumps=_jumps(system, chapters),
        error_bound=_error_bound(chapters, initial_error),
        phases=log,
        chapters=tuple(chapters),
        account=account_of(system, chapters, shown),
    )


def _controls(system: System, states: Array, multipliers: Mapping[str, Array]) -> dict[str, Array]:
    """The inputs that keep constraints: their controls, zero while the constraint does not act."""
    idle = np.isfinite(states).all(axis=1)
    kept = [c for c in system.constraints if c.control and c.name in multipliers]
    return {c.control: np.where(idle & np.isnan(multipliers[c.name]), 0.0, multipliers[c.name]) for c in kept}


def _choice(chapter: Chapter) -> Choice | None:
    """The choice of gains by trial runs, where there was one."""
    gains = chapter.decision.gains if chapter.decision is not None else None
    return gains.choice if gains is not None else None


def _log(chapters: Sequence[Chapter]) -> tuple[Event, ...]:
    """What is told of the phases; nothing where times alone divide them and there is but one."""
    events = tuple(c.beginning.event for c in chapters if c.beginning.event is not None)
    alone = len(events) == 1 and not any(c.switched for c in chapters[0].phase.equations.system.constraints)
    return () if alone else events


def _rises(log: Sequence[Event]) -> list[str]:
    """Notes on impacts that added energy, which only constraints that move can do; the first few of them."""
    impacts = [(e.t, e.kinetic_before, e.kinetic_after) for e in log if e.kinetic_before is not None]
    largest = max((max(before, after or 0.0) for _, before, after in impacts), default=0.0)
    rises = [(time, (after or 0.0) - before) for time, before, after in impacts]
    notes = [
        f"the energy rose by {rise:.3g} at the event at t = {time:.9g}: a constraint that begins to act moves"
        for time, rise in rises
        if rise > RISE * largest
    ]
    more = [f"… and at {len(notes) - MOST_NOTES} further events"] if len(notes) > MOST_NOTES else []
    return [*notes[:MOST_NOTES], *more]


def _table(chapter: Chapter, times: Array, states: Array) -> Observed:
    if chapter.segment is None or not len(times):
        return {}
    if not chapter.modes:
        return observed(chapter.segment, times, states)
    number = np.searchsorted([mode.start for mode in chapter.modes], times, side="right") - 1
    number = np.maximum(number, 0)
    shares = [(mode, number == k) for k, mode in enumerate(chapter.modes) if (number == k).any()]
    parts = [observed(mode.segment, times[rows], states[rows]) for mode, rows in shares]
    lengths = [int(rows.sum()) for _, rows in shares]
    return {kind: _columns(parts, lengths, [kind]) for part in parts for kind in part}


def _determined(chapter: Chapter, table: Observed, rows: int) -> Observed:
    """The table without numbers for multipliers that are not determined."""
    names = chapter.phase.equations.undetermined
    if not names or not table:
        return table
    return {**table, "multipliers": {**table["multipliers"], **{name: np.full(rows, np.nan) for name in names}}}


def _columns(tables: Sequence[Observed], lengths: Sequence[int], kinds: Sequence[str]) -> dict[str, Array]:
    """The observed columns of some kinds, phase after phase; NaN where a constraint does not act."""
    merged = [{name: column for kind in kinds for name, column in table.get(kind, {}).items()} for table in tables]
    return {
        name: np.concatenate([t.get(name, np.full(n, np.nan)) for t, n in zip(merged, lengths, strict=True)])
        for name in dict.fromkeys(name for table in merged for name in table)
    }


def _jumps(system: System, chapters: Sequence[Chapter]) -> tuple[Jump, ...]:
    rule = system.step_rule
    if rule is None:
        return ()
    return tuple(
        jump
        for c in chapters
        if c.segment is not None and c.options.step is not None
        for jump in jump_log(c.segment, rule, c.path.times, c.path.states)
    )


def _error_bound(chapters: Sequence[Chapter], initial: float) -> ErrorBound | None:
    """The bound on the trajectory error over all phases, for Euler's method with a fixed step."""
    found: ErrorBound | None = None
    for c in chapters:
        if (
            c.beginning.entry is Entry.EVENT
            or c.segment is None
            or c.options.method != "euler"
            or c.options.step is None
            or c.path.status is not Status.FINISHED
        ):
            return None
        found = euler_bound(c.segment, c.path, c.options.step, found.value if found else initial)
    return replace(found, initial=initial) if found else None


def error_by_halving(structure: Structure, state: Array, coarse: Motion) -> float:
    """max |y_h - y_{h/2}| · 2^p/(2^p - 1) over the run, each state in its own scale (Richardson).

    With error control the second run allows 1/32 of the error in each step, and the plain difference is taken. Rows at
    which the two runs are in different phases, since their events are a little apart, are left out.
    """
    options = structure.options
    step, rtol, factor = refinement(options.method, options.step, options.rtol)
    finer = replace(options, step=step, rtol=rtol)
    fine = driven(structure.with_options(finer), state, Wishes(force=True, rows=np.unique(coarse.times), beyond=True))
    if not fine.finished:
        return float("inf")
    equations = examined(structure.with_options(options).begin(state).phase.equations)
    scale = state_scale(equations, coarse.times, coarse.states)
    if len(coarse.times) == len(fine.times) and np.array_equal(coarse.times, fine.times):
        return factor * scale.difference(coarse.states, fine.states)
    return factor * scale.difference(*common_rows(coarse, fine))
