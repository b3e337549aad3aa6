"""Second-order equations as they are given, f(t, q, q̇, q̈) = 0, one for each coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from svyaz.expr import ZERO, Expression, ModelError, Scope, acceleration, names_in, parse_equation
from svyaz.model.law import SecondOrder
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import LawWords, Names, Path, Reader, Table, with_velocities

NOT_WITH_EQUATIONS = (*vocabulary.ENERGIES, "momenta", "forces", "constraint", "motor", "gravity", "quasi", "field")


@dataclass(frozen=True)
class GivenEquations(SecondOrder):
    """f = left - right of each equation, by coordinates; ``explicit`` when they were given as q̈ = a, f = q̈ - a."""

    equations: Mapping[str, Expression]
    explicit: bool = False


def _read(reader: Reader, words: Table, names: Names) -> GivenEquations:
    plain = names.scope(velocities=True)
    scope = Scope(plain.symbols, plain.derivatives, {q: acceleration(q) for q in names.coordinates}, plain.forbidden)
    found: dict[str, Expression] = {}
    for name, text in table_by_coordinate(reader, words, "equations", names).items():
        path = ("equations", name)
        if reader.fits(path, text, vocabulary.TEXT):
            found[name] = _equation(reader, path, str(text), scope)
    if len(found) == len(names.coordinates):
        for name in names.coordinates:
            if all(str(acceleration(name)) not in names_in(e) for e in found.values()):
                reader.report(("equations", name), f"the acceleration {name}'' is in none of the equations")
    return GivenEquations({name: found[name] for name in names.coordinates if name in found})


def table_by_coordinate(reader: Reader, words: Table, key: str, names: Names) -> Table:
    """The entries of a table that belong to coordinates; every coordinate must have one."""
    given = vocabulary.table(words, key)
    for name in given:
        if name not in names.coordinates:
            hint = vocabulary.nearest(name, names.coordinates)
            reader.report((key, name), f"an equation belongs to a coordinate; '{name}' is none", hint=hint, at_key=True)
    for name in names.coordinates:
        if name not in given:
            reader.report((key,), f"the coordinate '{name}' has no equation in [{key}]", at_key=True)
    return {name: value for name, value in given.items() if name in names.coordinates}


def _equation(reader: Reader, path: Path, text: str, scope: Scope) -> Expression:
    try:
        left, right = parse_equation(text, scope, reader.start(path, text))
    except ModelError as error:
        reader.take(path, text, error)
        return ZERO
    reader.uses(left, right)
    return left - right


LAW = LawWords(
    given_by="[equations]",
    rank=4,
    known_by=lambda words: "equations" in words,
    needed=("coordinates",),
    refused=NOT_WITH_EQUATIONS,
    moving=with_velocities,
    read=_read,
)
