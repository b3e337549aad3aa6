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

The published jump over a singular point (Kaspirovich 2.3), as an opt-in: [bypass] watch, at, window, jump.

When the watched coordinate would come within ``window`` of the singular value ``at``, it is overwritten by its value
before the step plus ``jump`` in the direction of motion, and the stabiliser is left to heal the constraints. The window
is cleared in one jump when jump > 2 window; with jump = 2 window it may take a second one. Only the constraints recover:
information lost in the jump is not regained, so every jump is logged, and a regular chart (a unit quaternion) is the
better way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se
from symengine.lib.symengine_wrapper import Abs, sign

from svyaz.arrays import Array
from svyaz.expr import HALF, ONE, ZERO, Expression, ModelError, Problem, add_up, is_zero, substitute, velocity
from svyaz.forms import Equations
from svyaz.holding.deviation import deviations
from svyaz.holding.options import Options
from svyaz.matrices import eigvalsh
from svyaz.model import Bypass
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


def bypass_program(equations: Equations, options: Options) -> Program:
    """The state after a step, with the watched coordinate moved on when it lies in the window."""
    name, bypass = _watched(equations)
    if options.step is None:
        raise ModelError(
            [Problem("the jump over a singular point needs a fixed step", None, "give a step instead of rtol")]
        )
    if not bypass.jump * (1 + 1e-12) >= 2 * bypass.window > 0:
        raise ModelError([Problem("a jump cannot clear the window unless jump ≥ 2 window > 0")])
    s, rate = se.Symbol(name), velocity(name)
    distance = se.RealDouble(bypass.window) - Abs(se.sin((s - bypass.at) / 2)) * 2
    inside = HALF * (ONE + sign(distance))
    moved = s + inside * (bypass.jump * sign(rate) - options.step * rate)
    outputs = [(state, moved if state == name else se.Symbol(state)) for state in equations.states]
    return build(outputs, inputs=("t", *equations.states), parameters=equations.constants)


def _watched(equations: Equations) -> tuple[str, Bypass]:
    """The coordinate that is watched, and how it jumps."""
    bypass = equations.system.bypass
    assert bypass is not None, "only systems with [bypass] come here"
    watch = str(bypass.watch)
    if watch not in equations.system.coordinates:
        raise ModelError([Problem(f"[bypass] watches a coordinate; '{watch}' is none")])
    if f"{watch}'" not in equations.states:
        message = f"[bypass] watches '{watch}', whose velocity is no state in the form '{equations.form}'"
        raise ModelError([Problem(message, hint="use the form 'multipliers'")])
    return watch, bypass


@dataclass(frozen=True)
class Jump:
    """A jump of the watched coordinate from ``before`` to ``after``: the violation of the constraints right after it, and
    the time until a tenth of that was left (None if that was never so).
    """

    t: float
    coordinate: str
    before: float
    after: float
    violation: float
    recovery: float | None


def jump_log(equations: Equations, times: Array, states: Array, step: float) -> tuple[Jump, ...]:
    """Every jump along the rows of a run."""
    name, bypass = _watched(equations)
    column = equations.states.index(name)
    speed = states[:, equations.states.index(f"{name}'")]
    change = np.diff(states[:, column]) - step * speed[:-1]
    jumped = np.flatnonzero(np.abs(change) > 0.5 * bypass.jump)
    measured = deviations(equations)
    y = np.max(np.abs(measured.at(times, states))[:, measured.reported], axis=1, initial=0.0)
    log = []
    for row in jumped:
        after = y[row + 1 :]
        healed = np.flatnonzero(after < 0.1 * after[0]) if len(after) else np.zeros(0, dtype=int)
        log.append(
            Jump(
                t=float(times[row + 1]),
                coordinate=name,
                before=float(states[row, column]),
                after=float(states[row + 1, column]),
                violation=float(after[0]),
                recovery=float(times[row + 1 + healed[0]] - times[row + 1]) if len(healed) else None,
            )
        )
    return tuple(log)
