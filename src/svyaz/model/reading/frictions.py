"""Reading forces that depend on reactions: the friction of a constraint, and ``lambda_NAME`` in forces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import isfinite

import symengine as se
from symengine.lib.symengine_wrapper import Abs

from svyaz.expr import (
    ONE,
    ZERO,
    Expression,
    add_up,
    differentiate,
    evaluate,
    interpolate,
    is_zero,
    names_in,
    select,
    split,
    substitute,
)
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import Names, Path, Reader, Table
from svyaz.model.reading.directions import by_freedom
from svyaz.model.system import Constraint, Drag, Friction, multiplier_symbol, multipliers_in

Forces = Mapping[str, Expression]


def pushing(constraint: Constraint, parameters: Mapping[str, float]) -> int:
    """The sign of the multiplier of a constraint that ``off`` lets go when it vanishes; 0 where it may have both."""
    own = multiplier_symbol(constraint.name)
    if constraint.off is None or multipliers_in(constraint.off) != [own]:
        return 0
    slope, rest = differentiate(constraint.off, own), substitute(constraint.off, {own: ZERO})
    if not is_zero(rest) or not names_in(slope) <= set(parameters):
        return 0
    value = evaluate(slope, parameters)
    return (value < 0.0) - (value > 0.0)


def with_friction(reader: Reader, path: Path, given: Table, plain: Constraint, names: Names) -> Constraint:
    """The constraint with Coulomb's friction; unchanged where that is wrong."""
    before, words = len(reader.problems), reader.known_words(given, vocabulary.FRICTION, path)
    if plain.servo:
        reader.report(path, f"'{plain.name}' is kept by a control: its reaction is no load of a friction", at_key=True)
    for key in ("sliding", "along"):
        if key not in given:
            told = "the part of the reaction that slipping takes" if key == "sliding" else "the direction of the slip"
            reader.report(path, f"the friction of '{plain.name}' needs '{key}', {told}", at_key=True)
    if len(reader.problems) > before:
        return plain
    scope = names.scope(velocities=True)
    sliding = reader.expression((*path, "sliding"), words["sliding"], scope)
    static = reader.expression((*path, "static"), words["static"], scope) if "static" in words else sliding
    _sizes(reader, path, plain.name, sliding, static, names)
    slips = _slips(reader, (*path, "along"), words["along"], names)
    if len(reader.problems) > before:
        return plain
    if any(all(map(is_zero, along)) for _, along in slips):
        reader.report((*path, "along"), f"the friction of '{plain.name}' acts on no coordinate: its direction is zero")
        return plain
    for slip, _ in slips:
        uneven = [key for key, e in (("sliding", sliding), ("static", static)) if select(e, slip, ONE) != e]
        if uneven:
            hint = f"write a force with abs(lambda_{plain.name})*sign(…), which may be of any size on either side"
            told = f"a coefficient of friction has one value for both directions: that of '{plain.name}' jumps with its slip"
            reader.report((*path, uneven[0] if uneven[0] in words else "sliding"), told, hint=hint)
            return plain
    plane = len(slips) > 1
    return replace(plain, frictions=tuple(Friction(slip, sliding, static, along, plane) for slip, along in slips))


def _sizes(reader: Reader, path: Path, name: str, sliding: Expression, static: Expression, names: Names) -> None:
    """Refuse coefficients that are negative, and static ones that are smaller than sliding ones, as far as numbers say so."""
    found = []
    for key, e in (("sliding", sliding), *([("static", static)] if static != sliding else [])):
        value = evaluate(e, names.parameters) if names_in(e) <= set(names.parameters) else float("nan")
        if value < 0.0:
            reader.report((*path, key), f"a coefficient of friction is not negative: that of '{name}' is {value:g}")
        found.append(value)
    if len(found) > 1 and all(map(isfinite, found)) and 0.0 <= found[1] < found[0]:
        message = f"the static friction of '{name}', {found[1]:g}, is smaller than the sliding one, {found[0]:g}"
        reader.report((*path, "static"), message)


Slip = tuple[Expression, tuple[Expression, ...]]
"""The speed of a slip and its direction by freedom."""


def _slips(reader: Reader, path: Path, given: object, names: Names) -> list[Slip]:
    """One slip, or the two of a plane: two directions in a list, or two speeds under ``slips``."""
    if isinstance(given, Mapping) and set(given) == {"slips"}:
        path, given, speeds = (*path, "slips"), given["slips"], True
    else:
        speeds = False
    inner = given if isinstance(given, list | tuple) else ()
    if not speeds and not any(isinstance(e, list | tuple | Mapping) for e in inner):
        return [_slip(reader, path, given, names)]
    if len(inner) != 2 or (speeds and not all(isinstance(e, str) for e in inner)):
        word = "speeds of the slip, as texts" if speeds else "directions, each with an entry for each coordinate"
        reader.report(path, f"a friction in a plane has two {word}")
        return []
    before, found = len(reader.problems), [_slip(reader, (*path, k), e, names) for k, e in enumerate(inner)]
    entries = zip(*(along for _, along in found), strict=False)
    minors = (a * d - b * c for (a, c), (b, d) in combinations(entries, 2))
    if len(reader.problems) == before and all(is_zero(se.expand(minor)) for minor in minors):
        reader.report(path, "the two directions of a friction in a plane are parallel")
    return found


def _slip(reader: Reader, path: Path, given: object, names: Names) -> Slip:
    """The speed of the slip and its direction by freedom: either of them gives the other one."""
    freedoms = names.coordinates if names.tree is None else names.tree.freedoms
    speeds = [se.Symbol(v) for v in names.velocities]
    if not isinstance(given, str):
        what = "'along' has an entry for each coordinate, in a list or by name, or is the speed of the slip"
        along = by_freedom(reader, path, given, names, freedoms, what)
        return add_up(e * v for e, v in zip(along, speeds, strict=False)), along
    slip = reader.expression(path, given, names.scope(velocities=True, inputs=False))
    along = tuple(differentiate(slip, v) for v in speeds)
    if any(e.free_symbols & set(speeds) for e in along):
        reader.report(path, "the speed of the slip must be linear in the velocities")
    return slip, along


def by_reactions(
    reader: Reader, names: Names, forces: Forces, constraints: Sequence[Constraint]
) -> tuple[dict[str, Expression], tuple[Constraint, ...]]:
    """Forces without multipliers, and the constraints with what forces have of theirs."""
    found, tables = dict[str, Expression](), dict[str, dict[str, tuple[Expression, Expression]]]()
    for q, force in forces.items():
        found[q], parts = _linear(reader, ("forces", q), force, constraints)
        for name, pair in parts.items():
            tables.setdefault(name, {})[q] = pair
    freedoms = names.coordinates if names.tree is None else names.tree.freedoms
    done = []
    for c in constraints:
        table = tables.get(c.name, {})
        entries = [table.get(q, (ZERO, ZERO)) for q in freedoms]
        if table and c.servo:
            reader.report(("forces", next(iter(table))), f"'{c.name}' is kept by a control: forces cannot depend on it")
        first = next(iter(table), "")
        done.append(_with_forces(reader, ("forces", first), c, entries, names) if table else c)
    return found, tuple(done)


def _linear(
    reader: Reader, path: Path, force: Expression, constraints: Sequence[Constraint]
) -> tuple[Expression, dict[str, tuple[Expression, Expression]]]:
    """The force without reactions, and by constraint the factors of λ and |λ| in it."""
    if not multipliers_in(force):
        return force, {}
    loads = {c.name: se.Symbol(f"load {c.name}") for c in constraints}
    sizes = {e: loads[_of(e)] for e in force.atoms(Abs) if isinstance(e.args[0], se.Symbol) and _of(e) in loads}
    written = substitute(force, sizes)
    symbols = [s for c in constraints for s in (multiplier_symbol(c.name), loads[c.name])]
    rest = substitute(written, dict.fromkeys(symbols, ZERO))
    parts: dict[str, tuple[Expression, Expression]] = {}
    for c in constraints:
        pair = differentiate(written, multiplier_symbol(c.name)), differentiate(written, loads[c.name])
        if not all(map(is_zero, pair)):
            parts[c.name] = pair
    if any(e.free_symbols & set(symbols) for pair in parts.values() for e in pair):
        message = f"the force on '{path[1]}' is not linear in the multipliers (apart from their sizes |λ|)"
        reader.report(path, message, hint="reactions and forces are found together, from linear equations")
        return ZERO, {}
    return rest, parts


def _of(size: Expression) -> str:
    """The constraint of |λ|."""
    return str(size.args[0]).removeprefix("multiplier ")


def _with_forces(
    reader: Reader, path: Path, c: Constraint, entries: Sequence[tuple[Expression, Expression]], names: Names
) -> Constraint:
    """The constraint with forces λ e₀ + |λ| e₁ by freedom: drags, and frictions where they jump with a sign."""
    count, flat = len(entries), [e for pair in entries for e in pair]
    smooth, surfaces = split(flat, {"t", *names.states})
    drags, frictions = list(c.drags), list(c.frictions)
    for surface in surfaces:
        smooth = [interpolate(e, surface.side) for e in smooth]
        jumps = [differentiate(e, surface.side) for e in smooth]
        if any(surface.side in e.free_symbols for e in jumps) or any(
            other.side in e.free_symbols for e in jumps for other in surfaces
        ):
            reader.report(path, f"forces that depend on the reaction of '{c.name}' jump with products of signs")
            return c
        if c.pushes == 0 and not all(map(is_zero, jumps[::2])):
            word = f"|λ| of '{c.name}' is the load of a friction: λ itself may have both signs"
            reader.report(path, word, hint="write abs(lambda_…)")
            return c
        along = tuple(-(c.pushes * jumps[2 * k] + jumps[2 * k + 1]) for k in range(count))
        frictions.append(Friction(surface.expression, se.Integer(1), se.Integer(1), along))
    smooth = [substitute(e, {s.side: ZERO for s in surfaces}) for e in smooth]
    if not all(map(is_zero, smooth[::2])):
        drags.append(Drag(tuple(smooth[::2])))
    if not all(map(is_zero, smooth[1::2])):
        sign = c.pushes or 1
        drags.append(Drag(tuple(sign * e for e in smooth[1::2]), absolute=c.pushes == 0))
    return replace(c, drags=tuple(drags), frictions=tuple(frictions))
