"""The interface between equations and what computes with them, whether they are symbolic or recursive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from svyaz.arrays import Array
from svyaz.dynamics.mobility import Mobility
from svyaz.dynamics.symbolic import symbolic_dynamics
from svyaz.forms import Equations
from svyaz.program import Tabulated


class Dynamics(Protocol):
    """Equations of motion as functions of rows [t, states]."""

    @property
    def tables(self) -> Tabulated:
        """M, bias, G, R, residuals and their terms; and what is observed, by kind."""

    @property
    def observed_names(self) -> Mapping[str, tuple[str, ...]]:
        """Names of what ``tables`` observe, by kind."""

    def mobility(self, row: Array, mass: Array, bias: Array) -> Mobility:
        """M⁻¹ at a row with this mass matrix and bias."""

    def log_determinants(self, rows: Array) -> tuple[Array, Array]:
        """(sign, log |det [M Rᵀ; G 0]|) along rows; NaN where it is not defined."""

    def move_states(self, rows: Array, positions: Array, rates: Array) -> Array:
        """The nearest states along rows at which the constraints have these h and ḣ or f (k, m); NaN where there are none."""


def dynamics_of(equations: Equations) -> Dynamics:
    """The dynamics of equations, prepared once: that of recursions, or of the expressions as they are written."""
    return equations.recursion or symbolic_dynamics(equations)
