"""Does a state satisfy the constraints, and the nearest state that does.

Between the state of a model (all coordinates, all velocities) and the state of a reduced form.

A reduced form keeps the coordinates and fewer velocities: q̇ = N v + n. Into it one comes by v, out of it by q̇.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics import (
    ZERO_RELATIVE,
    Approach,
    Rows,
    State,
    coordinate_scales,
    dependencies,
    displacement_rows,
    is_met,
    measure_of,
    on_velocities,
    positions_at,
    reach,
    row_lengths,
    state_vector,
    unit_rows,
    velocity_rows,
)
from svyaz.expr import ZERO, ModelError, Problem, gradient, substitute, velocity
from svyaz.forms import Deviation, Equations
from svyaz.matrices import lstsq
from svyaz.model import nearest
from svyaz.program import Function, function, once_for_each


class NoConsistentState(Exception):
    """No state near the given one satisfies the constraints. ``constraints`` names those that cannot be met."""

    def __init__(self, message: str, constraints: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.constraints = constraints


@dataclass(frozen=True)
class Residual:
    """h (None for a velocity constraint) and ḣ or f, with the own scale of each."""

    position: float | None
    velocity: float
    position_scale: float | None
    velocity_scale: float

    @property
    def position_met(self) -> bool:
        return self.position is None or bool(is_met(self.position, self.position_scale or 0.0))

    @property
    def velocity_met(self) -> bool:
        return bool(is_met(self.velocity, self.velocity_scale))

    @property
    def met(self) -> bool:
        return self.position_met and self.velocity_met

    @property
    def value(self) -> float:
        """The residual of the equation as it was written."""
        return self.velocity if self.position is None else self.position


@dataclass(frozen=True)
class Projected:
    """A state on the constraints, by how much each value was moved, and the number of iterations."""

    state: Array
    moved: Mapping[str, float]
    iterations: int


def residuals(
    equations: Equations,
    state: State | None = None,
    time: float = 0.0,
    values: Mapping[str, float] | None = None,
) -> dict[str, Residual]:
    """How far each constraint is from being satisfied (the initial state of the model unless another is given).

    ``values`` are those of parameters that differ from the model's.
    """
    measure = measure_of(equations)
    if values is not None:
        measure = replace(measure, function=measure.function.with_values(values))
    s = measure.at(state_vector(equations, state), time)
    found = {}
    for k, d in enumerate(equations.deviations):
        on_positions_too = d.position is not None
        found[d.name] = Residual(
            float(s.position[k]) if on_positions_too else None,
            float(s.velocity[k]),
            float(s.position_scale[k]) if on_positions_too else None,
            float(s.velocity_scale[k]),
        )
    return found


def project(
    equations: Equations, state: State | None = None, time: float = 0.0, keep: Collection[str] = ()
) -> Projected:
    """The state nearest to the given one, in the norm of the mass matrix, that satisfies all constraints.

    Positions are moved first (h = 0), then velocities (ḣ = 0, f = 0); the states called ``keep`` stay as they are, to the
    last bit. Raises NoConsistentState with the reason when there is no such state nearby.
    """
    unknown = next((name for name in keep if name not in equations.states), None)
    if unknown is not None:
        message = f"'{unknown}' cannot be kept: it is not among the states {', '.join(equations.states)}"
        raise ModelError([Problem(message, hint=nearest(unknown, equations.states))])
    start, kept = state_vector(equations, state), [equations.states.index(name) for name in keep]
    if not equations.deviations:
        return Projected(start, {}, 0)
    measure = measure_of(equations)
    here = measure.at(start, time)
    if not here.finite:
        raise NoConsistentState(f"the constraints are not defined at the given state at t = {time:g}")
    positions = positions_at(measure, here)
    by_position = positions.nearest(kept)
    if not by_position.met:
        at_start = positions.rows(positions.start)
        assert at_start is not None, "the constraints are defined at the start"
        gradient = at_start.jacobian * positions.free(kept)
        raise _refusal(equations, by_position, positions.mass, gradient, "position", time, keep)
    current = positions.put(by_position.z)
    there = measure.at(current, time)
    by_velocity = on_velocities(measure, current, time, there, kept)
    if not by_velocity.met:
        gradient = there.jacobian * [place not in kept for place in measure.speeds]
        raise _refusal(equations, by_velocity, there.mass, gradient, "velocity", time, keep)
    final = measure.moved(current, v=by_velocity.z)
    moved = {name: float(b - a) for name, a, b in zip(equations.states, start, final, strict=True) if a != b}
    return Projected(final, moved, by_position.iterations + by_velocity.iterations)


HELD = 1e-13
"""Residuals after a small correction, as parts of the constraints' own scales."""

MOST_CORRECTIONS = 8


def corrected(equations: Equations, state: Array, time: float) -> Array:
    """A state of any form, near the constraints, with small corrections in the norm of M: positions first, then velocities.

    A correction of the positions is a displacement that all constraints allow but for their residuals.
    """
    measure = measure_of(equations)
    here = measure.at(state, time)
    if here.holonomic.any():
        directions = _directions(equations, state, time)
        rows = displacement_rows(measure, state, time, directions)
        found = reach(rows, here.mobility.correction, np.zeros(len(here.v)), MOST_CORRECTIONS, HELD)
        state = measure.displaced(state, directions @ found.z)
        here = measure.at(state, time)
    return measure.moved(
        state, v=reach(velocity_rows(measure, state, time), here.mobility.correction, here.v, MOST_CORRECTIONS, HELD).z
    )


def _directions(equations: Equations, state: Array, time: float) -> Array:
    """N (n, k) of q̇ = N v + n; velocities that are rates of the coordinates move them as they are."""
    if not equations.quasi:
        return np.eye(len(equations.system.coordinates))
    frame = _frame(equations)
    known = {"t": time, **dict(zip(equations.states, map(float, state), strict=True))}
    return frame(np.array([known[name] for name in frame.program.inputs]))["directions"]


def _refusal(
    equations: Equations,
    ended: Approach,
    mass: Array,
    gradient_at_start: Array,
    level: str,
    time: float,
    keep: Collection[str],
) -> NoConsistentState:
    """Why the search failed. That there is no such state is said only where linear constraints contradict each other."""
    rows = ended.rows
    asked = [d for d in equations.deviations if d.position is not None or level == "velocity"]
    names = [d.name for d in asked]
    failing = [k for k in range(len(names)) if rows.relative[k] > ZERO_RELATIVE]
    flat = [k for k in failing if not np.any(gradient_at_start[k])]
    together = _contradiction(failing, rows, mass)
    proved = bool(together) and all(k < len(names) and _is_linear(equations, asked[k], level) for k in together)
    told = [f"'{names[k]}' stays off by {rows.residual[k]:.6g} (its own scale is {rows.scale[k]:.3g})" for k in failing]
    which = "constraint" if len(failing) == 1 else "constraints"
    kept = f" with {', '.join(keep)} kept" if keep else ""
    verdict = "satisfies" if proved else "was found that satisfies"
    message = f"no {level} near the given one{kept} {verdict} the {which} at t = {time:g}: " + ", ".join(told)
    if flat:
        rest = " in what may be moved" if keep else ""
        message += f"; the gradient of {listed(names, flat)}{rest} vanishes at the given state: it gives no direction"
    elif len(together) > 1 and proved:
        message += f"; {listed(names, together)} contradict each other" + (" then" if keep else "")
        failing = sorted({*failing, *together})
    return NoConsistentState(message, tuple(names[k] for k in failing))


def _contradiction(failing: Collection[int], rows: Rows, mass: Array) -> list[int]:
    """The rows of a linear system without a solution: some combination of their left sides vanishes, of their residuals not."""
    scaled = rows.jacobian * coordinate_scales(mass, rows.jacobian)
    lengths = row_lengths(scaled)
    unit = np.where(lengths > 0.0, lengths, 1.0)
    residual, scale = rows.residual / unit, rows.scale / unit
    found: set[int] = set()
    for row, others in dependencies(unit_rows(scaled, np.zeros(len(scaled)))):
        remainder = residual[row] - sum(c * residual[k] for k, c in others.items())
        size = scale[row] + sum(abs(c) * scale[k] for k, c in others.items())
        if abs(remainder) > ZERO_RELATIVE * size:
            found |= {row, *others}
    return sorted(found) if found & set(failing) else []


def _is_linear(equations: Equations, deviation: Deviation, level: str) -> bool:
    """Is a constraint linear in the coordinates, or in the velocities?"""
    if level == "velocity" and deviation.position is not None:
        return True
    symbols = equations.velocities if level == "velocity" else [se.Symbol(q) for q in equations.accelerated]
    written = deviation.velocity if level == "velocity" else deviation.position
    return not any(slope.free_symbols & set(symbols) for slope in gradient(written, symbols))


MOST_LISTED = 24
"""Names; of more only some are told."""


def listed(names: Sequence[str], which: Sequence[int], last: str = " and ") -> str:
    """'a', 'b' and 'c', or with another word before the last; of many the first ones, and how many there are beside them."""
    if len(which) > MOST_LISTED:
        first = which[: MOST_LISTED // 2]
        return ", ".join(f"'{names[k]}'" for k in first) + f" and {len(which) - len(first)} more"
    quoted = [f"'{names[k]}'" for k in which]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + last + quoted[-1]


STRAYING = 1e-9
"""Velocities that do not fit the constraints by more than this part of the largest speed are spoken of."""


@once_for_each
def is_reduced(equations: Equations) -> bool:
    """Has it other states than the model?"""
    return equations.states != equations.system.states


@once_for_each
def examined(equations: Equations) -> Equations:
    """The equations on which constraints are examined at a state of the model: those that were reduced, or themselves."""
    return equations.origin or equations


def entered(equations: Equations, state: Array, time: float) -> Array:
    """The state of the reduced form from a state of the model.

    Independent velocities are taken as they are; quasi-velocities are the least-squares solution of N v = q̇ - n.
    """
    if not is_reduced(equations):
        return np.array(state, dtype=float)
    system = equations.system
    known = dict(zip(system.states, map(float, state), strict=True))
    if not equations.quasi:
        if equations.entering:
            values = _entering(equations)(np.array([time, *state], dtype=float))["entering"]
            known |= dict(zip(equations.entering, map(float, values), strict=True))
        return np.array([known[name] for name in equations.states])
    frame = _frame(equations)
    known["t"] = time
    here = frame(np.array([known[name] for name in frame.program.inputs]))
    speeds = np.array([known[str(velocity(q))] for q in system.coordinates])
    found = lstsq(here["directions"], speeds - here["drift"], rcond=None)
    known |= dict(zip(equations.accelerated, map(float, found), strict=True))
    return np.array([known[name] for name in equations.states])


def model_states(equations: Equations, times: Array, states: Array) -> Array:
    """Rows of states of the model from rows of states of the equations."""
    if not is_reduced(equations):
        return states
    return _outgoing(equations)(np.column_stack([times, states]))["states"]


def straying(equations: Equations, state: Array, time: float) -> dict[str, tuple[float, float]]:
    """{velocity: (given, taken)} for initial velocities that the form replaces because they do not fit the constraints."""
    if not is_reduced(equations):
        return {}
    taken = model_states(equations, np.array([time]), entered(equations, state, time)[None, :])[0]
    names = equations.system.states
    speeds = [k for k, name in enumerate(names) if name in equations.system.velocities]
    size = float(np.max(np.abs(np.concatenate([state[speeds], taken[speeds]])), initial=0.0))
    return {names[k]: (float(state[k]), float(taken[k])) for k in speeds if abs(state[k] - taken[k]) > STRAYING * size}


@once_for_each
def _frame(equations: Equations) -> Function:
    """N (n, k) and n (n,) of q̇ = N v + n."""
    still = dict.fromkeys(equations.velocities, ZERO)
    drift = [substitute(equations.explicit[q], still) for q in equations.system.coordinates]
    inputs = ("t", *(s for s in equations.states if s not in equations.accelerated))
    tables = {"directions": list(equations.directions.values()), "drift": drift}
    return function(tables, inputs, equations.system.constants)


@once_for_each
def _entering(equations: Equations) -> Function:
    """The states that the model has not, from its own."""
    return function(
        {"entering": list(equations.entering.values())}, ("t", *equations.system.states), equations.system.constants
    )


@once_for_each
def _outgoing(equations: Equations) -> Function:
    """The states of the model from those of the equations."""
    states = [equations.in_states(se.Symbol(name)) for name in equations.system.states]
    return function({"states": states}, ("t", *equations.states), equations.system.constants)
