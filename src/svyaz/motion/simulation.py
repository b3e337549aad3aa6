"""From a system to its motion: phases of the constraints one after another, each as native code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import NoConsistentState, entered, examined, model_states
from svyaz.constraints import project as onto_constraints
from svyaz.expr import ModelError, Problem
from svyaz.forms import Equations, derive, form_name, form_of, with_constraints
from svyaz.holding import (
    Options,
    Segment,
    asked_rate,
    decide,
    held_integrals,
    in_states_of,
    options_for,
    scaled_difference,
)
from svyaz.integrate import LEAST_RTOL, Path, Status
from svyaz.integrate import method as find_method
from svyaz.model import System
from svyaz.motion.chapters import Chapter, collected
from svyaz.motion.charts import advance_on_chart
from svyaz.motion.long_trees import is_long, simulate_long
from svyaz.motion.phase_runs import (
    Runner,
    chapter_of,
    grid_of,
    refusal_of,
    replaced_velocities,
    stillborn,
    unfit_to_hold,
)
from svyaz.motion.phases import START, Phase, phase_log, phases
from svyaz.motion.result import Motion
from svyaz.motion.stage import first_phase, stage_of
from svyaz.motion.switching import common_rows, is_switched, refuse_unfit, run_switching

Progress = Callable[[float], object]

MOST_IN_VAIN = 4
"""Charts are changed so often without getting on; where none is good the last one is kept."""


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
            nowhere = stillborn(parts[0][1], options, state, span, Status.INFEASIBLE, str(refusal))
            return collected(system, name, options, [nowhere])

    def run(options: Options, force: bool, progress: Progress | None, rows: Array | None) -> Motion:
        if is_switched(system):
            return run_switching(stage_of(system, options), state, force, progress, rows)
        return _run(system, name, options, parts, state, force, progress, rows)

    motion = run(options, force, progress, None)
    if halve and motion.finished:
        motion = replace(motion, trajectory_error=_error_by_halving(run, options, motion))
    return motion


def follow(
    equations: Equations,
    options: Options,
    state: Array,
    *,
    rows: Array | None = None,
    progress: Progress | None = None,
) -> Motion:
    """The motion of equations from a state of their system; ``rows`` are the times at which the state is wanted."""
    system = equations.system
    if is_switched(system):
        return run_switching(stage_of(system, options), state, False, progress, rows)
    phase = Phase(START, options.until, system.constraints, system.constraints)
    return _run(system, equations.form, options, [(phase, equations)], state, False, progress, rows)


def _run(
    system: System,
    form: str,
    options: Options,
    parts: Sequence[tuple[Phase, Equations]],
    state: Array,
    force: bool,
    progress: Progress | None,
    rows: Array | None = None,
) -> Motion:
    """Phase after phase; ``rows`` are the times at which the state is wanted, else the options decide."""
    chapters: list[Chapter] = []
    initial, in_vain = state, 0
    queue = list(parts)
    while queue:
        phase, equations = queue.pop(0)
        span = (phase.start, phase.end)
        refusal = refusal_of(examined(equations), state, phase, first=not chapters)
        held = in_states_of(equations, held_integrals(system, initial, START, asked_rate(options.stabilize)))
        replaced = replaced_velocities(equations, state, phase.start)
        state = entered(equations, state, phase.start)
        if isinstance(refusal, tuple):
            chapters.append(stillborn(equations, options, state, span, *refusal))
            break
        unfit = () if force else unfit_to_hold(equations, held, options, state, phase.start)
        if unfit:
            chapters.append(stillborn(equations, options, state, span, Status.INFEASIBLE, "; ".join(unfit)))
            break
        decision = decide(equations, held, options, state, span)
        notes = [*refusal, *replaced, *equations.notes, *decision.notes]
        if not decision.allowed and not force:
            chapters.append(
                stillborn(equations, options, state, span, Status.INFEASIBLE, decision.reason, decision.record)
            )
            break
        grid = grid_of(decision.options, span, rows)
        run = _runner(state, phase, grid, progress)
        chapter, switch = chapter_of(decision, state, phase, run, grid, notes)
        chapters.append(chapter)
        if switch is not None and switch.equations is not None:
            queue.insert(0, (replace(phase, start=float(chapter.path.times[-1]), new=()), switch.equations))
            in_vain = in_vain + 1 if len(chapter.path.times) == 1 else 0
            if in_vain > MOST_IN_VAIN:
                options = replace(options, charts="keep")
        state = model_states(equations, chapter.path.times[-1:], chapter.path.states[-1:])[0]
        if chapter.path.status is not Status.FINISHED:
            break
    reached = float(chapters[-1].path.times[0])
    return collected(system, form, options, chapters, phase_log([p for p, _ in parts if p.start <= reached]))


def _runner(state: Array, phase: Phase, grid: Array | None, progress: Progress | None) -> Runner:
    """Integrates over the phase, with rows on the grid."""
    span = (phase.start, phase.end)

    def run(segment: Segment, options: Options) -> Path:
        return advance_on_chart(segment, state, span, options, grid, phase.active, progress)

    return run


def _error_by_halving(run: Callable[..., Motion], options: Options, coarse: Motion) -> float:
    """max |y_h - y_{h/2}| · 2^p/(2^p - 1) over the run, each state in its own scale (Richardson).

    With error control the second run allows 1/32 of the error in each step, and the plain difference is taken. Rows at
    which the two runs are in different phases, since their events are a little apart, are left out.
    """
    if options.step is not None:
        finer = replace(options, step=options.step / 2)
        weight = 2.0 ** find_method(options.method).order
        factor = weight / (weight - 1)
    else:
        assert options.rtol is not None, "a run has a step or rtol"
        finer = replace(options, rtol=max(options.rtol / 32, LEAST_RTOL))
        factor = 1.0
    fine = run(finer, True, None, np.unique(coarse.times))
    if not fine.finished:
        return float("inf")
    if len(coarse.times) == len(fine.times) and np.array_equal(coarse.times, fine.times):
        return factor * scaled_difference(coarse.states, fine.states)
    return factor * scaled_difference(*common_rows(coarse, fine))


def equations_by_phase(system: System, form: str, options: Options) -> list[tuple[Phase, Equations]]:
    """The equations of every phase; the free part is derived once. Where events decide, only the first is known."""
    if is_switched(system):
        refuse_unfit(system, form)
        return [first_phase(stage_of(system, options))]
    found = phases(system, START, options.until)
    reduced = form_of(form).reduced if system.kind == "mechanical" else None
    if reduced is not None:
        _without_bypass(system, form)
        return [(phase, reduced(system, phase.active)) for phase in found]
    full = derive(system, form)
    whole = len(system.constraints)
    return [(p, full if len(p.active) == whole else with_constraints(full, p.active)) for p in found]


def _without_bypass(system: System, form: str) -> None:
    if system.bypass:
        message = f"the jump over a singular point ([bypass]) is made in the form 'multipliers', not in '{form}'"
        raise ModelError([Problem(message)])
