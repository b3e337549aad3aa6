"""``sweep``: many runs of one system over the product of what is varied, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from svyaz import __version__
from svyaz.arguments import check_arguments
from svyaz.expr import Advice, ModelError, Problem
from svyaz.forms import Deviation, refuse_negative_mass
from svyaz.json_types import Json
from svyaz.model import System, is_number, refuse_unknown
from svyaz.motion import Law, named, run_words, with_inputs
from svyaz.stabilise import OFF, Options, options_for
from svyaz.study import crew
from svyaz.study.answers import MARK, Answers, Codes
from svyaz.study.cluster import ClusterLost, done_by_cluster
from svyaz.study.folder import Head, head_of, measures_in, open_members
from svyaz.study.kept import Members
from svyaz.study.measures import Judge, judge_for, measure_names, measures_for, stable_intervals
from svyaz.study.options import DEFAULTS, Progress, SweepOptions
from svyaz.study.result import COMMON, Sweep
from svyaz.study.tasks import NativeTask, Work, native_work, plain, refusal, whole_work
from svyaz.study.vary import Axis, Member, Plan, Recipe, axes_for, members_of, recipe
from svyaz.study.ways import CommonWay, gains_for_all, serves_all, way_of


@check_arguments
def sweep(
    system: System,
    vary: Mapping[str, ArrayLike],
    measure: Sequence[str] = (),
    **options: Unpack[SweepOptions],
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
    and the sweep is then ``incomplete``. ``progress`` is called with the members done and their total; ``keep`` is a folder
    in which they are kept as they come (a Zarr group), and with ``resume`` what is there is not computed again: a study goes
    on, or grows by further values and measures.

    >>> import svyaz
    >>> svyaz.sweep(svyaz.load("pendulum:1"), {"L1": [1.0, 2.0]}, ["final.u1"], until=1, workers=1).grid("final.u1").shape
    (2,)
    """
    how: SweepOptions = {**DEFAULTS, **options}
    kept, keep, laws = named(how["kept"]), how.get("keep"), _texts(how.get("inputs") or {})
    refuse_unknown("kept", kept, system.states)
    wishes = RunWishes(run_words(options), laws, options.get("form"), how["project"], kept, how["beyond"])
    hands = Hands(how.get("workers"), how.get("scheduler"), how.get("progress"))
    return _swept(system, vary, measure, wishes, hands, None if keep is None else Path(keep), how["resume"])


@dataclass(frozen=True)
class RunWishes:
    """What is asked of all runs: options of ``simulate`` as they were given, laws of inputs, and how they are prepared."""

    options: Mapping[str, object]
    laws: Mapping[str, str | float]
    form: str | None
    project: bool
    kept: tuple[str, ...]
    beyond: bool


@dataclass(frozen=True)
class Hands:
    """Who works, and who is told how far it is."""

    workers: int | None
    scheduler: str | None
    progress: Progress | None


def _swept(
    stated: System,
    vary: Mapping[str, ArrayLike],
    measure: Sequence[str],
    wishes: RunWishes,
    hands: Hands,
    path: Path | None,
    resume: bool,
) -> Sweep:
    begin = perf_counter()
    system = with_inputs(stated, wishes.laws) if wishes.laws else stated
    axes = axes_for(system, vary)
    refuse_negative_mass(system, {axis.key: float(axis.values.min()) for axis in axes if axis.kind == "value"})
    options = _options(system, axes, wishes.options)
    way = way_of(system, wishes.form, options)
    phases, equations = way.phases, way.equations
    _gains_act(system, [d for phase in phases for d in phase.equations.deviations], axes)
    told: dict[str, Json] = {"form": way.form, **_options_record(options)} | (
        {"inputs": dict(wishes.laws)} if wishes.laws else {}
    )
    begun = options
    if serves_all(system, phases, options, axes):
        common = gains_for_all(system, way.form, options, path if resume else None)
        options, told = replace(options, stabilize=common), {**told, COMMON: common.word}
    plan = Plan(axes, options.stabilize.word)
    found = recipe(system, plan.settings([0]))
    measures = measures_for(measure_names(way.fullest, way.integrals(found.changing), found.changing), measure)
    all_measures = tuple(dict.fromkeys([*(measures_in(path) if resume else ()), *measures]))
    works = _works(stated, way, (options, begun), found, plan, all_measures, wishes)
    varied = {axis.key for axis in axes if axis.kind == "run"}
    head = _head(stated, {k: v for k, v in told.items() if k not in varied}, wishes, works[0])
    judge = judge_for(equations, options)
    with open_members(path, head, axes, all_measures, resume) as members:
        for work in works:
            done, by = _crew(work, members, plan.total, hands)
            status, notes = _gather(done, members, _marks(judge, plan, options), work.check, hands.progress)
            if status != "incomplete" or notes:
                break
    return Sweep(
        system=stated,
        axes=axes,
        measures=measures,
        members=members.at_hand(),
        asked=told,
        status=status,
        stable=_intervals(plan, judge, options),
        seconds=perf_counter() - begin,
        workers=by,
        notes=notes,
    )


def _works(
    stated: System,
    way: CommonWay,
    chosen: tuple[Options, Options],
    found: Recipe,
    plan: Plan,
    measures: Sequence[str],
    wishes: RunWishes,
) -> list[Work]:
    """Native loops where all members share one program and nothing else is wanted of them; else whole simulations.

    Where there are limits, those are simulated whole, after the others, that native loops have seen near to one. ``chosen``
    are the options of the runs, and those that were asked for, by which starts are refused.
    """
    options, begun = chosen
    equations, balance = way.equations, any(name.startswith("energy.") for name in measures)
    compiled = way.is_compiled_once(options, found.changing, plan.axes)
    compiled, fenced = compiled and not (wishes.project or wishes.kept or balance), bool(equations.system.limits)
    if compiled and not fenced:
        return [native_work(equations, options, begun, found, plan, measures)]
    asked: dict[str, Json] = {"project": wishes.project, "keep": list(wishes.kept), "beyond": wishes.beyond}
    asked |= {"halve": "error" in measures} | ({"inputs": dict(wishes.laws)} if wishes.laws else {})

    def refuse(member: Member) -> bool:
        if options is begun or wishes.project or wishes.kept:
            return False
        constants, start = found.values(member.settings)
        return bool(refusal(equations, begun, np.array(start), constants))

    whole = whole_work(stated, _whole_asked(options, way.form, asked), plan, measures, refuse, balance=balance)
    unseen = wishes.beyond or options.every is not None or any(m.startswith(("error", "multiplier")) for m in measures)
    if not compiled or unseen or plan.varies("run"):
        return [whole]
    return [native_work(equations, options, begun, found, plan, measures, fenced=True), whole]


def _head(stated: System, told: Mapping[str, Json], wishes: RunWishes, work: Work) -> Head:
    """Which study it is; ``told`` are the options that all runs share."""
    asked: list[Any] = [
        wishes.project or list(wishes.kept),
        wishes.beyond,
        wishes.options["tolerance"],
        wishes.options["charts"],
    ]
    words = plain(stated.words)
    program = work.task.rates if isinstance(work.task, NativeTask) else ""
    described: dict[str, Json] = {"model": stated.name, "svyaz": __version__, "run": dict(told), "words": words}
    return head_of(words, [dict(told), asked], program, described)


def _texts(inputs: Mapping[str, Law]) -> dict[str, str | float]:
    """Laws as they can be sent to those who work."""
    for name, law in inputs.items():
        if callable(law) or isinstance(law, np.ndarray | list | tuple):
            what = "a function of Python" if callable(law) else "a table"
            text = f"the law of '{name}' is {what}, which cannot be sent to other processes"
            raise ModelError([Problem(text, None, "a sweep takes texts, expressions and numbers")])
    return {name: float(law) if is_number(law) else str(law) for name, law in inputs.items()}


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
    if gains and not isinstance(options.stabilize.word, Mapping):
        options = replace(options, stabilize=OFF)  # its value does not matter: every member has its own
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


def _whole_asked(options: Options, form: str, wishes: Mapping[str, Json]) -> dict[str, Json]:
    """What is asked of every simulation."""
    asked: dict[str, Json] = {**_options_record(options), "form": form, **wishes}
    asked["tolerance"] = dict(options.tolerance) if isinstance(options.tolerance, Mapping) else options.tolerance
    return {key: value for key, value in asked.items() if value is not None}


def _options_record(options: Options) -> dict[str, Json]:
    """The options as the result records them."""
    keys = ("method", "step", "rtol", "atol", "until", "every", "hold")
    return {key: getattr(options, key) for key in keys} | {"stabilize": options.stabilize.word}


def _judge(member: Member, options: Options) -> tuple[object, float | None]:
    return member.asked.get("stabilize", options.stabilize.word), member.asked.get("step", options.step)


def _crew(work: Work, members: Members, total: int, hands: Hands) -> tuple[crew.Done, str]:
    """Those who do the work on the members that are missing, and how they are called in the result."""
    numbers = members.missing()
    if hands.scheduler is not None:
        return done_by_cluster(work, numbers, hands.scheduler), f"Dask at {hands.scheduler}"
    if hands.workers is not None and hands.workers < 1:
        raise ModelError([Problem(f"the number of workers must be positive, not {hands.workers}")])
    count = max(1, min(hands.workers or crew.cores(), total))
    if isinstance(work.task, NativeTask):
        return crew.done_by_threads(work, numbers, count), "1" if count == 1 else f"{count} threads"
    if count == 1:
        return crew.done_here(work, numbers), "1"
    return crew.done_by_processes(work, numbers, count), f"{count} processes"


Marks = Callable[[Sequence[int]], Codes]


def _marks(judge: Judge, plan: Plan, options: Options) -> Marks:
    """Whether the gains of members are stable, by their numbers."""
    if not plan.varies("gain", "run"):
        (mark,) = judge([(plan.stabilize, options.step)])
        return lambda numbers: np.full(len(numbers), MARK[mark], dtype=np.int8)

    def marks(numbers: Sequence[int]) -> Codes:
        found = judge([_judge(member, options) for member in plan.members(numbers)])
        return np.array([MARK[mark] for mark in found], dtype=np.int8)

    return marks


def _gather(
    done: crew.Done,
    members: Members,
    marks: Marks,
    check: Callable[[Sequence[int], Answers], None],
    progress: Progress | None,
) -> tuple[str, tuple[str, ...]]:
    """Take in what is done until all is done, the user stops it, or nobody is left to do it: (status, notes)."""
    notes: tuple[str, ...] = ()
    total, answered = members.layout.total, 0 if progress is None else members.answered()
    try:
        if progress is not None:
            progress(answered, total)
        for share, found in done:
            check(share, found)
            stable = np.where(found.stable == MARK[None], marks(share), found.stable).astype(np.int8)
            members.put(share, replace(found, stable=stable))
            answered += len(share)
            if progress is not None:
                progress(min(answered, total), total)
    except KeyboardInterrupt:
        return "stopped", ()
    except ClusterLost as error:
        notes = (str(error),)
    finally:
        close = getattr(done, "close", None)
        if close is not None:
            close()
    return "finished" if members.answered() == total else "incomplete", notes


def _intervals(plan: Plan, judge: Judge, options: Options) -> tuple[tuple[float, float], ...] | None:
    """Stable intervals of a single axis along which the verdict can change."""
    if len(plan.axes) != 1 or not plan.varies("gain", "run"):
        return None

    def judge_value(value: float) -> bool | None:
        (member,) = members_of(plan.axes, [(value,)], plan.stabilize)
        return judge([_judge(member, options)])[0]

    marks = judge([_judge(member, options) for member in plan.members(range(plan.total))])
    if all(mark is None for mark in marks):
        return None
    return tuple(stable_intervals(plan.axes[0].values, marks, judge_value))
