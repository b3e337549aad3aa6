"""Constraints that events switch, as a browser follows them: conditions, anchors, impacts that make velocities fit.

The programs of every set of constraints that the native run has met are carried, and those of each contact alone beside what
acts from the beginning; a motion that meets another set ends there.
Contacts that push only are followed one at a time; dry friction is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from svyaz.dynamics import magnitude
from svyaz.expr import ZERO, substitute
from svyaz.forms import free_equations, lagrange_terms, multiplier_symbols, rates_of, with_constraints
from svyaz.holding import Baumgarte, ByProjection, Off, OneGain, perturbation, prepare
from svyaz.model import Constraint, System, multiplier_symbol, multipliers_in, names_of
from svyaz.motion import Chapter, is_switched
from svyaz.program import Program, build_as_written
from svyaz.show.living.contacts import cannot_strike, contacts_of, contacts_record
from svyaz.show.living.record import SwitchedRecord, SwitchingConstraint


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
        if contacts and names_of(active) not in found and (made := _made(system, base, active)) is not None:
            found[names_of(active)] = made
    return list(found.values())


def _made(system: System, base: Chapter, active: tuple[Constraint, ...]) -> Chapter | None:
    """A phase with these constraints as the run would have begun it; None where its gains would be chosen by rehearsals."""
    how = base.options.stabilize
    if not isinstance(how, Off | ByProjection | OneGain | Baumgarte):
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


def switched_record(system: System) -> tuple[SwitchedRecord, dict[str, Program]] | None:
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
