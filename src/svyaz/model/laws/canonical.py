"""Hamilton's canonical equations, q̇ = ∂H/∂p, ṗ = -∂H/∂q."""

from __future__ import annotations

from dataclasses import dataclass

from svyaz.expr import Expression
from svyaz.model.law import Law
from svyaz.model.reading.common import LawWords, Names, Reader, Table


@dataclass(frozen=True)
class Canonical(Law):
    """A Hamiltonian of coordinates and momenta, as many of the one as of the other."""

    momenta: tuple[str, ...]
    hamiltonian: Expression


def _moving(reader: Reader, words: Table, names: Names) -> None:
    if len(names.momenta) != len(names.coordinates):
        message = f"there are {len(names.coordinates)} coordinates and {len(names.momenta)} momenta"
        reader.report(("momenta",), message)


def _read(reader: Reader, words: Table, names: Names) -> Canonical:
    scope = names.scope(velocities=False, inputs=False)
    dissipation = reader.energy("dissipation", words, scope)
    hamiltonian = reader.energy("hamiltonian", words, scope)
    reader.no_further(names, ("dissipation",), dissipation, "an energy")
    reader.no_further(names, ("hamiltonian",), hamiltonian, "an energy")
    return Canonical(names.momenta, hamiltonian)


LAW = LawWords(
    given_by="a Hamiltonian",
    rank=2,
    known_by=lambda words: bool({"hamiltonian", "momenta"} & words),
    lists=("coordinates", "momenta"),
    needed=("coordinates", "momenta", "hamiltonian"),
    refused=("kinetic", "potential", "lagrangian", "forces", "constraint", "motor", "gravity", "field"),
    moving=_moving,
    read=_read,
)
