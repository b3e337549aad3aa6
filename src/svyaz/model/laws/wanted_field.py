"""Constraints without energies: a velocity field is wanted that keeps them, and a system in which it attracts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from svyaz.expr import Expression
from svyaz.model.law import SecondOrder
from svyaz.model.laws.attracting import Square, read_rayleigh
from svyaz.model.reading import words as vocabulary
from svyaz.model.reading.common import LawWords, Names, Reader, Table, with_velocities


@dataclass(frozen=True)
class WantedField(SecondOrder):
    """The free functions μ that choose one field of the family, by name, and the matrix d, or the Rayleigh function D."""

    free: Mapping[str, Expression]
    rayleigh: Square
    stated: Expression | None = None


def _read(reader: Reader, words: Table, names: Names) -> WantedField:
    scope = names.scope(velocities=False, inputs=False, why="a velocity field depends on positions only")
    free = {
        name: reader.expression(("free", name), text, scope)
        for name, text in vocabulary.table(words, "free").items()
        if reader.declare_one(names, name, "free function", ("free", name))
    }
    if "field" in words and "free" in words:
        reader.report(("free",), "'free' does not go with a velocity field", at_key=True)
    return WantedField(free, *read_rayleigh(reader, words.get("rayleigh"), names))


LAW = LawWords(
    given_by="constraints for which a velocity field is wanted",
    rank=6,
    known_by=lambda words: "free" in words or ("rayleigh" in words and "field" not in words),
    needed=("coordinates", "constraint"),
    refused=(*vocabulary.ENERGIES, "momenta", "forces", "motor", "gravity", "quasi"),
    always_constrained=True,
    moving=with_velocities,
    read=_read,
)
