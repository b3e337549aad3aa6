"""What was stated of a system: its energies, or worked out from its bodies; and equations that are taken as they are.

These are rates, Hamilton's q̇ = ∂H/∂p, ṗ = -∂H/∂q, and second-order equations f(q, q̇, q̈, t) = 0, linear in the
accelerations: M = ∂f/∂q̈, bias = f at q̈ = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import symengine as se

from svyaz.expr import (
    ZERO,
    Expression,
    ModelError,
    Problem,
    acceleration,
    combine,
    differentiate,
    names_in,
    substitute,
    velocity,
)
from svyaz.forms.equations import Equations
from svyaz.model import Bodies, Canonical, Energies, GivenEquations, PlainRates, System, Tree


def lagrangian(system: System) -> Expression:
    """L = T - P."""
    match system.law:
        case Energies(lagrangian=stated):
            return stated
        case Bodies(tree=tree):
            kinetic, potential = _energies_of(tree)
            return kinetic - potential
    raise ModelError([Problem(f"'{system.name}' is not given by energies")])


def kinetic_and_potential(system: System) -> tuple[Expression, Expression]:
    """T and P as stated; of a Lagrangian, the part that moves and minus the part at rest."""
    match system.law:
        case Bodies(tree=tree):
            return _energies_of(tree)
        case Energies(kinetic=kinetic, potential=potential) if kinetic is not None and potential is not None:
            return kinetic, potential
    whole = lagrangian(system)
    at_rest = substitute(whole, {velocity(q): ZERO for q in system.coordinates})
    return whole - at_rest, -at_rest


def _energies_of(tree: Tree) -> tuple[Expression, Expression]:
    """T and P of a tree of bodies; most systems have none, and the recursions are loaded where one has."""
    from svyaz.forms.tree.recursions.energies import tree_energies

    return tree_energies(tree)


def stated_as_difference(system: System) -> bool:
    """Was T apart from P stated, and not L alone?"""
    return bool(system.bodies) or (isinstance(system.law, Energies) and system.law.kinetic is not None)


def as_taken(system: System) -> tuple[str, str, str] | None:
    """By what a system is given whose equations are taken as they are: (form, given by, what is taken)."""
    match system.law:
        case PlainRates():
            return "rates", "its rates", "rates"
        case Canonical():
            return "canonical", "a Hamiltonian", "rates"
        case GivenEquations(explicit=explicit):
            return "accelerations" if explicit else "equations", "its equations", "equations"
    return None


def only_ideal(system: System, what: str, hint: str | None = None) -> None:
    """Refuse a system with controls or friction by reactions: ``what`` (a subject with its verb) knows nothing of them."""
    for c in system.constraints:
        if not c.ideal:
            why = "is kept by a control" if c.servo else "has forces that depend on its reaction"
            message = f"{what} for ideal reactions alone, and '{c.name}' {why}"
            raise ModelError([Problem(message, c.place, hint)])


def only_constant_masses(system: System, what: str, hint: str | None = None) -> None:
    """Refuse states with rates of their own in energies and masses for ``what`` (a subject with its verb)."""
    law = system.law
    in_masses = tuple(w for w in system.rates if any(w in body.names for body in system.bodies))
    found = law.varying if isinstance(law, Energies) else in_masses
    if found:
        raise ModelError(
            [Problem(f"{what} for energies without states of [rates], and these contain '{found[0]}'", hint=hint)]
        )


def taken_equations(system: System, form: str) -> Equations:
    """The equations as they were stated."""
    match system.law:
        case Canonical(momenta=momenta, hamiltonian=hamiltonian):
            return _canonical(system, momenta, hamiltonian)
        case GivenEquations(equations=equations):
            return _given_equations(system, equations, form)
    return Equations(form, system, system.states, dict(system.rates))


def _canonical(system: System, momenta: Sequence[str], hamiltonian: Expression) -> Equations:
    """Hamilton's equations."""
    q = [se.Symbol(name) for name in system.coordinates]
    p = [se.Symbol(name) for name in momenta]
    rates = {str(x): differentiate(hamiltonian, y) for x, y in zip(q, p, strict=True)}
    rates.update({str(y): -differentiate(hamiltonian, x) for x, y in zip(q, p, strict=True)})
    return Equations("canonical", system, system.states, {**rates, **system.rates})


def _given_equations(system: System, equations: Mapping[str, Expression], form: str) -> Equations:
    """The equations of a model with [equations] or [accelerations]; they must be linear in the accelerations."""
    unknown = [acceleration(q) for q in system.coordinates]
    names = {str(a) for a in unknown}
    mass = [[combine(differentiate(f, a)) for a in unknown] for f in equations.values()]
    for name, row in zip(equations, mass, strict=True):
        if any(names_in(e) & names for e in row):
            message = f"the equation of '{name}' is not linear in the accelerations: they cannot be solved for"
            raise ModelError([Problem(message)])
    bias = [substitute(f, dict.fromkeys(unknown, ZERO)) for f in equations.values()]
    return Equations(
        form=form,
        system=system,
        states=system.states,
        explicit={**{q: velocity(q) for q in system.coordinates}, **system.rates},
        accelerated=system.coordinates,
        mass_matrix=tuple(tuple(row) for row in mass),
        bias=tuple(bias),
    )
