"""From a system to its motion: phases of the constraints one after another, each as native code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svyaz.constraints.held import HeldIntegral, held_integrals
from svyaz.constraints.held_checks import cannot_be_held, not_integrals
from svyaz.constraints.ranks import examine
from svyaz.constraints.reduced import entered, examined, in_states_of, model_states, straying
from svyaz.constraints.states import NoConsistentState, Residual, residuals
from svyaz.constraints.states import project as onto_constraints
from svyaz.expr import ModelError, Problem
from svyaz.forms import REDUCED, Equations, derive, form_name
from svyaz.forms.lagrange import free_equations, lagrange_terms
from svyaz.forms.multipliers import with_constraints
from svyaz.model import System
from svyaz.motion.chapters import Chapter, collected
from svyaz.motion.charts import Switch, advance_on_chart, end_of_chart, only
from svyaz.motion.decide import Decision, decide
from svyaz.motion.integrate import LEAST_RTOL, Path
from svyaz.motion.long_trees import is_long, simulate_long
from svyaz.motion.options import Options, options_for
from svyaz.motion.phases import Phase, phases
from svyaz.motion.result import Motion
from svyaz.motion.segment import Segment, projected_more
from svyaz.motion.sizes import scaled_difference
from svyaz.motion.tableau import method as find_method
from svyaz.motion.watch import exceeds, left_by_projection, lost_constraints, passed_near, singular_point

Floats = NDArray[np.float64]
Progress = Callable[[float], object]

START = 0.0
"""Motions begin at t = 0."""

SWITCH_TOLERANCE = 1e-5
"""A constraint may begin to act when its residual is below this part of its own scale."""

MOST_REPETITIONS = 5
"""A run that exceeds its tolerance is repeated with half the step at most so often."""


def simulate(
    system: System,
    *,
    form: str | None = None,
    project: bool = False,
    halve: bool = False,
    force: bool = False,
    progress: Progress | None = None,
    **asked: Any,
) -> Motion:
    """The motion of a system from its initial state.

    ``asked``: method, step or rtol (and atol), until, every, stabilize, tolerance; what is left out is taken from the
    model's [run]. ``project`` first moves the initial state onto the constraints, ``halve`` estimates the error of the
    trajectory by a second run with half the step, ``force`` runs in spite of an unstable verdict on the gains.
    ``progress`` is called with the time reached.
    """
    options = options_for(system, asked)
    if form is None and is_long(system):
        return simulate_long(system, options, halve, progress)
    name = form_name(system, form)
    parts = equations_by_phase(system, name, options)
    state = np.array(system.initial_state())
    if project:
        try:
            state = onto_constraints(examined(parts[0][1]), state, START).state
        except NoConsistentState as refusal:
            span = (parts[0][0].start, parts[0][0].end)
            nowhere = _stillborn(parts[0][1], options, state, span, "infeasible", str(refusal))
            return collected(system, name, options, [nowhere])
    motion = _run(system, name, options, parts, state, force, progress)
    if halve and motion.finished:
        motion = replace(motion, trajectory_error=_error_by_halving(system, name, options, parts, state, motion))
    return motion


def _run(
    system: System,
    form: str,
    options: Options,
    parts: Sequence[tuple[Phase, Equations]],
    state: Floats,
    force: bool,
    progress: Progress | None,
    rows: Floats | None = None,
) -> Motion:
    """Phase after phase; ``rows`` are the times at which the state is wanted, else the options decide."""
    chapters: list[Chapter] = []
    initial = state
    queue = list(parts)
    while queue:
        phase, equations = queue.pop(0)
        span = (phase.start, phase.end)
        refusal = _unfit(examined(equations), state, phase, first=not chapters)
        held = in_states_of(equations, held_integrals(system, initial, START, kappa_of(options)))
        replaced = _replaced_velocities(equations, state, phase.start)
        state = entered(equations, state, phase.start)
        if isinstance(refusal, tuple):
            chapters.append(_stillborn(equations, options, state, span, *refusal))
            break
        unfit = () if force else _unfit_to_hold(equations, held, options, state, phase.start)
        if unfit:
            chapters.append(_stillborn(equations, options, state, span, "infeasible", "; ".join(unfit)))
            break
        decision = decide(equations, held, options, state, span)
        notes = [*refusal, *replaced, *equations.notes, *decision.notes]
        if not decision.allowed and not force:
            chapters.append(_stillborn(equations, options, state, span, "infeasible", decision.reason, decision.record))
            break
        chapter, switch = _chapter(decision, state, phase, rows, progress, notes)
        chapters.append(chapter)
        if switch is not None and switch.equations is not None:
            queue.insert(0, (replace(phase, start=float(chapter.path.times[-1]), new=()), switch.equations))
        state = model_states(equations, chapter.path.times[-1:], chapter.path.states[-1:])[0]
        if chapter.path.status != "finished":
            break
    return collected(system, form, options, chapters)


def _chapter(
    decision: Decision, state: Floats, phase: Phase, rows: Floats | None, progress: Progress | None, notes: list[str]
) -> tuple[Chapter, Switch | None]:
    """Run one phase, repeat it with half the step while a tolerance is exceeded, and note what was noticed.

    Where the chart of the equations degenerates the chapter ends, and another one is to take over.
    """
    options, segment, span = decision.options, decision.segment, (phase.start, phase.end)
    grid = _grid(options, phase, rows)
    predicted = decision.record.get("predicted", {})
    for _ in range(MOST_REPETITIONS):
        path = advance_on_chart(segment, state, span, options, grid, phase.active, progress)
        exceeded = exceeds(segment, path, options)
        if not exceeded or options.stabilize != "auto" or options.step is None or path.status != "finished":
            break
        options = options.with_step(options.step / 2)
        notes.append(f"{exceeded}: repeated with the step {options.step:g}")
    if options.stabilize == "projection" and path.status == "finished" and left_by_projection(segment, path):
        segment = projected_more(segment, phase.start, state)
        path = advance_on_chart(segment, state, span, options, grid, phase.active, progress)
        notes.append(
            "the steps lead far off the constraints: repeated with twice as many corrections after each of them"
        )
    switch = end_of_chart(segment.equations, path, options, grid, phase.active)
    path = only(_cut(path, switch), grid)
    notes.extend([switch.note] if switch is not None else [])
    notes.extend(lost_constraints(segment, path, predicted))
    notes.extend(passed_near(segment, path))
    path = _ended_at_singularity(segment, path, options)
    return Chapter(segment, path, options, decision.record, tuple(notes)), switch


def _cut(path: Path, switch: Switch | None) -> Path:
    """The path up to the row at which another chart takes over, or to the singular point of the only one."""
    if switch is None or (switch.equations is None and path.status == "finished"):
        return path
    every_step = len(path.times) == path.steps + 1
    return replace(
        path,
        times=path.times[: switch.row + 1],
        states=path.states[: switch.row + 1],
        steps=switch.row if every_step else path.steps,
        status="finished" if switch.equations else "singular",
        reason="" if switch.equations else switch.note,
    )


def _ended_at_singularity(segment: Segment, path: Path, options: Options) -> Path:
    """A run that overflowed after a singular point ends there, with the status singular."""
    found = singular_point(segment, path, options.step)
    if found is None:
        return path
    row, words = found
    return replace(path, status="singular", reason=words, times=path.times[: row + 1], states=path.states[: row + 1])


def _unfit(equations: Equations, state: Floats, phase: Phase, *, first: bool) -> list[str] | tuple[str, str]:
    """(status, reason) when the phase cannot be run; else notes on a state that does not satisfy its constraints."""
    if not equations.deviations:
        return []
    report = examine(equations, state, phase.start)
    if report.singular or not report.full:
        return "singular", "; ".join(report.messages) or f"the constraints are singular at t = {phase.start:g}"
    off = {name: r for name, r in residuals(equations, state, phase.start).items() if not r.met}
    if first:
        return [f"the initial state does not satisfy {_told(name, r)}" for name, r in off.items()]
    new = {c.name for c in phase.new}
    broken = [_told(name, r) for name, r in off.items() if name in new and not _nearly_met(r)]
    if broken:
        return (
            "infeasible",
            f"at t = {phase.start:g} the state does not satisfy {' and '.join(broken)}, which begins to act",
        )
    return []


def _unfit_to_hold(
    equations: Equations, held: tuple[HeldIntegral, ...], options: Options, state: Floats, time: float
) -> tuple[str, ...]:
    """Words for integrals that are to be held and cannot be: holding what is no integral would falsify the motion."""
    false = not_integrals(equations, [h.integral for h in held], state, time)
    return (*false, *cannot_be_held(equations, held, options.hold, state, time))


def _replaced_velocities(equations: Equations, state: Floats, time: float) -> list[str]:
    """Notes on velocities that do not fit the constraints and that the form computes from the others."""
    told = [
        f"{name} = {taken:.4g} instead of {given:.4g}"
        for name, (given, taken) in straying(equations, state, time).items()
    ]
    return [f"the form '{equations.form}' takes {', '.join(told)}, as the constraints demand"] if told else []


def _nearly_met(residual: Residual) -> bool:
    """Met up to what an integration leaves: a switch is reached with the error of the run."""
    speed = abs(residual.velocity) <= SWITCH_TOLERANCE * residual.velocity_scale
    return speed and (
        residual.position is None or abs(residual.position) <= SWITCH_TOLERANCE * (residual.position_scale or 0.0)
    )


def _told(name: str, residual: Residual) -> str:
    if not residual.position_met:
        return f"the constraint '{name}': its residual is {residual.position:.4g}"
    if residual.position is not None:
        return f"the velocity level of '{name}': its rate is {residual.velocity:.4g}"
    return f"the constraint '{name}': its residual is {residual.velocity:.4g}"


def kappa_of(options: Options) -> float | None:
    """The decay rate that ``stabilize`` asks for integrals as well."""
    if isinstance(options.stabilize, int | float):
        return float(options.stabilize)
    if isinstance(options.stabilize, Mapping) and "kappa" in options.stabilize:
        return float(options.stabilize["kappa"])
    return None


def _stillborn(
    equations: Equations,
    options: Options,
    state: Floats,
    span: tuple[float, float],
    status: str,
    reason: str,
    record: Mapping[str, Any] | None = None,
) -> Chapter:
    """A phase that was not run: its only row is the state it would have begun with."""
    own = state if len(state) == len(equations.states) else entered(equations, state, span[0])
    path = Path(np.array([span[0]]), own[None, :].copy(), status, reason, 0, 0, 0, 0.0)
    return Chapter(None, path, options, record or {}, (), equations)


def _error_by_halving(
    system: System,
    form: str,
    options: Options,
    parts: Sequence[tuple[Phase, Equations]],
    state: Floats,
    coarse: Motion,
) -> float:
    """max |y_h - y_{h/2}| · 2^p/(2^p - 1) over the run, each state in its own scale (Richardson).

    With error control the second run allows 1/32 of the error in each step, and the plain difference is taken.
    """
    if options.step is not None:
        finer = replace(options, step=options.step / 2)
        weight = 2.0 ** find_method(options.method).order
        factor = weight / (weight - 1)
    else:
        assert options.rtol is not None, "a run has a step or rtol"
        finer = replace(options, rtol=max(options.rtol / 32, LEAST_RTOL))
        factor = 1.0
    fine = _run(system, form, finer, parts, state, True, None, rows=coarse.times)
    if not fine.finished:
        return float("inf")
    return factor * scaled_difference(coarse.states, fine.states)


def equations_by_phase(system: System, form: str, options: Options) -> list[tuple[Phase, Equations]]:
    """The equations of every phase; the free part is derived once."""
    found = phases(system, START, options.until)
    if form in REDUCED:
        _without_bypass(system, form)
        return [(phase, REDUCED[form](system, phase.active)) for phase in found]
    if form != "multipliers":
        equations = derive(system, form)
        return [(phase, equations) for phase in found]
    free = free_equations(system, "multipliers", *lagrange_terms(system))
    return [(phase, with_constraints(free, phase.active)) for phase in found]


def _without_bypass(system: System, form: str) -> None:
    if system.bypass:
        message = f"the jump over a singular point ([bypass]) is made in the form 'multipliers', not in '{form}'"
        raise ModelError([Problem(message)])


def _grid(options: Options, phase: Phase, rows: Floats | None) -> Floats | None:
    """Times of the rows of a phase: its ends, and the given ones or the multiples of ``every`` between them."""
    if rows is None:
        if options.every is None:
            return None
        first, last = phase.start / options.every, phase.end / options.every
        rows = np.arange(np.floor(first), np.ceil(last) + 1) * options.every
    close = 1e-9 * (phase.end - phase.start)
    inner = rows[(rows > phase.start + close) & (rows < phase.end - close)]
    return np.concatenate([[phase.start], inner, [phase.end]])
