"""The law of a tree of bodies some of whose coordinates are cyclic and ignored: its numbers come from recursions."""

from __future__ import annotations

from dataclasses import dataclass

from svyaz.expr import Expression, ModelError, Problem
from svyaz.model import Mechanical, System


@dataclass(frozen=True)
class TurningBodies(Mechanical):
    """The tree ``whole``, of whose coordinates those ``by_momentum`` and ``by_speed`` are ignored.

    Forces and rates of such a system may contain the velocities of ignored coordinates, which are no states of it.
    """

    whole: System
    by_momentum: tuple[str, ...]
    by_speed: tuple[str, ...]
    dissipation: Expression

    @property
    def ignored(self) -> tuple[str, ...]:
        """All cyclic coordinates, in the order of the tree."""
        gone = {*self.by_momentum, *self.by_speed}
        return tuple(q for q in self.whole.coordinates if q in gone)

    @property
    def equilibrium_name(self) -> str:
        """Ignored coordinates turn uniformly."""
        return "a steady motion"

    @property
    def energy_name(self) -> str:
        """That of Routh, with the momenta or speeds in it."""
        return "effective energy"

    def unreduced(self, system: System) -> System:
        """The whole tree, with the parameters that it was reduced with."""
        return self.whole

    def require_equations(self, message: str, hint: str) -> None:
        """Always: the Routhian is not written out."""
        raise ModelError([Problem(message, hint=hint)])
