"""Lagrange's equations with multipliers: M q̈ + bias = Gᵀ λ, G q̈ + constraint_bias = 0.

    positions:   ḧ = ∂h/∂q q̈ + ∂²h/∂q∂q q̇q̇ + 2 ∂²h/∂q∂t q̇ + ∂²h/∂t²
    velocities:  ḟ = ∂f/∂q̇ q̈ + ∂f/∂q q̇ + ∂f/∂t

The augmented matrix is solved as it stands, so M itself may be singular.
"""

from __future__ import annotations

from collections.abc import Sequence

import symengine as se

from svyaz.expr.calculus import ONE, TIME, Expression, gradient, total_derivative, velocity
from svyaz.forms.equations import Deviation, Equations
from svyaz.forms.lagrange import lagrange_terms
from svyaz.model import Constraint, System


def multipliers(system: System, active: Sequence[Constraint] | None = None) -> Equations:
    """The equations with those constraints that act (all, unless ``active`` says which)."""
    mass, bias = lagrange_terms(system)
    return with_constraints(free_equations(system, mass, bias), system.constraints if active is None else active)


def free_equations(system: System, mass: Sequence[Sequence[Expression]], bias: Sequence[Expression]) -> Equations:
    """The multiplier form before any constraint is put on it."""
    return Equations(
        form="multipliers",
        system=system,
        states=system.states,
        explicit={**{q: velocity(q) for q in system.coordinates}, **system.rates},
        accelerated=system.coordinates,
        mass_matrix=tuple(tuple(row) for row in mass),
        bias=tuple(bias),
    )


def with_constraints(free: Equations, active: Sequence[Constraint]) -> Equations:
    """The same equations with these constraints, and no others, acting."""
    deviations = tuple(deviation(c, free.accelerated) for c in active)
    rows = [constraint_row(d, free.accelerated) for d in deviations]
    return Equations(
        form=free.form,
        system=free.system,
        states=free.states,
        explicit=free.explicit,
        accelerated=free.accelerated,
        mass_matrix=free.mass_matrix,
        bias=free.bias,
        deviations=deviations,
        constraint_jacobian=tuple(tuple(row) for row, _ in rows),
        constraint_bias=tuple(rest for _, rest in rows),
    )


def deviation(constraint: Constraint, coordinates: Sequence[str]) -> Deviation:
    """h and ḣ = ∂h/∂q q̇ + ∂h/∂t of a position constraint; f of a velocity constraint."""
    if constraint.order == 1:
        return Deviation(constraint, None, constraint.expression)
    rates = {se.Symbol(q): velocity(q) for q in coordinates} | {TIME: ONE}
    return Deviation(constraint, constraint.expression, total_derivative(constraint.expression, rates))


def constraint_row(d: Deviation, coordinates: Sequence[str]) -> tuple[list[Expression], Expression]:
    """(row of G, constraint_bias): the derivative of the velocity-level deviation, accelerations apart."""
    rates = {se.Symbol(q): velocity(q) for q in coordinates} | {TIME: ONE}
    return gradient(d.velocity, [velocity(q) for q in coordinates]), total_derivative(d.velocity, rates)
