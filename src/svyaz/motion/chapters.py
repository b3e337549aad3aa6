"""Putting the phases of a run together into one Motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import model_states
from svyaz.forms import Equations
from svyaz.holding import ErrorBound, Options, Segment, euler_bound, jump_log, observed, stabilising_power
from svyaz.integrate import Path, Status
from svyaz.model import System
from svyaz.motion.result import Motion

KINDS = {"multiplier ": "multipliers", "residual ": "residuals", "hidden ": "hidden", "integral ": "integrals"}
"""Beginning of the name of an observed column → table of the Motion."""


@dataclass(frozen=True)
class Chapter:
    """One phase as it was run (or not: then without a segment), with the record of its gains and its notes.

    ``after_event``: its first row is kept beside the last one before it, from which it may differ. ``joint``: its last
    row, at which another chart takes over, was not asked for.
    """

    segment: Segment | None
    path: Path
    options: Options
    record: Mapping[str, Any]
    notes: tuple[str, ...]
    equations: Equations | None = None
    after_event: bool = False
    joint: bool = False


def collected(
    system: System,
    form: str,
    options: Options,
    chapters: Sequence[Chapter],
    phases: Sequence[Mapping[str, Any]] = (),
) -> Motion:
    """The motion over all phases. A row at a switch by time belongs to the phase that ends there; at an event there are
    two, before it and after it.
    """
    times, states, tables = [], [], []
    for k, chapter in enumerate(chapters):
        shown = slice(0 if k == 0 or chapter.after_event else 1, -1 if chapter.joint else None)
        times.append(chapter.path.times[shown])
        own = chapter.path.states[shown]
        states.append(model_states(_equations_of(chapter), times[-1], own))
        tables.append(_table(chapter, times[-1], own))
    last = chapters[-1]
    motion = Motion(
        system=system,
        form=form,
        method=options.method,
        step=last.options.step,
        rtol=options.rtol,
        status=last.path.status.told,
        reason=last.path.reason,
        times=np.concatenate(times),
        states=np.concatenate(states),
        state_names=system.states,
        gains=chapters[0].record,
        steps=sum(c.path.steps for c in chapters),
        rejected=sum(c.path.rejected for c in chapters),
        evaluations=sum(c.path.evaluations for c in chapters),
        seconds=sum(c.path.seconds for c in chapters),
        notes=tuple(note for c in chapters for note in c.notes),
        jumps=_jumps(system, chapters),
        error_bound=_error_bound(chapters),
        phases=tuple(phases),
    )
    columns = _columns(tables, [len(t) for t in times])
    return replace(
        motion,
        multipliers=columns["multipliers"],
        residuals=columns["residuals"],
        hidden=columns["hidden"],
        integrals=columns["integrals"],
        quantities=columns["quantities"],
    )


def _equations_of(chapter: Chapter) -> Equations:
    equations = chapter.segment.equations if chapter.segment is not None else chapter.equations
    assert equations is not None, "a phase that was not run has its equations"
    return equations


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
            c.after_event
            or c.segment is None
            or c.options.method != "euler"
            or c.options.step is None
            or c.path.status is not Status.FINISHED
        ):
            return None
        found = euler_bound(c.segment, c.path, c.options.step, found.value if found else 0.0)
    return found.as_json() if found else None
