"""Masses that change: momentum that states in energies carry, and streams of mass that leave or join.

The law is that of momentum: in d/dt ∂L/∂q̇ the masses move along, so that what leaves or joins has no velocity of its own. A
[[stream]] says with which velocity u it does, at a place r(q, t):

    d/dt ∂L/∂q̇ - ∂L/∂q = Q + m' u·∂ṙ/∂q̇,       u = ṙ + relative, or absolute,

which for a point of mass m is I. V. Meshchersky's equation m r̈ = F + m' (u - ṙ).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import symengine as se

from svyaz.expr import (
    ONE,
    TIME,
    ZERO,
    Expression,
    Scope,
    add_up,
    combine,
    differentiate,
    expanded_size,
    is_zero,
    total_derivative,
)
from svyaz.expr import velocity as velocity_of
from svyaz.model.law import Law
from svyaz.model.laws.energies import Energies
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.system import Limit

Forces = Mapping[str, Expression]
DIMENSIONS = (1, 2, 3)
LONGEST = 200
"""Forces of more terms are not multiplied out."""


def with_momenta(law: Law, names: Names, rates: Mapping[str, Expression], forces: Forces) -> dict[str, Expression]:
    """Forces with -∂²L/∂q̇∂w ẇ for states w in the energies: what d/dt ∂L/∂q̇ has beyond q, q̇ and t."""
    found = dict(forces)
    if not isinstance(law, Energies):
        return found
    for q in names.coordinates if law.varying else ():
        momentum = differentiate(law.lagrangian, velocity_of(q))
        flow = add_up([ZERO, *(differentiate(momentum, se.Symbol(w)) * rates.get(w, ZERO) for w in law.varying)])
        if not is_zero(flow):
            found[q] = found.get(q, ZERO) - flow
    return found


def read_streams(
    reader: Reader, given: Sequence[Table], names: Names, rates: Mapping[str, Expression], forces: Forces
) -> tuple[dict[str, Expression], tuple[Limit, ...]]:
    """The forces with those of the streams, and that no mass is negative."""
    found, limits = dict(forces), []
    flow = {se.Symbol(q): rate for q, rate in names.rates.items()} | {TIME: ONE}
    further = {se.Symbol(w): rate for w, rate in rates.items()} | {TIME: ONE}
    freedoms = names.coordinates if names.tree is None else names.tree.freedoms
    for k, table in enumerate(given):
        path = ("stream", k)
        words = reader.known_words(table, vocabulary.STREAM, path)
        read = _read(reader, path, words, names)
        if read is None:
            continue
        mass, place, velocity, relative = read
        speed = [total_derivative(e, flow) for e in place]
        rate = total_derivative(mass, further)
        if is_zero(rate):
            reader.report((*path, "mass"), "this mass never changes: nothing leaves and nothing joins")
        carried = [a + b for a, b in zip(speed, velocity, strict=True)] if relative else velocity
        for q, v in zip(freedoms, names.velocities, strict=True):
            push = add_up(rate * u * differentiate(s, se.Symbol(v)) for u, s in zip(carried, speed, strict=True))
            if not is_zero(push):
                found[q] = _cancel(found.get(q, ZERO) + push)
        limits.append(Limit(f"mass of the stream '{words.get('name', k + 1)}'", mass, ZERO))
    return found, tuple(limits)


def _cancel(force: Expression) -> Expression:
    """What mass takes along cancels with its momentum, multiplied out."""
    return combine(se.expand(force)) if expanded_size(force) <= LONGEST else force


def _read(
    reader: Reader, path: Path, words: Table, names: Names
) -> tuple[Expression, list[Expression], list[Expression], bool] | None:
    """(mass, place, velocity, whether that is relative to the place)."""
    before = len(reader.problems)
    chosen = [key for key in ("relative", "absolute") if key in words]
    for key in (key for key in ("mass", "at") if key not in words):
        reader.report(path, f"a stream has a 'mass' that changes and a place 'at': there is no '{key}'", at_key=True)
    if len(chosen) != 1:
        message = "a stream has the velocity of what leaves or joins, 'relative' to its place or 'absolute'"
        reader.report(path, message, at_key=True)
    if len(reader.problems) > before:
        return None
    mass = reader.expression((*path, "mass"), words["mass"], names.mass_scope())
    still = names.scope(velocities=False, inputs=False, why="a place depends on positions (and time) only")
    place = _vector(reader, (*path, "at"), words["at"], still)
    velocity = _vector(reader, (*path, chosen[0]), words[chosen[0]], names.scope(velocities=True))
    if len(reader.problems) > before:
        return None
    if len(place) != len(velocity):
        message = f"the place has {len(place)} entries, the velocity {len(velocity)}"
        reader.report((*path, chosen[0]), message)
        return None
    for e in place:
        reader.no_further(names, (*path, "at"), e, "a place")
    return mass, place, velocity, chosen[0] == "relative"


def _vector(reader: Reader, path: Path, given: object, scope: Scope) -> list[Expression]:
    if not isinstance(given, list | tuple) or len(given) not in DIMENSIONS:
        reader.report(path, f"'{path[-1]}' is a list of one, two or three expressions")
        return []
    return [reader.expression((*path, k), entry, scope) for k, entry in enumerate(given)]


def mass_limits(names: Names) -> tuple[Limit, ...]:
    """No mass of a body that changes is negative."""
    if names.tree is None:
        return ()
    found = (b for b in names.tree.bodies if b.varies(names.parameters))
    return tuple(Limit(f"mass of '{b.name}'", b.mass, ZERO) for b in found)
