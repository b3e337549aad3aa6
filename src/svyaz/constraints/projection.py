"""Projection onto the constraints as a program for use after every step of an integration.

One linear system is solved, the augmented one at the incoming state, with a right-hand side for each constraint:

    [M  Gᵀ] [ P ]   [0]
    [G  0 ] [ … ] = [I]          P = M⁻¹Gᵀ (G M⁻¹Gᵀ)⁻¹   (n, m), where M has an inverse

P is the right inverse of G with the least kinetic energy. It serves all iterations of the simplified Newton method

    q ← q - P_h h(q, t),        v ← v - P g(q, v, t),       g = (ḣ, f),

each of which multiplies the residual by a number of the order of the correction itself. A correction of the positions
is a displacement that the velocity constraints allow (G_f δq = 0), since all rows are in the one system.
"""

from __future__ import annotations

from collections.abc import Sequence

import symengine as se

from svyaz.expr.calculus import ONE, ZERO, Expression, add_up, substitute
from svyaz.forms import Equations
from svyaz.program.build import Linear, build
from svyaz.program.tape import Program

ITERATIONS = 3


def projection_program(equations: Equations, iterations: int = ITERATIONS) -> Program:
    """Inputs (t, states), outputs the states after ``iterations`` corrections of positions and of velocities.

    With a step so small that the constraints move off by a part ε of their scale, the residual left is of the order
    of ε to the power 1 + iterations. The status is that of a singular system where the augmented matrix has no inverse.
    """
    q = [se.Symbol(name) for name in equations.accelerated]
    v = list(equations.velocities)
    n, m = len(q), len(equations.deviations)
    if m == 0:
        same = [(s, se.Symbol(s)) for s in equations.states]
        return build(same, inputs=("t", *equations.states), parameters=equations.constants)
    inverse = [[se.Symbol(f"right inverse {i} {k}") for k in range(m)] for i in range(n)]
    system = _right_inverse(equations, inverse)
    held = [k for k, d in enumerate(equations.deviations) if d.position is not None]
    new_q: list[Expression] = list(q)
    for _ in range(iterations if held else 0):
        values = {k: substitute(equations.deviations[k].position, dict(zip(q, new_q, strict=True))) for k in held}
        new_q = _corrected(new_q, inverse, values)
    new_v: list[Expression] = list(v)
    for _ in range(iterations):
        moved = dict(zip([*q, *v], [*new_q, *new_v], strict=True))
        values = {k: substitute(d.velocity, moved) for k, d in enumerate(equations.deviations)}
        new_v = _corrected(new_v, inverse, values)
    changed = dict(zip([*equations.accelerated, *map(str, v)], [*new_q, *new_v], strict=True))
    outputs = [(s, changed.get(s, se.Symbol(s))) for s in equations.states]
    return build(outputs, inputs=("t", *equations.states), parameters=equations.constants, systems=[system])


def _right_inverse(equations: Equations, inverse: Sequence[Sequence[se.Symbol]]) -> Linear:
    """The augmented system with a unit right-hand side for each constraint."""
    n, m = len(equations.accelerated), len(equations.deviations)
    jacobian = equations.constraint_jacobian
    rows = [[*equations.mass_matrix[i], *(jacobian[k][i] for k in range(m))] for i in range(n)]
    rows.extend([*jacobian[k], *([ZERO] * m)] for k in range(m))
    sides = [[*([ZERO] * n), *(ONE if j == k else ZERO for j in range(m))] for k in range(m)]
    unknowns = [
        [*(inverse[i][k] for i in range(n)), *(se.Symbol(f"reaction {j} {k}") for j in range(m))] for k in range(m)
    ]
    return Linear(rows, sides, unknowns, symmetric=True)


def _corrected(
    z: Sequence[Expression], inverse: Sequence[Sequence[se.Symbol]], values: dict[int, Expression]
) -> list[Expression]:
    """z - P r."""
    return [x - add_up(inverse[i][k] * r for k, r in values.items()) for i, x in enumerate(z)]
