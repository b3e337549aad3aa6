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
from svyaz.motion.integrate import Path
from svyaz.motion.options import Options, options_for
from svyaz.motion.phases import Phase, phases
from svyaz.motion.result import Motion
from svyaz.motion.segment import Segment, advance, observed, prepare

Floats = NDArray[np.float64]
Progress = Callable[[float], object]

START = 0.0
"""Motions begin at t = 0."""


def simulate(system: System, *, form: str | None = None, progress: Progress | None = None, **asked: Any) -> Motion:
    """The motion of a system from its initial state.

    ``asked``: method, step or rtol (and atol), until, every, stabilize, tolerance; what is left out is taken from the
    model's [run]. ``progress`` is called with the time reached.
    """
    options = options_for(system, asked)
    name = form_name(system, form)
    chapters = []
    state = np.array(system.initial_state())
    for phase, equations in _equations_by_phase(system, name, options):
        law = perturbation(equations, options.stabilize)
        segment = prepare(equations, law, options, phase.start, state)
        path = advance(segment, state, (phase.start, phase.end), options, _grid(options, phase), progress)
        chapters.append((segment, path))
        state = path.states[-1]
        if path.status != "finished":
            break
    return _motion(system, name, options, chapters)


def _equations_by_phase(system: System, form: str, options: Options) -> list[tuple[Phase, Equations]]:
    """The equations of every phase; the free part is derived once."""
    found = phases(system, START, options.until)
    if form != "multipliers":
        equations = derive(system, form)
        return [(phase, equations) for phase in found]
    free = free_equations(system, *lagrange_terms(system))
    return [(phase, with_constraints(free, phase.active)) for phase in found]


def _grid(options: Options, phase: Phase) -> Floats | None:
    """Times of the rows of a phase: multiples of ``every`` and both ends."""
    if options.every is None:
        return None
    first, last = phase.start / options.every, phase.end / options.every
    inner = np.arange(np.floor(first) + 1, np.ceil(last)) * options.every
    close = 1e-9 * options.every
    inner = inner[(inner > phase.start + close) & (inner < phase.end - close)]
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
