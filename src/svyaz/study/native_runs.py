"""Native runs of members: in one call where steps are fixed or chosen by an explicit method, else each with its path."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.study.answers import FINISHED, MISSING, STATUSES, Answer, Answers, in_columns, no_answers
from svyaz.study.measures import CHANGE, TOP, energy_failures, evaluate_measures, totals_along
from svyaz.study.tasks import LIMIT, START, NativeData, NativeTask

if TYPE_CHECKING:
    from svyaz.integrate import Flow, Group, Path
    from svyaz.program import Native

Stop = NDArray[np.int64]
"""A word that is not zero once the work is to be left."""

Numbers = NDArray[np.int64]
FIRST_TRIALS = 2
"""Evaluations of the rates before the first step that a method chooses."""
NEAR, MANY_STEPS = 0.1, 100
"""A part of the way of a motion, which is small beside what it covers in a step where there are so many."""
NOTHING = ("t", "steps", "evaluations")
"""What is 0 of a member that may not be run."""


class Left(Exception):
    """The work was left before it was done."""


def never() -> Stop:
    """Nobody will stop the work."""
    return np.zeros(1, dtype=np.int64)


def native_answers(task: NativeTask, data: NativeData, stop: Stop) -> Answers:
    """The answers to members; ``Left`` soon after ``stop`` has been set.

    Of a fenced task members are missing that came near to a limit or did not come to their end.
    """
    if _only_totals(task):
        return _together(task, data, stop)
    found = _freely(task, data, stop)
    if found is not None:
        return found
    if task.fenced:
        return no_answers(len(data), task.measures)
    return in_columns([_alone(task, data, k, stop) for k in range(len(data))], task.measures)


def failed(reason: str) -> Answer:
    return Answer("infeasible", reason, dict.fromkeys(NOTHING, 0.0))


def _only_totals(task: NativeTask) -> bool:
    """Fixed steps of an explicit method, rows at the method's own steps, and no second run for comparison."""
    from svyaz.integrate import method

    return task.step is not None and not method(task.method).implicit and task.every is None and not task.halve


@lru_cache(maxsize=64)
def _compiled(text: str) -> Native:
    from svyaz.program import compile_program, from_text

    return compile_program(from_text(text))


def _together(task: NativeTask, data: NativeData, stop: Stop) -> Answers:
    """Members with fixed steps in one native call."""
    from svyaz.integrate import CODE, STEPS, method, prepare_ensemble, schedule

    rates, observe, project = (_compiled(text) if text else None for text in (task.rates, task.observe, task.project))
    tableau, span = method(task.method), (START, float(task.until))
    fit = np.array([k for k in range(len(data)) if k not in data.refused], dtype=np.int64)
    steps = data.run["step"][fit] if "step" in data.run else np.full(len(fit), task.step)
    different, which = np.unique(steps, return_inverse=True)
    plans = [schedule(span, float(step)) for step in different]
    pace = np.array([[plan.h, plan.last] for plan in plans]).reshape(-1, 2)[which]
    counts = np.array([[plan.total, plan.every] for plan in plans], dtype=np.int64).reshape(-1, 2)[which]
    group = _group(task, (rates, observe, project), data, fit, pace, counts)
    columns = np.array(task.columns, dtype=np.int64)
    observed = len(observe.program.outputs) if observe else 0
    if len(fit):
        prepare_ensemble(tableau, (rates, observe, project), group, columns, observed, stop)(*span)
    if stop[0]:
        raise Left
    made = group.answers[:, STEPS]
    return _answered(task, data, fit, group, group.answers[:, CODE], made, made * tableau.stages)


def _freely(task: NativeTask, data: NativeData, stop: Stop) -> Answers | None:
    """Members with steps of their own in one native call, in lanes; None where that cannot be done.

    Those that do not come to their end there are run alone, which says why.
    """
    from svyaz.integrate import CODE, STEPS, control_of, method, outcome, prepare_free_ensemble

    if task.step is not None or task.rtol is None or task.every is not None or task.halve or task.project or data.run:
        return None
    tableau, rates = method(task.method), _compiled(task.rates)
    observe = _compiled(task.observe) if task.observe else None
    fit = np.array([k for k in range(len(data)) if k not in data.refused], dtype=np.int64)
    group = _group(
        task, (rates, observe, None), data, fit, np.zeros((len(fit), 2)), np.zeros((len(fit), 2), dtype=np.int64)
    )
    control = control_of(tableau, (START, float(task.until)), task.rtol, task.atol, data.starts.shape[1])
    columns, observed = np.array(task.columns, dtype=np.int64), len(observe.program.outputs) if observe else 0
    lanes = prepare_free_ensemble(tableau, (rates, observe), control, group, columns, observed, stop)
    if lanes is None:
        return None
    run, rejected = lanes
    run(control.t1)
    if stop[0]:
        raise Left
    codes, made = group.answers[:, CODE], group.answers[:, STEPS]
    found = _answered(task, data, fit, group, codes, made, FIRST_TRIALS + (made + rejected) * tableau.stages)
    if task.fenced:
        return found
    known = [code for code in np.unique(codes).tolist() if outcome(code, 0.0)[0] == "finished"]
    again = fit[~np.isin(codes, known)].tolist()
    alone = in_columns([_alone(task, data, k, stop) for k in again], task.measures)
    reasons = {k: text for k, text in found.reasons.items() if k not in set(again)}
    reasons |= {again[k]: text for k, text in alone.reasons.items()}
    found.status[again], found.stable[again] = alone.status, alone.stable
    for name, values in alone.measures.items():
        found.measures[name][again] = values
    return replace(found, reasons=reasons)


def _answered(
    task: NativeTask, data: NativeData, fit: Numbers, group: Group, codes: Numbers, steps: Numbers, evaluations: Numbers
) -> Answers:
    """What came of members that were fit for a native call, and why the others were refused."""
    from svyaz.integrate import outcome

    times = group.ends[:, 0]
    totals = {name: group.totals[:, j] for j, name in enumerate(task.observed)}
    known = {"t": times, "steps": steps.astype(float), "evaluations": evaluations.astype(float)}
    known |= {name: group.ends[:, 1 + j] for j, name in enumerate(task.final)} | evaluate_measures(totals)
    wrong = energy_failures(totals)
    near = _near_limits(totals, steps) if task.fenced else np.zeros(len(fit), dtype=bool)
    status, reasons = np.full(len(data), STATUSES.index("infeasible"), dtype=np.int8), dict(data.refused)
    status[fit] = FINISHED
    ends = [code for code in np.unique(codes).tolist() if outcome(code, 0.0)[0] == "finished"]
    for i in {*np.flatnonzero(~np.isin(codes, ends)).tolist(), *wrong}:
        ended, reason = outcome(int(codes[i]), float(times[i]))
        told, why = wrong[i] if ended == "finished" else (str(ended), reason)
        status[fit[i]], reasons[int(fit[i])] = STATUSES.index(told), why
        near[i] |= task.fenced
    status[fit[near]] = MISSING
    reasons = {k: why for k, why in reasons.items() if status[k] != MISSING}
    measures = {name: np.full(len(data), 0.0 if name in NOTHING else np.nan) for name in task.measures}
    for name in task.measures:
        if name in known:
            measures[name][fit] = known[name]
    return Answers(status, np.zeros(len(data), dtype=np.int8), reasons, measures)


def _near_limits(totals: Mapping[str, Array], steps: Numbers) -> NDArray[np.bool_]:
    """Members that a limit may have been passed by: it was nearer, at some step, than a part of the way that led there.

    Between steps that are many a motion goes no farther than that beyond what was seen.
    """
    near = steps < MANY_STEPS
    for quantity, total in totals.items():
        if quantity.startswith(LIMIT):
            near = near | ~(total[:, TOP] < -NEAR * total[:, CHANGE])
    return near


def _group(
    task: NativeTask, codes: Sequence[Native | None], data: NativeData, fit: Numbers, pace: Array, counts: Numbers
) -> Group:
    """Members that are fit for it, as the native loops take them."""
    from svyaz.integrate import WIDTH, Group

    def constants(code: Native | None) -> Array:
        if code is None:
            return np.zeros((len(fit), 1))
        names = code.program.parameters
        rows = np.tile([float(task.values.get(name, np.nan)) for name in names], (len(fit), 1))
        for k, name in enumerate(names):
            if name in data.values:
                rows[:, k] = data.values[name][fit]
        return code.constants_of(rows)

    starts = np.column_stack([np.full(len(fit), START), data.starts[fit]])
    rates, watched, projected = (constants(code) for code in codes)
    return Group(
        constants=rates,
        watched=watched,
        projected=projected,
        starts=starts,
        ends=np.zeros_like(starts),
        pace=pace,
        counts=counts,
        answers=np.zeros((len(fit), 2), dtype=np.int64),
        totals=np.zeros((len(fit), len(task.observed), WIDTH)),
    )


@dataclass(frozen=True)
class _Single:
    """One member: the values of all that the programs take, its start, and its step and tolerances."""

    values: Mapping[str, float]
    start: Array
    step: float | None
    rtol: float | None
    atol: Any


def _single(task: NativeTask, data: NativeData, place: int) -> _Single:
    own = {name: float(column[place]) for name, column in data.values.items()}
    run = {"step": task.step, "rtol": task.rtol, "atol": task.atol}
    run |= {name: float(column[place]) for name, column in data.run.items()}
    return _Single({**task.values, **own}, data.starts[place].copy(), **run)


def _alone(task: NativeTask, data: NativeData, place: int, stop: Stop) -> Answer:
    """A member with its path: steps chosen by the method, an implicit method, or an error by halving."""
    if place in data.refused:
        return failed(data.refused[place])
    member = _single(task, data, place)
    path = _path(task, member, (member.step, member.rtol), _output(task), stop)
    values: dict[str, float] = {"t": float(path.times[-1]), "steps": path.steps, "evaluations": path.evaluations}
    values |= zip(task.final, path.states[-1].tolist(), strict=True)
    totals: dict[str, Array] = {}
    if task.observe:
        code = _compiled(task.observe)
        rows = code.evaluate(np.column_stack([path.times, path.states]), code.constants(member.values))
        totals = dict(zip(task.observed, totals_along(rows[:, list(task.columns)])[:, None, :], strict=True))
        values |= {name: float(column[0]) for name, column in evaluate_measures(totals).items()}
    if task.halve and path.finished:
        values["error"] = _error(task, member, path, stop)
    wrong = energy_failures(totals) if path.finished else {}  # a run on which the energy is not always a number is none
    return Answer(*wrong.get(0, (path.status.told, path.reason)), values)


def _output(task: NativeTask) -> Array | None:
    """The times of the rows: multiples of ``every`` and the end."""
    if task.every is None:
        return None
    until = float(task.until)
    rows = np.arange(0, np.ceil(until / task.every) + 1) * task.every
    return np.concatenate([[START], rows[(rows > 1e-9 * until) & (rows < until - 1e-9 * until)], [until]])


def _path(
    task: NativeTask,
    member: _Single,
    fineness: tuple[float | None, float | None],
    output: Array | None,
    stop: Stop,
) -> Path:
    """The path of a member with this step or tolerance."""
    from svyaz.integrate import Flow, Ode, solve

    def flow(text: str) -> Flow | None:
        if not text:
            return None
        code = _compiled(text)
        return Flow(code.address, code.constants(member.values), len(member.start), code)

    rates = flow(task.rates)
    assert rates is not None, "a task has rates"
    step, rtol = fineness
    return solve(
        Ode(rates, flow(task.jacobian), flow(task.project)),
        member.start,
        (START, float(task.until)),
        method=task.method,
        step=step,
        rtol=rtol,
        atol=member.atol,
        output=output,
        progress=_leaving(stop),
    )


def _leaving(stop: Stop) -> Callable[[float], None]:
    """Leave a run under way once that is wanted."""

    def look(_time: float) -> None:
        if stop[0]:
            raise Left

    return look


def _error(task: NativeTask, member: _Single, coarse: Path, stop: Stop) -> float:
    """The trajectory error by a finer run, each state in its own scale, as ``simulate`` does."""
    from svyaz.integrate import refinement
    from svyaz.stabilise import StatePlaces, sampled

    step, rtol, factor = refinement(task.method, member.step, member.rtol)
    fine = _path(task, member, (step, rtol), coarse.times, stop)
    if not fine.finished:
        return float("inf")
    weights, few = np.zeros((0, 0)), sampled(coarse.times)
    if task.weights:
        code = _compiled(task.weights)
        rows = np.column_stack([coarse.times[few], coarse.states[few]])
        weights = code.evaluate(rows, code.constants(member.values))
    scale = StatePlaces(**task.places).scale(weights, coarse.times, coarse.states)
    return factor * scale.difference(coarse.states, fine.states)
