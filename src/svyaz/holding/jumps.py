"""The log of the jumps over singular points that a run has made (see ``bypass``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array
from svyaz.holding.bypass import Watched
from svyaz.holding.deviation import deviations
from svyaz.holding.observed_columns import observed
from svyaz.holding.segment import Segment


@dataclass(frozen=True)
class Jump:
    """A jump of a coordinate, or a velocity, from ``before`` to ``after``: the violation of the constraints right after it, and
    the time until a tenth of that was left (None if that was never so).
    """

    t: float
    coordinate: str
    before: float
    after: float
    violation: float
    recovery: float | None


def jump_log(segment: Segment, times: Array, states: Array) -> tuple[Jump, ...]:
    """Every jump along the rows of a run."""
    equations = segment.equations
    watched = Watched.of(equations)
    name, column = watched.moved, equations.states.index(watched.moved)
    if watched.order == 1:
        rates = observed(segment, times, states)["accelerations"][str(watched.rate)]
    else:
        rates = states[:, equations.states.index(f"{watched.coordinate}'")]
    change = np.diff(states[:, column]) - np.diff(times) * rates[:-1]
    jumped = np.flatnonzero(np.abs(change) > 0.5 * watched.bypass.jump)
    measured = deviations(equations)
    y = np.max(np.abs(measured.at(times, states))[:, measured.reported], axis=1, initial=0.0)
    log = []
    for row in jumped:
        after = y[row + 1 :]
        healed = np.flatnonzero(after < 0.1 * after[0]) if len(after) else np.zeros(0, dtype=int)
        log.append(
            Jump(
                t=float(times[row + 1]),
                coordinate=name,
                before=float(states[row, column]),
                after=float(states[row + 1, column]),
                violation=float(after[0]),
                recovery=float(times[row + 1 + healed[0]] - times[row + 1]) if len(healed) else None,
            )
        )
    return tuple(log)
