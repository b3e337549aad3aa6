"""Members of a sweep that ran in lanes, checked against the equations as the model states them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from svyaz.motion import Sample, check_lanes
from svyaz.program import Native
from svyaz.stabilise import Segment
from svyaz.study.answers import FINISHED, Answers

if TYPE_CHECKING:
    from svyaz.study.tasks import NativeData, NativeTask

START = 0.0
"""Members begin then."""

EVERY = 50
"""Every so many members are looked at."""


def check_members(
    segment: Segment,
    task: NativeTask,
    data: Callable[[Sequence[int]], NativeData],
    numbers: Sequence[int],
    found: Answers,
) -> None:
    """Check the first of these members that came to its end, and every fiftieth after it, where it began and, if that is
    known, where it ended.
    """
    code, done = segment.code, np.flatnonzero(found.status == FINISHED)[::EVERY]
    if not len(done) or not isinstance(code, Native) or segment.equations.pulls:
        return
    own, count = data([numbers[k] for k in done]), len(done)
    times, states = [np.full(count, START)], [own.starts]
    ends = [found.measures[name][done] for name in task.final if name in found.measures]
    if len(ends) == len(task.final):
        times.append(np.full(count, task.until))
        states.append(np.array(ends).T)
    values = dict.fromkeys(code.program.parameters, 0.0) | segment.known | dict(task.values)
    columns = {name: np.tile(column, len(times)) for name, column in own.values.items()}
    sample = Sample(
        "lanes of a sweep",
        segment.equations,
        np.concatenate(times),
        np.vstack(states),
        np.empty(0),
        {},
        {**values, **columns},
        segment.perturbation.correction,
        segment.held,
        segment.hold,
    )
    check_lanes(sample, code)
