"""The driver of all motions: phase after phase, as a structure says which one comes next."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import entered
from svyaz.holding import (
    Decision,
    Options,
    Refusal,
    Segment,
    exceeds,
    left_by_projection,
    lost_constraints,
    passed_near,
    projected_more,
    scaled_difference,
    singular_point,
)
from svyaz.integrate import LEAST_RTOL, Path, Status
from svyaz.integrate import method as find_method
from svyaz.motion.collection import collected
from svyaz.motion.phases import Advance, Beginning, Chapter, Progress, Structure, grid_of
from svyaz.motion.result import Motion, common_rows

MOST_REPETITIONS = 5
"""A run that exceeds its tolerance is repeated with half the step at most so often."""


@dataclass(frozen=True)
class Wishes:
    """What is asked of a run besides its options.

    ``force`` runs in spite of an unstable verdict on the gains; ``rows`` are the times at which the state is wanted, else
    the options decide; ``progress`` is called with the time reached.
    """

    force: bool = False
    rows: Array | None = None
    progress: Progress | None = None


def drive(structure: Structure, state: Array, wishes: Wishes) -> list[Chapter]:
    """Phase after phase from a state of the model, until the run is over or cannot go on."""
    chapters: list[Chapter] = []
    beginning: Beginning | None = structure.begin(state)
    while beginning is not None:
        decision = beginning.refusal or structure.settle(beginning, chapters, force=wishes.force)
        if isinstance(decision, Refusal):
            chapters.append(unborn(beginning, structure.options, decision))
            break
        chapters.append(_run(structure, beginning, decision, wishes))
        if chapters[-1].path.status is not Status.FINISHED:
            break
        beginning = structure.after(chapters)
    return chapters


def driven(structure: Structure, state: Array, wishes: Wishes) -> Motion:
    """The motion from a state of the model."""
    return collected(structure, drive(structure, state, wishes))


def unborn(beginning: Beginning, options: Options, refusal: Refusal) -> Chapter:
    """A phase that was not run: its only row is the state it would have begun with."""
    start = beginning.phase.start
    own = entered(beginning.phase.equations, beginning.state, start)
    path = Path(np.array([start]), own[None, :].copy(), refusal.status, refusal.reason, 0, 0, 0, 0.0)
    return Chapter(beginning, path, options, decision=refusal.decision)


def _run(structure: Structure, beginning: Beginning, decision: Decision, wishes: Wishes) -> Chapter:
    """Run one phase, repeat it with half the step while a tolerance is exceeded, and note what was noticed."""
    options, segment, notes = decision.options, decision.segment, list(decision.notes)

    def run(segment: Segment, options: Options) -> Advance:
        return structure.advance(beginning, segment, options, wishes.rows, wishes.progress)

    for _ in range(MOST_REPETITIONS):
        found = run(segment, options)
        exceeded = exceeds(segment, found.path, options)
        if (
            not exceeded
            or options.stabilize != "auto"
            or options.step is None
            or found.path.status is not Status.FINISHED
        ):
            break
        options = options.with_step(options.step / 2)
        notes.append(f"{exceeded}: repeated with the step {options.step:g}")
    done = options.stabilize == "projection" and found.path.status is Status.FINISHED
    if done and left_by_projection(segment, found.path):
        segment = projected_more(segment, beginning.phase.start, found.path.states[0])
        found = run(segment, options)
        notes.append(
            "the steps lead far off the constraints: repeated with twice as many corrections after each of them"
        )
    path = found.path
    notes.extend([found.note] if found.note else [])
    notes.extend(lost_constraints(segment, path, decision.record.get("predicted", {})))
    notes.extend(passed_near(segment, path))
    grid = grid_of(options, (beginning.phase.start, beginning.phase.end), wishes.rows)
    joint = grid is not None and found.onward is not None and path.times[-1] not in grid
    ended = _ended_at_singularity(segment, path, options)
    return Chapter(beginning, ended, options, segment, decision, tuple(notes), found.onward, joint)


def _ended_at_singularity(segment: Segment, path: Path, options: Options) -> Path:
    """A run that overflowed after a singular point ends there, with the status singular."""
    found = singular_point(segment, path, options.step)
    if found is None:
        return path
    row, words = found
    return replace(
        path, status=Status.SINGULAR, reason=words, times=path.times[: row + 1], states=path.states[: row + 1]
    )


def error_by_halving(structure: Structure, state: Array, coarse: Motion) -> float:
    """max |y_h - y_{h/2}| · 2^p/(2^p - 1) over the run, each state in its own scale (Richardson).

    With error control the second run allows 1/32 of the error in each step, and the plain difference is taken. Rows at
    which the two runs are in different phases, since their events are a little apart, are left out.
    """
    options = structure.options
    if options.step is not None:
        finer = replace(options, step=options.step / 2)
        weight = 2.0 ** find_method(options.method).order
        factor = weight / (weight - 1)
    else:
        assert options.rtol is not None, "a run has a step or rtol"
        finer = replace(options, rtol=max(options.rtol / 32, LEAST_RTOL))
        factor = 1.0
    fine = driven(structure.with_options(finer), state, Wishes(force=True, rows=np.unique(coarse.times)))
    if not fine.finished:
        return float("inf")
    if len(coarse.times) == len(fine.times) and np.array_equal(coarse.times, fine.times):
        return factor * scaled_difference(coarse.states, fine.states)
    return factor * scaled_difference(*common_rows(coarse, fine))
