"""Lagrange's equations with multipliers: M q̈ + bias = Gᵀ λ, G q̈ + constraint_bias = 0.

    positions:   ḧ = ∂h/∂q q̈ + ∂²h/∂q∂q q̇q̇ + 2 ∂²h/∂q∂t q̇ + ∂²h/∂t²
    velocities:  ḟ = ∂f/∂q̇ q̈ + ∂f/∂q q̇ + ∂f/∂t

The augmented matrix is solved as it stands, so M itself may be singular.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import symengine as se

from svyaz.expr import ONE, TIME, Expression, gradients, total_derivative
from svyaz.forms.equations import Deviation, Equations, Form, Pull, slip_sides
from svyaz.forms.named.lagrange import free_equations, lagrange_terms
from svyaz.model import Constraint, System


def with_multipliers(system: System, active: Sequence[Constraint] | None = None) -> Equations:
    """The equations with those constraints that act (all, unless ``active`` says which)."""
    mass, bias = lagrange_terms(system)
    return with_constraints(
        free_equations(system, "multipliers", mass, bias), system.constraints if active is None else active
    )


def with_constraints(free: Equations, active: Sequence[Constraint]) -> Equations:
    """The same equations with these constraints, and no others, acting."""
    by_points = None
    if free.system.bodies:
        from svyaz.forms.tree.point_rows import written_rows

        by_points = written_rows(free.system, active)
    if by_points is None:
        flow = {se.Symbol(q): free.explicit[q] for q in free.system.coordinates} | {TIME: ONE}
        deviations = tuple(deviation(c, flow) for c in active)
        speeds = [d.velocity for d in deviations]
        rows, bias = gradients(speeds, free.velocities), [total_derivative(e, flow) for e in speeds]
    else:
        rows, bias = by_points.jacobian, by_points.bias
        deviations = tuple(map(Deviation, active, by_points.positions, by_points.rates))
    return replace(
        free,
        deviations=deviations,
        constraint_jacobian=tuple(tuple(row) for row in rows),
        constraint_bias=tuple(bias),
        pulls=tuple(
            Pull(k, friction, se.Integer(c.pushes or 1), side)
            for k, c in enumerate(active)
            for friction, side in zip(c.frictions, slip_sides(c.frictions), strict=True)
        ),
    )


def deviation(constraint: Constraint, flow: Mapping[se.Symbol, Expression]) -> Deviation:
    """h and ḣ = ∂h/∂q q̇ + ∂h/∂t of a position constraint; f of a velocity constraint. ``flow``: q̇, and 1 for t."""
    if constraint.order == 1:
        return Deviation(constraint, None, constraint.expression)
    return Deviation(constraint, constraint.expression, total_derivative(constraint.expression, flow))


FORM = Form("multipliers", with_multipliers)
