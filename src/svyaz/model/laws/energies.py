"""Lagrange's equations from energies: L = T - P, or a Lagrangian as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from svyaz.expr import Expression, names_in, symbols_in
from svyaz.model.law import Law, Mechanical
from svyaz.model.reading.common import LawWords, Names, Reader, Table, with_velocities
from svyaz.model.system import Constraint


@dataclass(frozen=True)
class Energies(Mechanical):
    """L and D; kinetic and potential energy where the Lagrangian was stated by them, L = T - P.

    ``varying`` are states with rates of their own that the model has in L, such as a mass.
    """

    lagrangian: Expression
    dissipation: Expression
    kinetic: Expression | None = None
    potential: Expression | None = None
    varying: tuple[str, ...] = ()


def _read(reader: Reader, words: Table, names: Names) -> Energies:
    moving = names.scope(velocities=True, inputs=False)
    still = names.scope(velocities=False, inputs=False, why="the potential energy depends on positions (and time) only")
    kinetic, potential = reader.energy("kinetic", words, moving), reader.energy("potential", words, still)
    lagrangian = reader.energy("lagrangian", words, moving)
    dissipation = reader.energy("dissipation", words, moving)
    split = "lagrangian" not in words
    if split and "kinetic" not in words:
        reader.report((), "the model has neither 'kinetic' nor 'lagrangian'")
    if not split and ("kinetic" in words or "potential" in words):
        reader.report(
            ("lagrangian",), "'lagrangian' stands instead of 'kinetic' and 'potential'; give one or the other"
        )
    whole = kinetic - potential if split else lagrangian
    varying = tuple(w for w in names.further if w in names_in(whole))
    if split:
        return Energies(whole, dissipation, kinetic, potential, varying)
    return Energies(whole, dissipation, varying=varying)


def _check_inertia(reader: Reader, names: Names, law: Law, constraints: Sequence[Constraint]) -> None:
    """A coordinate must have inertia, or at least be tied to others by a constraint."""
    if not isinstance(law, Energies) or reader.problems_at(("kinetic",), ("lagrangian",)):
        return
    tying = [c.expression for c in constraints]
    moving, tied = (set(map(str, found)) for found in [symbols_in([law.lagrangian]), symbols_in(tying)])
    for k, (q, rate) in enumerate(zip(names.coordinates, names.velocities, strict=True)):
        if rate not in moving and q not in tied and rate not in tied:
            reader.report(
                ("coordinates", k), f"the coordinate '{q}' has no inertia: its velocity is not in the kinetic energy"
            )


LAW = LawWords(
    given_by="energies",
    rank=9,
    known_by=lambda words: True,
    needed=("coordinates",),
    refused=("momenta", "hamiltonian", "gravity"),
    moving=with_velocities,
    read=_read,
    check=_check_inertia,
)
