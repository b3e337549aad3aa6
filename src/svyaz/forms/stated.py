"""The energies of a mechanical system: as they were stated, or worked out from its bodies."""

from __future__ import annotations

from svyaz.expr import ZERO, Expression, substitute, velocity
from svyaz.forms.tree.energies import energies
from svyaz.model import System


def lagrangian(system: System) -> Expression:
    """L = T - P."""
    if system.tree is None:
        return system.lagrangian
    kinetic, potential = energies(system.tree)
    return kinetic - potential


def kinetic_and_potential(system: System) -> tuple[Expression, Expression]:
    """T and P as stated; of a Lagrangian, the part that moves and minus the part at rest."""
    if system.tree is not None:
        return energies(system.tree)
    if system.energies_given:
        return system.kinetic, system.potential
    at_rest = substitute(system.lagrangian, {velocity(q): ZERO for q in system.coordinates})
    return system.lagrangian - at_rest, -at_rest
