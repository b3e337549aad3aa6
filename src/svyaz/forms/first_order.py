"""Systems that are given by their rates: plain differential equations, and canonical ones q̇ = ∂H/∂p, ṗ = -∂H/∂q."""

from __future__ import annotations

import symengine as se

from svyaz.expr import differentiate
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
