"""The work on members of a sweep, in any process: from portable text to numbers.

Run as a module it takes a task from the first line of its input and answers each further line, a list of members.
"""

from __future__ import annotations

import ctypes
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.study.measures import energy_terms, measured, of_motion, totals_along, undefined_energy
from svyaz.study.tasks import (
    START,
    Answer,
    Data,
    NativeData,
    NativeTask,
    Task,
    WholeData,
    WholeTask,
    answers_as_text,
    data_from_text,
    lost,
    task_from_text,
)

if TYPE_CHECKING:
    from svyaz.integrate import Flow, Group, Path
    from svyaz.program import Native

Stop = NDArray[np.int64]
"""A word that is not zero once the work is to be left."""


class Left(Exception):
    """The work was left before it was done."""


def never() -> Stop:
    """Nobody will stop the work."""
    return np.zeros(1, dtype=np.int64)


def answers(task: Task, members: Sequence[Data], stop: Stop | None = None) -> list[Answer]:
    """The answers to all members; one that svyaz itself fails at is lost, and the others are not.

    Work in other threads is left (``Left``) soon after ``stop`` has been set.
    """
    halt = never() if stop is None else stop
    try:
        return _answers(task, members, halt)
    except (Left, OSError):
        raise
    except Exception as error:
        if len(members) > 1:
            return [answer for member in members for answer in answers(task, [member], halt)]
        return [lost(f"internal error: {type(error).__name__}: {error}")]


def _answers(task: Task, members: Sequence[Data], stop: Stop) -> list[Answer]:
    if isinstance(task, WholeTask):
        return [_whole(task, member) for member in members if isinstance(member, WholeData)]
    natives = [member for member in members if isinstance(member, NativeData)]
    if _only_totals(task):
        return _together(task, natives, stop)
    return [_alone(task, member, stop) for member in natives]


def _only_totals(task: NativeTask) -> bool:
    """Fixed steps of an explicit method, rows at the method's own steps, and no second run for comparison."""
    from svyaz.integrate import method

    return task.stepped and not method(task.method).implicit and task.every is None and not task.halve


@lru_cache(maxsize=64)
def _compiled(text: str) -> Native:
    from svyaz.program import compile_program, from_text

    return compile_program(from_text(text))


def _failed(reason: str) -> Answer:
    return Answer("infeasible", reason, {"t": START, "steps": 0, "evaluations": 0})


def _together(task: NativeTask, members: Sequence[NativeData], stop: Stop) -> list[Answer]:
    """Members with fixed steps in one native call."""
    from svyaz.integrate import CODE, STEPS, method, outcome, run_ensemble

    found = {k: _failed(member.refused) for k, member in enumerate(members) if member.refused}
    fit = [k for k in range(len(members)) if k not in found]
    if not fit:
        return list(found.values())
    rates, observe, project = (_compiled(text) if text else None for text in (task.rates, task.observe, task.project))
    tableau = method(task.method)
    group = _group(task, (rates, observe, project), [members[k] for k in fit])
    columns = np.array(task.columns, dtype=np.int64)
    observed = len(observe.program.outputs) if observe else 0
    run_ensemble(tableau, (rates, observe, project), (START, float(task.until)), group, columns, observed, stop)
    if stop[0]:
        raise Left
    for i, k in enumerate(fit):
        time, steps = float(group.ends[i, 0]), int(group.answers[i, STEPS])
        status, reason = outcome(int(group.answers[i, CODE]), time)
        values = {"t": time, "steps": steps, "evaluations": steps * tableau.stages}
        values |= zip(task.final, group.ends[i, 1:].tolist(), strict=True)
        totals = dict(zip(task.observed, group.totals[i].tolist(), strict=True))
        found[k] = _answer(status, reason, values | measured(totals), totals)
    return [found[k] for k in range(len(members))]


def _group(task: NativeTask, codes: Sequence[Native | None], members: Sequence[NativeData]) -> Group:
    """Members as the native loop takes them."""
    from svyaz.integrate import WIDTH, Group, schedule

    def constants(code: Native | None) -> Array:
        if code is None:
            return np.zeros((len(members), 1))
        return np.array([code.constants(member.values) for member in members])

    plans = [schedule((START, float(task.until)), float(member.step or 0.0)) for member in members]
    starts = np.array([[START, *member.start] for member in members])
    rates, watched, projected = (constants(code) for code in codes)
    return Group(
        constants=rates,
        watched=watched,
        projected=projected,
        starts=starts,
        ends=np.zeros_like(starts),
        pace=np.array([[plan.h, plan.last] for plan in plans]),
        counts=np.array([[plan.total, plan.every] for plan in plans], dtype=np.int64),
        answers=np.zeros((len(members), 2), dtype=np.int64),
        totals=np.zeros((len(members), len(task.observed), WIDTH)),
    )


def _alone(task: NativeTask, member: NativeData, stop: Stop) -> Answer:
    """A member with its path: steps chosen by the method, an implicit method, or an error by halving."""
    if member.refused:
        return _failed(member.refused)
    path = _path(task, member, (member.step, member.rtol), _output(task), stop)
    values: dict[str, float] = {"t": float(path.times[-1]), "steps": path.steps, "evaluations": path.evaluations}
    values |= zip(task.final, path.states[-1].tolist(), strict=True)
    totals: dict[str, list[float]] = {}
    if task.observe:
        code = _compiled(task.observe)
        rows = code.evaluate(np.column_stack([path.times, path.states]), code.constants(member.values))
        totals = dict(zip(task.observed, totals_along(rows[:, list(task.columns)]).tolist(), strict=True))
        values |= measured(totals)
    if task.halve and path.finished:
        values["error"] = _error(task, member, path, stop)
    return _answer(path.status.told, path.reason, values, totals)


def _answer(status: str, reason: str, values: Mapping[str, float], totals: Mapping[str, Sequence[float]]) -> Answer:
    """A run to its end on which the energy is not always a number is none."""
    wrong = undefined_energy(totals) if status == "finished" else None
    return Answer(*(wrong or (status, reason)), values)


def _output(task: NativeTask) -> Array | None:
    """The times of the rows: multiples of ``every`` and the end."""
    if task.every is None:
        return None
    until = float(task.until)
    rows = np.arange(0, np.ceil(until / task.every) + 1) * task.every
    return np.concatenate([[START], rows[(rows > 1e-9 * until) & (rows < until - 1e-9 * until)], [until]])


def _path(
    task: NativeTask,
    member: NativeData,
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
        np.array(member.start),
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


def _error(task: NativeTask, member: NativeData, coarse: Path, stop: Stop) -> float:
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


def _whole(task: WholeTask, member: WholeData) -> Answer:
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
