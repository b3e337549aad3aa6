"""Appell's equations: the Gibbs function of the accelerations, in quasi-velocities.

    S = ½ q̈ᵀ M q̈ + q̈ᵀ c(q, q̇, t),     c = d/dt ∂T/∂q̇ - ∂T/∂q - M q̈,     q̇ = N u + n,   q̈ = N u̇ + s,

    ∂S/∂u̇ = Nᵀ (Q - ∂D/∂q̇ - ∂U/∂q)

(J. W. Gibbs 1879, P. Appell 1899; for a system of particles S is ½ Σ m a² up to terms without accelerations.) S is
written out in the quasi-accelerations u̇ and read as a polynomial of second degree in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import symengine as se

from svyaz.expr import (
    HALF,
    ZERO,
    Expression,
    add_up,
    expanded_size,
    gradient,
    quadratic,
    substitute,
    total_derivative,
    velocity,
)
from svyaz.forms.christoffel import terms_of
from svyaz.forms.equations import Equations, Form
from svyaz.forms.named.lagrange import applied_forces
from svyaz.forms.named.multipliers import with_multipliers
from svyaz.forms.quasi import Basis, basis
from svyaz.forms.reduced_rows import Kinematics, assembled
from svyaz.forms.reduction import LONGEST, reducible, shorter, shortest, velocity_rows
from svyaz.forms.stated import lagrangian
from svyaz.model import Constraint, System

NAME = "appell"


def appell(
    system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
) -> Equations:
    """The equations in Appell's form."""
    reducible(system, NAME)
    origin = with_multipliers(system, active)
    rows = velocity_rows(NAME, [d.constraint for d in origin.deviations], system.coordinates)
    chosen = basis(NAME, origin, rows, dependent)
    kinematics = chosen.kinematics(system.coordinates)
    u2 = [se.Symbol(f"{name}'") for name in chosen.names]
    mass, linear = _coefficients(gibbs_function(system, kinematics, chosen), u2)
    forces = _forces(system, kinematics)
    columns = zip(*chosen.matrix, strict=True)
    bias = [
        shorter(rest - add_up(a * f for a, f in zip(column, forces, strict=True)))
        for rest, column in zip(linear, columns, strict=True)
    ]
    equations = assembled(
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
    return replace(equations, gibbs=_collected(mass, linear, u2))


def _collected(
    mass: Sequence[Sequence[Expression]], linear: Sequence[Expression], u2: Sequence[se.Symbol]
) -> Expression:
    """½ u̇ᵀ (∂²S/∂u̇∂u̇) u̇ + (∂S/∂u̇ at u̇ = 0) u̇: S for reading."""
    squares = [HALF * mass[i][i] * a**2 for i, a in enumerate(u2)]
    mixed = [mass[i][j] * a * u2[j] for i, a in enumerate(u2) for j in range(i)]
    return add_up([*squares, *mixed, *(rest * a for rest, a in zip(linear, u2, strict=True))])


def _coefficients(function: Expression, u2: Sequence[se.Symbol]) -> tuple[list[list[Expression]], list[Expression]]:
    """∂²S/∂u̇∂u̇ and ∂S/∂u̇ at u̇ = 0: each collected or, where that is shorter or S is long, as it stands."""
    k = len(u2)
    slopes = gradient(function, u2)
    still = dict.fromkeys(u2, ZERO)
    mass = [gradient(slope, u2) for slope in slopes]
    linear = [substitute(slope, still) for slope in slopes]
    terms = quadratic(function, u2) if expanded_size(function) <= LONGEST else None
    if terms is None:
        return mass, linear
    upper = {(i, j): shortest(shorter(terms.get((i, j), ZERO)), mass[i][j]) for i in range(k) for j in range(i, k)}
    mass = [[upper[min(i, j), max(i, j)] for j in range(k)] for i in range(k)]
    return mass, [shortest(shorter(terms.get((i,), ZERO)), linear[i]) for i in range(k)]


def gibbs_function(system: System, kinematics: Kinematics, chosen: Basis) -> Expression:
    """S in quasi-velocities and quasi-accelerations, up to terms without the latter."""
    moving, _ = _parts(system)
    given, inertial = terms_of(moving, system.coordinates, [ZERO] * len(system.coordinates))
    mass = [[kinematics.substituted(m) for m in row] for row in given]
    drifts = [shorter(total_derivative(rate, kinematics.flow)) for rate in kinematics.rates.values()]
    own = [
        add_up(a * se.Symbol(f"{name}'") for a, name in zip(row, chosen.names, strict=True)) for row in chosen.matrix
    ]
    terms: list[Expression] = []
    for i, a in enumerate(own):
        terms.append(HALF * mass[i][i] * a**2)
        terms.extend(mass[i][j] * a * own[j] for j in range(i))
        rest = add_up(m * d for m, d in zip(mass[i], drifts, strict=True)) + kinematics.substituted(inertial[i])
        terms.append(a * rest)
    return add_up(terms)


def _parts(system: System) -> tuple[Expression, Expression]:
    """(the part of L that contains velocities, the part that does not)."""
    whole = lagrangian(system)
    at_rest = substitute(whole, {velocity(q): ZERO for q in system.coordinates})
    return whole - at_rest, at_rest


def _forces(system: System, kinematics: Kinematics) -> list[Expression]:
    """Q - ∂D/∂q̇ + ∂L₀/∂q of each coordinate."""
    _, at_rest = _parts(system)
    pull = gradient(at_rest, [se.Symbol(q) for q in system.coordinates])
    return [p - kinematics.substituted(other) for p, other in zip(pull, applied_forces(system), strict=True)]


FORM = Form(NAME, appell, reduced=appell)
