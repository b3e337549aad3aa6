"""``sweep``: many runs of one system over the product of what is varied, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from svyaz.constraints import independent, is_reduced
from svyaz.expr import Advice, ModelError, Problem
from svyaz.forms import Deviation, Equations, derive, form_name, jumps
from svyaz.holding import Automatic, Off, Options, branches, options_for, word_of
from svyaz.json_types import Json
from svyaz.model import System, is_number
from svyaz.motion import Law, Phase, is_switched, named, phases_of, with_inputs
from svyaz.study import crew
from svyaz.study.cluster import ClusterLost, done_by_cluster
from svyaz.study.measures import Judge, judge_for, known_measures, measures_for, stable_intervals
from svyaz.study.result import LOST, Row, Sweep
from svyaz.study.rows import Append, head_of, kept_rows
from svyaz.study.tasks import Answer, NativeTask, Work, native_work, plain, task_as_text, whole_work
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
    resume: bool = False,
    inputs: Mapping[str, Law] | None = None,
    form: str | None = None,
    project: bool = False,
    kept: str | Sequence[str] = (),
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
    ``alpha``, ``beta``. ``measure``: ``final``, ``residual``, ``drift``, ``multiplier``, ``energy`` (all of a kind, or one
    as in ``final.x``), ``error`` (trajectory error by step halving), ``steps``, ``evaluations``, ``t``; by default residuals,
    energy drift and final state. The others are the options of ``simulate``. Gains with an unstable verdict are run and
    marked. A member that fails, or leaves the limits of the model without ``beyond``, is a row with its status
    (one that went on beyond them tells it as its reason); KeyboardInterrupt keeps the rows that are done.

    ``project`` moves every initial state onto the constraints; the states called ``kept`` stay as they are then (``keep``
    of ``simulate``). ``inputs`` are laws u(t, x) in place of inputs, texts, expressions or numbers, as for ``simulate``.

    ``workers``: how many cores are used, all unless given; ``scheduler``: the address of a Dask scheduler instead. A worker
    that dies is replaced, and its members are tried again; those that are lost three times are rows with the status ``lost``,
    and the sweep is then ``incomplete``. ``progress`` is called with the members done and their total; rows are appended to
    the file ``keep`` as they come, and with ``resume`` those of the same sweep that are there are not computed again.

    >>> import svyaz
    >>> svyaz.sweep(svyaz.load("pendulum:1"), {"L1": [1.0, 2.0]}, ["final.u1"], until=1, workers=1).grid("final.u1").shape
    (2,)
    """
    begin = perf_counter()
    laws = _texts(inputs or {})
    stated, system = system, with_inputs(system, laws) if laws else system
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
    points = points_of(axes)
    members = members_of(axes, points, word_of(options.stabilize))
    found = recipe(system, [key for member in members[:1] for key in member.settings])
    measures = measures_for(known_measures(_all_constraints(phases), found.changing), measure)
    balance = any(name.startswith("energy.") for name in measures)
    stay = list(named(kept))
    if project or stay or balance or not _compiled_once(system, phases, options, found, axes):
        wishes: dict[str, Json] = {"project": project, "keep": stay, "beyond": beyond, "halve": "error" in measures}
        wishes |= {"inputs": dict(laws)} if laws else {}
        work = whole_work(stated, _whole_asked(options, name, wishes), members, balance=balance)
    else:
        work = native_work(equations, options, found, members, measures)
    judge = judge_for(equations, options)
    marks = judge([_judged(member, options) for member in members])
    told: dict[str, Json] = {"form": name, **_told(options)} | ({"inputs": dict(laws)} if laws else {})
    head = head_of(
        plain(stated.words), [told, project or stay, beyond, tolerance, charts], axes, measures, _programs(work)
    )
    with kept_rows(keep, head, points, resume) as (rows, append):
        done, by = _crew(work, [k for k in range(len(points)) if k not in rows], workers, scheduler)
        status, notes = _gather(done, points, marks, rows, append, progress)
    return Sweep(
        system=stated,
        axes=axes,
        measures=measures,
        rows=tuple(rows[k] for k in sorted(rows)),
        asked=told,
        status=status,
        stable=_intervals(axes, points, marks, judge, options),
        seconds=perf_counter() - begin,
        workers=by,
        notes=notes,
    )


def _texts(inputs: Mapping[str, Law]) -> dict[str, str | float]:
    """Laws as they can be sent to those who work."""
    for name, law in inputs.items():
        if callable(law) or isinstance(law, np.ndarray | list | tuple):
            what = "a function of Python" if callable(law) else "a table"
            text = f"the law of '{name}' is {what}, which cannot be sent to other processes"
            raise ModelError([Problem(text, None, "a sweep takes texts, expressions and numbers")])
    return {name: float(law) if is_number(law) else str(law) for name, law in inputs.items()}


def _programs(work: Work) -> str:
    return task_as_text(work.task)


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
    own = own or bool(system.limits) or jumps(first) or first.servo  # where directions cease to suffice is seen on rows
    if own or decided or structure_depends(system, found.changing):
        return False
    return not first.deviations or not _singular(first, options)


def _singular(equations: Equations, options: Options) -> bool:
    """Do constraints repeat others, or does the motion with the values of the model pass a position at which they branch?"""
    state = np.array(equations.system.initial_state())
    return independent(equations, state, 0.0) is not equations or branches(equations, options, state)


def _whole_asked(options: Options, form: str, wishes: Mapping[str, Json]) -> dict[str, Json]:
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


def _crew(work: Work, numbers: Sequence[int], workers: int | None, scheduler: str | None) -> tuple[crew.Done, str]:
    """Those who do the work on these members, and how they are called in the result."""
    if scheduler is not None:
        return done_by_cluster(work, numbers, scheduler), f"Dask at {scheduler}"
    if workers is not None and workers < 1:
        raise ModelError([Problem(f"the number of workers must be positive, not {workers}")])
    count = max(1, min(workers or crew.cores(), len(numbers)))
    if isinstance(work.task, NativeTask):
        return crew.done_by_threads(work, numbers, count), "1" if count == 1 else f"{count} threads"
    if count == 1:
        return crew.done_here(work, numbers), "1"
    return crew.done_by_processes(work, numbers, count), f"{count} processes"


def _gather(
    done: crew.Done,
    points: Sequence[tuple[float, ...]],
    marks: Sequence[bool | None],
    rows: dict[int, Row],
    append: Append,
    progress: Progress | None,
) -> tuple[str, tuple[str, ...]]:
    """Take what is done into ``rows`` until all is done, the user stops it, or nobody is left to do it: (status, notes).

    What was lost is a row, but not one to be kept: whoever resumes tries it again.
    """
    notes: tuple[str, ...] = ()
    try:
        if progress is not None:
            progress(len(rows), len(points))
        for share, found in done:
            new = [_row(k, points[k], marks[k], answer) for k, answer in zip(share, found, strict=True)]
            rows.update((row.number, row) for row in new)
            append([row for row in new if row.status != LOST])
            if progress is not None:
                progress(len(rows), len(points))
    except KeyboardInterrupt:
        return "stopped", ()
    except ClusterLost as error:
        notes = (str(error),)
    finally:
        close = getattr(done, "close", None)
        if close is not None:
            close()
    whole = len(rows) == len(points) and all(row.status != LOST for row in rows.values())
    return "finished" if whole else "incomplete", notes


def _row(number: int, point: tuple[float, ...], mark: bool | None, answer: Answer) -> Row:
    values = {name: np.nan if v is None else v for name, v in answer.measures.items()}
    stable = mark if answer.stable is None else answer.stable
    return Row(number, point, str(answer.status), str(answer.reason), stable, values)


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
