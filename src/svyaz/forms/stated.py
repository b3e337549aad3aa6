"""The energies of a mechanical system: as they were stated, or worked out from its bodies."""

from __future__ import annotations

from svyaz.expr import ZERO, Expression, ModelError, Problem, substitute, velocity
from svyaz.forms.tree.recursions.energies import energies
from svyaz.model import Bodies, Energies, System


def lagrangian(system: System) -> Expression:
    """L = T - P."""
    match system.law:
        case Energies(lagrangian=stated):
            return stated
        case Bodies(tree=tree):
            kinetic, potential = energies(tree)
            return kinetic - potential
    raise ModelError([Problem(f"'{system.name}' is not given by energies")])


def kinetic_and_potential(system: System) -> tuple[Expression, Expression]:
    """T and P as stated; of a Lagrangian, the part that moves and minus the part at rest."""
    match system.law:
        case Bodies(tree=tree):
            return energies(tree)
        case Energies(kinetic=kinetic, potential=potential) if kinetic is not None and potential is not None:
            return kinetic, potential
    whole = lagrangian(system)
    at_rest = substitute(whole, {velocity(q): ZERO for q in system.coordinates})
    return whole - at_rest, -at_rest


def stated_as_difference(system: System) -> bool:
    """Was T apart from P stated, and not L alone?"""
    return isinstance(system.law, Bodies) or (isinstance(system.law, Energies) and system.law.kinetic is not None)
