"""Models that state more, or something else, than energies: quasi-velocities, second-order equations, velocity fields.

A velocity field v(q) with a symmetric matrix d(q) states a mechanical system for which the field is attractive,

    L = ½ |q̇ - v|²,     D = ½ hᵀ d h,     h = q̇ - v,

so it is read into a Lagrangian and a Rayleigh function at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svyaz.expr import (
    HALF,
    ZERO,
    Expression,
    ModelError,
    Scope,
    acceleration,
    add_up,
    combine,
    is_zero,
    names_in,
    parse_equation,
    velocity,
)
from svyaz.model import words as vocabulary
from svyaz.model.reader import Names, Reader

SECOND_ORDER = ("equations", "accelerations")


def read_quasi(reader: Reader, given: Mapping[str, Any], names: Names) -> dict[str, Expression]:
    """Quasi-velocities: functions of the velocities under names of their own."""
    found: dict[str, Expression] = {}
    for name, text in given.items():
        path = ("quasi", name)
        if reader.declare_one(names, name, "quasi-velocity", path) and reader.fits(path, text, vocabulary.EXPRESSION):
            found[name] = reader.expression(path, text, names.scope(velocities=True, inputs=False))
    return found


def read_equations(reader: Reader, words: Mapping[str, Any], names: Names) -> dict[str, Expression]:
    """f = left - right of each second-order equation, or q̈ - a for given accelerations."""
    key = next((key for key in SECOND_ORDER if key in words), None)
    if key is None:
        return {}
    plain = names.scope(velocities=True)
    second = {q: acceleration(q) for q in names.coordinates} if key == "equations" else {}
    scope = Scope(plain.symbols, plain.derivatives, second, plain.forbidden)
    found: dict[str, Expression] = {}
    for name, text in words[key].items():
        path = (key, name)
        if name not in names.coordinates:
            hint = vocabulary.nearest(name, names.coordinates)
            reader.report(path, f"an equation belongs to a coordinate; '{name}' is none", hint=hint, at_key=True)
        elif key == "accelerations" and reader.fits(path, text, vocabulary.EXPRESSION):
            found[name] = acceleration(name) - reader.expression(path, text, scope)
        elif key == "equations" and reader.fits(path, text, vocabulary.TEXT):
            found[name] = _equation(reader, path, text, scope)
    for name in names.coordinates:
        if name not in words[key]:
            reader.report((key,), f"the coordinate '{name}' has no equation in [{key}]", at_key=True)
    if key == "equations" and len(found) == len(names.coordinates):
        for name in names.coordinates:
            if all(str(acceleration(name)) not in names_in(e) for e in found.values()):
                reader.report((key, name), f"the acceleration {name}'' is in none of the equations")
    return {name: found[name] for name in names.coordinates if name in found}


def _equation(reader: Reader, path: tuple, text: str, scope: Scope) -> Expression:
    try:
        left, right = parse_equation(text, scope, reader.start(path, text))
    except ModelError as error:
        reader.take(path, text, error)
        return ZERO
    reader.used |= names_in(left) | names_in(right)
    return left - right


def read_field(reader: Reader, words: Mapping[str, Any], names: Names) -> dict[str, Expression]:
    """v(q) of the coordinates that have one."""
    scope = names.scope(velocities=False, inputs=False, why="a velocity field depends on positions only")
    found: dict[str, Expression] = {}
    for name, text in words.get("field", {}).items():
        path = ("field", name)
        if name not in names.coordinates:
            hint = vocabulary.nearest(name, names.coordinates)
            reader.report(path, f"a velocity belongs to a coordinate; '{name}' is none", hint=hint, at_key=True)
        elif reader.fits(path, text, vocabulary.EXPRESSION):
            found[name] = reader.expression(path, text, scope)
            if "t" in names_in(found[name]):
                reader.report(path, "a velocity field depends on positions only, and this one on time")
    if "field" in words:
        for name in names.coordinates:
            if name not in words["field"]:
                reader.report(("field",), f"the coordinate '{name}' has no velocity in [field]", at_key=True)
    return {name: found[name] for name in names.coordinates if name in found}


def read_free(reader: Reader, words: Mapping[str, Any], names: Names) -> dict[str, Expression]:
    """Free functions μ of a family of fields, by name."""
    scope = names.scope(velocities=False, inputs=False, why="a velocity field depends on positions only")
    return {
        name: reader.expression(("free", name), text, scope)
        for name, text in words.get("free", {}).items()
        if reader.declare_one(names, name, "free function", ("free", name))
        and reader.fits(("free", name), text, vocabulary.EXPRESSION)
    }


def read_rayleigh(reader: Reader, given: Any, names: Names) -> tuple[tuple[Expression, ...], ...]:
    """The symmetric matrix d(q); zero unless it is given."""
    n = len(names.coordinates)
    zero = tuple((ZERO,) * n for _ in range(n))
    if given is None:
        return zero
    rows = given if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if len(rows) != n or any(isinstance(r, str) or not isinstance(r, Sequence) or len(r) != n for r in rows):
        reader.report(("rayleigh",), f"'rayleigh' is a symmetric matrix with {n} rows of {n} entries")
        return zero
    scope = names.scope(velocities=False, inputs=False, why="the matrix depends on positions only")
    matrix = []
    for i, row in enumerate(rows):
        entries = [
            reader.expression(("rayleigh", i, j), e, scope)
            if reader.fits(("rayleigh", i, j), e, vocabulary.EXPRESSION)
            else ZERO
            for j, e in enumerate(row)
        ]
        matrix.append(tuple(entries))
    for i in range(n):
        for j in range(i):
            if not is_zero(combine(matrix[i][j] - matrix[j][i])):
                reader.report(("rayleigh", i, j), "the matrix 'rayleigh' is not symmetric")
    return tuple(matrix)


def field_energies(
    field: Mapping[str, Expression], rayleigh: Sequence[Sequence[Expression]]
) -> tuple[Expression, Expression]:
    """(L, D) = (½ |q̇ - v|², ½ hᵀ d h)."""
    h = [velocity(q) - v for q, v in field.items()]
    lagrangian = HALF * add_up(e**2 for e in h)
    dissipation = HALF * add_up(
        d * a * b for row, a in zip(rayleigh, h, strict=True) for d, b in zip(row, h, strict=True)
    )
    return lagrangian, dissipation
