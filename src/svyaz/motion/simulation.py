"""From a system to its motion: phases of the constraints one after another, each as native code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from svyaz.constraints.perturbation import perturbation
from svyaz.forms import Equations, derive, form_name
from svyaz.forms.lagrange import lagrange_terms
from svyaz.forms.multipliers import free_equations, with_constraints
from svyaz.model import System
from svyaz.motion.integrate import LEAST_RTOL, Path
from svyaz.motion.options import Options, options_for
from svyaz.motion.phases import Phase, phases
from svyaz.motion.result import Motion
from svyaz.motion.segment import Segment, advance, observed, prepare
from svyaz.motion.tableau import method as find_method

Floats = NDArray[np.float64]
Progress = Callable[[float], object]

START = 0.0
"""Motions begin at t = 0."""


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
    name = form_name(system, form)
    parts = _equations_by_phase(system, name, options)
    state = np.array(system.initial_state())
    if project:
        state = _projected(parts[0][1], state)
    motion = _run(system, name, options, parts, state, progress)
    if halve and motion.finished:
        motion = replace(motion, trajectory_error=_error_by_halving(system, name, options, parts, state, motion))
    return motion


def _run(
    system: System,
    form: str,
    options: Options,
    parts: Sequence[tuple[Phase, Equations]],
    state: Floats,
    progress: Progress | None,
    rows: Floats | None = None,
) -> Motion:
    """Phase after phase; ``rows`` are the times at which the state is wanted, else the options decide."""
    chapters = []
    for phase, equations in parts:
        law = perturbation(equations, options.stabilize)
        segment = prepare(equations, law, options, phase.start, state)
        path = advance(segment, state, (phase.start, phase.end), options, _grid(options, phase, rows), progress)
        chapters.append((segment, path))
        state = path.states[-1]
        if path.status != "finished":
            break
    return _motion(system, form, options, chapters)


def _projected(equations: Equations, state: Floats) -> Floats:
    from svyaz.constraints.states import project

    return project(equations, state, START).state


def _error_by_halving(
    system: System,
    form: str,
    options: Options,
    parts: Sequence[tuple[Phase, Equations]],
    state: Floats,
    coarse: Motion,
) -> float:
    """max |y_h - y_{h/2}| · 2^p/(2^p - 1) over the run, each state scaled by its largest size (Richardson).

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
    fine = _run(system, form, finer, parts, state, None, rows=coarse.times)
    if not fine.finished:
        return float("inf")
    scale = np.abs(coarse.states).max(axis=0)
    difference = np.abs(coarse.states - fine.states).max(axis=0)
    moving = scale > 0
    return float(factor * np.max(difference[moving] / scale[moving], initial=0.0))


def _equations_by_phase(system: System, form: str, options: Options) -> list[tuple[Phase, Equations]]:
    """The equations of every phase; the free part is derived once."""
    found = phases(system, START, options.until)
    if form != "multipliers":
        equations = derive(system, form)
        return [(phase, equations) for phase in found]
    free = free_equations(system, *lagrange_terms(system))
    return [(phase, with_constraints(free, phase.active)) for phase in found]


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


def _motion(system: System, form: str, options: Options, chapters: Sequence[tuple[Segment, Path]]) -> Motion:
    times, states, tables = [], [], []
    for k, (segment, path) in enumerate(chapters):
        first = 0 if k == 0 else 1
        times.append(path.times[first:])
        states.append(path.states[first:])
        tables.append(observed(segment, path.times[first:], path.states[first:]))
    last = chapters[-1][1]
    lengths = [len(t) for t in times]
    motion = Motion(
        system=system,
        form=form,
        method=options.method,
        step=options.step,
        rtol=options.rtol,
        status=_status(last.status),
        reason=last.reason,
        times=np.concatenate(times),
        states=np.concatenate(states),
        state_names=system.states,
        steps=sum(path.steps for _, path in chapters),
        evaluations=sum(path.evaluations for _, path in chapters),
        seconds=sum(path.seconds for _, path in chapters),
    )
    return replace(motion, **_columns(tables, lengths))


def _status(of_path: str) -> str:
    """A step that shrinks to nothing is the sign of a motion that runs away."""
    return "diverged" if of_path == "stalled" else of_path


def _columns(tables: Sequence[Mapping[str, Floats]], lengths: Sequence[int]) -> dict[str, dict[str, Floats]]:
    """The observed columns, phase after phase, sorted into the tables of a Motion; NaN where a constraint does not act."""
    kinds = {"multiplier ": "multipliers", "residual ": "residuals", "hidden ": "hidden", "integral ": "integrals"}
    found: dict[str, dict[str, Floats]] = {kind: {} for kind in [*kinds.values(), "quantities"]}
    names = list(dict.fromkeys(name for table in tables for name in table))
    for name in names:
        parts = [table.get(name, np.full(n, np.nan)) for table, n in zip(tables, lengths, strict=True)]
        for prefix, kind in kinds.items():
            if name.startswith(prefix):
                found[kind][name.removeprefix(prefix)] = np.concatenate(parts)
                break
        else:
            found["quantities"][name] = np.concatenate(parts)
    return found
