"""The fixed step with which a browser repeats a run: that of the run, or one that gives the same motion.

A run that chose its steps, or whose method is implicit, is repeated natively with equal steps of an explicit method, ever
shorter ones, until both agree; by how much they differ is told on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, log10

import numpy as np

from svyaz.constraints import entered, model_states
from svyaz.integrate import Status
from svyaz.integrate import method as find_method
from svyaz.motion import Chapter
from svyaz.stabilise import Entry, Options, integrated

EXPLICIT = "dop853"
"""In place of an implicit method."""

AGREEMENT = 1e-7
"""Motions that differ by no more than this part of the size of each state are the same on a page."""

USABLE = 1e-3
"""A motion that differs by more than this is not called the same."""

FEWEST_STEPS, MOST_EVALUATIONS = 200, 600_000


@dataclass(frozen=True)
class Pace:
    """Method and step; ``difference`` from the run with error control, as a part of the size of each state (0: none)."""

    method: str
    step: float
    difference: float = 0.0


def pace_of(chapters: Sequence[Chapter], until: float) -> Pace | None:
    """How a browser is to make the steps of a run; None where no explicit method with a bearable step repeats it."""
    options = chapters[-1].options
    method = options.method if not find_method(options.method).implicit else EXPLICIT
    if options.step is not None and method == options.method:
        return Pace(method, float(options.step)) if len({c.options.step for c in chapters}) == 1 else None
    steps = max(FEWEST_STEPS, sum(c.path.steps for c in chapters))
    stages, best = find_method(method).stages, None
    while steps * stages <= MOST_EVALUATIONS:
        step = _round(until / steps)
        found = Pace(method, step, _difference(chapters, replace(options, method=method, step=step, rtol=None)))
        if best is None or found.difference < best.difference:
            best = found
        if found.difference <= AGREEMENT:
            break
        steps *= 2
    return best if best is not None and best.difference <= USABLE else None


def _round(step: float) -> float:
    """The largest of 1, 2, 2.5, 5 times a power of ten that is not longer."""
    power = 10.0 ** floor(log10(step))
    return float(max(m * power for m in (1.0, 2.0, 2.5, 5.0) if m * power <= step * (1 + 1e-12)))


def _difference(chapters: Sequence[Chapter], options: Options) -> float:
    """How far a run with these options, over the same phases, leads off the run that was made."""
    states = [model_states(c.phase.equations, c.path.times, c.path.states) for c in chapters]
    size = np.maximum(np.max([np.abs(part).max(axis=0) for part in states], axis=0), 1e-12)
    start, worst = chapters[0].beginning.state, 0.0
    for chapter, expected in zip(chapters, states, strict=True):
        assert chapter.segment is not None
        equations, times = chapter.phase.equations, chapter.path.times
        if chapter.beginning.entry is Entry.EVENT:
            start = chapter.beginning.state
        own = entered(equations, start, float(times[0]))
        span = float(times[0]), float(times[-1])
        path = integrated(chapter.segment, own, span, options, times, None)
        if path.status is not Status.FINISHED or len(path.times) != len(times):
            return float("inf")
        found = model_states(equations, path.times, path.states)
        worst, start = max(worst, float(np.max(np.abs(found - expected) / size))), found[-1]
    return worst if np.isfinite(worst) else float("inf")
