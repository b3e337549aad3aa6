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
from svyaz.forms import Equations, augmented_rows
from svyaz.matrices import eigvalsh
from svyaz.program import LARGEST_WHOLE, Linear, Program, build, build_as_written, row_entries

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
    large = len(equations.accelerated) + len(equations.deviations) > LARGEST_WHOLE
    if large:
        inverted = _one_by_one
    else:
        inverted = _by_masses if mass is not None and _regular(mass) else _augmented
    systems, correction = inverted(equations)
    held = [k for k, d in enumerate(equations.deviations) if d.position is not None]
    place = {k: equations.deviations[k].position for k in held}
    speed = {k: d.velocity for k, d in enumerate(equations.deviations)}
    now: dict[se.Symbol, Expression] = {}
    for number in range(iterations if held else 0):
        change = correction({k: substitute(h, now) for k, h in place.items()})
        moved = [now.get(z, z) - _along(row, change) for z, row in zip(q, directions.values(), strict=True)]
        now |= dict(zip(q, moved, strict=True)) if large else _named(systems, q, moved, f"place {number}")
    for number in range(iterations):
        change = correction({k: substitute(f, now) for k, f in speed.items()})
        faster = [now.get(z, z) - c for z, c in zip(v, change, strict=True)]
        now |= dict(zip(v, faster, strict=True)) if large else _named(systems, v, faster, f"speed {number}")
    outputs = [(s, now.get(se.Symbol(s), se.Symbol(s))) for s in equations.states]
    return build_as_written(outputs, inputs=("t", *equations.states), parameters=equations.constants, systems=systems)


def _named(
    systems: list[Linear], old: Sequence[se.Symbol], new: Sequence[Expression], name: str
) -> dict[se.Symbol, Expression]:
    """Symbols for the new values of states, as unknowns of a system with the unit matrix.

    Written into each other, three corrections would be a formula that grows with the third power of the constraints.
    """
    symbols = [se.Symbol(f"{name} {k}") for k in range(len(new))]
    units = [[ONE if i == j else ZERO for j in range(len(new))] for i in range(len(new))]
    systems.append(Linear(units, [list(new)], [symbols], symmetric=True))
    return dict(zip(old, symbols, strict=True))


def _along(row: Sequence[Expression], change: Sequence[Expression]) -> Expression:
    """Σ n c without the terms that vanish: ∂q̇/∂v times the change is the displacement of a coordinate."""
    return add_up(n * change[k] for k, n in row_entries(row) if not is_zero(n))


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


def _one_by_one(equations: Equations) -> tuple[list[Linear], Correction]:
    """The augmented system with the residuals for a side, anew for each correction: a large one is eliminated once for all."""
    n, m = len(equations.accelerated), len(equations.deviations)
    rows = augmented_rows(equations)
    systems: list[Linear] = []

    def correction(residuals: Residuals) -> list[Expression]:
        symbols = [se.Symbol(f"correction {len(systems)} {k}") for k in range(n + m)]
        side = [*([ZERO] * n), *(residuals.get(k, ZERO) for k in range(m))]
        systems.append(Linear(rows, [side], [symbols], symmetric=equations.ideal))
        return list(symbols[:n])

    return systems, correction


def _by_masses(equations: Equations) -> tuple[list[Linear], Correction]:
    """M X = Rᵀ once, and (G X) ν = r for each correction, which is X ν."""
    n, m = len(equations.accelerated), len(equations.deviations)
    columns, systems = _responses(equations)
    gram = [[_along(row, column) for column in columns] for row in equations.constraint_jacobian]

    def correction(residuals: Residuals) -> list[Expression]:
        pulls = [se.Symbol(f"reaction {len(systems)} {k}") for k in range(m)]
        side = [residuals.get(k, ZERO) for k in range(m)]
        systems.append(Linear(gram, [side], [pulls], symmetric=equations.ideal))
        return [_along([column[i] for column in columns], pulls) for i in range(n)]

    return systems, correction


def _responses(equations: Equations) -> tuple[list[list[Expression]], list[Linear]]:
    """The columns of X = M⁻¹ Rᵀ, and the system that gives them where M is more than a diagonal."""
    mass, pushes = equations.mass_matrix, equations.reactions
    if all(is_zero(e) for i, row in enumerate(mass) for j, e in enumerate(row) if i != j):
        return [[e / mass[i][i] for i, e in enumerate(row)] for row in pushes], []
    symbols = [[se.Symbol(f"response {i} {k}") for i in range(len(mass))] for k in range(len(pushes))]
    return symbols, [Linear([list(row) for row in mass], pushes, symbols, symmetric=True)]
