"""Computed paths, and how they ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array

if TYPE_CHECKING:
    from svyaz.integrate.runs import Run


class Status(StrEnum):
    """How a run ended, in one word that is also its text.

    FINISHED: at its end. STOPPED: by the user. DIVERGED: the state is no longer finite. SINGULAR: the rates are not
    determined. STALLED: no step is short enough, or all that were allowed are used up. INFEASIBLE: refused before its
    first step, because what was asked of it cannot be had. LEFT: where the state passed a limit.
    """

    FINISHED = "finished"
    STOPPED = "stopped"
    DIVERGED = "diverged"
    SINGULAR = "singular"
    STALLED = "stalled"
    INFEASIBLE = "infeasible"
    LEFT = "left"

    @property
    def told(self) -> Status:
        """As a result tells it: a run that stalled has diverged for its reader."""
        return Status.DIVERGED if self is Status.STALLED else self


@dataclass(frozen=True)
class Bridge:
    """From ``start`` to ``end`` a path was not left to the method, because of the ``state`` (n,) at a ``moment``; ``words`` say
    why, where that is not for the constraints.
    """

    start: float
    end: float
    moment: float
    state: Array
    words: str = ""


@dataclass(frozen=True)
class Path:
    """A computed motion: times (k,), states (k, n), and how it ended.

    `reason` says in words why it did not finish, and `singular_system` the number of the linear system that had no
    solution. The last row is the last good state. `events` are the conditions that ended it, (on or off, name of the
    constraint), where such were watched, `passed` the limits that were passed, (low or high, name, time), and `bridged` the
    spans over which the motion was not left to the method.
    """

    times: Array
    states: Array
    status: Status
    reason: str
    steps: int
    rejected: int
    evaluations: int
    seconds: float
    step_sizes: Array | None = None
    singular_system: int | None = None
    events: tuple[tuple[str, str], ...] = ()
    passed: tuple[tuple[str, str, float], ...] = ()
    bridged: tuple[Bridge, ...] = ()

    @cached_property
    def finished(self) -> bool:
        """Did it reach its end?"""
        return self.status is Status.FINISHED


def joined(pieces: Sequence[Path], status: Status, reason: str, events: tuple[tuple[str, str], ...] = ()) -> Path:
    """Pieces one after another; a row that two of them share is kept once."""
    times, states = [pieces[0].times], [pieces[0].states]
    for piece in pieces[1:]:
        first = int(len(piece.times) > 0 and piece.times[0] <= times[-1][-1])
        times.append(piece.times[first:])
        states.append(piece.states[first:])
        if not len(times[-1]):
            times.pop()
            states.pop()
    return Path(
        times=np.concatenate(times),
        states=np.concatenate(states),
        status=status,
        reason=reason,
        steps=sum(p.steps for p in pieces),
        rejected=sum(p.rejected for p in pieces),
        evaluations=sum(p.evaluations for p in pieces),
        seconds=sum(p.seconds for p in pieces),
        singular_system=pieces[-1].singular_system,
        events=events,
        passed=tuple(limit for p in pieces for limit in p.passed),
        bridged=tuple(span for p in pieces for span in p.bridged),
    )


def path_of(run: Run, code: int, grid: Array | None, step: float | None, seconds: float) -> Path:
    """The path of a run that ended with a code, stored at the times of a grid, with a fixed step or without."""
    from svyaz.integrate.calls import DONE, FINISHED, REJECTED, STATUS

    rows = run.stored()
    if grid is not None:
        rows[:, 0] = grid[: len(rows)]
    if code != FINISHED and (len(rows) == 0 or rows[-1, 0] < run.time):
        rows = np.vstack((rows, run.room.work[0]))
    status, reason = _verdict(run, code)
    failed = int(run.room.count[STATUS])
    every_step = step is None and grid is None and len(rows) == run.room.count[DONE] + 1
    return Path(
        times=rows[:, 0].copy(),
        states=rows[:, 1:] if 2 * len(rows) > len(run.room.rows) else rows[:, 1:].copy(),
        status=status,
        reason=reason,
        steps=int(run.room.count[DONE]),
        rejected=int(run.room.count[REJECTED]),
        evaluations=run.evaluations,
        seconds=seconds,
        step_sizes=np.diff(rows[:, 0]) if every_step else None,
        singular_system=failed - 1 if status is Status.SINGULAR and failed > 0 else None,
    )


def _verdict(run: Run, code: int) -> tuple[Status, str]:
    """Status and reason of a run."""
    from svyaz.integrate.calls import STALLED

    if code == STALLED and _explodes(run):
        return Status.DIVERGED, f"the motion diverged: it grows beyond all bounds at t = {run.time:.9g}"
    return outcome(code, run.time)


UNSOLVED = "the equations of the implicit step have not been solved"


def outcome(code: int, time: float) -> tuple[Status, str]:
    """Status and reason, in words of mechanics, for the code with which a loop ended at a time."""
    from svyaz.integrate import calls

    when = f"t = {time:.9g}"
    words: dict[int, tuple[Status, str]] = {
        calls.FINISHED: (Status.FINISHED, ""),
        calls.STOPPED: (Status.STOPPED, f"stopped by the user at {when}"),
        calls.EXHAUSTED: (Status.STALLED, f"all steps that were allowed are used up at {when}"),
        calls.HOPELESS: (
            Status.STALLED,
            f"the steps become so short at {when} that the end is out of reach: the rates are too fast, jump or are stiff",
        ),
        calls.DIVERGED: (Status.DIVERGED, f"the motion diverged: after {when} the state is no longer finite"),
        calls.SINGULAR: (Status.SINGULAR, f"the equations have no unique solution for the accelerations after {when}"),
        calls.PROJECTION: (Status.SINGULAR, f"the state could not be put back on the constraints after {when}"),
        calls.NEWTON: (
            Status.STALLED,
            f"{UNSOLVED} after {when}: shorten it, or take an explicit method where the rates have no slope (a root of zero)",
        ),
        calls.STALLED: (
            Status.STALLED,
            f"no step is short enough at {when}: the motion has a singularity there, or its rates jump or do not exist",
        ),
    }
    return words[code]


def _explodes(run: Run) -> bool:
    """Whether some state, grown large, doubles within a time that rounding cannot resolve any more."""
    state, n = np.abs(run.room.work[0, 1:]), run.room.work.shape[1] - 1
    start = np.abs(run.stored()[0, 1:]).max(initial=1.0)
    unresolved = 1e4 * np.spacing(max(1e-300, abs(run.time)))
    return bool(((state > 1e3 * start) & (state <= unresolved * np.abs(run.slopes[:n]))).any())
