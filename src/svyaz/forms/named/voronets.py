"""Voronets' equations: no multipliers, and coefficients and energies that may know all coordinates.

    q̇_μ = α_μj(q, t) q̇_j + β_μ(q, t),     L* = L with these velocities put in,     p_μ = (∂L/∂q̇_μ)*,

    d/dt ∂L*/∂q̇_j = ∂L*/∂q_j + α_μj ∂L*/∂q_μ + p_μ (γ^μ_jl q̇_l + γ^μ_j0) + Q_j + α_μj Q_μ,

    γ^μ_jl = ∂α_μj/∂q_l - ∂α_μl/∂q_j + α_σl ∂α_μj/∂q_σ - α_σj ∂α_μl/∂q_σ,
    γ^μ_j0 = ∂α_μj/∂t - ∂β_μ/∂q_j + β_σ ∂α_μj/∂q_σ - α_σj ∂β_μ/∂q_σ

(P. V. Voronets 1901; Kaspirovich prints γ without its third term, and then it is not antisymmetric and the energy drifts.)

The dependent coordinates follow by quadrature, the velocity constraints hold identically.
"""

from __future__ import annotations

from collections.abc import Sequence

import symengine as se

from svyaz.expr import TIME, Expression, add_up, differentiate, velocity
from svyaz.forms.equations import Equations, Form
from svyaz.forms.named.chaplygin import dependent_momenta, reduced_forces, star_terms
from svyaz.forms.named.multipliers import with_multipliers
from svyaz.forms.reduced_rows import Kinematics, assembled
from svyaz.forms.reduction import Chart, reducible, shorter, velocity_rows
from svyaz.forms.reduction_choice import first_chart, told_choice
from svyaz.forms.stated import lagrangian
from svyaz.model import Constraint, System

NAME = "voronets"


def voronets(
    system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
) -> Equations:
    """The equations in Voronets' form with the dependent velocities eliminated."""
    return reduced_with_chart(system, active, dependent)[0]


def reduced_with_chart(
    system: System, active: Sequence[Constraint] | None, dependent: Sequence[str] | None
) -> tuple[Equations, Chart]:
    """The equations with the chart in which they are written."""
    reducible(system, NAME)
    origin = with_multipliers(system, active)
    rows = velocity_rows(NAME, [d.constraint for d in origin.deviations], system.coordinates)
    chart = first_chart(NAME, rows, origin, dependent)
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
        NAME, origin, kinematics, mass, bias, names=chart.independent, dependent=chart.dependent, notes=notes
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


FORM = Form(NAME, voronets, reduced=voronets)
