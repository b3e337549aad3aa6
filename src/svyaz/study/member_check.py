"""Members of a sweep that ran in lanes, checked against the equations as the model states them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.holding import Segment
from svyaz.motion import check_lanes
from svyaz.program import Native
from svyaz.study.answers import FINISHED, Answers

if TYPE_CHECKING:
    from svyaz.study.tasks import NativeData, NativeTask

START = 0.0
"""Members begin then."""


def check_members(segment: Segment, task: NativeTask, data: NativeData, found: Answers) -> None:
    """Check the first, the middle and the last member that came to its end, where it began and, if that is known, ended."""
    code, done = segment.code, np.flatnonzero(found.status == FINISHED)
    if not len(done) or not isinstance(code, Native):
        return
    chosen = np.array([done[0], done[len(done) // 2], done[-1]])
    rows = [np.column_stack([np.full(3, START), data.starts[chosen]])]
    ends = [found.measures.get(name) for name in task.final]
    if not any(column is None for column in ends):
        rows.append(
            np.column_stack([np.full(3, task.until), *(column[chosen] for column in ends if column is not None)])
        )
    own = {name: np.tile(column[chosen], len(rows)) for name, column in data.values.items()}
    known: dict[str, float | Array] = {
        **dict.fromkeys(code.program.parameters, 0.0),
        **segment.known,
        **task.values,
        **own,
    }
    check_lanes(segment.equations, code, np.vstack(rows), known, "lanes of a sweep", segment)
