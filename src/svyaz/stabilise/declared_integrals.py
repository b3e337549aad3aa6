"""Is what a model declares to be an integral one, and is there a correction that changes it and nothing else?

It is asked to be constant where the constraints and the other integrals with a declared value hold, because that is where the
motion belongs (the second integral of Lawden's problem is one only while the first holds). So states are brought to those
levels before the rate dg/dt along the uncorrected motion is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics import (
    Dynamics,
    balanced,
    dependencies,
    dynamics_of,
    named_rates,
    numerical_rank,
    plain_rates,
    unit_rows,
)
from svyaz.expr import ONE, TIME, Expression, gradient, total_derivative
from svyaz.forms import Equations, rates_of
from svyaz.matrices import pinv, singular_values
from svyaz.model import Integral
from svyaz.program import Function, Table, function
from svyaz.stabilise.integrals import BRACKET, HeldIntegral, hold, poisson_bracket, way_of_holding

LOOKS = 3
"""The rate is looked at in the initial state and in so many states, less one, farther along the motion."""

ZERO_RATE = 1e-6
"""A rate below this part of the sum of its terms is taken for zero."""


@dataclass(frozen=True)
class _Levels:
    """The constraints, and the integrals that have a level of their own with their gradients."""

    dynamics: Dynamics
    function: Function
    levels: Array

    def reached(self, x: Array) -> Array:
        """The nearest row [t, states…] at which all levels are reached, by Newton's method."""
        if not (self.dynamics.equations.deviations or len(self.levels)):
            return x
        for _ in range(8):
            here = self.function(x)
            y, gradients = np.zeros((1, 0)), np.zeros((1, 0, len(x) - 1))
            if self.dynamics.equations.deviations:
                y, gradients = self.dynamics.deviation_gradients(x[None, :])
            slopes = np.vstack([gradients[0], here["slopes"].reshape(-1, len(x) - 1)])
            missing = np.concatenate([y[0], here["values"] - self.levels])
            if not (np.isfinite(slopes).all() and np.isfinite(missing).all()):
                break
            x = x.copy()
            x[1:] -= pinv(slopes) @ missing
        return x


def not_integrals(equations: Equations, integrals: Sequence[Integral], state: Array, time: float) -> tuple[str, ...]:
    """Words for each "integral" that is none: its derivative along the motion does not vanish near the start."""
    if not integrals:
        return ()
    levels = _levels(equations)
    found = []
    for integral in integrals:
        words = _its_rate(equations, levels, integral, np.concatenate([[time], state]))
        found.extend([words] if words else [])
    return tuple(found)


def _along_rates(equations: Equations, expression: Expression) -> Callable[[Array], dict[str, Array]]:
    """From [t, states…] to the ``rate`` of an expression along the motion, its ``parts`` and the ``slope`` of all states."""
    constants, rates = equations.system.constants, named_rates(equations.states)
    rate = total_derivative(expression, {se.Symbol(s): r for s, r in rates.rates} | {TIME: ONE})
    slope = [r for _, r in rates.rates]
    tables: dict[str, Table] = {"rate": rate, "parts": list(rate.args) if rate.is_Add else [rate], "slope": slope}
    found = function(tables, ("t", *equations.states, *map(str, slope)), constants)
    code = plain_rates(equations)
    own = code.constants(constants)
    return lambda x: found(np.concatenate([x, code.evaluate(x, own)]))


def _its_rate(equations: Equations, levels: _Levels, integral: Integral, start: Array) -> str | None:
    along, x = _along_rates(equations, integral.expression), start
    for _ in range(LOOKS):
        x = levels.reached(x)
        here = along(x)
        size = float(np.sum(np.abs(here["parts"])))
        if abs(here["rate"]) > ZERO_RATE * size and size > 1e-12:
            told = f"at t = {x[0]:g} its rate along the motion is {float(here['rate']):.4g}"
            return f"'{integral.name}' is not a first integral: {told}"
        slope = here["slope"]
        reach = 0.05 / max(1.0, float(np.max(np.abs(slope), initial=0.0)))
        x = x + reach * np.concatenate([[1.0], slope])
    return None


def cannot_be_held(
    equations: Equations, held: Sequence[HeldIntegral], how: str | None, state: Array, time: float
) -> tuple[str, ...]:
    """Words for integrals that no correction can change at this state (the gradient vanishes or belongs to others)."""
    if not held:
        return ()
    x = np.concatenate([[time], state])
    if way_of_holding(equations, held, how) == BRACKET:
        return _singular_brackets(equations, held, x)
    states = [se.Symbol(s) for s in equations.states]
    kept = [(d.name, e) for d in equations.deviations for e in (d.position, d.velocity) if e is not None]
    named = [*kept, *((h.name, h.integral.expression) for h in held)]
    rows = _at(equations, [gradient(e, states) for _, e in named], x)
    told = []
    for row, others in dependencies(unit_rows(balanced(rows)[0], np.zeros(len(rows)))):
        if row < len(kept):
            continue
        name = named[row][0]
        if not others:
            told.append(
                f"'{name}' cannot be held: its gradient vanishes at t = {time:g}, no correction changes it there"
            )
        else:
            which = ", ".join(f"'{n}'" for n in dict.fromkeys(named[k][0] for k in others))
            told.append(
                f"'{name}' cannot be held: at t = {time:g} its gradient depends on that of {which}, no correction "
                "changes it alone"
            )
    return tuple(told)


def _singular_brackets(equations: Equations, held: Sequence[HeldIntegral], x: Array) -> tuple[str, ...]:
    hold(equations, rates_of(equations), held, BRACKET)  # refuses what no state could mend
    integrals = [h.integral.expression for h in held]
    matrix = _at(equations, [[poisson_bracket(equations.system, a, b) for b in integrals] for a in integrals], x)
    if numerical_rank(singular_values(balanced(matrix)[0])) == len(held):
        return ()
    names = ", ".join(f"'{h.name}'" for h in held)
    return (f"{names} cannot be held by brackets: their matrix of Poisson brackets is singular at t = {x[0]:g}",)


def _levels(equations: Equations) -> _Levels:
    states = [se.Symbol(s) for s in equations.states]
    valued = [i for i in equations.system.integrals if i.value is not None]
    entries = [equations.in_states(i.expression) for i in valued]
    tables: dict[str, Table] = {"values": entries, "slopes": [gradient(e, states) for e in entries]}
    found = function(tables, ("t", *equations.states), equations.system.constants)
    return _Levels(dynamics_of(equations), found, np.array([i.value or 0.0 for i in valued]))


def _at(equations: Equations, rows: Sequence[Sequence[Expression]], x: Array) -> Array:
    """A matrix of expressions at one row [t, states…]."""
    return function({"rows": rows}, ("t", *equations.states), equations.system.constants)(x)["rows"]
