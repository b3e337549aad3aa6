"""Rows of a phase for the self-check: what the equations of the model are asked about there.

The states of the model and their rates come from those of the equations that were integrated. Two things are taken off first.
What enforces integrals moves the state along the gradients of these and of the constraints, ẋ = X + Dᵀz (or along their
Hamiltonian flows): X satisfies the equations, and ġ = F. A form that carries dependent velocities as states has them only in
the constraints, differentiated: its other equations take those that satisfy the constraints at the same independent velocities.
Every other form without multipliers satisfies the constraints that it has eliminated identically, by its own kinematics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import symengine as se
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.expr import Expression, substitute
from svyaz.forms import Equations
from svyaz.model import Constraint, System, deviation_symbol
from svyaz.motion.jets import Tape, jets_of
from svyaz.motion.stated_equations import MotionRows, StatedEquations
from svyaz.program import Program, plain_program, remembered
from svyaz.stabilise import BRACKET, HeldIntegral, meanings, way_of_holding

Flags = NDArray[np.bool_]

UNIT = 1e-14
"""Quaternions whose length differs from one by more are corrected."""


@dataclass(frozen=True)
class Sample:
    """Rows of a phase (k): what was integrated there, and what is known of it.

    ``states`` and ``rates`` are those of the equations; ``multipliers`` are by constraint, one that is not among them is
    found by least squares. ``values`` are those of all constants, ``correction`` is added to the rows of the constraints.
    Integrals are ``held`` in the way that ``hold`` names. ``ends``: rows at which an event may lie.
    """

    road: str
    equations: Equations
    times: Array
    states: Array
    rates: Array
    multipliers: Mapping[str, Array]
    values: Mapping[str, float | Array]
    correction: Sequence[Expression] = ()
    held: Sequence[HeldIntegral] = ()
    hold: str | None = None
    ends: Flags | None = None


def only_rows(sample: Sample, kept: Flags) -> Sample:
    """The sample at some of its rows."""
    return replace(
        sample,
        times=sample.times[kept],
        states=sample.states[kept],
        rates=sample.rates[kept],
        multipliers={name: column[kept] for name, column in sample.multipliers.items()},
        ends=np.zeros(int(kept.sum()), dtype=bool) if sample.ends is None else sample.ends[kept],
    )


def own_jets(sample: Sample) -> dict[str, Array]:
    """The time, the states of the equations with their rates, and all constants."""
    states = sample.equations.states
    values = {**sample.values, "t": sample.times, **dict(zip(states, sample.states.T, strict=True))}
    return jets_of(values, {"t": np.ones(1), **dict(zip(states, sample.rates.T, strict=True))})


@remembered
def _outgoing(equations: Equations) -> Program:
    """The states of the model from those of the equations."""
    names = [name for name in equations.system.states if name not in equations.states]
    return plain_program([equations.in_states(se.Symbol(name)) for name in names])


def rows_of(system: System, sample: Sample) -> MotionRows:
    """The rows as those of the model."""
    jets = own_jets(sample)
    missing = [name for name in system.states if name not in jets]
    if missing:
        tape = Tape(_outgoing(sample.equations), jets)
        jets |= {name: tape.output(k) for k, name in enumerate(missing)}
    values = {name: a[0, 0] for name, a in jets.items()}
    return MotionRows(values, {name: np.broadcast_to(jets[name][1, 0], sample.times.shape) for name in system.states})


def on_unit_quaternions(equations: Equations, states: Array) -> Array:
    """The states with quaternions of length one: of others, to which steps lead, the equations of bodies say nothing."""
    places = {name: k for k, name in enumerate(equations.states)}
    for body in (b for b in equations.system.bodies if b.quaternion):
        columns = [places[name] for name in body.quaternion]
        lengths = np.sqrt((states[:, columns] ** 2).sum(axis=1, keepdims=True))
        if (np.abs(lengths - 1.0) > UNIT).any():
            states = states.copy()
            states[:, columns] /= lengths
    return states


def carried_constraints(equations: Equations) -> list[Constraint]:
    """Eliminated constraints that, differentiated, give the rates of dependent velocities, which are states."""
    own = {d.name for d in equations.deviations}
    return [c for c in equations.eliminated if c.name in own]


def rows_on_chart(stated: StatedEquations, sample: Sample) -> MotionRows:
    """The rows of the model; where dependent velocities are carried, with those of the chart and their rates."""
    rows, carried = rows_of(stated.system, sample), carried_constraints(sample.equations)
    if not carried:
        return rows
    places = [stated.system.coordinates.index(q) for q in sample.equations.dependent]
    for level in (0, 1):
        reactions = [stated.reaction(c, rows) for c in carried]
        slopes = np.array([r.along[places, 0] for r in reactions])
        off = np.array([r.rate[level, 0] for r in reactions])
        moved = np.linalg.solve(np.moveaxis(slopes, 2, 0), off.T[:, :, None])[:, :, 0].T
        values, rates = dict(rows.values), dict(rows.rates)
        for place, more in zip(places, moved, strict=True):
            q, v = stated.system.coordinates[place], stated.system.velocities[place]
            if level:
                rates[v] = rates[v] - more
            else:
                values[v], rates[q] = values[v] - more, rates[q] - more
        rows = MotionRows(values, rates)
    return rows


def enforcing_directions(sample: Sample) -> list[Array]:
    """Along which integrals are enforced (k, n): gradients of these and of what must not change, or flows of these."""
    equations, jets = sample.equations, own_jets(sample)
    brackets = way_of_holding(equations, sample.held, sample.hold) == BRACKET
    kept = [] if brackets else [e for d in equations.deviations for e in (d.position, d.velocity) if e is not None]
    found = []
    for e in [*kept, *(h.integral.expression for h in sample.held)]:
        slopes = Tape(plain_program([e]), jets).gradient()
        columns = [slopes[x][0, 0] if x in slopes else np.zeros(1) for x in equations.states]
        if brackets:
            n = len(equations.system.coordinates)
            columns = [*columns[n : 2 * n], *(-c for c in columns[:n]), *(0.0 * c for c in columns[2 * n :])]
        found.append(np.array([np.broadcast_to(c, sample.times.shape) for c in columns]).T)
    return found


def enforced_rates(sample: Sample) -> Array:
    """ġ - F of each integral that is enforced (g, 2, k)."""
    meaning = {**meanings(sample.equations), **{deviation_symbol(h.name): h.deviation for h in sample.held}}
    jets, found = own_jets(sample), []
    for h in sample.held:
        law, own = (
            Tape(plain_program([e]), jets).output() for e in (substitute(h.law, meaning), h.integral.expression)
        )
        found.append(np.broadcast_to(own[1] + np.array([-law[0, 0], law[0, 1]]), (2, len(sample.times))))
    return np.array(found)
