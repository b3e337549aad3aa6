"""Constraints that events switch, as a browser follows them: conditions, anchors, impacts that make velocities fit.

The programs of every set of constraints that the native run has met are carried, and those of each contact alone beside what
acts from the beginning; a motion that meets another set ends there.
Contacts that push only are followed one at a time; dry friction is not.

Contacts that are struck give back a part e of the speed, or act and push. What is carried: ``on`` of each contact with its
rate and its second derivative, its size, e; and M, G and the rates of all constraints, from which an impact makes
v⁺ = v⁻ - M⁻¹Gᵀ(G M⁻¹Gᵀ)⁻¹ (g + e g), with e of the contact that is struck and 0 of what acts besides. Where several throw back
at the same moment, those that approach are struck together, then those that approach after that; contacts that would act
together are not followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import symengine as se

from svyaz.dynamics import FLOOR, magnitude
from svyaz.expr import ONE, TIME, ZERO, Expression, add_up, gradient, is_zero, substitute, total_derivative
from svyaz.forms import Equations, free_equations, lagrange_terms, multiplier_symbols, rates_of, with_constraints
from svyaz.model import Constraint, System, is_one_sided, multiplier_symbol, multipliers_in, names_of
from svyaz.motion import Chapter, is_switched
from svyaz.program import Program, build_as_written
from svyaz.show.living.phases import geometry_program
from svyaz.show.living.record import ContactsRecord, Geometry, SwitchedRecord, SwitchingConstraint
from svyaz.stabilise import perturbation, prepare


def cannot_follow(system: System, chapters: Sequence[Chapter]) -> str:
    """Why a browser cannot follow the events of a run; empty where it can, or where there are none."""
    if not is_switched(system):
        return ""
    if reason := cannot_strike(system, chapters):
        return reason
    if any(chapter.phase.equations.spare for chapter in chapters):
        return "constraints repeat others"
    if any(chapter.segment is not None and chapter.segment.held for chapter in chapters):
        return "integrals are held while events switch constraints"
    return ""


def sets_of(system: System, chapters: Sequence[Chapter]) -> list[Chapter]:
    """The phases whose programs a page carries: all of them, or where events switch the first with each set of constraints.

    A contact that was never at rest in the run may be in another one: its set is made beside those that were met.
    """
    if not is_switched(system):
        return list(chapters)
    found: dict[tuple[str, ...], Chapter] = {}
    for chapter in chapters:
        found.setdefault(names_of(chapter.phase.active), chapter)
    contacts, base = contacts_of(system), chapters[0]
    for alone in ([], *([c] for c in contacts)):
        active = tuple(c for c in system.constraints if c in alone or (c in base.phase.active and c not in contacts))
        if contacts and names_of(active) not in found and (made := _phase(system, base, active)) is not None:
            found[names_of(active)] = made
    return list(found.values())


def _phase(system: System, base: Chapter, active: tuple[Constraint, ...]) -> Chapter | None:
    """A phase with these constraints as the run would have begun it; None where its gains would be chosen by trial runs."""
    how = base.options.stabilize
    if how.kind not in ("off", "projection", "one gain", "Baumgarte"):
        return None
    equations = with_constraints(free_equations(system, "multipliers", *lagrange_terms(system)), active)
    law, start = perturbation(equations, how), base.phase.start
    segment = prepare(equations, law, (), base.options, start, base.beginning.state)
    phase = replace(base.phase, active=active, equations=equations)
    return replace(base, beginning=replace(base.beginning, phase=phase), segment=segment)


def condition_programs(chapter: Chapter) -> tuple[list[tuple[str, str]], dict[str, Program]]:
    """What may end a phase, ("on" or "off", constraint): the conditions, and the sizes of their terms."""
    system, active = chapter.phase.equations.system, chapter.phase.active
    found = [
        ((word, c.name), e)
        for c in system.constraints
        for word, e in (("off", c.off) if c in active else ("on", c.on),)
        if e is not None
    ]
    equations, segment = chapter.phase.equations, chapter.segment
    assert segment is not None, "a phase that was run has its code"
    known = dict(zip(equations.multiplier_names, multiplier_symbols(equations), strict=True))
    reactions = {multiplier_symbol(c.name): known.get(c.name, ZERO) for c in system.constraints}
    written = [substitute(e, reactions) for _, e in found]
    reacting = any(multipliers_in(e) for _, e in found)
    systems = rates_of(equations, segment.perturbation.correction).systems[:1] if reacting else ()
    inputs, parameters = ("t", *equations.states), tuple({**system.constants, **segment.perturbation.gains})
    tables = {"conditions": written, "sizes": [magnitude(e) for e in written]}
    programs = {
        name: build_as_written(
            [(f"{k}", e) for k, e in enumerate(table)], inputs=inputs, parameters=parameters, systems=systems
        )
        for name, table in tables.items()
    }
    return [key for key, _ in found], programs


def switching_record(system: System) -> tuple[SwitchedRecord, dict[str, Program]] | None:
    """What is told of the constraints that events switch, and programs: values of their anchors, gaps, impacts."""
    if not is_switched(system):
        return None
    anchors = [(f"{c.name}\t{name}", e) for c in system.constraints for name, e in c.anchors]
    program = build_as_written(anchors, inputs=("t", *system.states), parameters=tuple(system.constants))
    constraints: list[SwitchingConstraint] = [
        {"name": c.name, "start": c.start, "end": c.end, "impact": c.impact is not None} for c in system.constraints
    ]
    places = [(name.split("\t")[0], system.states.index(name.split("\t")[1])) for name, _ in anchors]
    programs, contacts = {"anchors": program}, contacts_record(system)
    if contacts is not None:
        programs |= {"gaps": contacts[1], "impact": contacts[2]}
    told = None if contacts is None else contacts[0]
    return {"constraints": constraints, "anchors": places, "contacts": told}, programs


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
    if contacts and set(system.velocities) != {f"{q}'" for q in system.coordinates}:
        return "a body that turns freely strikes"
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
