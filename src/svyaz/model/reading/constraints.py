"""Reading constraints, and what switches them on and off: times, events, impact, anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import isfinite

import symengine as se

from svyaz.expr import ZERO, Expression, ModelError, Scope, combine, evaluate, is_zero, names_in, occurs, parse_equation
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import LawWords, Names, Path, Reader, Table
from svyaz.model.reading.directions import with_direction
from svyaz.model.reading.frictions import pushing, with_friction
from svyaz.model.reading.stabilising import word_for
from svyaz.model.system import Constraint, is_one_sided, multiplier_symbol

IMPACTS = ("inelastic", "newton", "poisson")
"""Laws of impacts; all but the first have a restitution."""


def declare_anchors(reader: Reader, names: Names, given: Sequence[Table]) -> tuple[str, ...]:
    """Declare the names that constraints freeze at the moment in which they begin to act."""
    found: list[str] = []
    for k, table in enumerate(given):
        path = ("constraint", k, "anchor")
        anchors = table.get("anchor", {})
        if not isinstance(anchors, Mapping):
            continue  # reported where the table is read
        found.extend(name for name in anchors if reader.declare_one(names, name, "anchor", (*path, name)))
    return tuple(found)


def read_constraints(
    reader: Reader, given: Sequence[Table], names: Names, law: LawWords, forces: Mapping[str, Expression]
) -> tuple[Constraint, ...]:
    """All constraints that can be read; a name that is left out is made from the number."""
    constraints: list[Constraint] = []
    conditions = reaction_scope(names, [constraint_name(table, k) for k, table in enumerate(given)])
    equations = names.scope(velocities=True, inputs=False)
    in_points = names.with_points(equations) if names.points else equations
    for k, table in enumerate(given):
        constraint = _read_constraint(reader, k, table, names, (equations, in_points, conditions))
        if constraint is None:
            continue
        if "direction" in table and law.always_constrained:
            message = f"'{constraint.name}' is part of an inverse problem: it has no control direction"
            reader.report(("constraint", k, "direction"), message, at_key=True)
        elif "direction" in table:
            here = ("constraint", k, "direction")
            constraint = with_direction(reader, here, table["direction"], constraint, names, forces)
        constraint = replace(constraint, pushes=pushing(constraint, names.parameters))
        if "friction" in table:
            given_friction = vocabulary.table(table, "friction") if isinstance(table["friction"], Mapping) else {}
            constraint = with_friction(reader, ("constraint", k, "friction"), given_friction, constraint, names)
        if any(c.name == constraint.name for c in constraints):
            reader.report(("constraint", k, "name"), f"two constraints have the name '{constraint.name}'")
        if law.always_constrained and constraint.switched:
            message = (
                f"'{constraint.name}' is switched by events: a velocity field is wanted for constraints that always act"
            )
            reader.report(("constraint", k), message, at_key=True)
        constraints.append(constraint)
    return tuple(constraints)


def constraint_name(table: Table, k: int) -> str:
    """Its name, made from the number where it is left out."""
    return str(table.get("name", f"constraint {k + 1}"))


def _read_constraint(
    reader: Reader, k: int, table: Table, names: Names, scopes: tuple[Scope, Scope, Scope]
) -> Constraint | None:
    """One constraint; ``scopes`` are those of equations, of equations with points left as they are named, of conditions."""
    path, (equations, in_points, conditions) = ("constraint", k), scopes
    words = reader.known_words(table, vocabulary.CONSTRAINT, path)
    name = constraint_name(table, k)
    if "equation" not in words:
        if "equation" not in table:
            reader.report(path, f"the constraint '{name}' has no equation", at_key=True)
        return None
    here = (*path, "equation")
    text = vocabulary.text(words, "equation")
    try:
        left, right = parse_equation(text, equations, reader.start(here, text))
    except ModelError as error:
        reader.take(here, text, error)
        return None
    expression = left - right
    reader.uses(expression)
    stated = expression
    if names.points:
        one, other = parse_equation(text, in_points, reader.start(here, text))
        stated = one - other
    named = names_in(stated)
    if not named.isdisjoint(names.further):
        reader.no_further(names, here, expression, "a constraint")
    moving = _occurs(names.velocities, expression, named, names)
    if not (moving or _occurs(names.coordinates, expression, named, names)) or is_zero(combine(stated)):
        _report_idle(reader, here, name, expression)
        return None
    times = {key: reader.value((*path, key), words[key], names) for key in ("from", "until") if key in words}
    start, end = times.get("from"), times.get("until")
    if start is not None and end is not None and not start < end:
        reader.report((*path, "until"), f"the constraint '{name}' would act from {start:g} until {end:g}")
    dependent = _dependent(reader, (*path, "dependent"), words.get("dependent", ()), names)
    order = 1 if moving else 0
    plain = Constraint(name, text, expression, order, dependent, start, end, reader.place(here))
    if names.points:
        plain = replace(plain, in_points=stated)
    return _with_switches(reader, path, words, plain, names, conditions)


def _occurs(wanted: Sequence[str], expression: Expression, named: set[str], names: Names) -> bool:
    """Does one of the names occur in an expression that was stated with these? Of points, which may stand for long formulas,
    places have coordinates, and rates velocities as well.
    """
    if not named.isdisjoint(wanted):
        return True
    points = [word for word in named if word.rstrip("'").rpartition("_")[0] in names.points]
    if not points or (wanted == names.velocities and not any(word.endswith("'") for word in points)):
        return False
    return occurs(_symbols_of(tuple(wanted)), expression)


@lru_cache(maxsize=4)
def _symbols_of(names: tuple[str, ...]) -> frozenset[se.Symbol]:
    return frozenset(map(se.Symbol, names))


def _report_idle(reader: Reader, path: Path, name: str, expression: Expression) -> None:
    if is_zero(combine(expression)):
        reader.report(path, f"the constraint '{name}' says 0 = 0: it holds always and constrains nothing")
    elif not names_in(expression):
        reader.report(path, f"the constraint '{name}' is a contradiction: it says {expression} = 0")
    else:
        reader.report(path, f"the constraint '{name}' contains no coordinate and no velocity")


def _dependent(reader: Reader, path: Path, given: object, names: Names) -> tuple[str, ...]:
    if not isinstance(given, str) and not vocabulary.fits(given, vocabulary.NAMES):
        reader.report(path, "'dependent' is the name of a coordinate, or a list of them")
        return ()
    chosen = (given,) if isinstance(given, str) else tuple(vocabulary.names({"dependent": given}, "dependent"))
    for q in chosen:
        if q not in names.coordinates:
            reader.report(path, f"there is no coordinate '{q}'", hint=vocabulary.nearest(q, names.coordinates))
    return chosen


def reaction_scope(names: Names, constraints: Sequence[str]) -> Scope:
    """What conditions, forces and outputs may name: state, time, inputs, and λ of a constraint as ``lambda_`` and its name."""
    scope = names.scope(velocities=True)
    multipliers: dict[str, Expression] = {word_for("lambda_", name): multiplier_symbol(name) for name in constraints}
    return Scope(symbols={**multipliers, **scope.symbols}, derivatives=scope.derivatives, forbidden=scope.forbidden)


def _with_switches(
    reader: Reader, path: Path, words: Table, plain: Constraint, names: Names, scope: Scope
) -> Constraint:
    """The constraint with what says, apart from times, when it acts."""
    _check_words(reader, path, words, plain.name)
    on, off = (
        _condition(reader, (*path, key), words[key], plain.name, names, scope) if key in words else None
        for key in ("on", "off")
    )
    anchors = tuple(
        (key, reader.expression((*path, "anchor", key), value, _without_multipliers(scope)))
        for key, value in vocabulary.table(words, "anchor").items()
        if reader.fits((*path, "anchor", key), value, vocabulary.EXPRESSION)
    )
    impact = vocabulary.text(words, "impact") if "impact" in words else None
    found = replace(plain, on=on, off=off, impact=impact, active=bool(words.get("active", False)), anchors=anchors)
    if names.points:
        as_named = names.with_points(scope)
        on, off = (
            None if e is None or e == ZERO else reader.expression((*path, key), words[key], as_named)
            for key, e in (("on", on), ("off", off))
        )
        found = replace(found, on_in_points=on, off_in_points=off)
    return replace(found, restitution=_restitution(reader, path, words, found, names))


def _restitution(reader: Reader, path: Path, words: Table, found: Constraint, names: Names) -> Expression:
    """The coefficient of restitution, which one-sided constraints with an impact by Newton or Poisson have."""
    here, bounces = (*path, "restitution"), found.impact in IMPACTS[1:]
    if not bounces:
        if "restitution" in words:
            told = f"'restitution' of the constraint '{found.name}' belongs to impact = \"newton\" or \"poisson\""
            reader.report(here, told, at_key=True)
        return ZERO
    if "restitution" not in words:
        reader.report((*path, "impact"), f"the impact of '{found.name}' needs a 'restitution' between 0 and 1")
        return ZERO
    value = reader.value(here, words["restitution"], names)
    if not 0.0 <= value <= 1.0 and isfinite(value):
        reader.report(here, f"a restitution lies between 0 and 1: that of '{found.name}' is {value:g}")
    if not is_one_sided(found, [se.Symbol(v) for v in names.velocities]):
        reader.report(
            (*path, "impact"),
            f"'{found.name}' is not one-sided, and only what can push and not pull is thrown back",
            hint=f"give it 'on', a function of positions, and off = \"-{word_for('lambda_', found.name)}\"",
        )
    return reader.expression(here, words["restitution"], names.constant_scope())


def _without_multipliers(scope: Scope) -> Scope:
    kept = {word: meaning for word, meaning in scope.symbols.items() if not str(meaning).startswith("multiplier ")}
    return Scope(symbols=kept, derivatives=scope.derivatives, forbidden=scope.forbidden)


def _check_words(reader: Reader, path: Path, words: Table, name: str) -> None:
    for event, time, what in (("on", "from", "begins"), ("off", "until", "ends")):
        if event in words and time in words:
            reader.report(
                (*path, event), f"the constraint '{name}' {what} '{time}' a time or '{event}' an event, not both"
            )
    impact = vocabulary.text(words, "impact", IMPACTS[0])
    if impact not in IMPACTS:
        hint = vocabulary.nearest(impact, IMPACTS)
        known = ", ".join(f"'{word}'" for word in IMPACTS)
        reader.report((*path, "impact"), f"an impact is one of {known}, not '{impact}'", hint=hint)
    for key, why in (
        ("impact", "an impact happens when the constraint begins to act"),
        ("active", "a constraint without it acts from the beginning"),
    ):
        if key in words and "on" not in words and not (key == "impact" and "from" in words):
            reader.report((*path, key), f"'{key}' of the constraint '{name}' belongs to 'on': {why}", at_key=True)


def _condition(reader: Reader, path: Path, given: object, name: str, names: Names, scope: Scope) -> Expression:
    before = len(reader.problems)
    expression = reader.expression(path, given, scope)
    if len(reader.problems) > before:
        return expression
    present = names_in(expression)
    if path[-1] == "on" and str(multiplier_symbol(name)) in present:
        message = f"'{name}' has a multiplier only while it acts: it cannot switch the constraint on"
        reader.report(path, message, hint="a multiplier may switch it off, or switch another constraint")
    moving = {*names.states, "t"} | {n for n in present if n.startswith("multiplier ")}
    if not present & moving:
        reader.report(path, f"the expression of '{path[-1]}' never changes: it cannot rise through zero")
    return expression


def initial_anchors(constraints: Sequence[Constraint], names: Names, initial: Mapping[str, float]) -> dict[str, float]:
    """Anchors at the initial state, where [initial] does not give them; those that are not defined there yet are zero."""
    values = {**names.parameters, **{k: i.value for k, i in names.inputs.items()}, "t": 0.0}
    values |= dict.fromkeys(names.states, 0.0) | dict(initial)
    found = {name: (c, evaluate(e, values)) for c in constraints for name, e in c.anchors if name not in initial}
    return {**initial, **{name: value if c.active or isfinite(value) else 0.0 for name, (c, value) in found.items()}}


def still(names: Names) -> dict[str, Expression]:
    """Rates of the anchors: they keep their values between events."""
    return dict.fromkeys(names.anchors, ZERO)
