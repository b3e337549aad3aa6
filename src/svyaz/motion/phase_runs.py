"""One phase of a run: may it begin, running it, and what was noticed on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import Residual, entered, examine, residuals, straying
from svyaz.forms import Equations
from svyaz.holding import (
    Decision,
    HeldIntegral,
    Options,
    Segment,
    cannot_be_held,
    exceeds,
    left_by_projection,
    lost_constraints,
    not_integrals,
    passed_near,
    projected_more,
    singular_point,
)
from svyaz.integrate import Path, Status
from svyaz.motion.chapters import Chapter
from svyaz.motion.charts import Switch, end_of_chart, only
from svyaz.motion.phases import Phase

Runner = Callable[[Segment, Options], Path]
"""Integrates a phase with given native code and options."""

SWITCH_TOLERANCE = 1e-5
"""A constraint may begin to act when its residual is below this part of its own scale."""

MOST_REPETITIONS = 5
"""A run that exceeds its tolerance is repeated with half the step at most so often."""


def chapter_of(
    decision: Decision, state: Array, phase: Phase, run: Runner, grid: Array | None, notes: list[str]
) -> tuple[Chapter, Switch | None]:
    """Run one phase, repeat it with half the step while a tolerance is exceeded, and note what was noticed.

    Where the chart of the equations degenerates the chapter ends, and another one is to take over; ``grid`` are then the
    times whose rows are kept.
    """
    options, segment = decision.options, decision.segment
    predicted = decision.record.get("predicted", {})
    for _ in range(MOST_REPETITIONS):
        path = run(segment, options)
        exceeded = exceeds(segment, path, options)
        if not exceeded or options.stabilize != "auto" or options.step is None or path.status is not Status.FINISHED:
            break
        options = options.with_step(options.step / 2)
        notes.append(f"{exceeded}: repeated with the step {options.step:g}")
    if options.stabilize == "projection" and path.status is Status.FINISHED and left_by_projection(segment, path):
        segment = projected_more(segment, phase.start, state)
        path = run(segment, options)
        notes.append(
            "the steps lead far off the constraints: repeated with twice as many corrections after each of them"
        )
    switch = end_of_chart(segment.equations, path, options, phase.active)
    path = only(_cut(path, switch), grid)
    joint = grid is not None and switch is not None and switch.equations is not None and path.times[-1] not in grid
    notes.extend([switch.note] if switch is not None else [])
    notes.extend(lost_constraints(segment, path, predicted))
    notes.extend(passed_near(segment, path))
    path = _ended_at_singularity(segment, path, options)
    return Chapter(segment, path, options, decision.record, tuple(notes), joint=joint), switch


def _cut(path: Path, switch: Switch | None) -> Path:
    """The path up to the row at which another chart takes over, or to the singular point of the only one."""
    if switch is None or (switch.equations is None and path.status is Status.FINISHED):
        return path
    every_step = len(path.times) == path.steps + 1
    if path.status is Status.STOPPED:
        status, reason = Status.STOPPED, f"stopped by the user after t = {path.times[switch.row]:.9g}"
    else:
        status, reason = (Status.FINISHED, "") if switch.equations else (Status.SINGULAR, switch.note)
    return replace(
        path,
        times=path.times[: switch.row + 1],
        states=path.states[: switch.row + 1],
        steps=switch.row if every_step else path.steps,
        status=status,
        reason=reason,
    )


def _ended_at_singularity(segment: Segment, path: Path, options: Options) -> Path:
    """A run that overflowed after a singular point ends there, with the status singular."""
    found = singular_point(segment, path, options.step)
    if found is None:
        return path
    row, words = found
    return replace(
        path, status=Status.SINGULAR, reason=words, times=path.times[: row + 1], states=path.states[: row + 1]
    )


def refusal_of(equations: Equations, state: Array, phase: Phase, *, first: bool) -> list[str] | tuple[Status, str]:
    """(status, reason) when the phase cannot be run; else notes on a state that does not satisfy its constraints."""
    if not equations.deviations:
        return []
    report = examine(equations, state, phase.start)
    if report.singular or not report.full:
        return Status.SINGULAR, "; ".join(report.messages) or f"the constraints are singular at t = {phase.start:g}"
    off = {name: r for name, r in residuals(equations, state, phase.start).items() if not r.met}
    if first:
        return [f"the initial state does not satisfy {told_of(name, r)}" for name, r in off.items()]
    new = {c.name for c in phase.new}
    broken = [told_of(name, r) for name, r in off.items() if name in new and not nearly_met(r)]
    if broken:
        return (
            Status.INFEASIBLE,
            f"at t = {phase.start:g} the state does not satisfy {' and '.join(broken)}, which begins to act",
        )
    return []


def nearly_met(residual: Residual) -> bool:
    """Met up to what an integration leaves: a switch is reached with the error of the run."""
    speed = abs(residual.velocity) <= SWITCH_TOLERANCE * residual.velocity_scale
    return speed and (
        residual.position is None or abs(residual.position) <= SWITCH_TOLERANCE * (residual.position_scale or 0.0)
    )


def told_of(name: str, residual: Residual) -> str:
    if not residual.position_met:
        return f"the constraint '{name}': its residual is {residual.position:.4g}"
    if residual.position is not None:
        return f"the velocity level of '{name}': its rate is {residual.velocity:.4g}"
    return f"the constraint '{name}': its residual is {residual.velocity:.4g}"


def unfit_to_hold(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Array, time: float
) -> tuple[str, ...]:
    """Words for integrals that are to be held and cannot be: holding what is no integral would falsify the motion."""
    false = not_integrals(equations, [h.integral for h in held], state, time)
    return (*false, *cannot_be_held(equations, held, options.hold, state, time))


def replaced_velocities(equations: Equations, state: Array, time: float) -> list[str]:
    """Notes on velocities that do not fit the constraints and that the form computes from the others."""
    told = [
        f"{name} = {taken:.4g} instead of {given:.4g}"
        for name, (given, taken) in straying(equations, state, time).items()
    ]
    return [f"the form '{equations.form}' takes {', '.join(told)}, as the constraints demand"] if told else []


def stillborn(
    equations: Equations,
    options: Options,
    state: Array,
    span: tuple[float, float],
    status: Status,
    reason: str,
    record: Mapping[str, Any] | None = None,
) -> Chapter:
    """A phase that was not run: its only row is the state it would have begun with."""
    own = state if len(state) == len(equations.states) else entered(equations, state, span[0])
    path = Path(np.array([span[0]]), own[None, :].copy(), status, reason, 0, 0, 0, 0.0)
    return Chapter(None, path, options, record or {}, (), equations)


def grid_of(options: Options, span: tuple[float, float], rows: Array | None) -> Array | None:
    """Times of the rows of a phase: its ends, and the given ones or the multiples of ``every`` between them."""
    start, end = span
    if rows is None:
        if options.every is None:
            return None
        rows = np.arange(np.floor(start / options.every), np.ceil(end / options.every) + 1) * options.every
    close = 1e-9 * (end - start)
    inner = rows[(rows > start + close) & (rows < end - close)]
    return np.concatenate([[start], inner, [end]])
