"""What is observed along a phase: multipliers, accelerations, residuals, energies, integrals."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import Measure, measure_of
from svyaz.forms import Equations, observation, observed_quantities, rates_of
from svyaz.holding.deviation import deviations
from svyaz.holding.segment import Segment
from svyaz.model import StepRule
from svyaz.program import LARGEST_WHOLE, Function, function, once_for_each


def observed(segment: Segment, times: Array, states: Array) -> dict[str, dict[str, Array]]:
    """Multipliers, accelerations, residuals, energies, integrals along the rows, by kind and name.

    With gains also the power Σ (λ - λ₀)_k (G q̇)_k of the forces that only stabilise, λ₀ the multipliers without them.
    """
    recursion = segment.equations.recursion
    if recursion is not None:
        code = segment.code
        if segment.held:
            from svyaz.holding.held_code import HeldCode

            assert isinstance(code, HeldCode), "the code is that of a recursion with what holds integrals"
            code = code.inner
        return recursion.observed(code, segment.known, tuple(segment.perturbation.gains), times, states)
    if _is_large_and_free(segment):
        return _observed_of_rates(segment, times, states)
    measure, gains = measure_of(segment.equations), segment.perturbation.gains
    kinds, rows = measure.observed_names, np.column_stack([times, states])
    own = {name: x for name, x in segment.values.items() if segment.equations.system.constants[name] != x}
    if own:  # inputs that are held at other values
        measure = replace(measure, function=measure.function.with_values(own))
    if _measured(segment, measure) or segment.held:
        tables = observing(segment).function.with_values({**own, **gains})(rows, tuple(kinds))
    else:  # whatever the law is: the run tells what it does
        accelerations = segment.code.evaluate(rows, segment.constants)[:, list(measure.speeds)]
        tables = measure.driven(times, states, accelerations, tuple(kinds))
    undetermined = np.isnan(tables["accelerations"]).any(axis=1)
    if undetermined.any():  # at a singular position, what depends on the state alone has its values still
        plain = [kind for kind in kinds if kind not in ("multipliers", "accelerations")]
        for kind, table in measure.function.known(rows[undetermined], plain).items():
            tables[kind][undetermined] = table
    found = {kind: dict(zip(names, tables[kind].T, strict=True)) for kind, names in kinds.items()}
    if gains:
        without = measure.function(rows, ("multipliers",))["multipliers"]
        free = dict(zip(kinds["multipliers"], without.T, strict=True))
        power = np.zeros(len(times))
        for name, through in found["through"].items():
            power += (found["multipliers"][name] - free[name]) * through
        found["power"] = {"stabilising power": power}
    return found


def _is_large_and_free(segment: Segment) -> bool:
    """Has it many accelerations and no constraints, so that its own program tells all that needs a linear system?"""
    equations = segment.equations
    free = not (equations.deviations or equations.eliminated or equations.sliding or segment.held)
    return free and len(equations.accelerated) > LARGEST_WHOLE


def _observed_of_rates(segment: Segment, times: Array, states: Array) -> dict[str, dict[str, Array]]:
    """What is observed, accelerations by the program of the run."""
    equations, rows = segment.equations, np.column_stack([times, states])
    rates = segment.code.evaluate(rows, segment.constants)
    places = [equations.states.index(str(v)) for v in equations.velocities]
    names = [str(a) for a in equations.accelerations]
    quantities = _of_states(equations)
    tables = quantities(rows)
    found = {
        kind: dict(zip(table, tables[kind].T, strict=True)) for kind, table in observed_quantities(equations).items()
    }
    return {"multipliers": {}, "accelerations": dict(zip(names, rates[:, places].T, strict=True)), **found}


@once_for_each
def _of_states(equations: Equations) -> Function:
    """What is observed of the states alone."""
    tables = {kind: list(table.values()) for kind, table in observed_quantities(equations).items()}
    return function(tables, ("t", *equations.states), equations.system.constants)


def _measured(segment: Segment, measure: Measure) -> bool:
    """Are the gains parameters of the measure?"""
    return segment.perturbation.kind == "linear" and set(segment.perturbation.gains) <= set(measure.function.values)


@once_for_each
def observing(segment: Segment) -> Measure:
    """What the motion of a segment is observed with: a law of the user, or gains that couple constraints, need their own."""
    equations, law, measure = segment.equations, segment.perturbation, measure_of(segment.equations)
    if _measured(segment, measure):
        return measure
    systems, quantities = observation(equations, rates_of(equations, law.correction).systems[0])
    tables = {kind: list(table.values()) for kind, table in quantities.items()}
    values = {**equations.system.constants, **law.gains}
    return replace(measure, function=function(tables, ("t", *equations.states), values, systems=systems))


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
