"""What is observed along a phase: multipliers, accelerations, residuals, energies, integrals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import Columns, CompiledRates, dynamics_of
from svyaz.model import StepRule
from svyaz.stabilise.deviation import deviations
from svyaz.stabilise.segment import Segment


def observed(segment: Segment, times: Array, states: Array) -> Columns:
    """Multipliers, accelerations, residuals, energies, integrals along the rows, by kind and name."""
    return dynamics_of(segment.equations).observe(segment, np.column_stack([times, states]))


def multipliers_along(run: CompiledRates, times: Array, states: Array) -> Mapping[str, Array]:
    """The multipliers alone, by name: what is asked for at every event."""
    dynamics, enforcement, rows = dynamics_of(run.equations), run.enforcement, np.column_stack([times, states])
    tables, gains, plain = dynamics.tables, enforcement.gains, run.values == run.equations.system.constants
    known = {*tables.values, *tables.shapes}
    if not (plain and enforcement.own) or enforcement.adjust or not {*gains, "multipliers"} <= known:
        return dynamics.observe(run, rows)["multipliers"]
    bound = tables.with_values(gains) if any(gains.values()) else tables
    found = bound(rows, ("multipliers",))["multipliers"]
    return dict(zip(dynamics.observed_names["multipliers"], found.T, strict=True))


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


def jump_log(segment: Segment, rule: StepRule, times: Array, states: Array) -> tuple[Jump, ...]:
    """Every jump along the rows of a run."""
    equations, rate = segment.equations, f"{rule.state}'"
    own = states[:, equations.states.index(rule.state)]
    if rate in equations.states:
        rates = states[:, equations.states.index(rate)]
    else:
        rates = observed(segment, times, states)["accelerations"][rate]
    jumped = np.flatnonzero(np.abs(np.diff(own) - np.diff(times) * rates[:-1]) > rule.least)
    measured = deviations(equations)
    y = np.max(np.abs(measured.at(times, states))[:, measured.reported], axis=1, initial=0.0)
    log = []
    for row in jumped + 1:
        healed = np.flatnonzero(y[row:] < 0.1 * y[row])
        recovery = float(times[row + healed[0]] - times[row]) if len(healed) else None
        log.append(Jump(float(times[row]), rule.state, float(own[row - 1]), float(own[row]), float(y[row]), recovery))
    return tuple(log)
