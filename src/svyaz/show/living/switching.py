"""Constraints that events switch, as a browser follows them: conditions, anchors, impacts that make velocities fit.

The programs of every set of constraints that the native run has met are carried; a motion that meets another set ends there.
Contacts that push only, restitution and dry friction are not followed.
"""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.constraints import magnitude
from svyaz.expr import is_zero
from svyaz.model import System, multipliers_in
from svyaz.motion import Chapter, is_switched
from svyaz.program import Program, build_as_written
from svyaz.show.living.record import SwitchedRecord, SwitchingConstraint

IMPACTS = (None, "inelastic")


def cannot_follow(system: System, chapters: Sequence[Chapter]) -> str:
    """Why a browser cannot follow the events of a run; empty where it can, or where there are none."""
    if not is_switched(system):
        return ""
    for c in system.constraints:
        if any(multipliers_in(e) for e in (c.on, c.off) if e is not None):
            return f"the reaction of '{c.name}' decides when it acts"
        if c.impact not in IMPACTS or not is_zero(c.restitution) or c.frictions or c.drags:
            return f"'{c.name}' throws back or rubs"
    if any(chapter.phase.settling or chapter.phase.equations.spare for chapter in chapters):
        return "impacts accumulate, or constraints repeat others"
    if any(chapter.segment is not None and chapter.segment.held for chapter in chapters):
        return "integrals are held while events switch constraints"
    return ""


def sets_of(system: System, chapters: Sequence[Chapter]) -> list[Chapter]:
    """The phases whose programs a page carries: all of them, or where events switch the first with each set of constraints."""
    if not is_switched(system):
        return list(chapters)
    found: dict[tuple[str, ...], Chapter] = {}
    for chapter in chapters:
        found.setdefault(tuple(c.name for c in chapter.phase.active), chapter)
    return list(found.values())


def condition_programs(chapter: Chapter) -> tuple[list[tuple[str, str]], dict[str, Program]]:
    """What may end a phase, ("on" or "off", constraint): the conditions, and the sizes of their terms."""
    system, active = chapter.phase.equations.system, chapter.phase.active
    found = [
        ((word, c.name), e)
        for c in system.constraints
        for word, e in (("off", c.off) if c in active else ("on", c.on),)
        if e is not None
    ]
    inputs, parameters = ("t", *chapter.phase.equations.states), tuple(system.constants)
    tables = {"conditions": [e for _, e in found], "sizes": [magnitude(e) for _, e in found]}
    programs = {
        name: build_as_written([(f"{k}", e) for k, e in enumerate(table)], inputs=inputs, parameters=parameters)
        for name, table in tables.items()
    }
    return [key for key, _ in found], programs


def switched_record(system: System) -> tuple[SwitchedRecord, Program] | None:
    """What is told of the constraints that events switch, and the values of their anchors."""
    if not is_switched(system):
        return None
    anchors = [(f"{c.name}\t{name}", e) for c in system.constraints for name, e in c.anchors]
    program = build_as_written(anchors, inputs=("t", *system.states), parameters=tuple(system.constants))
    constraints: list[SwitchingConstraint] = [
        {"name": c.name, "start": c.start, "end": c.end, "impact": c.impact is not None} for c in system.constraints
    ]
    places = [(name.split("\t")[0], system.states.index(name.split("\t")[1])) for name, _ in anchors]
    return {"constraints": constraints, "anchors": places}, program
