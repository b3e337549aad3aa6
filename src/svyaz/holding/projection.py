"""Projection onto the constraints as a program for use after every step of an integration.

The correction with the least kinetic energy that removes residuals r is P r, with

    [M  Rᵀ] [ P ]   [0]
    [G  0 ] [ … ] = [I]          P = M⁻¹Rᵀ (G M⁻¹Rᵀ)⁻¹   (n, m), where M has an inverse, and R = G.

The first form, one augmented system, holds for any M; the second, two definite systems of sizes n and m, is faster. P is
taken at the incoming state and serves all iterations of the simplified Newton method

    q ← q - P_h h(q, t),        v ← v - P g(q, v, t),       g = (ḣ, f),

each of which multiplies the residual by a number of the order of the correction itself. A correction of the positions
is a displacement that the velocity constraints allow (G_f δq = 0), since all rows are in the one system. In a form with
fewer velocities than coordinates these are moved in the directions ∂q̇/∂v that it leaves.

A servo-constraint is corrected by what its control can do, a displacement and an impulse along its direction: R has that
direction for its row. What no control acts on, a momentum, is not changed by the correction either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ONE, ZERO, Expression, add_up, is_zero, substitute
from svyaz.forms import Equations
from svyaz.matrices import eigvalsh
from svyaz.program import Linear, Program, build

ITERATIONS = 3
REGULAR = 1e-6
"""A mass matrix is inverted when, scaled to a unit diagonal, its least root is above this."""

Residuals = Mapping[int, Expression]
Correction = Callable[[Residuals], list[Expression]]
"""From residuals of some constraints, by number, to P r."""


def projection_program(equations: Equations, iterations: int = ITERATIONS, mass: Array | None = None) -> Program:
    """Inputs (t, states), outputs the states after ``iterations`` corrections of positions and of velocities.

    With a step so small that the constraints move off by a part ε of their scale, the residual left is of the order
    of ε to the power 1 + iterations. The status is that of a singular system where the augmented matrix has no inverse.
    ``mass``, the mass matrix at a sample state, tells whether M may be inverted; without it M is taken as singular.
    """
    directions = equations.directions
    q = [se.Symbol(name) for name in directions]
    v = list(equations.velocities)
    if not equations.deviations:
        same = [(s, se.Symbol(s)) for s in equations.states]
        return build(same, inputs=("t", *equations.states), parameters=equations.constants)
    inverted = _by_masses if mass is not None and _regular(mass) else _augmented
    systems, correction = inverted(equations)
    held = [k for k, d in enumerate(equations.deviations) if d.position is not None]
    new_q: list[Expression] = list(q)
    for _ in range(iterations if held else 0):
        values = {k: substitute(equations.deviations[k].position, dict(zip(q, new_q, strict=True))) for k in held}
        change = correction(values)
        new_q = [z - _along(row, change) for z, row in zip(new_q, directions.values(), strict=True)]
    new_v: list[Expression] = list(v)
    for _ in range(iterations):
        moved = dict(zip([*q, *v], [*new_q, *new_v], strict=True))
        values = {k: substitute(d.velocity, moved) for k, d in enumerate(equations.deviations)}
        new_v = [z - change for z, change in zip(new_v, correction(values), strict=True)]
    changed = dict(zip([*directions, *map(str, v)], [*new_q, *new_v], strict=True))
    outputs = [(s, changed.get(s, se.Symbol(s))) for s in equations.states]
    return build(outputs, inputs=("t", *equations.states), parameters=equations.constants, systems=systems)


def _along(row: Sequence[Expression], change: Sequence[Expression]) -> Expression:
    """The displacement of one coordinate: ∂q̇/∂v times the change."""
    return add_up(n * c for n, c in zip(row, change, strict=True) if not is_zero(n))


def _regular(mass: Array) -> bool:
    diagonal = np.diag(mass)
    if not np.isfinite(mass).all() or np.any(diagonal <= 0.0):
        return False
    scaled = mass / np.sqrt(np.outer(diagonal, diagonal))
    return bool(eigvalsh(scaled)[0] > REGULAR)


def _augmented(equations: Equations) -> tuple[list[Linear], Correction]:
    """The augmented system with a unit right-hand side for each constraint."""
    n, m = len(equations.accelerated), len(equations.deviations)
    inverse = [[se.Symbol(f"right inverse {i} {k}") for k in range(m)] for i in range(n)]
    jacobian, reactions = equations.constraint_jacobian, equations.reactions
    rows = [[*equations.mass_matrix[i], *(reactions[k][i] for k in range(m))] for i in range(n)]
    rows.extend([*jacobian[k], *([ZERO] * m)] for k in range(m))
    sides = [[*([ZERO] * n), *(ONE if j == k else ZERO for j in range(m))] for k in range(m)]
    unknowns = [
        [*(inverse[i][k] for i in range(n)), *(se.Symbol(f"reaction {j} {k}") for j in range(m))] for k in range(m)
    ]

    def correction(residuals: Residuals) -> list[Expression]:
        return [add_up(row[k] * r for k, r in residuals.items()) for row in inverse]

    return [Linear(rows, sides, unknowns, symmetric=equations.ideal)], correction


def _by_masses(equations: Equations) -> tuple[list[Linear], Correction]:
    """M X = Rᵀ and (G X) Y = 1: the correction is X (Y r)."""
    n, m = len(equations.accelerated), len(equations.deviations)
    jacobian = equations.constraint_jacobian
    x = [[se.Symbol(f"response {i} {k}") for k in range(m)] for i in range(n)]
    y = [[se.Symbol(f"reaction {j} {k}") for k in range(m)] for j in range(m)]
    columns = [[x[i][k] for i in range(n)] for k in range(m)]
    masses = Linear([list(row) for row in equations.mass_matrix], equations.reactions, columns, symmetric=True)
    gram = [[add_up(g * z for g, z in zip(row, column, strict=True)) for column in columns] for row in jacobian]
    units = [[ONE if j == k else ZERO for j in range(m)] for k in range(m)]
    unknowns = [[y[j][k] for j in range(m)] for k in range(m)]
    reactions = Linear(gram, units, unknowns, symmetric=equations.ideal)

    def correction(residuals: Residuals) -> list[Expression]:
        pulls = [add_up(row[k] * r for k, r in residuals.items()) for row in y]
        return [add_up(z * pull for z, pull in zip(row, pulls, strict=True)) for row in x]

    return [masses, reactions], correction
