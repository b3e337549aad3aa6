"""Reading the control directions of servo-constraints: by coordinate, or as the input that acts along them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

import symengine as se

from svyaz.expr import ZERO, Expression, differentiate, is_zero, names_in, substitute
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader
from svyaz.model.system import Constraint, Input, System

WRONG = "a direction has an entry for each coordinate, in a list or by name, or is the name of an input"


def with_direction(
    reader: Reader, path: Path, given: object, plain: Constraint, names: Names, forces: Mapping[str, Expression]
) -> Constraint:
    """The constraint kept by a control along the direction that is given; unchanged where that is wrong."""
    before, control = len(reader.problems), ""
    freedoms = names.coordinates if names.tree is None else names.tree.freedoms
    if isinstance(given, str):
        control = given
        found = _of_input(reader, path, given, names, [forces.get(q, ZERO) for q in freedoms])
    else:
        found = by_freedom(reader, path, given, names, freedoms, WRONG)
    if len(reader.problems) == before and all(map(is_zero, found)):
        reader.report(path, f"the direction of the servo-constraint '{plain.name}' is zero: no force acts along it")
    if len(reader.problems) > before:
        return plain
    limits = names.inputs[control] if control else Input(0.0)
    low, high = (-inf if limits.low is None else limits.low), (inf if limits.high is None else limits.high)
    return replace(plain, direction=found, control=control, bounds=(low, high))


def by_freedom(
    reader: Reader, path: Path, given: object, names: Names, freedoms: Sequence[str], what: str
) -> tuple[Expression, ...]:
    """Entries for each freedom, in a list or by name; ``what`` says so where they are not."""
    scope = names.scope(velocities=True, inputs=False)
    if isinstance(given, Mapping):
        for name in (n for n in given if n not in freedoms):
            reader.report((*path, name), f"there is no coordinate '{name}'", hint=vocabulary.nearest(name, freedoms))
        entries = {q: reader.expression((*path, q), given[q], scope) for q in freedoms if q in given}
        return tuple(entries.get(q, ZERO) for q in freedoms)
    if not isinstance(given, list | tuple):
        reader.report(path, what)
        return ()
    if len(given) != len(freedoms):
        reader.report(path, f"{what}: there are {len(freedoms)} coordinates, and {len(given)} entries are given")
        return ()
    return tuple(reader.expression((*path, k), entry, scope) for k, entry in enumerate(given))


def _of_input(
    reader: Reader, path: Path, given: str, names: Names, forces: Sequence[Expression]
) -> tuple[Expression, ...]:
    """∂Q/∂u of an input u, which the constraint finds."""
    if given not in names.inputs:
        reader.report(path, f"there is no input '{given}'; {WRONG}", hint=vocabulary.nearest(given, names.inputs))
        return ()
    found = tuple(differentiate(force, se.Symbol(given)) for force in forces)
    if all(map(is_zero, found)):
        reader.report(path, f"no force contains the input '{given}': it cannot keep a constraint")
    if any(given in names_in(e) for e in found):
        reader.report(path, f"the forces are not linear in the input '{given}': it has no one direction")
    if names.inputs[given].value != 0.0:
        message = f"the input '{given}' keeps a constraint: it is found, not given, and its value here must be 0"
        reader.report(path, message)
    return found


def with_controls(reader: Reader, system: System) -> System:
    """The system without the inputs that keep constraints: these are found, and zero while their constraint does not act.

    An input keeps one constraint at most, and acts in forces alone: elsewhere it would have no value.
    """
    constraints = system.constraints
    known = _outside_of_forces(system) if any(c.control for c in constraints) else set()
    for k, c in enumerate(constraints):
        path = ("constraint", k, "direction")
        if c.control in known:
            reader.report(path, f"the input '{c.control}' keeps '{c.name}': it may appear in forces alone")
        if c.servo and any(d.impact is not None for d in constraints):
            message = f"a control gives no impulses: the servo-constraint '{c.name}' would not outlast an impact"
            reader.report(path, message)
        others = [d.name for d in constraints[:k] if c.control and d.control == c.control]
        if others:
            reader.report(path, f"the input '{c.control}' keeps '{others[0]}' already: one input for each constraint")
    found = {c.control for c in constraints}
    absent: dict[se.Symbol, Expression] = {se.Symbol(name): ZERO for name in found if name}
    return replace(
        system,
        inputs={name: given for name, given in system.inputs.items() if name not in found},
        forces={q: substitute(force, absent) for q, force in system.forces.items()},
    )


def _outside_of_forces(system: System) -> set[str]:
    """Names in all that was stated but forces."""
    stated: list[object] = [*vars(system.law).values(), *system.rates.values()]
    stated += [e for c in system.constraints for e in (c.on, c.off, *(a for _, a in c.anchors))]
    stated += [i.expression for i in system.integrals] + [limit.expression for limit in system.limits]
    stated += [e for d in system.drawings for e in (d.radius, *(x for point in d.points for x in point))]
    return set().union(*(names_in(e) for e in stated if isinstance(e, se.Basic)))
