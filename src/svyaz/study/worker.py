"""The work on members of a sweep, in any process: from portable text to numbers.

A task says what all members share, a member what is its own, and an answer what came out; all three are plain data that
can be written as JSON. A ``native`` task carries programs as text, which are compiled where it is done, or found in the
cache of compiled code there; a ``whole`` task carries the words of the model, and each member is one simulation.

Run as a module it takes a task from the first line of its input and answers each further line, a list of members.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from svyaz.arrays import Array
from svyaz.study.measures import measured, of_motion, totals_along

if TYPE_CHECKING:
    from svyaz.integrate import Flow, Path
    from svyaz.program import Native

Data = Mapping[str, Any]
Answer = dict[str, Any]

START = 0.0


def answers(task: Data, members: Sequence[Data]) -> list[Answer]:
    """The answers to all members: status, reason and measures by name (not a number where there is no value)."""
    if task["work"] == "whole":
        return [_whole(task, member) for member in members]
    if _only_totals(task):
        return _together(task, members)
    return [_alone(task, member) for member in members]


def _only_totals(task: Data) -> bool:
    """Fixed steps of an explicit method, rows at the method's own steps, and no second run for comparison."""
    from svyaz.integrate import method

    return task["stepped"] and not method(task["method"]).implicit and task["every"] is None and not task["halve"]


@lru_cache(maxsize=64)
def _compiled(text: str) -> Native:
    from svyaz.program import compile_program, from_text

    return compile_program(from_text(text))


def _failed(task: Data, status: str, reason: str) -> Answer:
    return {"status": status, "reason": reason, "measures": {"t": START, "steps": 0, "evaluations": 0}}


def _together(task: Data, members: Sequence[Data]) -> list[Answer]:
    """Members with fixed steps in one native call."""
    from svyaz.integrate import CODE, STEPS, ensemble, method, outcome

    found = [_refused(task, member) or {} for member in members]
    fit = [k for k, answer in enumerate(found) if not answer]
    if not fit:
        return found
    codes = {key: _compiled(task[key]) if task[key] else None for key in ("rates", "observe", "project")}
    tableau = method(task["method"])
    group = _group(task, codes, [members[k] for k in fit])
    rates, observe, project = (code.address if code is not None else 0 for code in codes.values())
    columns = np.array(task["columns"], dtype=np.int64)
    observed = len(codes["observe"].program.outputs) if codes["observe"] else 0
    ensemble(tableau, (rates, observe, project), (START, float(task["until"])), group, columns, observed)
    for i, k in enumerate(fit):
        time, steps = float(group.ends[i, 0]), int(group.answers[i, STEPS])
        status, reason = outcome(int(group.answers[i, CODE]), time)
        values = {"t": time, "steps": steps, "evaluations": steps * tableau.stages}
        values |= zip(task["final"], group.ends[i, 1:].tolist(), strict=True)
        values |= measured(dict(zip(task["observed"], group.totals[i].tolist(), strict=True)))
        found[k] = {"status": status, "reason": reason, "measures": values}
    return found


def _refused(task: Data, member: Data) -> Answer | None:
    """The answer to a member that cannot be run."""
    if not np.isfinite(member["start"]).all():
        return _failed(task, "infeasible", "the initial state has no finite value")
    return _failed(task, "infeasible", member["refused"]) if member["refused"] else None


def _group(task: Data, codes: Mapping[str, Native | None], members: Sequence[Data]) -> Any:
    """Members as the native loop takes them."""
    from svyaz.integrate import WIDTH, Group, schedule

    def constants(code: Native | None) -> Array:
        if code is None:
            return np.zeros((len(members), 1))
        return np.array([code.constants(member["values"]) for member in members])

    plans = [schedule((START, float(task["until"])), member["step"]) for member in members]
    starts = np.array([[START, *member["start"]] for member in members])
    return Group(
        constants=constants(codes["rates"]),
        watched=constants(codes["observe"]),
        projected=constants(codes["project"]),
        starts=starts,
        ends=np.zeros_like(starts),
        pace=np.array([[plan.h, plan.last] for plan in plans]),
        counts=np.array([[plan.total, plan.every] for plan in plans], dtype=np.int64),
        answers=np.zeros((len(members), 2), dtype=np.int64),
        totals=np.zeros((len(members), len(task["observed"]), WIDTH)),
    )


def _alone(task: Data, member: Data) -> Answer:
    """A member with its path: steps chosen by the method, an implicit method, or an error by halving."""
    refused = _refused(task, member)
    if refused is not None:
        return refused
    path = _path(task, member, 1.0, _output(task))
    values: dict[str, float] = {"t": float(path.times[-1]), "steps": path.steps, "evaluations": path.evaluations}
    values |= zip(task["final"], path.states[-1].tolist(), strict=True)
    if task["observe"]:
        code = _compiled(task["observe"])
        rows = code.evaluate(np.column_stack([path.times, path.states]), code.constants(member["values"]))
        totals = totals_along(rows[:, task["columns"]]).tolist()
        values |= measured(dict(zip(task["observed"], totals, strict=True)))
    if task["halve"] and path.finished:
        values["error"] = _error(task, member, path)
    status = path.status.told
    return {"status": status, "reason": path.reason, "measures": values}


def _output(task: Data) -> Array | None:
    """The times of the rows: multiples of ``every`` and the end."""
    if task["every"] is None:
        return None
    until = float(task["until"])
    rows = np.arange(0, np.ceil(until / task["every"]) + 1) * task["every"]
    return np.concatenate([[START], rows[(rows > 1e-9 * until) & (rows < until - 1e-9 * until)], [until]])


def _path(task: Data, member: Data, refinement: float, output: Array | None) -> Path:
    """The path of a member with its step divided (or its tolerance divided by 32) when it is to be finer."""
    from svyaz.integrate import LEAST_RTOL, Ode, solve

    size = len(member["start"])

    def flow(key: str) -> Flow | None:
        from svyaz.integrate import Flow

        if not task[key]:
            return None
        code = _compiled(task[key])
        return Flow(code.address, code.constants(member["values"]), size, code)

    rates = flow("rates")
    assert rates is not None, "a task has rates"
    step, rtol = member["step"], member["rtol"]
    if refinement > 1.0:
        step = None if step is None else step / refinement
        rtol = None if rtol is None else max(rtol / 32, LEAST_RTOL)
    return solve(
        Ode(rates, flow("jacobian"), flow("project")),
        np.array(member["start"]),
        (START, float(task["until"])),
        method=task["method"],
        step=step,
        rtol=rtol,
        atol=member["atol"],
        output=output,
    )


def _error(task: Data, member: Data, coarse: Path) -> float:
    """max |y_h - y_{h/2}| · 2^p/(2^p - 1), each state in its own scale (Richardson), as ``simulate`` does."""
    from svyaz.holding import scaled_difference
    from svyaz.integrate import method

    fine = _path(task, member, 2.0, coarse.times)
    if not fine.finished:
        return float("inf")
    weight = 2.0 ** method(task["method"]).order
    factor = weight / (weight - 1) if member["step"] is not None else 1.0
    return factor * scaled_difference(coarse.states, fine.states)


def _whole(task: Data, member: Data) -> Answer:
    """A member as one simulation of the model with its settings."""
    from svyaz.expr import ModelError
    from svyaz.integrate import Status
    from svyaz.model import system_of, with_settings
    from svyaz.motion import simulate, told_beyond

    try:
        system = system_of(task["words"])
        if member["settings"]:
            system = with_settings(system, member["settings"])
        asked = {**task["asked"], **member["asked"]}
        motion = simulate(system, **asked)
        if (
            motion.status is Status.INFEASIBLE and motion.gains is not None
        ):  # gains with a bad verdict are run, and told
            motion = simulate(system, force=True, **asked)
    except ModelError as error:
        return _failed(task, "infeasible", str(error))
    gains = motion.gains
    verdict = gains.word if gains is not None else None
    return {
        "status": motion.status,
        "reason": motion.reason or "; ".join(told_beyond(motion.limits)),
        "measures": of_motion(motion),
        "stable": None if verdict is None else verdict == "stable",
        "proposed": gains.proposed if gains is not None else None,
    }


def answers_as_text(task: str, members: str) -> str:
    """``answers`` for a worker that is sent text and sends text back."""
    return json.dumps(answers(json.loads(task), json.loads(members)))


def main() -> None:
    """Answer the lines of the standard input."""
    task = json.loads(sys.stdin.readline())
    for line in sys.stdin:
        print(json.dumps(answers(task, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
