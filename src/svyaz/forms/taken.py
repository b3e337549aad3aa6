"""Equations taken as they were stated: rates, Hamilton's q̇ = ∂H/∂p, ṗ = -∂H/∂q, and second-order equations.

Of f(q, q̇, q̈, t) = 0, linear in the accelerations, M = ∂f/∂q̈ and bias = f at q̈ = 0.
"""

from __future__ import annotations

import symengine as se

from svyaz.expr import ZERO, ModelError, Problem, acceleration, combine, differentiate, names_in, substitute, velocity
from svyaz.forms.equations import Equations
from svyaz.model import System


def plain_rates(system: System) -> Equations:
    """The rates as they were written."""
    return Equations("rates", system, system.states, dict(system.rates))


def canonical(system: System) -> Equations:
    """Hamilton's equations."""
    q = [se.Symbol(name) for name in system.coordinates]
    p = [se.Symbol(name) for name in system.momenta]
    rates = {str(x): differentiate(system.hamiltonian, y) for x, y in zip(q, p, strict=True)}
    rates.update({str(y): -differentiate(system.hamiltonian, x) for x, y in zip(q, p, strict=True)})
    return Equations("canonical", system, system.states, {**rates, **system.rates})


def given_equations(system: System) -> Equations:
    """The equations of a model with [equations] or [accelerations]; they must be linear in the accelerations."""
    unknown = [acceleration(q) for q in system.coordinates]
    names = {str(a) for a in unknown}
    mass = [[combine(differentiate(f, a)) for a in unknown] for f in system.equations.values()]
    for name, row in zip(system.equations, mass, strict=True):
        if any(names_in(e) & names for e in row):
            message = f"the equation of '{name}' is not linear in the accelerations: they cannot be solved for"
            raise ModelError([Problem(message)])
    bias = [substitute(f, dict.fromkeys(unknown, ZERO)) for f in system.equations.values()]
    return Equations(
        form=system.kind,
        system=system,
        states=system.states,
        explicit={**{q: velocity(q) for q in system.coordinates}, **system.rates},
        accelerated=system.coordinates,
        mass_matrix=tuple(tuple(row) for row in mass),
        bias=tuple(bias),
    )


STATED = {
    "rates": plain_rates,
    "canonical": canonical,
    "equations": given_equations,
    "accelerations": given_equations,
}
"""Kinds of models whose equations are taken as they are."""
