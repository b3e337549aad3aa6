"""``sweep``: many runs of one system over the product of what is varied, compiled once."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svyaz.constraints import is_reduced
from svyaz.expr import Advice, ModelError, Problem
from svyaz.forms import Deviation, Equations, derive, form_name
from svyaz.holding import Automatic, Off, Options, options_for, word_of
from svyaz.json_types import Json
from svyaz.model import System
from svyaz.motion import Phase, is_switched, phases_of
from svyaz.study import crew
from svyaz.study.measures import Judge, judge_for, known_measures, measures_for, stable_intervals
from svyaz.study.result import Row, Sweep, cells
from svyaz.study.tasks import Work, native_work, whole_work
from svyaz.study.vary import Axis, Member, Recipe, axes_for, members_of, points_of, recipe, structure_depends

Progress = Callable[[int, int], object]


def sweep(
    system: System,
    vary: Mapping[str, ArrayLike],
    measure: Sequence[str] = (),
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    keep: str | Path | None = None,
    form: str | None = None,
    project: bool = False,
    beyond: bool = False,
    method: str | None = None,
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    until: float | None = None,
    every: float | None = None,
    stabilize: str | float | Mapping[str, Json] | None = None,
    tolerance: float | Mapping[str, float] | None = None,
    hold: str | None = None,
    charts: str | None = None,
) -> Sweep:
    """Run the system for every member of the product of what is varied.

    ``vary``: values by name: parameters, ``initial.x``, ``run.step``, and the gains ``stabilize`` (κ), or ``kappa``,
    ``alpha``, ``beta``. ``measure``: ``final``, ``residual``, ``drift``, ``multiplier`` (all of a kind, or one as in
    ``final.x``), ``error`` (trajectory error by step halving), ``steps``, ``evaluations``, ``t``; by default residuals,
    energy drift and final state. The others are the options of ``simulate``. Gains with an unstable verdict are run and
    marked. A member that fails, or leaves the limits of the model without ``beyond``, is a row with its status
    (one that went on beyond them tells it as its reason); KeyboardInterrupt keeps the rows that are done.

    ``workers``: how many cores are used, all unless given; ``scheduler``: the address of a Dask scheduler instead.
    ``progress`` is called with the members done and their total; rows are appended to the file ``keep`` as they come.
    """
    begin = perf_counter()
    axes = axes_for(system, vary)
    asked = {"method": method, "step": step, "rtol": rtol, "atol": atol, "until": until, "every": every}
    options = _options(
        system, axes, {**asked, "stabilize": stabilize, "tolerance": tolerance, "hold": hold, "charts": charts}
    )
    name = form_name(system, form)
    phases = phases_of(system, name, options)
    if is_switched(system):  # the phases are not known in advance: any of the constraints may act
        phases = [replace(phases[0], equations=derive(system, name))]
    equations = phases[0].equations
    _gains_act(system, [d for phase in phases for d in phase.equations.deviations], axes)
    measures = measures_for(known_measures(_all_constraints(phases)), measure)
    points = points_of(axes)
    members = members_of(axes, points, word_of(options.stabilize))
    found = recipe(system, [key for member in members[:1] for key in member.settings])
    if project or not _compiled_once(system, phases, options, found, axes):
        wishes = {"project": project, "beyond": beyond, "halve": "error" in measures}
        work = whole_work(system, _whole_asked(options, name, wishes), members)
    else:
        work = native_work(equations, options, found, members, measures)
    judge = judge_for(equations, options)
    marks = judge([_judged(member, options) for member in members])
    rows: dict[int, Row] = {}
    done, by = _crew(work, workers, scheduler)
    with _kept(keep, axes, measures) as store:
        status = _gather(done, points, marks, rows, store, progress)
    return Sweep(
        system=system,
        axes=axes,
        measures=measures,
        rows=tuple(rows[k] for k in sorted(rows)),
        asked={"form": name, **_told(options)},
        status=status,
        stable=_intervals(axes, points, marks, judge, options),
        seconds=perf_counter() - begin,
        workers=by,
    )


def _options(system: System, axes: Sequence[Axis], asked: Mapping[str, object]) -> Options:
    """The options that all members share, with the first value of a varied step or tolerance."""
    first = {axis.key: float(axis.values[0]) for axis in axes if axis.kind == "run"}
    given = {key: value for key, value in asked.items() if value is not None}
    for key in first:
        given.pop(key, None)
    if "step" in first and "rtol" in given:
        text = "a varied step and a tolerance do not go together: a run has one or the other"
        raise ModelError([Problem(Advice(text, "varied step"))])
    options = options_for(system, {**given, **first})
    gains = {axis.key for axis in axes if axis.kind == "gain"}
    if gains and not isinstance(word_of(options.stabilize), Mapping):
        options = replace(options, stabilize=Off())  # its value does not matter: every member has its own
    return options


def _gains_act(system: System, deviations: Sequence[Deviation], axes: Sequence[Axis]) -> None:
    """Refuse a gain that no constraint and no held integral would feel: all members would be the same."""
    positions = any(d.position is not None for d in deviations)
    velocities = any(d.position is None for d in deviations) or any(i.hold for i in system.integrals)
    acts = {"alpha": positions, "beta": positions, "kappa": velocities, "stabilize": positions or velocities}
    for axis in axes:
        if axis.kind == "gain" and not acts[axis.key]:
            of = {"kappa": "velocities", "stabilize": "anything"}.get(axis.key, "positions")
            hint = "the gain of all constraints at once is 'stabilize'" if positions or velocities else None
            raise ModelError(
                [Problem(f"'{axis.name}' would act on constraints of {of}, and there are none", None, hint)]
            )


def _all_constraints(phases: Sequence[Phase]) -> Equations:
    """The equations of the phase with the most constraints, for the names of what can be measured."""
    return max((phase.equations for phase in phases), key=lambda e: len(e.deviations))


def _compiled_once(
    system: System, phases: Sequence[Phase], options: Options, found: Recipe, axes: Sequence[Axis]
) -> bool:
    """Do all members share one program? Not where phases, gains, charts or values are decided anew for each of them."""
    gains, first = any(axis.kind == "gain" for axis in axes), phases[0].equations
    automatic = isinstance(options.stabilize, Automatic) and not gains
    decided = automatic and (bool(first.deviations) or any(i.hold for i in system.integrals))
    own = len(phases) > 1 or is_switched(system) or bool(system.bypass) or is_reduced(first) or first.charted
    own = own or bool(system.limits)
    return not own and not decided and not structure_depends(system, found.changing)


def _whole_asked(options: Options, form: str, wishes: Mapping[str, bool]) -> dict[str, Json]:
    """What is asked of every simulation."""
    asked: dict[str, Json] = {**_told(options), "form": form, **wishes}
    asked["tolerance"] = dict(options.tolerance) if isinstance(options.tolerance, Mapping) else options.tolerance
    return {key: value for key, value in asked.items() if value is not None}


def _told(options: Options) -> dict[str, Json]:
    """The options as the result records them."""
    keys = ("method", "step", "rtol", "atol", "until", "every", "hold")
    return {key: getattr(options, key) for key in keys} | {"stabilize": word_of(options.stabilize)}


def _judged(member: Member, options: Options) -> tuple[Any, float | None]:
    return member.asked.get("stabilize", word_of(options.stabilize)), member.asked.get("step", options.step)


def _crew(work: Work, workers: int | None, scheduler: str | None) -> tuple[crew.Done, str]:
    """Those who do the work, and how they are called in the result."""
    if scheduler is not None:
        return crew.done_by_cluster(work, scheduler), f"Dask at {scheduler}"
    if workers is not None and workers < 1:
        raise ModelError([Problem(f"the number of workers must be positive, not {workers}")])
    count = min(workers or crew.cores(), len(work.members))
    if count == 1:
        return crew.done_here(work), "1"
    if work.task["work"] == "native":
        return crew.done_by_threads(work, count), f"{count} threads"
    return crew.done_by_processes(work, count), f"{count} processes"


def _gather(
    done: crew.Done,
    points: Sequence[tuple[float, ...]],
    marks: Sequence[bool | None],
    rows: dict[int, Row],
    store: Callable[[Row], object],
    progress: Progress | None,
) -> str:
    """Take what is done into ``rows`` until all is done or the user stops it."""
    try:
        for share, found in done:
            for k, answer in zip(share, found, strict=True):
                mark = answer.get("stable", marks[k])
                values = {name: np.nan if v is None else v for name, v in answer["measures"].items()}
                rows[k] = Row(k, points[k], answer["status"], answer["reason"], mark, values)
                store(rows[k])
            if progress is not None:
                progress(len(rows), len(points))
    except KeyboardInterrupt:
        return "stopped"
    finally:
        close = getattr(done, "close", None)
        if close is not None:
            close()
    return "finished"


@contextmanager
def _kept(path: str | Path | None, axes: Sequence[Axis], measures: Sequence[str]) -> Iterator[Callable[[Row], object]]:
    """A function that appends a row to the file, where there is one; rows stand there in the order they were done in."""
    if path is None:
        yield lambda row: None
        return
    Path(path).parent.mkdir(
        parents=True, exist_ok=True
    )  # only now: a mistake in what is asked for leaves nothing behind
    with Path(path).open("w", newline="", encoding="utf-8", buffering=1) as file:
        writer = csv.writer(file)
        writer.writerow(["number", *(axis.name for axis in axes), "status", "stable", *measures, "reason"])
        yield lambda row: writer.writerow([row.number, *cells(row, measures)])


def _intervals(
    axes: Sequence[Axis],
    points: Sequence[tuple[float, ...]],
    marks: Sequence[bool | None],
    judge: Judge,
    options: Options,
) -> tuple[tuple[float, float], ...] | None:
    """Stable intervals of a single axis along which the verdict can change."""
    if len(axes) != 1 or axes[0].kind not in ("gain", "run") or all(mark is None for mark in marks):
        return None

    def judged(value: float) -> bool | None:
        members = members_of(axes, [(value,)], word_of(options.stabilize))
        return judge([_judged(members[0], options)])[0]

    return tuple(stable_intervals(np.array([p[0] for p in points]), marks, judged))
