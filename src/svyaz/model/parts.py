"""Reading constraints, integrals, inputs and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svyaz.expr import Expression, ModelError, Scope, combine, is_zero, names_in, parse_equation
from svyaz.model import words as vocabulary
from svyaz.model.reader import Names, Path, Reader
from svyaz.model.switches import read_switches, switch_scope
from svyaz.model.system import Constraint, Drawing, Input, Integral


def read_inputs(reader: Reader, given: Mapping[str, Any], names: Names) -> dict[str, Input]:
    """Controls: a value, or a table with value, low and high."""
    inputs = {}
    for name, value in given.items():
        path = ("inputs", name)
        if names.known.get(name) != "input":
            continue
        if isinstance(value, Mapping):
            table = reader.known_words(value, vocabulary.INPUT, path)
            numbers = {key: reader.value((*path, key), entry, names) for key, entry in table.items()}
            inputs[name] = Input(numbers.get("value", 0.0), numbers.get("low"), numbers.get("high"))
        else:
            inputs[name] = Input(reader.value(path, value, names))
    return inputs


def read_constraints(
    reader: Reader, given: Sequence[Mapping[str, Any]], names: Names, kind: str
) -> tuple[Constraint, ...]:
    """All constraints that can be read; a name that is left out is made from the number."""
    constraints: list[Constraint] = []
    conditions = switch_scope(names, [_name(table, k) for k, table in enumerate(given)])
    for k, table in enumerate(given):
        constraint = _read_constraint(reader, ("constraint", k), table, names, conditions)
        if constraint is None:
            continue
        if any(c.name == constraint.name for c in constraints):
            reader.report(("constraint", k, "name"), f"two constraints have the name '{constraint.name}'")
        if kind == "field" and constraint.switched:
            message = (
                f"'{constraint.name}' is switched by events: a velocity field is wanted for constraints that always act"
            )
            reader.report(("constraint", k), message, at_key=True)
        constraints.append(constraint)
    return tuple(constraints)


def _name(table: Mapping[str, Any], k: int) -> str:
    return str(table.get("name", f"constraint {k + 1}"))


def _read_constraint(
    reader: Reader, path: Path, table: Mapping[str, Any], names: Names, conditions: Scope
) -> Constraint | None:
    words = reader.known_words(table, vocabulary.CONSTRAINT, path)
    name = _name(table, path[1])
    if "equation" not in words:
        if "equation" not in table:
            reader.report(path, f"the constraint '{name}' has no equation", at_key=True)
        return None
    here = (*path, "equation")
    text = words["equation"]
    try:
        left, right = parse_equation(text, names.scope(velocities=True, inputs=False), reader.start(here, text))
    except ModelError as error:
        reader.take(here, text, error)
        return None
    expression = left - right
    reader.used |= names_in(expression)
    reader.no_further(names, here, expression, "a constraint")
    moving = set(names.velocities)
    present = names_in(expression)
    if not present & (moving | set(names.coordinates)) or is_zero(combine(expression)):
        _report_idle(reader, here, name, expression)
        return None
    times = {key: reader.value((*path, key), words[key], names) for key in ("from", "until") if key in words}
    start, end = times.get("from"), times.get("until")
    if start is not None and end is not None and not start < end:
        reader.report((*path, "until"), f"the constraint '{name}' would act from {start:g} until {end:g}")
    dependent = _dependent(reader, (*path, "dependent"), words.get("dependent", ()), names)
    order = 1 if present & moving else 0
    switches = read_switches(reader, path, words, name, names, conditions)
    return Constraint(name, text, expression, order, dependent, start, end, reader.place(here), **switches)


def _report_idle(reader: Reader, path: Path, name: str, expression: Expression) -> None:
    if is_zero(combine(expression)):
        reader.report(path, f"the constraint '{name}' says 0 = 0: it holds always and constrains nothing")
    elif not names_in(expression):
        reader.report(path, f"the constraint '{name}' is a contradiction: it says {expression} = 0")
    else:
        reader.report(path, f"the constraint '{name}' contains no coordinate and no velocity")


def _dependent(reader: Reader, path: Path, given: Any, names: Names) -> tuple[str, ...]:
    chosen = (given,) if isinstance(given, str) else given
    if not vocabulary.fits(chosen, vocabulary.NAMES):
        reader.report(path, "'dependent' is the name of a coordinate, or a list of them")
        return ()
    for q in chosen:
        if q not in names.coordinates:
            reader.report(path, f"there is no coordinate '{q}'", hint=vocabulary.nearest(q, names.coordinates))
    return tuple(chosen)


def read_integrals(reader: Reader, given: Sequence[Mapping[str, Any]], names: Names) -> tuple[Integral, ...]:
    """First integrals that the model declares."""
    integrals: list[Integral] = []
    for k, table in enumerate(given):
        path = ("integral", k)
        words = reader.known_words(table, vocabulary.INTEGRAL, path)
        name = words.get("name", f"integral {k + 1}")
        if "expression" not in words:
            if "expression" not in table:
                reader.report(path, f"the integral '{name}' has no expression", at_key=True)
            continue
        here = (*path, "expression")
        expression = reader.expression(here, words["expression"], names.scope(velocities=True))
        gain = reader.value((*path, "gain"), words["gain"], names) if "gain" in words else 1.0
        value = reader.value((*path, "value"), words["value"], names) if "value" in words else None
        if gain <= 0:
            reader.report(
                (*path, "gain"), f"the gain of '{name}' is the decay rate of its deviation and must be positive"
            )
        if any(i.name == name for i in integrals):
            reader.report((*path, "name"), f"two integrals have the name '{name}'")
        integrals.append(Integral(name, expression, words.get("hold", False), gain, value, reader.place(here)))
    return tuple(integrals)


def read_drawings(reader: Reader, given: Sequence[Mapping[str, Any]], names: Names) -> tuple[Drawing, ...]:
    """What the mechanism looks like."""
    drawings = []
    for k, table in enumerate(given):
        path = ("draw", k)
        words = reader.known_words(table, vocabulary.DRAW, path)
        kinds = [kind for kind in vocabulary.DRAW_KINDS if kind in words]
        if len(kinds) != 1:
            if all(key in vocabulary.DRAW for key in table):
                reader.report(path, "a [[draw]] has exactly one of " + ", ".join(vocabulary.DRAW_KINDS), at_key=True)
            continue
        drawing = _drawing(reader, (*path, kinds[0]), kinds[0], words, names)
        if drawing is not None:
            drawings.append(drawing)
    return tuple(drawings)


def _drawing(reader: Reader, path: Path, kind: str, words: Mapping[str, Any], names: Names) -> Drawing | None:
    scope = names.scope(velocities=False, inputs=False)
    radius = None
    given = words[kind]
    if kind == "circle":
        known = reader.known_words(given, vocabulary.CIRCLE, path)
        if len(known) < len(vocabulary.CIRCLE):
            if known.keys() == given.keys():
                reader.report(path, "a circle has a center and a radius")
            return None
        radius = reader.expression((*path, "radius"), given["radius"], scope)
        corners, paths = [given["center"]], [(*path, "center")]
    elif kind == "point":
        corners, paths = [given], [path]
    else:
        if not isinstance(given, list | tuple) or len(given) < 2:
            reader.report(path, f"a {kind} goes through at least two points: [[x, y], [x, y]]")
            return None
        corners, paths = list(given), [(*path, k) for k in range(len(given))]
    points = []
    for corner, here in zip(corners, paths, strict=True):
        if not isinstance(corner, list | tuple) or len(corner) not in (2, 3):
            reader.report(here, "a point has two or three coordinates")
            return None
        entries = enumerate(corner)
        points.append(
            tuple(
                reader.expression((*here, k), e, scope)
                for k, e in entries
                if reader.fits((*here, k), e, vocabulary.EXPRESSION)
            )
        )
    if len({len(point) for point in points}) != 1:
        reader.report(path, "all points of a drawing lie in the plane or all in space")
        return None
    return Drawing(kind, tuple(points), radius, bool(words.get("trace", False)), words.get("name", ""))
