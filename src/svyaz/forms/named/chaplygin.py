"""Chaplygin's equations: no multipliers, for constraints and energies that do not know the dependent coordinates.

    q̇_μ = B_μs(q_I, t) q̇_s + b_μ(q_I, t),     L, Q free of q_μ,     L* = L with these velocities put in,

    d/dt ∂L*/∂q̇_s - ∂L*/∂q_s + Σ_μ (∂L/∂q̇_μ)* [ Σ_r (∂B_μr/∂q_s - ∂B_μs/∂q_r) q̇_r + ∂b_μ/∂q_s - ∂B_μs/∂t ]
        = Q_s + Σ_μ B_μs Q_μ  (+ λ_i ∂h_i/∂q_s)

(S. A. Chaplygin 1897; Kaspirovich (1.2.9), where the dot over q_μ is lost.) The dependent coordinates follow by
quadrature. Geometric constraints on the independent coordinates keep their multipliers.
"""

from __future__ import annotations

from collections.abc import Sequence

import symengine as se

from svyaz.expr import (
    TIME,
    Expression,
    ModelError,
    Place,
    Problem,
    add_up,
    differentiate,
    expanded_size,
    names_in,
    velocity,
)
from svyaz.forms.christoffel import plain_terms_of, terms_of
from svyaz.forms.equations import Equations, Form
from svyaz.forms.named.lagrange import applied_forces
from svyaz.forms.named.multipliers import with_multipliers
from svyaz.forms.reduced_rows import Kinematics, assembled
from svyaz.forms.reduction import LONGEST, Chart, VelocityRows, reducible, shorter, size, solved, velocity_rows
from svyaz.forms.reduction_choice import declared, first_chart, ordered_choices, told_choice, values_at
from svyaz.forms.stated import lagrangian
from svyaz.model import Constraint, System

NAME = "chaplygin"

MOST_TERMS = 20_000
"""L* that would have more when multiplied out is not collected."""


def chaplygin(
    system: System, active: Sequence[Constraint] | None = None, dependent: Sequence[str] | None = None
) -> Equations:
    """The equations in Chaplygin's form; a system to which it does not apply is refused with the reason."""
    reducible(system, NAME)
    origin = with_multipliers(system, active)
    rows = velocity_rows(NAME, [d.constraint for d in origin.deviations], system.coordinates)
    chart = applicable_chart(rows, origin, dependent)
    kinematics = Kinematics(chart.velocities, tuple(velocity(q) for q in chart.independent))
    star = kinematics.substituted(lagrangian(system))
    mass, bias = star_terms(star, chart, reduced_forces(system, chart, kinematics))
    momenta = dependent_momenta(system, chart, kinematics)
    for s in range(len(chart.independent)):
        turning = add_up(p * _turning(chart, mu, s) for mu, p in enumerate(momenta))
        bias[s] = shorter(bias[s] + turning)
    notes = told_choice(rows, origin, dependent, chart)
    return assembled(
        NAME, origin, kinematics, mass, bias, names=chart.independent, dependent=chart.dependent, notes=notes
    )


def star_terms(
    star: Expression, chart: Chart, others: Sequence[Expression]
) -> tuple[list[list[Expression]], list[Expression]]:
    """(M*, bias*) of d/dt ∂L*/∂q̇_s - ∂L*/∂q_s + others, collected or, where L* is long, as it stands."""
    if expanded_size(star) > MOST_TERMS:  # collecting would take minutes, and find little
        return plain_terms_of(star, chart.independent, others)
    short = terms_of(star, chart.independent, others)
    if _length(*short) < LONGEST // 5:
        return short
    return min(short, plain_terms_of(star, chart.independent, others), key=lambda terms: _length(*terms))


def _length(mass: Sequence[Sequence[Expression]], bias: Sequence[Expression]) -> int:
    return sum(size(e) for row in (*mass, bias) for e in row)


def _turning(chart: Chart, mu: int, s: int) -> Expression:
    """Σ_r (∂B_μr/∂q_s - ∂B_μs/∂q_r) q̇_r + ∂b_μ/∂q_s - ∂B_μs/∂t."""
    row, q = chart.coefficients[mu], [se.Symbol(name) for name in chart.independent]
    terms = [
        (differentiate(row[r], q[s]) - differentiate(row[s], q[r])) * velocity(str(q[r]))
        for r in range(len(q))
        if r != s
    ]
    return add_up([*terms, differentiate(chart.drift[mu], q[s]) - differentiate(row[s], TIME)])


def reduced_forces(system: System, chart: Chart, kinematics: Kinematics) -> list[Expression]:
    """∂D/∂q̇_s - Q_s + Σ_μ B_μs (∂D/∂q̇_μ - Q_μ) with the dependent velocities put in."""
    forces = dict(zip(system.coordinates, map(kinematics.substituted, applied_forces(system)), strict=True))
    return [
        forces[q] + add_up(row[s] * forces[mu] for mu, row in zip(chart.dependent, chart.coefficients, strict=True))
        for s, q in enumerate(chart.independent)
    ]


def dependent_momenta(system: System, chart: Chart, kinematics: Kinematics) -> list[Expression]:
    """(∂L/∂q̇_μ)* of the dependent coordinates."""
    return [shorter(kinematics.substituted(differentiate(lagrangian(system), velocity(q)))) for q in chart.dependent]


def applicable_chart(rows: VelocityRows, origin: Equations, dependent: Sequence[str] | None) -> Chart:
    """The best chart for which the coefficients, the Lagrangian and the forces do not know the dependent coordinates."""
    if dependent is not None:
        choices: list[tuple[str, ...]] = [tuple(dependent)]
    else:
        choices = ordered_choices(NAME, rows, origin, values_at(origin))
    reasons: list[tuple[str, Place | None]] = []
    first = rows.constraints[0].place if rows.constraints else None
    for choice in choices:
        energies = _energies_know(origin.system, choice)
        if energies and len(choices) > 1:
            reasons.append((energies, first))
            continue
        chart = solved(rows, choice)
        if chart is None:
            continue
        reason = _coefficients_know(chart) or (None if energies is None else (energies, first))
        if reason is None:
            return chart
        reasons.append(reason)
    if not reasons:
        return first_chart(NAME, rows, origin, dependent)
    told, place = reasons[0]
    named = next((words for words, _ in reasons if words.startswith("the coefficient")), told)
    if named != told and not declared(rows):
        told = f"{told}; with others dependent, {named}"
    raise ModelError([Problem(f"the form 'chaplygin' does not apply: {told}", place, "use the form 'voronets'")])


def _coefficients_know(chart: Chart) -> tuple[str, Place | None] | None:
    """Words for a coefficient of the solved constraints that contains a dependent coordinate, and where it comes from."""
    for mu, (q, row, rest) in enumerate(zip(chart.dependent, chart.coefficients, chart.drift, strict=True)):
        named = [(f"the coefficient of {i}' in {q}' = …", e) for i, e in zip(chart.independent, row, strict=True)]
        for what, e in [*named, (f"the free term of {q}' = …", rest)]:
            known = [d for d in chart.dependent if d in names_in(e)]
            if known:
                from svyaz.expr import to_text

                source = _source(chart, mu)
                words = f"{what}, {to_text(e)}, depends on the dependent coordinate '{known[0]}'"
                return f"{words} (constraint '{source.name}')", source.place
    return None


def _source(chart: Chart, mu: int) -> Constraint:
    """The constraint in which the velocity of the dependent coordinate occurs."""
    place = chart.rows.coordinates.index(chart.dependent[mu])
    found = [c for c, row in zip(chart.rows.constraints, chart.rows.matrix, strict=True) if row[place] != 0]
    return found[0] if found else chart.rows.constraints[0]


def _energies_know(system: System, dependent: Sequence[str]) -> str | None:
    """Words for a Lagrangian, a Rayleigh function or a force that contains a dependent coordinate."""
    known = [("the Lagrangian", lagrangian(system)), ("the Rayleigh function", system.dissipation)]
    known += [(f"the force on '{q}'", force) for q, force in system.forces.items()]
    for what, e in known:
        names = names_in(e)
        for q in dependent:
            if q in names:
                return f"{what} depends on the dependent coordinate '{q}'"
    return None


FORM = Form(NAME, chaplygin, reduced=chaplygin, wider="voronets")
