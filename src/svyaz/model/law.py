"""The law of a system: what says how its states move. Each law is a file of ``laws``, with the words that state it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from svyaz.expr import Expression, velocities_of

if TYPE_CHECKING:
    from svyaz.model.system import System
    from svyaz.model.tree import Body


class Law:
    """How the states of a system move, as it was stated."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of a tree; other systems have none."""
        return ()

    @property
    def equilibrium_name(self) -> str:
        """What a state at rest is called, with its article."""
        return "an equilibrium"

    @property
    def energy_name(self) -> str:
        """What the energy that is stationary there is called."""
        return "energy"

    def unreduced(self, system: System) -> System:
        """The system with all its coordinates, cyclic ones that the law ignores among them."""
        return system

    def require_equations(self, message: str, hint: str) -> None:
        """Raise a ModelError with this message where the law has numbers alone, and no equations."""

    def velocities(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """Names of the velocities that are states."""
        return ()

    def freedoms(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """A name for each velocity: its coordinate, unless the velocity has a name of its own."""
        return tuple(coordinates)

    def coordinate_rates(self, coordinates: Sequence[str]) -> dict[str, Expression]:
        """The rate of each coordinate, in terms of coordinates and velocities."""
        return dict(zip(coordinates, velocities_of(coordinates), strict=True))


class SecondOrder(Law):
    """A law whose coordinates have velocities."""

    def velocities(self, coordinates: Sequence[str]) -> tuple[str, ...]:
        """q' for each coordinate q."""
        return tuple(map(str, velocities_of(coordinates)))


class Mechanical(SecondOrder):
    """A law of energies with a Rayleigh function D, to which forces and constraints may be added."""

    dissipation: Expression

    @property
    def own_forces(self) -> Mapping[str, Expression]:
        """Forces that the law itself brings, by freedoms."""
        return {}
