"""Putting the phases of a run together into one Motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import model_states
from svyaz.holding import Entry, ErrorBound, euler_bound, jump_log, observed, stabilising_power
from svyaz.integrate import Status
from svyaz.model import System
from svyaz.motion.phases import Chapter, Structure
from svyaz.motion.result import Motion

KINDS = {"multiplier ": "multipliers", "residual ": "residuals", "hidden ": "hidden", "integral ": "integrals"}
"""Beginning of the name of an observed column → table of the Motion."""


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
    columns = _columns(tables, [len(t) for t in times])
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
        multipliers=columns["multipliers"],
        residuals=columns["residuals"],
        hidden=columns["hidden"],
        integrals=columns["integrals"],
        quantities=columns["quantities"],
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


def _log(chapters: Sequence[Chapter]) -> tuple[Mapping[str, Any], ...]:
    """What is told of the phases; nothing where times alone divide them and there is but one."""
    events = tuple(c.beginning.event for c in chapters if c.beginning.event is not None)
    alone = len(events) == 1 and not any(c.switched for c in chapters[0].phase.equations.system.constraints)
    return () if alone else events


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


def _table(chapter: Chapter, times: Array, states: Array) -> dict[str, Array]:
    if chapter.segment is None or not len(times):
        return {}
    table = dict(observed(chapter.segment, times, states))
    power = stabilising_power(chapter.segment, times, states)
    if power is not None:
        table["stabilising power"] = power
    return table


def _columns(tables: Sequence[Mapping[str, Array]], lengths: Sequence[int]) -> dict[str, dict[str, Array]]:
    """The observed columns, phase after phase, by table; NaN where a constraint does not act."""
    found: dict[str, dict[str, Array]] = {kind: {} for kind in [*KINDS.values(), "quantities"]}
    for name in dict.fromkeys(name for table in tables for name in table):
        parts = [table.get(name, np.full(n, np.nan)) for table, n in zip(tables, lengths, strict=True)]
        values = np.concatenate(parts)
        kind = next((prefix for prefix in KINDS if name.startswith(prefix)), None)
        if kind is not None:
            found[KINDS[kind]][name.removeprefix(kind)] = values
        elif not name.startswith("through "):
            found["quantities"][name] = values
    return found


def _jumps(system: System, chapters: Sequence[Chapter]) -> tuple[Mapping[str, Any], ...]:
    if not system.bypass:
        return ()
    return tuple(
        jump
        for c in chapters
        if c.segment is not None and c.options.step is not None
        for jump in jump_log(c.segment.equations, c.path.times, c.path.states, c.options.step)
    )


def _error_bound(chapters: Sequence[Chapter]) -> Mapping[str, Any] | None:
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
    return found.as_json() if found else None
