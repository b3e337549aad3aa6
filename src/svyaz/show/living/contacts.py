"""One-sided contacts as a browser follows them: struck, they give back a part e of the speed, or act and push.

What is carried: ``on`` of each contact with its rate and its second derivative, its size, e; and M, G and the rates of all
constraints, from which an impact makes v⁺ = v⁻ - M⁻¹Gᵀ(G M⁻¹Gᵀ)⁻¹ (g + e g), with e of the contact that is struck and 0
of what acts besides. Where several throw back at the same moment, those that approach are struck together, then those that
approach after that; contacts that would act together are not followed.
"""

from __future__ import annotations

from collections.abc import Sequence

import symengine as se

from svyaz.dynamics import FLOOR, magnitude
from svyaz.expr import ONE, TIME, ZERO, Expression, add_up, gradient, is_zero, total_derivative
from svyaz.forms import Equations, free_equations, lagrange_terms, with_constraints
from svyaz.model import Constraint, System, is_one_sided, multiplier_symbol, multipliers_in
from svyaz.motion import Chapter
from svyaz.program import Program, build_as_written
from svyaz.show.living.phases import geometry_program
from svyaz.show.living.record import ContactsRecord, Geometry

IMPACTS = (None, "inelastic", "newton", "poisson")
"""Of one contact without friction Newton's law and Poisson's are the same."""


def contacts_of(system: System) -> list[Constraint]:
    """Constraints that push only, and cease to act by their own reaction alone."""
    velocities = {se.Symbol(f"{q}'") for q in system.coordinates}
    found = [c for c in system.constraints if is_one_sided(c, velocities)]
    return [c for c in found if c.off is not None and set(multipliers_in(c.off)) == {multiplier_symbol(c.name)}]


def cannot_strike(system: System, chapters: Sequence[Chapter]) -> str:
    """Why a browser cannot follow the impacts of a run; empty where it can."""
    contacts = contacts_of(system)
    for c in system.constraints:
        if any(multipliers_in(e) for e in (c.on, c.off) if e is not None) and c not in contacts:
            return f"the reaction of '{c.name}' decides when it acts"
        if c.impact not in IMPACTS or c.frictions or c.drags:
            return f"'{c.name}' rubs"
        if not is_zero(c.restitution) and c not in contacts:
            return f"'{c.name}' throws back"
    for chapter in chapters:
        event = chapter.beginning.event
        several = event is not None and (len(event.impacts) > 1 or any(len(stage) > 1 for stage in event.impacts))
        several |= sum(c in contacts for c in chapter.phase.active) > 1
        if several and any(is_zero(c.restitution) for c in contacts):
            return "several contacts meet at once, and some of them do not throw back"
    return ""


def contacts_record(system: System) -> tuple[ContactsRecord, Program, Program] | None:
    """The contacts, the program of their gaps and that of an impact; None for a model without any."""
    contacts = contacts_of(system)
    if not contacts:
        return None
    free = free_equations(system, "multipliers", *lagrange_terms(system))
    impact = geometry_program(with_constraints(free, system.constraints))
    assert impact is not None, "there are constraints"
    geometry: Geometry = impact[1]
    pushes = {c.name: float(c.pushes) for c in contacts}
    return (
        {"names": [c.name for c in contacts], "pushes": pushes, "geometry": geometry},
        _gaps(free, contacts),
        impact[0],
    )


def _gaps(free: Equations, contacts: Sequence[Constraint]) -> Program:
    """(t, states, slopes of the states) → on, on', on'', size of on, e for each contact."""
    slopes = {se.Symbol(name): se.Symbol(f"slope of {name}") for name in free.states} | {TIME: ONE}
    flow = {se.Symbol(name): rate for name, rate in free.explicit.items()} | {TIME: ONE}
    entries: list[tuple[str, Expression]] = []
    for c in contacts:
        assert c.on is not None, "a contact has a gap"
        rate = total_derivative(c.on, flow)
        e = ZERO if c.impact == "inelastic" else c.restitution
        values = (c.on, rate, total_derivative(rate, slopes), _size(free, c.on, rate), e)
        entries += [(f"{k} {c.name}", value) for k, value in enumerate(values)]
    inputs = ("t", *free.states, *(str(slopes[se.Symbol(name)]) for name in free.states))
    return build_as_written(entries, inputs=inputs, parameters=tuple(free.system.constants))


def _size(free: Equations, on: Expression, rate: Expression) -> Expression:
    """The size of ``on``: of its terms, or a small part of what the coordinates would give it, √(Σ M_jj q_j²/M_ii) each."""
    masses = [free.mass_matrix[i][i] for i in range(len(free.accelerated))]
    inert = [k for k, mass in enumerate(masses) if not is_zero(mass)]
    weight = add_up(masses[k] * se.Symbol(free.accelerated[k]) ** 2 for k in inert)
    row = gradient(rate, free.velocities)
    reach = add_up(abs(row[k]) * se.sqrt(weight / masses[k]) for k in inert)
    return se.Max(magnitude(on), FLOOR * reach)
