"""Second-order equations as they were given, f(q, q̇, q̈, t) = 0: M = ∂f/∂q̈, bias = f at q̈ = 0."""

from __future__ import annotations

from svyaz.expr import ZERO, ModelError, Problem, acceleration, combine, differentiate, names_in, substitute, velocity
from svyaz.forms.equations import Equations
from svyaz.model import System


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
