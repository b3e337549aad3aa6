"""The work on members of a sweep, in any process: from portable text to numbers.

Run as a module it takes a task from the first line of its input and answers each further line, a list of members.
"""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.study.answers import FINISHED, STATUSES, Answer, Answers, answers_as_text, in_columns, joined, lost
from svyaz.study.measures import energy_terms, measured, of_motion, totals_along, undefined_energy
from svyaz.study.tasks import (
    START,
    Data,
    NativeData,
    NativeTask,
    Task,
    WholeData,
    WholeTask,
    data_from_text,
    task_from_text,
)
from svyaz.study.vary import Member

if TYPE_CHECKING:
    from svyaz.integrate import Flow, Group, Path
    from svyaz.program import Native

Stop = NDArray[np.int64]
"""A word that is not zero once the work is to be left."""

NOTHING = ("t", "steps", "evaluations")
"""What is 0 of a member that may not be run."""


class Left(Exception):
    """The work was left before it was done."""


def never() -> Stop:
    """Nobody will stop the work."""
    return np.zeros(1, dtype=np.int64)


def answers(task: Task, data: Data, stop: Stop | None = None) -> Answers:
    """The answers to all members; one that svyaz itself fails at is lost, and the others are not.

    Work in other threads is left (``Left``) soon after ``stop`` has been set.
    """
    halt = never() if stop is None else stop
    try:
        return _answers(task, data, halt)
    except (Left, OSError):
        raise
    except Exception as error:
        if len(data) > 1:
            return joined([answers(task, data.only(k), halt) for k in range(len(data))])
        return lost(f"internal error: {type(error).__name__}: {error}")


def _answers(task: Task, data: Data, stop: Stop) -> Answers:
    if isinstance(task, WholeTask):
        assert isinstance(data, WholeData), "a whole task has whole members"
        return in_columns([_whole(task, member) for member in data.members], task.measures)
    assert isinstance(data, NativeData), "a native task has native members"
    if _only_totals(task):
        return _together(task, data, stop)
    return in_columns([_alone(task, data, k, stop) for k in range(len(data))], task.measures)


def _only_totals(task: NativeTask) -> bool:
    """Fixed steps of an explicit method, rows at the method's own steps, and no second run for comparison."""
    from svyaz.integrate import method

    return task.step is not None and not method(task.method).implicit and task.every is None and not task.halve


@lru_cache(maxsize=64)
def _compiled(text: str) -> Native:
    from svyaz.program import compile_program, from_text

    return compile_program(from_text(text))


def _failed(reason: str) -> Answer:
    return Answer("infeasible", reason, dict.fromkeys(NOTHING, 0.0))


def _together(task: NativeTask, data: NativeData, stop: Stop) -> Answers:
    """Members with fixed steps in one native call."""
    from svyaz.integrate import CODE, STEPS, method, outcome, run_ensemble

    rates, observe, project = (_compiled(text) if text else None for text in (task.rates, task.observe, task.project))
    tableau = method(task.method)
    fit = np.array([k for k in range(len(data)) if k not in data.refused], dtype=np.int64)
    group = _group(task, (rates, observe, project), data, fit)
    columns = np.array(task.columns, dtype=np.int64)
    observed = len(observe.program.outputs) if observe else 0
    if len(fit):
        run_ensemble(tableau, (rates, observe, project), (START, float(task.until)), group, columns, observed, stop)
    if stop[0]:
        raise Left
    times, steps = group.ends[:, 0], group.answers[:, STEPS].astype(float)
    totals = {name: group.totals[:, j] for j, name in enumerate(task.observed)}
    known = {"t": times, "steps": steps, "evaluations": steps * tableau.stages}
    known |= {name: group.ends[:, 1 + j] for j, name in enumerate(task.final)} | measured(totals)
    wrong = undefined_energy(totals)
    status, reasons = np.full(len(data), STATUSES.index("infeasible"), dtype=np.int8), dict(data.refused)
    status[fit] = FINISHED
    codes = group.answers[:, CODE]
    ends = [code for code in np.unique(codes).tolist() if outcome(code, 0.0)[0] == "finished"]
    for i in {*np.flatnonzero(~np.isin(codes, ends)).tolist(), *wrong}:
        ended, reason = outcome(int(codes[i]), float(times[i]))
        told, why = wrong[i] if ended == "finished" else (str(ended), reason)
        status[fit[i]], reasons[int(fit[i])] = STATUSES.index(told), why
    measures = {name: np.full(len(data), 0.0 if name in NOTHING else np.nan) for name in task.measures}
    for name in task.measures:
        if name in known:
            measures[name][fit] = known[name]
    return Answers(status, np.zeros(len(data), dtype=np.int8), reasons, measures)


def _group(task: NativeTask, codes: Sequence[Native | None], data: NativeData, fit: NDArray[np.int64]) -> Group:
    """Members that are fit for it, as the native loop takes them."""
    from svyaz.integrate import WIDTH, Group, schedule

    def constants(code: Native | None) -> Array:
        if code is None:
            return np.zeros((len(fit), 1))
        names = code.program.parameters
        rows = np.tile([float(task.values.get(name, np.nan)) for name in names], (len(fit), 1))
        for k, name in enumerate(names):
            if name in data.values:
                rows[:, k] = data.values[name][fit]
        return code.constants_of(rows)

    span = START, float(task.until)
    steps = data.run["step"][fit] if "step" in data.run else np.full(len(fit), task.step)
    different, which = np.unique(steps, return_inverse=True)
    plans = [schedule(span, float(step)) for step in different]
    starts = np.column_stack([np.full(len(fit), START), data.starts[fit]])
    rates, watched, projected = (constants(code) for code in codes)
    return Group(
        constants=rates,
        watched=watched,
        projected=projected,
        starts=starts,
        ends=np.zeros_like(starts),
        pace=np.array([[plan.h, plan.last] for plan in plans]).reshape(-1, 2)[which],
        counts=np.array([[plan.total, plan.every] for plan in plans], dtype=np.int64).reshape(-1, 2)[which],
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
        return _failed(data.refused[place])
    member = _single(task, data, place)
    path = _path(task, member, (member.step, member.rtol), _output(task), stop)
    values: dict[str, float] = {"t": float(path.times[-1]), "steps": path.steps, "evaluations": path.evaluations}
    values |= zip(task.final, path.states[-1].tolist(), strict=True)
    totals: dict[str, Array] = {}
    if task.observe:
        code = _compiled(task.observe)
        rows = code.evaluate(np.column_stack([path.times, path.states]), code.constants(member.values))
        totals = dict(zip(task.observed, totals_along(rows[:, list(task.columns)])[:, None, :], strict=True))
        values |= {name: float(column[0]) for name, column in measured(totals).items()}
    if task.halve and path.finished:
        values["error"] = _error(task, member, path, stop)
    wrong = (
        undefined_energy(totals) if path.finished else {}
    )  # a run on which the energy is not always a number is none
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
    from svyaz.holding import StatePlaces, sampled
    from svyaz.integrate import refinement

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


def _whole(task: WholeTask, member: Member) -> Answer:
    """A member as one simulation of the model with its settings."""
    from svyaz.expr import ModelError
    from svyaz.integrate import Status
    from svyaz.model import system_of, with_settings
    from svyaz.motion import simulate, told_beyond

    try:
        system = system_of(task.words)
        if member.settings:
            system = with_settings(system, member.settings)
        asked = {**task.asked, **member.asked}
        motion = simulate(system, **asked)
        if motion.status is Status.INFEASIBLE and motion.gains is not None and not motion.steps:
            motion = simulate(system, force=True, **asked)  # gains with a bad verdict are run, and told
    except ModelError as error:
        return _failed(str(error))
    if motion.status is Status.STOPPED:  # a run keeps what it has when the user stops it; here the sweep is stopped
        raise KeyboardInterrupt
    verdict = motion.gains.word if motion.gains is not None else None
    reason = motion.reason or "; ".join(told_beyond(motion.limits))
    found = of_motion(motion) | (energy_terms(motion) if task.energy else {})
    return Answer(motion.status, reason, found, None if verdict is None else verdict == "stable")


def answer_text(task: str, members: str) -> str:
    """``answers`` for a worker that is sent text and sends text back."""
    asked = task_from_text(task)
    return answers_as_text(answers(asked, data_from_text(asked, members)))


def _end_with_parent() -> None:
    """Do not go on when the one who asked has been killed (Linux: prctl(PR_SET_PDEATHSIG, SIGKILL))."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main() -> None:
    """Answer the lines of the standard input."""
    _end_with_parent()
    task = task_from_text(sys.stdin.readline())
    for line in sys.stdin:
        print(answers_as_text(answers(task, data_from_text(task, line))), flush=True)


if __name__ == "__main__":
    main()
