"""The interface between equations and what computes with them, whether they are symbolic or recursive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from svyaz.arrays import Array
from svyaz.dynamics.code import Columns, CompiledRates, ConditionCode, Enforcement, RateCode, Response, Sizes
from svyaz.dynamics.mobility import Mobility
from svyaz.dynamics.symbolic import symbolic_dynamics
from svyaz.expr import ZERO, Expression
from svyaz.forms import Equations
from svyaz.integrate import Flow
from svyaz.model import Constraint
from svyaz.program import Tabulated, once_for_each


class Dynamics(Protocol):
    """Equations of motion as functions of rows [t, states]."""

    @property
    def equations(self) -> Equations:
        """What was prepared, as a document."""

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

    def with_switches(self, constraints: Sequence[Constraint]) -> Equations | None:
        """The equations with these constraints, each with a switch, whose programs serve every set of them that acts; None
        where no set has a program to be shared.
        """

    def energies(self, rows: Array) -> dict[str, Array]:
        """The kinetic energy and the energy along rows, as "kinetic" and "energy"."""

    def rate_code(self, enforcement: Enforcement, start: Array | None = None) -> RateCode:
        """x' = f(t, x) as native code, with what an enforcement adds; it suits the row ``start``, else the initial state."""

    def jacobian(self, enforcement: Enforcement, rates: Flow, start: Array) -> Flow:
        """∂f/∂x (n, n) of these rates as native code."""

    def projection(self, code: RateCode, start: Array, *, thorough: bool = False) -> RateCode:
        """What moves a state onto the constraints after each step of the code, by least corrections in the metric of M.

        Twice as many are made where it is ``thorough``.
        """

    def observe(self, run: CompiledRates, rows: Array) -> Columns:
        """Multipliers, accelerations, residuals, energies, integrals along rows of a run, by kind and name; with gains also the
        power of the forces that only stabilise.
        """

    def observing(self, enforcement: Enforcement) -> Tabulated:
        """The tables with the constants of an enforcement among their parameters, where they depend on these."""

    def watch(
        self, run: CompiledRates, conditions: Sequence[Expression], values: Mapping[str, float]
    ) -> tuple[ConditionCode, Sizes]:
        """Conditions along a run, in states, multipliers and sides that hold it (``values`` are those of all constants), and
        the sizes of their terms.
        """

    def respond(
        self, enforcement: Enforcement, bounds: Sequence[Sequence[Expression]], values: Mapping[str, float]
    ) -> Response:
        """``rates`` ẋ for given values of constants, among which are the sides of surfaces at which rates jump; where there
        are ``bounds`` of frictions, these and the ``multipliers`` too.
        """

    def choose(self, written: Expression | None, in_points: Expression | None) -> Expression | None:
        """What ``watch`` takes of an expression in the states that may also be stated in points of bodies."""

    def mobility(self, row: Array, mass: Array, bias: Array) -> Mobility:
        """M⁻¹ at a row with this mass matrix and bias."""

    def log_determinants(self, rows: Array) -> tuple[Array, Array]:
        """(sign, log |det [M Rᵀ; G 0]|) along rows; NaN where it is not defined."""

    def deviation_gradients(self, rows: Array) -> tuple[Array, Array]:
        """Deviations y (k, c), h, then ḣ, then f, and ∂y/∂x (k, c, n); ∂ḣ/∂q may be left zero."""

    def move_states(self, rows: Array, positions: Array, rates: Array) -> Array:
        """The nearest states along rows at which the constraints have these h and ḣ or f (k, m); NaN where there are none."""


@once_for_each
def plain_rates(equations: Equations) -> RateCode:
    """The rates of all states without gains, as native code."""
    return dynamics_of(equations).rate_code(Enforcement([ZERO] * len(equations.deviations)))


@once_for_each
def dynamics_of(equations: Equations) -> Dynamics:
    """The dynamics of equations, prepared once: of the expressions as written, or by recursions where M is not written."""
    if equations.accelerated and not equations.mass_matrix:
        from svyaz.dynamics.recursions.closed_trees import RecursiveDynamics

        return RecursiveDynamics(equations)
    return symbolic_dynamics(equations)
