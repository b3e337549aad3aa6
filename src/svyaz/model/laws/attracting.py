"""A velocity field v(q) that attracts: with a symmetric matrix d it states the mechanical system

    L = ½ |q̇ - v|²,     ∂D/∂q̇ = d h,     h = q̇ - v,

whose motions tend to those of q̇ = v(q). With d(q) the Rayleigh function is D = ½ hᵀ d h. With d(q, q̇), a stabilising function
that is not linear in the deviation, d h is a force; it has a Rayleigh function if its slopes by q̇ are symmetric. Instead of d
the function D(q, q̇) itself may be given, whose slopes must vanish on the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from math import isfinite
from random import Random

from svyaz.expr import (
    HALF,
    ZERO,
    Expression,
    add_up,
    combine,
    differentiate,
    evaluate,
    is_zero,
    names_in,
    substitute,
    velocity,
)
from svyaz.model.laws.energies import Energies
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import LawWords, Names, Reader, Table, with_velocities

Square = tuple[tuple[Expression, ...], ...]

LOOKS, ROUNDING = 12, 1e-10
"""States at which slopes are asked to vanish, and the part of their terms that is rounding."""


@dataclass(frozen=True)
class Attracting(Energies):
    """The field v by coordinates, and the matrix d; where D was given, d = ∂²D/∂q̇∂q̇ (``stated``)."""

    field: Mapping[str, Expression] = dataclass_field(default_factory=dict)
    rayleigh: Square = ()
    stated: bool = False

    @property
    def deviation(self) -> list[Expression]:
        """h = q̇ - v."""
        return [velocity(q) - v for q, v in self.field.items()]

    @property
    def nonlinear(self) -> bool:
        """Does d contain velocities?"""
        speeds = {str(velocity(q)) for q in self.field}
        return any(names_in(e) & speeds for row in self.rayleigh for e in row)

    @property
    def against(self) -> list[Expression]:
        """What acts against the deviation: ∂D/∂q̇, or d h."""
        if self.stated:
            return [differentiate(self.dissipation, velocity(q)) for q in self.field]
        return [add_up(d * e for d, e in zip(row, self.deviation, strict=True)) for row in self.rayleigh]

    @property
    def own_forces(self) -> Mapping[str, Expression]:
        """-d h, where d contains velocities."""
        if self.stated or not self.nonlinear:
            return {}
        return {q: -e for q, e in zip(self.field, self.against, strict=True)}


def _read(reader: Reader, words: Table, names: Names) -> Attracting:
    for key in (*vocabulary.ENERGIES, "constraint", "free"):
        if key in words:
            reader.report((key,), f"'{key}' does not go with a velocity field", at_key=True)
    field = _read_field(reader, words, names)
    rayleigh, stated = read_rayleigh(reader, words.get("rayleigh"), names)
    if len(field) < len(names.coordinates):
        return Attracting(ZERO, ZERO, field=field, rayleigh=rayleigh)
    h = [velocity(q) - v for q, v in field.items()]
    bent = add_up(d * a * b for row, a in zip(rayleigh, h, strict=True) for d, b in zip(row, h, strict=True))
    law = Attracting(HALF * add_up(e**2 for e in h), HALF * bent, field=field, rayleigh=rayleigh)
    if stated is not None:
        law = replace(law, dissipation=stated, stated=True)
        _check_slopes(reader, law, names)
    elif law.nonlinear:
        law = replace(law, dissipation=ZERO)
    return law


def _check_slopes(reader: Reader, law: Attracting, names: Names) -> None:
    """The field must be a motion of the system: ∂D/∂q̇ = 0 where q̇ = v."""
    there = {velocity(q): v for q, v in law.field.items()}
    for q, slope in zip(law.field, law.against, strict=True):
        left = substitute(slope, there)
        if not is_zero(combine(left)) and not _vanishes(left, names):
            message = f"the slope of 'rayleigh' by {q}' does not vanish on the field: the field would be no motion"
            reader.report(("rayleigh",), message)


def _vanishes(e: Expression, names: Names) -> bool:
    """Is it zero, to rounding, at states where it and its terms have values?"""
    random, seen = Random(3), 0
    for _ in range(LOOKS):
        place = {name: random.uniform(-1.5, 1.5) for name in names_in(e) - set(names.parameters)}
        terms = [evaluate(term, {**names.parameters, **place}) for term in (e.args if e.is_Add else (e,))]
        if all(map(isfinite, terms)):
            seen += 1
            if abs(sum(terms)) > ROUNDING * sum(map(abs, terms)):
                return False
    return seen > 0


def _read_field(reader: Reader, words: Table, names: Names) -> dict[str, Expression]:
    """v(q) of the coordinates that have one."""
    scope = names.scope(velocities=False, inputs=False, why="a velocity field depends on positions only")
    given = vocabulary.table(words, "field")
    found: dict[str, Expression] = {}
    for name, text in given.items():
        path = ("field", name)
        if name not in names.coordinates:
            hint = vocabulary.nearest(name, names.coordinates)
            reader.report(path, f"a velocity belongs to a coordinate; '{name}' is none", hint=hint, at_key=True)
        elif reader.fits(path, text, vocabulary.EXPRESSION):
            found[name] = reader.expression(path, text, scope)
            if "t" in names_in(found[name]):
                reader.report(path, "a velocity field depends on positions only, and this one on time")
    for name in names.coordinates:
        if name not in given:
            reader.report(("field",), f"the coordinate '{name}' has no velocity in [field]", at_key=True)
    return {name: found[name] for name in names.coordinates if name in found}


def read_rayleigh(reader: Reader, given: object, names: Names) -> tuple[Square, Expression | None]:
    """The symmetric matrix d(q, q̇), zero unless it is given; or the function D, with d = ∂²D/∂q̇∂q̇."""
    n = len(names.coordinates)
    zero = tuple((ZERO,) * n for _ in range(n))
    scope = names.scope(velocities=True, inputs=False)
    if given is None:
        return zero, None
    if isinstance(given, str):
        function, speeds = reader.expression(("rayleigh",), given, scope), [velocity(q) for q in names.coordinates]
        slopes = [differentiate(function, v) for v in speeds]
        return tuple(tuple(differentiate(slope, v) for v in speeds) for slope in slopes), function
    rows = [row for row in given if isinstance(row, list | tuple)] if isinstance(given, list | tuple) else []
    if not isinstance(given, list | tuple) or len(given) != n or [len(row) for row in rows] != [n] * n:
        reader.report(("rayleigh",), f"'rayleigh' is a symmetric matrix with {n} rows of {n} entries, or a function")
        return zero, None
    matrix = [
        tuple(reader.expression(("rayleigh", i, j), entry, scope) for j, entry in enumerate(row))
        for i, row in enumerate(rows)
    ]
    for i in range(n):
        for j in range(i):
            if not is_zero(combine(matrix[i][j] - matrix[j][i])):
                reader.report(("rayleigh", i, j), "the matrix 'rayleigh' is not symmetric")
    return tuple(matrix), None


LAW = LawWords(
    given_by="energies",
    rank=8,
    known_by=lambda words: "field" in words,
    needed=("coordinates",),
    refused=("momenta", "gravity"),
    moving=with_velocities,
    read=_read,
)
