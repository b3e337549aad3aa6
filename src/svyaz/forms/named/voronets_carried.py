"""Voronets' equations with the dependent velocities as states, the form ``voronets:carried``.

    q̈_μ = α_μj q̈_j + (dα_μj/dt) q̇_j + dβ_μ/dt + F_μ

with the stabilising F of the constraints, so that inconsistent initial data or rounding die out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import symengine as se

from svyaz.expr import ONE, TIME, ZERO, gradient, total_derivative, velocity
from svyaz.forms.equations import Equations, Form
from svyaz.forms.named.voronets import reduced_with_chart
from svyaz.model import Constraint, System

NAME = "voronets:carried"


def voronets_carried(
    system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
) -> Equations:
    """The equations in Voronets' form with the dependent velocities as states.

    The linear system is [M* 0; 0 0] bordered by the rows of all constraints as they were written. The dependent columns
    say Gᵀλ = 0 there, which leaves M* q̈_I + bias* = 0 (plus the reactions of positions) and the constraints
    differentiated, to which stabilisation is added as in any form.
    """
    reduced, chart = reduced_with_chart(system, active, dependent)
    assert reduced.origin is not None, "a reduced form has an origin"
    names = (*chart.independent, *chart.dependent)
    m, k = len(chart.dependent), len(chart.independent)
    flow = {se.Symbol(q): velocity(q) for q in system.coordinates} | {TIME: ONE}
    held = [replace(d, velocity=total_derivative(d.position, flow)) for d in reduced.deviations]
    deviations = (*held, *(d for d in reduced.origin.deviations if d.position is None))
    mass = [[*row, *([ZERO] * m)] for row in reduced.mass_matrix] + [[ZERO] * (m + k) for _ in range(m)]
    carried = ", ".join(f"{q}'" for q in chart.dependent)
    told = [f"carried as states: {carried}; the constraints, differentiated, give their rates"]
    return replace(
        reduced,
        form=NAME,
        states=system.states,
        explicit={**{q: velocity(q) for q in system.coordinates}, **system.rates},
        accelerated=names,
        mass_matrix=tuple(tuple(row) for row in mass),
        bias=(*reduced.bias, *([ZERO] * m)),
        deviations=deviations,
        constraint_jacobian=tuple(tuple(gradient(d.velocity, [velocity(q) for q in names])) for d in deviations),
        constraint_bias=tuple(total_derivative(d.velocity, flow) for d in deviations),
        observed={},
        notes=(*reduced.notes, *(told if m and dependent is None else ())),
    )


FORM = Form(NAME, voronets_carried, reduced=voronets_carried)
