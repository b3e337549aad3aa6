"""Putting the phases of a run together into one Motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import model_states
from svyaz.holding import Entry, ErrorBound, Jump, euler_bound, jump_log, observed
from svyaz.integrate import Status
from svyaz.model import System
from svyaz.motion.phases import Chapter, Structure
from svyaz.motion.result import Event, Motion

Observed = Mapping[str, Mapping[str, Array]]
"""Columns by kind and name."""

RISE, MOST_NOTES = 1e-9, 3
"""Energy that an impact adds, as a part of the largest kinetic energy at events, and that is spoken of; so often."""


def collected(structure: Structure, chapters: Sequence[Chapter]) -> Motion:
    """The motion over all phases. A row at a switch by time belongs to the phase that ends there; at an event there are
    two, before it and after it.
    """
    system, times, states, tables = structure.system, [], [], []
    for k, chapter in enumerate(chapters):
        shown = slice(0 if k == 0 or chapter.beginning.entry is Entry.EVENT else 1, -1 if chapter.joint else None)
        times.append(chapter.path.times[shown])
        own = chapter.path.states[shown]
        states.append(model_states(chapter.phase.equations, times[-1], own))
        tables.append(_table(chapter, times[-1], own))
    last, log = chapters[-1], _log(chapters)
    lengths = [len(t) for t in times]
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
        multipliers=_columns(tables, lengths, ["multipliers"]),
        residuals=_columns(tables, lengths, ["residuals"]),
        hidden=_columns(tables, lengths, ["hidden"]),
        integrals=_columns(tables, lengths, ["integrals"]),
        quantities=_columns(tables, lengths, ["accelerations", "energies", "power"]),
        gains=chapters[0].decision.record if chapters[0].decision else {},
        steps=sum(c.path.steps for c in chapters),
        rejected=sum(c.path.rejected for c in chapters),
        evaluations=sum(c.path.evaluations for c in chapters),
        seconds=sum(c.path.seconds for c in chapters),
        notes=(*(note for c in chapters for note in c.notes), *_rises(log)),
        jumps=_jumps(system, chapters),
        error_bound=_error_bound(chapters),
        phases=log,
    )


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
    return observed(chapter.segment, times, states)


def _columns(tables: Sequence[Observed], lengths: Sequence[int], kinds: Sequence[str]) -> dict[str, Array]:
    """The observed columns of some kinds, phase after phase; NaN where a constraint does not act."""
    merged = [{name: column for kind in kinds for name, column in table.get(kind, {}).items()} for table in tables]
    return {
        name: np.concatenate([t.get(name, np.full(n, np.nan)) for t, n in zip(merged, lengths, strict=True)])
        for name in dict.fromkeys(name for table in merged for name in table)
    }


def _jumps(system: System, chapters: Sequence[Chapter]) -> tuple[Jump, ...]:
    if not system.bypass:
        return ()
    return tuple(
        jump
        for c in chapters
        if c.segment is not None and c.options.step is not None
        for jump in jump_log(c.segment.equations, c.path.times, c.path.states, c.options.step)
    )


def _error_bound(chapters: Sequence[Chapter]) -> ErrorBound | None:
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
        found = euler_bound(c.segment, c.path, c.options.step, found.value if found else 0.0)
    return found
