"""A plain system of differential equations: every state has a rate of its own, ẋ = f(t, x)."""

from __future__ import annotations

from dataclasses import dataclass

from svyaz.model.law import Law
from svyaz.model.reading.common import LawWords, Names, Reader, Table
from svyaz.model.reading.words import ENERGIES


@dataclass(frozen=True)
class PlainRates(Law):
    """The rates of the system are all there is."""


def _read(reader: Reader, words: Table, names: Names) -> PlainRates:
    """What else the words say of energies is read for its mistakes alone."""
    reader.energy("dissipation", words, names.scope(velocities=False, inputs=False))
    return PlainRates()


LAW = LawWords(
    given_by="[rates]",
    rank=3,
    known_by=lambda words: bool({"states", "rates"} & words) and not {"kinetic", "lagrangian"} & words,
    lists=("states",),
    needed=("states", "rates"),
    refused=(
        "coordinates",
        "momenta",
        *(key for key in ENERGIES if key != "dissipation"),
        "forces",
        "constraint",
        "motor",
        "gravity",
        "field",
    ),
    read=_read,
)
