"""Lagrange's equations of the second kind, d/dt ∂L/∂q̇ - ∂L/∂q + ∂D/∂q̇ = Q, written as M q̈ + bias = 0.

M and bias come from the Lagrangian by Christoffel symbols, those of a tree of bodies by recursions.
"""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.expr import ZERO, Expression, gradient, velocities_of
from svyaz.forms.christoffel import terms_of
from svyaz.forms.equations import Equations, Form
from svyaz.forms.stated import lagrangian
from svyaz.model import System
from svyaz.program import remembered


def lagrange(system: System) -> Equations:
    """The equations of a mechanical system without constraints."""
    return free_equations(system, "lagrange", *lagrange_terms(system))


def free_equations(
    system: System, form: str, mass: Sequence[Sequence[Expression]], bias: Sequence[Expression]
) -> Equations:
    """Equations without constraints. Velocities of free joints of a tree are quasi-velocities."""
    quasi = system.freedoms != system.coordinates
    return Equations(
        form=form,
        system=system,
        states=system.states,
        explicit={**system.coordinate_rates, **system.rates},
        accelerated=system.velocities if quasi else system.coordinates,
        mass_matrix=tuple(tuple(row) for row in mass),
        bias=tuple(bias),
        quasi=quasi,
    )


@remembered
def lagrange_terms(system: System) -> tuple[list[list[Expression]], list[Expression]]:
    """(M, bias) of the free system, in the short forms of the books where they are short."""
    if system.bodies:
        from svyaz.forms.tree.recursions.energies import tree_terms

        return tree_terms(system)
    return terms_of(lagrangian(system), system.coordinates, applied_forces(system))


def applied_forces(system: System) -> list[Expression]:
    """∂D/∂q̇ - Q for each coordinate."""
    slopes = gradient(system.dissipation, velocities_of(system.coordinates))
    return [slope - system.forces.get(q, ZERO) for q, slope in zip(system.coordinates, slopes, strict=True)]


FORM = Form("lagrange", lagrange, free=True)
