"""Maggi's equations: Lagrange's expressions projected onto what the constraints allow, in quasi-velocities.

    q̇ = N u + n,   α N = 0,     Nᵀ (d/dt ∂L/∂q̇ - ∂L/∂q + ∂D/∂q̇ - Q) = 0,

with M q̈ + bias for the bracket and q̈ = N u̇ + s, s = Ṅ u + ṅ:

    (NᵀM N) u̇ + Nᵀ (M s + bias) = 0      (+ Nᵀ Gᵀ λ on the right for geometric constraints)

(G. A. Maggi 1896.) N comes from the model's quasi-velocities or from the constraints themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.expr import Expression, add_up, total_derivative
from svyaz.forms.equations import Equations, Form
from svyaz.forms.named.multipliers import with_multipliers
from svyaz.forms.quasi import basis
from svyaz.forms.reduced_rows import assembled
from svyaz.forms.reduction import reducible, shorter, velocity_rows
from svyaz.model import Constraint, System

NAME = "maggi"


def maggi(
    system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
) -> Equations:
    """The equations in Maggi's form."""
    reducible(system, NAME)
    origin = with_multipliers(system, active)
    rows = velocity_rows(NAME, [d.constraint for d in origin.deviations], system.coordinates)
    chosen = basis(NAME, origin, rows, dependent)
    kinematics = chosen.kinematics(system.coordinates)
    flow = kinematics.flow
    drifts = [shorter(total_derivative(rate, flow)) for rate in kinematics.rates.values()]
    full = [[kinematics.substituted(m) for m in row] for row in origin.mass_matrix]
    forces = [
        add_up([*(m * s for m, s in zip(row, drifts, strict=True)), kinematics.substituted(b)])
        for row, b in zip(full, origin.bias, strict=True)
    ]
    columns = list(zip(*chosen.matrix, strict=True))
    moved = [[_dot(row, column) for row in full] for column in columns]
    mass = [[shorter(_dot(left, m)) for m in moved] for left in columns]
    bias = [shorter(_dot(column, forces)) for column in columns]
    return assembled(
        NAME,
        origin,
        kinematics,
        mass,
        bias,
        names=chosen.names,
        quasi=True,
        dependent=chosen.dependent,
        notes=chosen.notes,
    )


def _dot(a: Sequence[Expression], b: Sequence[Expression]) -> Expression:
    return add_up(x * y for x, y in zip(a, b, strict=True))


FORM = Form(NAME, maggi, reduced=maggi)
