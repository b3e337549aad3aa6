"""A velocity field v(q) that attracts: with a symmetric matrix d(q) it states the mechanical system

    L = ½ |q̇ - v|²,     D = ½ hᵀ d h,     h = q̇ - v,

whose motions tend to those of q̇ = v(q).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from svyaz.expr import HALF, ZERO, Expression, add_up, combine, is_zero, names_in, velocity
from svyaz.model.laws.energies import Energies
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import LawWords, Names, Reader, Table, with_velocities

Square = tuple[tuple[Expression, ...], ...]


@dataclass(frozen=True)
class Attracting(Energies):
    """The field v by coordinates, and the matrix d."""

    field: Mapping[str, Expression] = dataclass_field(default_factory=dict)
    rayleigh: Square = ()


def _read(reader: Reader, words: Table, names: Names) -> Attracting:
    for key in (*vocabulary.ENERGIES, "constraint", "free"):
        if key in words:
            reader.report((key,), f"'{key}' does not go with a velocity field", at_key=True)
    field = _read_field(reader, words, names)
    rayleigh = read_rayleigh(reader, words.get("rayleigh"), names)
    lagrangian, dissipation = ZERO, ZERO
    if len(field) == len(names.coordinates):
        lagrangian, dissipation = _energies(field, rayleigh)
    return Attracting(lagrangian, dissipation, field=field, rayleigh=rayleigh)


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


def read_rayleigh(reader: Reader, given: object, names: Names) -> Square:
    """The symmetric matrix d(q); zero unless it is given."""
    n = len(names.coordinates)
    zero = tuple((ZERO,) * n for _ in range(n))
    if given is None:
        return zero
    rows = [row for row in given if isinstance(row, list | tuple)] if isinstance(given, list | tuple) else []
    if not isinstance(given, list | tuple) or len(given) != n or [len(row) for row in rows] != [n] * n:
        reader.report(("rayleigh",), f"'rayleigh' is a symmetric matrix with {n} rows of {n} entries")
        return zero
    scope = names.scope(velocities=False, inputs=False, why="the matrix depends on positions only")
    matrix = [
        tuple(reader.expression(("rayleigh", i, j), entry, scope) for j, entry in enumerate(row))
        for i, row in enumerate(rows)
    ]
    for i in range(n):
        for j in range(i):
            if not is_zero(combine(matrix[i][j] - matrix[j][i])):
                reader.report(("rayleigh", i, j), "the matrix 'rayleigh' is not symmetric")
    return tuple(matrix)


def _energies(
    field: Mapping[str, Expression], rayleigh: Sequence[Sequence[Expression]]
) -> tuple[Expression, Expression]:
    """(L, D) = (½ |q̇ - v|², ½ hᵀ d h)."""
    h = [velocity(q) - v for q, v in field.items()]
    lagrangian = HALF * add_up(e**2 for e in h)
    dissipation = HALF * add_up(
        d * a * b for row, a in zip(rayleigh, h, strict=True) for d, b in zip(row, h, strict=True)
    )
    return lagrangian, dissipation


LAW = LawWords(
    given_by="energies",
    rank=8,
    known_by=lambda words: "field" in words,
    needed=("coordinates",),
    refused=("momenta", "gravity"),
    moving=with_velocities,
    read=_read,
)
