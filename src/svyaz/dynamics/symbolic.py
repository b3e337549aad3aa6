"""Dynamics of equations that are written out: one native program of all tables, and what follows from its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics.code import Columns, CompiledRates, ConditionCode, Enforcement, RateCode, Response, Sizes
from svyaz.dynamics.constrained import log_determinants
from svyaz.dynamics.mobility import ByMassMatrix, Mobility
from svyaz.dynamics.scales import magnitude
from svyaz.dynamics.shared_tables import part_of_tables
from svyaz.dynamics.symbolic_code import jacobian, projection, rate_code, respond
from svyaz.dynamics.symbolic_columns import observe, observing, watch
from svyaz.dynamics.symbolic_states import StateCorrections
from svyaz.dynamics.tables import own_gains, snapshot_tables
from svyaz.expr import ONE, TIME, ZERO, Expression, gradients, substitute, total_derivative
from svyaz.forms import (
    Equations,
    energy,
    kinetic_and_potential,
    observation,
    rates_of,
    shared_with,
    with_constraints,
    with_switches,
)
from svyaz.integrate import Flow
from svyaz.model import Constraint
from svyaz.program import (
    LARGEST_WHOLE,
    Function,
    Native,
    Table,
    Tabulated,
    function,
    once_for_each,
)


@dataclass(frozen=True, eq=False)
class SymbolicDynamics:
    """The numbers of equations along rows [t, states], by native programs of their expressions."""

    equations: Equations

    @cached_property
    def _observed(self) -> tuple[Tabulated, Mapping[str, tuple[str, ...]]]:
        equations, whole = self.equations, shared_with(self.equations)
        if whole is not None:
            shared = symbolic_dynamics(whole)
            return part_of_tables(equations, whole, shared.tables, shared.observed_names)
        gains, correction = own_gains(equations)
        system = rates_of(equations, correction).systems
        systems, observed = observation(equations, system[0] if system else None)
        tables: dict[str, Table] = {
            **snapshot_tables(equations),
            **{kind: list(table.values()) for kind, table in observed.items()},
        }
        values = {**equations.system.constants, **dict.fromkeys([*gains, *map(str, equations.switches)], 0.0)}
        sample = None if equations.switches else self._sample
        found = function(tables, ("t", *equations.states), values, systems=systems, sample=sample)
        return found, {kind: tuple(table) for kind, table in observed.items()}

    @property
    def description(self) -> str:
        """The form of the equations."""
        return f"the equations of form {self.equations.form}"

    @property
    def tables(self) -> Tabulated:
        """M, bias, G, R, residuals and their terms, multipliers, accelerations, energies, integrals."""
        return self._observed[0]

    @property
    def observed_names(self) -> Mapping[str, tuple[str, ...]]:
        """Names of what is observed, by kind."""
        return self._observed[1]

    @property
    def _sample(self) -> dict[str, float] | None:
        """The initial state, at which an order of elimination is chosen for a system that is large."""
        equations = self.equations
        if len(equations.accelerated) + len(equations.deviations) <= LARGEST_WHOLE:
            return None
        return dict(zip(("t", *equations.states), self._start.tolist(), strict=True))

    def tables_of(self, constraints: Sequence[Constraint]) -> Tabulated:
        """G, residuals, the magnitudes of their terms and what ḧ has without accelerations, in the states."""
        equations, known, velocities = self.equations, self._point_places, set(self.equations.velocities)
        stated = [equations.in_states(c.expression) for c in constraints]
        flow = {se.Symbol(s): rate for s, rate in equations.explicit.items()} | {TIME: ONE}
        pairs = list(zip(constraints, stated, strict=True))
        speeds = [e if c.order else total_derivative(e, flow) for c, e in pairs]
        sizes = [ZERO if c.order else substitute(magnitude(c.stated), known) for c in constraints]
        steady = {s: rate for s, rate in flow.items() if s not in velocities}
        tables: dict[str, Table] = {
            "position": [ZERO if c.order else e for c, e in pairs],
            "velocity": speeds,
            "position_terms": [equations.in_states(e) for e in sizes],
            "velocity_terms": [magnitude(e) for e in speeds],
            "jacobian": gradients(speeds, equations.velocities),
            "constraint_bias": [total_derivative(e, steady) for e in speeds],
        }
        return function(tables, ("t", *equations.states), equations.system.constants)

    @property
    def _point_places(self) -> dict[se.Symbol, Expression]:
        """The coordinates of the points of bodies by their symbols."""
        system = self.equations.system
        names = [f"{name}_{axis}" for name in system.points for axis in "xyz"]
        return {se.Symbol(name): system.scope.symbols[name] for name in names}

    def with_constraints(self, constraints: Sequence[Constraint]) -> Equations:
        """The equations with these constraints, in expressions."""
        return with_constraints(self.equations, constraints)

    def with_switches(self, constraints: Sequence[Constraint]) -> Equations:
        """The equations in expressions, with switches."""
        return with_switches(self.with_constraints(constraints))

    def energies(self, rows: Array) -> dict[str, Array]:
        """The kinetic energy T and the energy q̇·∂L/∂q̇ - L, by a program of their own."""
        return self._energies(rows)

    @cached_property
    def _energies(self) -> Function:
        system = self.equations.system
        tables = {"kinetic": kinetic_and_potential(system)[0], "energy": energy(system)}
        return function(tables, ("t", *system.states), system.constants)

    def rate_code(self, enforcement: Enforcement, start: Array | None = None) -> RateCode:
        """One program of all rates."""
        return rate_code(self.equations, enforcement, self._start if start is None else start)

    @property
    def _start(self) -> Array:
        """The initial state as a row."""
        initial = self.equations.system.initial
        return np.array([0.0, *(float(initial.get(name, 0.0)) for name in self.equations.states)])

    def jacobian(self, enforcement: Enforcement, rates: Flow, start: Array) -> Flow:
        """A program of the exact derivatives where these are not too many."""
        return jacobian(self.equations, enforcement, rates, start)

    def projection(self, code: RateCode, start: Array, *, thorough: bool = False) -> Native:
        """A program of least corrections."""
        return projection(self, start, thorough=thorough)

    def observe(self, run: CompiledRates, rows: Array) -> Columns:
        """By the tables, with the gains of the run; what they do not know of it comes from its rates."""
        return observe(self, run, rows)

    def observing(self, enforcement: Enforcement) -> Tabulated:
        """The tables, or others for a law of the user or for gains that couple constraints."""
        return observing(self, enforcement)

    def watch(
        self, run: CompiledRates, conditions: Sequence[Expression], values: Mapping[str, float]
    ) -> tuple[ConditionCode, Sizes]:
        """One program of the conditions in the states, with the linear system of the multipliers where they need it."""
        return watch(self, run, conditions, values)

    def respond(
        self, enforcement: Enforcement, bounds: Sequence[Sequence[Expression]], values: Mapping[str, float]
    ) -> Response:
        """One program for all sides."""
        return respond(self.equations, enforcement, bounds, values)

    def choose(self, written: Expression | None, in_points: Expression | None) -> Expression | None:
        """As it is written in the states."""
        return written

    def mobility(self, row: Array, mass: Array, bias: Array) -> Mobility:
        """M⁻¹ by the mass matrix."""
        return ByMassMatrix(mass, bias)

    def log_determinants(self, rows: Array) -> tuple[Array, Array]:
        """By the entries of a large matrix, or by the whole one."""
        return log_determinants(self.tables, len(self.equations.deviations), rows, ideal=self.equations.ideal)

    @cached_property
    def _corrections(self) -> StateCorrections:
        return StateCorrections(self.equations, self.tables)

    def deviation_gradients(self, rows: Array) -> tuple[Array, Array]:
        """By the tables, or by a program of their own."""
        return self._corrections.deviation_gradients(rows)

    def move_states(self, rows: Array, positions: Array, rates: Array) -> Array:
        """By Newton's method, in scaled variables."""
        return self._corrections.move_states(rows, positions, rates)


@once_for_each
def symbolic_dynamics(equations: Equations) -> SymbolicDynamics:
    """That of equations as they are written, prepared once."""
    return SymbolicDynamics(equations)
