"""Reactions of constraints that a form has eliminated, recovered afterwards.

With the accelerations known, M q̈ + bias = Gᵀλ + αᵀρ of the full system is a condition on ρ alone:

    α αᵀ ρ = α (M q̈ + bias - Gᵀ λ),

solvable wherever the rows α of the velocity constraints are independent. ρ belongs to the equations as they were written.
"""

from __future__ import annotations

import symengine as se

from svyaz.expr import ONE, TIME, Expression, add_up, gradient, total_derivative, velocity
from svyaz.forms.equations import Equations
from svyaz.program import Linear


def full_accelerations(equations: Equations) -> dict[str, Expression]:
    """q̈ of every coordinate in terms of the state and of the accelerations that the linear system determines."""
    rates = {se.Symbol(name): rate for name, rate in equations.explicit.items()} | {TIME: ONE}
    rates |= dict(zip(equations.velocities, equations.accelerations, strict=True))
    return {q: total_derivative(equations.explicit[q], rates) for q in equations.system.coordinates}


def reaction_system(equations: Equations, multipliers: list[Expression]) -> tuple[Linear, dict[str, Expression]]:
    """The linear system for the reactions ρ, and ρ by the names of the constraints.

    ``multipliers`` are those of the deviations of the reduced form, in their order; they stand for the constraints on
    positions. The unknowns are to be solved after the accelerations.
    """
    origin = equations.origin
    assert origin is not None, "only a reduced form has reactions to be recovered"
    names = {c.name for c in equations.eliminated}
    places = [k for k, d in enumerate(origin.deviations) if d.name in names]
    alpha = [[equations.in_states(e) for e in origin.constraint_jacobian[k]] for k in places]
    coordinates = origin.accelerated
    flow = {se.Symbol(q): velocity(q) for q in coordinates} | {TIME: ONE}
    held = [(d, s) for d, s in zip(equations.deviations, multipliers, strict=True) if d.name not in names]
    pushes = []
    for d, s in held:
        row = gradient(total_derivative(d.position, flow), [velocity(q) for q in coordinates])
        pushes.append([g * s for g in row])
    q2 = full_accelerations(equations)
    forces = [
        add_up(
            [
                *(equations.in_states(m) * q2[q] for m, q in zip(row, coordinates, strict=True)),
                equations.in_states(origin.bias[i]),
                *(-push[i] for push in pushes),
            ]
        )
        for i, row in enumerate(origin.mass_matrix)
    ]
    gram = [[add_up(a * b for a, b in zip(r, s, strict=True)) for s in alpha] for r in alpha]
    side = [add_up(a * f for a, f in zip(row, forces, strict=True)) for row in alpha]
    unknowns = [se.Symbol(f"reaction {k}") for k in range(len(places))]
    found: dict[str, Expression] = {origin.deviations[k].name: u for k, u in zip(places, unknowns, strict=True)}
    return Linear(gram, [side], [unknowns], symmetric=True), found
