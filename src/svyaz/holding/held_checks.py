"""Can an integral be held: is it one, and is there a correction that changes it and nothing else?

An integral is asked to be constant where the constraints and the other integrals with a declared value hold, because
that is where the motion belongs (the second integral of Lawden's problem is one only while the first holds). So states
are brought to those levels before the rate dg/dt along the uncorrected motion is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.constraints import balanced, dependencies, numerical_rank, unit_rows
from svyaz.expr import ONE, TIME, Expression, gradient, total_derivative
from svyaz.forms import Equations, Rates, rates_of
from svyaz.holding.held import BRACKET, HeldIntegral, hold, poisson_bracket, way_of_holding
from svyaz.model import Integral
from svyaz.program import Linear, Native, build, compile_program

LOOKS = 3
"""The rate is looked at in the initial state and in so many states, less one, farther along the motion."""

ZERO_RATE = 1e-6
"""A rate below this part of the sum of its terms is taken for zero."""


@dataclass(frozen=True)
class _Levels:
    """Constraints and integrals that have a level of their own, with their gradients, as native code."""

    native: Native
    constants: Array
    levels: Array

    def reached(self, x: Array) -> Array:
        """The nearest row [t, states…] at which all levels are reached, by Newton's method."""
        m = len(self.levels)
        for _ in range(8 if m else 0):
            values = self.native.evaluate(x, self.constants)
            x = x.copy()
            x[1:] -= np.linalg.pinv(values[m:].reshape(m, -1)) @ (values[:m] - self.levels)
        return x


def not_integrals(equations: Equations, integrals: Sequence[Integral], state: Array, time: float) -> tuple[str, ...]:
    """Words for each "integral" that is none: its derivative along the motion does not vanish near the start."""
    if not integrals:
        return ()
    rates, levels = rates_of(equations), _levels(equations)
    found = []
    for integral in integrals:
        words = _its_rate(equations, rates, levels, integral, np.concatenate([[time], state]))
        found.extend([words] if words else [])
    return tuple(found)


def _its_rate(equations: Equations, rates: Rates, levels: _Levels, integral: Integral, start: Array) -> str | None:
    flow = {se.Symbol(s): rate for s, rate in rates.rates} | {TIME: ONE}
    rate = total_derivative(integral.expression, flow)
    parts = list(rate.args) if rate.is_Add else [rate]
    outputs = [("rate", rate), *((str(k), e) for k, e in enumerate(parts)), *((f"d {s}", r) for s, r in rates.rates)]
    native, constants = _compiled(equations, outputs, rates.systems)
    x = start
    for _ in range(LOOKS):
        x = levels.reached(x)
        values = native.evaluate(x, constants)
        size = float(np.sum(np.abs(values[1 : 1 + len(parts)])))
        if abs(values[0]) > ZERO_RATE * size and size > 1e-12:
            return f"'{integral.name}' is not a first integral: at t = {x[0]:g} its rate along the motion is {values[0]:.4g}"
        slope = values[1 + len(parts) :]
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
    native, constants = _compiled(equations, _numbered([s for _, e in named for s in gradient(e, states)]), ())
    rows = native.evaluate(x, constants).reshape(len(named), -1)
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
    entries = [poisson_bracket(equations.system, a, b) for a in integrals for b in integrals]
    native, constants = _compiled(equations, _numbered(entries), ())
    matrix = native.evaluate(x, constants).reshape(len(held), len(held))
    if numerical_rank(np.linalg.svd(balanced(matrix)[0], compute_uv=False)) == len(held):
        return ()
    names = ", ".join(f"'{h.name}'" for h in held)
    return (f"{names} cannot be held by brackets: their matrix of Poisson brackets is singular at t = {x[0]:g}",)


def _levels(equations: Equations) -> _Levels:
    states = [se.Symbol(s) for s in equations.states]
    kept = [e for d in equations.deviations for e in (d.position, d.velocity) if e is not None]
    valued = [i for i in equations.system.integrals if i.value is not None]
    entries: list[Expression] = [*kept, *(equations.in_states(i.expression) for i in valued)]
    native, constants = _compiled(
        equations, _numbered([*entries, *(s for e in entries for s in gradient(e, states))]), ()
    )
    return _Levels(native, constants, np.array([*([0.0] * len(kept)), *(i.value or 0.0 for i in valued)]))


def _numbered(entries: Sequence[Expression]) -> list[tuple[str, Expression]]:
    return [(str(k), e) for k, e in enumerate(entries)]


def _compiled(
    equations: Equations, outputs: Sequence[tuple[str, Expression]], systems: Sequence[Linear]
) -> tuple[Native, Array]:
    program = build(outputs, inputs=("t", *equations.states), parameters=equations.constants, systems=systems)
    native = compile_program(program)
    return native, native.constants(equations.system.constants)
