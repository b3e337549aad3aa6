"""Accelerations as they are given, q̈ = a(t, q, q̇)."""

from __future__ import annotations

from svyaz.expr import acceleration
from svyaz.model.laws.equations import NOT_WITH_EQUATIONS, GivenEquations, table_by_coordinate
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import LawWords, Names, Reader, Table, with_velocities


def _read(reader: Reader, words: Table, names: Names) -> GivenEquations:
    given = table_by_coordinate(reader, words, "accelerations", names)
    scope = names.scope(velocities=True)
    found = {
        name: acceleration(name) - reader.expression(("accelerations", name), given[name], scope)
        for name in names.coordinates
        if name in given and reader.fits(("accelerations", name), given[name], vocabulary.EXPRESSION)
    }
    return GivenEquations(found, explicit=True)


LAW = LawWords(
    given_by="[accelerations]",
    rank=5,
    known_by=lambda words: "accelerations" in words,
    needed=("coordinates",),
    refused=NOT_WITH_EQUATIONS,
    moving=with_velocities,
    read=_read,
)
