"""A position of rest, its first approximation, and the verdict on its stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, pi

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ModelError, evaluate
from svyaz.forms import lagrangian
from svyaz.model import Energies, System
from svyaz.shown import Shown
from svyaz.stability.constraint_surface import complete_speeds
from svyaz.stability.critical import UNDECIDED, StabilityVerdict
from svyaz.stability.first_order import is_taken, taken_stability
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.nonholonomic import nonholonomic_linearisation
from svyaz.stability.nonholonomic_rest import has_velocity_constraints
from svyaz.stability.nonholonomic_verdict import nonholonomic_stability
from svyaz.stability.positional import judge, positional_verdict
from svyaz.stability.rest import RestEquations, beyond_limits, with_values


@dataclass(frozen=True, repr=False)
class Equilibrium(Shown):
    """A position of rest: values of coordinates and further states, of inputs, of the multipliers of the constraints.

    ``parameters`` are those that were unknown. ``verdict`` speaks of the positional variables at fixed momenta, and is missing
    where the first approximation has no split; ``drift`` are cyclic coordinates that drift away all the same. ``outside`` are
    the model's limits beyond which it lies, ``inexact`` tells how far the position may be off.

    >>> import svyaz
    >>> hanging, upright = svyaz.load("pendulum:1").equilibria().equilibria
    >>> round(upright.state["u1"], 6), upright.inputs
    (3.141593, {})
    """

    state: Mapping[str, float]
    inputs: Mapping[str, float]
    multipliers: Mapping[str, float]
    parameters: Mapping[str, float]
    approximation: FirstApproximation | None
    verdict: StabilityVerdict | None
    notes: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    drift: tuple[str, ...] = ()
    inexact: Mapping[str, float] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The verdict in a word."""
        return UNDECIDED if self.verdict is None else self.verdict.word


def equilibrium_at(
    rest: RestEquations, point: Array, dependent: Sequence[str] | None, inexact: Mapping[str, float] | None = None
) -> Equilibrium:
    """The equilibrium at a solution (q, y), its first approximation as far as a position known to ``inexact`` allows."""
    system = rest.system
    point = tidied(rest, point)
    values = rest.named(point)
    resting = (*(system.states if is_taken(system) else system.coordinates), *system.rates)
    state = {name: values[name] for name in resting if name in values}
    inputs = {name: values.get(name, system.inputs[name].value) for name in system.inputs}
    parameters = {name: values[name] for name in (*system.parameters, *rest.speeds) if name in rest.bounded}
    pushes = {c.name: values[f"multiplier of {c.name}"] for c in system.constraints}
    if is_taken(system) or has_velocity_constraints(system):
        verdict, failed = _otherwise(rest, values, state)
        told = (*failed, *_controls(system, pushes), *beyond_limits(system, inputs))
        return Equilibrium(state, inputs, pushes, parameters, None, verdict, told, system.outside(state, parameters))
    there = with_values(system, parameters) if parameters else system
    notes: tuple[str, ...] = ()
    drift: tuple[str, ...] = ()
    approximation, verdict = None, None
    try:
        approximation, verdict = judge(there, state, inputs, dependent, inexact=inexact)
        verdict, drift = positional_verdict(system, there.parameters, verdict, state, inputs, dependent, inexact)
        notes = approximation.notes
        if verdict.reduced is not None and verdict.reduced.power:  # known better now
            state, pushes = {**state, **verdict.reduced.state}, dict(verdict.reduced.multipliers)
            approximation = replace(approximation, state=state)
    except ModelError as error:
        notes = (str(error),)
    told = (*notes, *beyond_limits(system, inputs))
    outside = there.outside(state)
    return Equilibrium(
        state, inputs, pushes, parameters, approximation, verdict, told, outside, drift, dict(inexact or {})
    )


def _controls(system: System, pushes: Mapping[str, float]) -> tuple[str, ...]:
    """The controls that keep servo-constraints at rest, and which of them exceed their limits."""
    told = []
    for c in system.constraints:
        if c.servo:
            (low, high), value = c.bounds, pushes[c.name]
            name = f"the input {c.control}" if c.control else "its control"
            beyond = "" if low <= value <= high else f", beyond its limits {low:.6g} and {high:.6g}"
            told.append(f"'{c.name}' is kept by {name} = {value:.9g}{beyond}")
    return tuple(told)


def _otherwise(
    rest: RestEquations, values: Mapping[str, float], state: Mapping[str, float]
) -> tuple[StabilityVerdict | None, tuple[str, ...]]:
    """The verdict of equations as they are taken, and where velocities are constrained: at rest, or with these speeds."""
    system = rest.system
    freed = {name: x for name, x in values.items() if name in system.parameters}
    known = {**(with_values(system, freed) if freed else system).constants, **values}
    given = {name: values[name] for name in rest.speeds if name in values}
    try:
        if is_taken(system):
            return taken_stability(system, state, known), ()
        moved = {**state, **(complete_speeds(system, {**state, **given}, known) if rest.speeds else {})}
        return nonholonomic_stability(nonholonomic_linearisation(system, moved, known, tuple(given)), moved, known), ()
    except ModelError as error:
        return None, (str(error),)


def has_energy(rest: RestEquations, point: Array) -> bool:
    """Has the energy a value there? Of a logarithm the forces keep a quotient, which goes on where the energy does not."""
    system = rest.system
    if not isinstance(system.law, Energies):
        return True
    whole = lagrangian(system)
    if not whole.atoms(se.log):
        return True
    still = dict.fromkeys(map(str, system.velocities), 0.0)
    return not isnan(evaluate(whole, {**system.constants, **still, **rest.named(point), "t": 0.0}))


TINY = 1e-9
"""A value below this part of 1 and the largest may stand for zero."""


def tidied(rest: RestEquations, point: Array) -> Array:
    """The same solution with angles in (-π, π], and zero in place of tiny values where that is a solution as well."""
    point = np.array(point, dtype=float)
    for k, name in enumerate(rest.bounded):
        if name in rest.angles:
            point[k] = pi - (pi - point[k]) % (2 * pi) if abs(point[k]) > pi else point[k]
            point[k] = pi if point[k] <= -pi + TINY else point[k]
    sizes = np.abs(point / rest.problem.unit)
    tiny = np.flatnonzero((sizes <= TINY * (1 + sizes.max(initial=0.0))) & (point != 0))
    for chosen in (tiny, *(tiny[k : k + 1] for k in range(len(tiny)))):
        trial = point.copy()
        trial[chosen] = 0.0
        if (trial != point).any() and _as_good(rest, trial, point):
            point = trial
    return point + 0.0


def _as_good(rest: RestEquations, trial: Array, point: Array) -> bool:
    """Is the trial a solution as well as the point is, to the rounding of the equations there?"""
    d = len(rest.bounded)
    off, was = (np.abs(rest.problem.value_and_slope(x[None, :])[0][0]) for x in (trial, point))
    e0, e1, _, _ = rest.problem.at(trial[None, :d], trial[None, :d])
    rounding = (e0[1] - e0[0])[0] + (e1[1] - e1[0])[0] @ np.abs(trial[d:])
    return bool(np.all(off <= was + 4 * rounding))
