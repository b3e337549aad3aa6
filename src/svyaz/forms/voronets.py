"""Voronets' equations: no multipliers, and coefficients and energies that may know all coordinates.

    q̇_μ = α_μj(q, t) q̇_j + β_μ(q, t),     L* = L with these velocities put in,     p_μ = (∂L/∂q̇_μ)*,

    d/dt ∂L*/∂q̇_j = ∂L*/∂q_j + α_μj ∂L*/∂q_μ + p_μ (γ^μ_jl q̇_l + γ^μ_j0) + Q_j + α_μj Q_μ,

    γ^μ_jl = ∂α_μj/∂q_l - ∂α_μl/∂q_j + α_σl ∂α_μj/∂q_σ - α_σj ∂α_μl/∂q_σ,
    γ^μ_j0 = ∂α_μj/∂t - ∂β_μ/∂q_j + β_σ ∂α_μj/∂q_σ - α_σj ∂β_μ/∂q_σ

(P. V. Voronets 1901; Kaspirovich prints γ without its third term, and then it is not antisymmetric and the energy drifts.)

In the form ``voronets`` the dependent coordinates follow by quadrature, the velocity constraints hold identically. In
``voronets:carried`` the dependent velocities are states, q̈_μ = α_μj q̈_j + (dα_μj/dt) q̇_j + dβ_μ/dt + F_μ with the
stabilising F of the constraints, so that inconsistent initial data or rounding die out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import symengine as se

from svyaz.expr import ONE, TIME, ZERO, Expression, add_up, differentiate, gradient, total_derivative, velocity
from svyaz.forms.chaplygin import dependent_momenta, reduced_forces, star_terms
from svyaz.forms.equations import Equations
from svyaz.forms.multipliers import with_multipliers
from svyaz.forms.reduced_rows import Kinematics, assembled
from svyaz.forms.reduction import Chart, reducible, shorter, velocity_rows
from svyaz.forms.reduction_choice import first_chart, told_choice
from svyaz.forms.stated import lagrangian
from svyaz.model import Constraint, System

FORM = "voronets"


def voronets(
    system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
) -> Equations:
    """The equations in Voronets' form with the dependent velocities eliminated."""
    return _reduced(system, active, dependent)[0]


def voronets_carried(
    system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
) -> Equations:
    """The equations in Voronets' form with the dependent velocities as states.

    The linear system is [M* 0; 0 0] bordered by the rows of all constraints as they were written. The dependent columns
    say Gᵀλ = 0 there, which leaves M* q̈_I + bias* = 0 (plus the reactions of positions) and the constraints
    differentiated, to which stabilisation is added as in any form.
    """
    reduced, chart = _reduced(system, active, dependent)
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
        form=f"{FORM}:carried",
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


def _reduced(
    system: System, active: Sequence[Constraint] | None, dependent: Sequence[str] | None
) -> tuple[Equations, Chart]:
    reducible(system, FORM)
    origin = with_multipliers(system, active)
    rows = velocity_rows(FORM, [d.constraint for d in origin.deviations], system.coordinates)
    chart = first_chart(FORM, rows, origin, dependent)
    kinematics = Kinematics(chart.velocities, tuple(velocity(q) for q in chart.independent))
    star = kinematics.substituted(lagrangian(system))
    mass, bias = star_terms(star, chart, reduced_forces(system, chart, kinematics))
    momenta = dependent_momenta(system, chart, kinematics)
    pulls = [differentiate(star, se.Symbol(q)) for q in chart.dependent]
    for j, name in enumerate(chart.independent):
        momentum = differentiate(star, velocity(name))
        terms = [
            differentiate(momentum, se.Symbol(q)) * chart.velocities[q] - chart.coefficients[mu][j] * pulls[mu]
            for mu, q in enumerate(chart.dependent)
        ]
        terms.extend(-p * turning(chart, mu, j) for mu, p in enumerate(momenta))
        bias[j] = shorter(bias[j] + add_up(terms))
    notes = told_choice(rows, origin, dependent, chart)
    equations = assembled(
        FORM, origin, kinematics, mass, bias, names=chart.independent, dependent=chart.dependent, notes=notes
    )
    return equations, chart


def turning(chart: Chart, mu: int, j: int) -> Expression:
    """γ^μ_jl q̇_l + γ^μ_j0."""
    q, sigma = [se.Symbol(n) for n in chart.independent], [se.Symbol(n) for n in chart.dependent]
    alpha, beta = chart.coefficients, chart.drift
    terms = []
    for k in range(len(q)):
        if k == j:
            continue
        gamma = [differentiate(alpha[mu][j], q[k]), -differentiate(alpha[mu][k], q[j])]
        gamma += [alpha[s][k] * differentiate(alpha[mu][j], x) for s, x in enumerate(sigma)]
        gamma += [-alpha[s][j] * differentiate(alpha[mu][k], x) for s, x in enumerate(sigma)]
        terms.append(shorter(add_up(gamma)) * velocity(str(q[k])))
    drift = [differentiate(alpha[mu][j], TIME), -differentiate(beta[mu], q[j])]
    drift += [beta[s] * differentiate(alpha[mu][j], x) for s, x in enumerate(sigma)]
    drift += [-alpha[s][j] * differentiate(beta[mu], x) for s, x in enumerate(sigma)]
    return add_up([*terms, shorter(add_up(drift))])
