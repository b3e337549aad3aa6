"""Displacements that change nothing: a cart may stand anywhere.

If the energies, the forces, the constraints and the further rates do not change along k, the equilibria form a family
q₀ + c k. With one zero root and all others to the left each of them is stable (Lyapunov, Malkin: the special case). If in
addition nothing pushes along k, the momentum along k is an integral, steady motions q̇ = v k pass near the equilibrium, and
however slow they are they leave it.
"""

from __future__ import annotations

from collections.abc import Mapping

import symengine as se

from svyaz.expr import Expression, add_up, differentiate, evaluate, names_in, substitute, velocity
from svyaz.forms import is_nothing, lagrangian
from svyaz.model import System


def changes_nothing(system: System, along: Mapping[str, float], inputs: Mapping[str, float]) -> bool:
    """Is the system the same wherever it stands along this direction?"""
    everything = [
        lagrangian(system),
        system.dissipation,
        *system.forces.values(),
        *system.rates.values(),
        *(c.expression for c in system.constraints),
    ]
    return all(
        _vanishes(add_up(w * differentiate(e, se.Symbol(q)) for q, w in along.items()), system, inputs)
        for e in everything
    )


def is_not_pushed(system: System, along: Mapping[str, float], inputs: Mapping[str, float]) -> bool:
    """Do forces and dissipation give no push along this direction, at any velocity?"""
    pushes = [w * system.forces[q] for q, w in along.items() if q in system.forces]
    drags = [w * differentiate(system.dissipation, velocity(q)) for q, w in along.items()]
    return _vanishes(add_up([*pushes, *drags]), system, inputs)


def _vanishes(expression: Expression, system: System, inputs: Mapping[str, float]) -> bool:
    """With the numbers of the model."""
    values = {se.Symbol(name): se.RealDouble(x) for name, x in {**system.constants, **inputs}.items()}
    left = substitute(expression, values)
    return abs(evaluate(left, {})) == 0 if not names_in(left) else is_nothing(left)
