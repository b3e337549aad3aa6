"""The interface between equations and what computes with them, whether they are symbolic or recursive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from svyaz.arrays import Array
from svyaz.dynamics.mobility import Mobility
from svyaz.dynamics.symbolic import symbolic_dynamics
from svyaz.expr import ZERO, Expression, Surface
from svyaz.forms import Equations, RateCode, SizedConditionCode
from svyaz.model import Constraint
from svyaz.program import Tabulated, once_for_each


class Dynamics(Protocol):
    """Equations of motion as functions of rows [t, states]."""

    @property
    def description(self) -> str:
        """How the rates are computed, for messages."""

    @property
    def tables(self) -> Tabulated:
        """M, bias, G, R, residuals and their terms; and what is observed, by kind."""

    @property
    def observed_names(self) -> Mapping[str, tuple[str, ...]]:
        """Names of what ``tables`` observe, by kind."""

    def tables_of(self, constraints: Sequence[Constraint]) -> Tabulated:
        """G, residuals in position and velocity, the magnitudes of their terms, and what ḧ has without accelerations, of
        constraints that need not act. A coordinate of a point of a body is one term of a residual in position.
        """

    def with_constraints(self, constraints: Sequence[Constraint]) -> Equations:
        """The same equations with these constraints, and no others, acting."""

    def energies(self, rows: Array) -> dict[str, Array]:
        """The kinetic energy and the energy along rows, as "kinetic" and "energy"."""

    def rate_code(self, correction: Sequence[Expression], gains: Sequence[str]) -> RateCode:
        """x' = f(t, x) as native code; ``correction`` is added to the rows of the constraints, with ``gains`` as constants."""

    def mobility(self, row: Array, mass: Array, bias: Array) -> Mobility:
        """M⁻¹ at a row with this mass matrix and bias."""

    def log_determinants(self, rows: Array) -> tuple[Array, Array]:
        """(sign, log |det [M Rᵀ; G 0]|) along rows; NaN where it is not defined."""

    def move_states(self, rows: Array, positions: Array, rates: Array) -> Array:
        """The nearest states along rows at which the constraints have these h and ḣ or f (k, m); NaN where there are none."""


class Recursion(Dynamics, Protocol):
    """Equations that are not written out: their numbers and their code come from recursions over bodies."""

    def driven(
        self,
        forces: Sequence[Expression],
        rates: Mapping[str, Expression],
        values: Mapping[str, float],
        given: Sequence[str] = (),
        sliding: Sequence[Surface] = (),
    ) -> Recursion:
        """With other forces, and rates of further states: with further constants, by their ``values``, and with names of
        numbers that are ``given`` behind the states. The motion is held on ``sliding`` surfaces, whose sides are found.
        """

    def of_rows(self, kept: Sequence[int]) -> Recursion:
        """With some of the constraints."""

    def projection(self, code: RateCode) -> RateCode:
        """What moves a state onto the constraints, with the constants of the rates."""

    def with_rows(self, constraints: Sequence[Constraint]) -> Recursion:
        """The same bodies with other constraints."""

    def watching(
        self,
        correction: Sequence[Expression],
        gains: Sequence[str],
        conditions: Sequence[Expression],
        values: Mapping[str, float],
    ) -> SizedConditionCode:
        """Conditions along the motion, in the points that they name and in multipliers; ``values`` are their parameters."""

    def observed(
        self, code: RateCode, known: Mapping[str, float], gains: Sequence[str], times: Array, states: Array
    ) -> dict[str, dict[str, Array]]:
        """Multipliers, accelerations, residuals, energies, integrals along rows, by kind and name."""


@once_for_each
def plain_rates(equations: Equations) -> RateCode:
    """The rates of all states without gains, as native code."""
    return dynamics_of(equations).rate_code([ZERO] * len(equations.deviations), ())


def dynamics_of(equations: Equations) -> Dynamics:
    """The dynamics of equations, prepared once: that of recursions, or of the expressions as they are written."""
    return equations.recursion or symbolic_dynamics(equations)
