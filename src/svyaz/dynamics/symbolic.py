"""Dynamics of equations that are written out: one native program of all tables, and what follows from its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics.mobility import ByMassMatrix, Mobility
from svyaz.dynamics.scales import balanced, coordinate_scales, magnitude
from svyaz.dynamics.shared_tables import part_of_tables
from svyaz.dynamics.tables import own_gains, snapshot_tables
from svyaz.expr import ONE, TIME, ZERO, Expression, gradients, substitute, symbols_in, total_derivative
from svyaz.forms import (
    Equations,
    energy,
    kinetic_and_potential,
    observation,
    rates_of,
    rates_program,
    shared_with,
    with_constraints,
)
from svyaz.model import Constraint
from svyaz.program import (
    LARGEST_WHOLE,
    Function,
    Native,
    Table,
    Tabulated,
    bordered,
    choose_orders,
    compile_program,
    function,
    once_for_each,
    row_entries,
)

RIDGE = 1e-13
"""Beside 1: keeps least corrections finite where rows depend on each other."""

MOVED = 1e-14
"""Newton's method ends where no state is moved by more than this part of the largest along the rows."""

ITERATIONS = 3
"""Steps of Newton's method from states that are near."""


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
        initial = equations.system.initial
        return {"t": 0.0, **{name: float(initial.get(name, 0.0)) for name in equations.states}}

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

    def energies(self, rows: Array) -> dict[str, Array]:
        """The kinetic energy T and the energy q̇·∂L/∂q̇ - L, by a program of their own."""
        return self._energies(rows)

    @cached_property
    def _energies(self) -> Function:
        system = self.equations.system
        tables = {"kinetic": kinetic_and_potential(system)[0], "energy": energy(system)}
        return function(tables, ("t", *system.states), system.constants)

    def rate_code(self, correction: Sequence[Expression], gains: Sequence[str]) -> Native:
        """One program of all rates, its order of elimination chosen at the initial state."""
        equations = self.equations
        program = rates_program(equations, rates_of(equations, correction), gains)
        start = {name: float(equations.system.initial.get(name, 0.0)) for name in equations.states}
        return compile_program(choose_orders(program, equations.system.constants, {"t": 0.0, **start}))

    def mobility(self, row: Array, mass: Array, bias: Array) -> Mobility:
        """M⁻¹ by the mass matrix."""
        return ByMassMatrix(mass, bias)

    def log_determinants(self, rows: Array) -> tuple[Array, Array]:
        """(sign, log |det [M Rᵀ; G 0]|) along rows; NaN where the matrix is not defined."""
        sparse = self.tables.sparse
        if self.equations.ideal and "mass" in sparse and "jacobian" in sparse:
            matrices = bordered(*self.tables.entries(rows, "mass", "jacobian"))
            if matrices is not None:
                return matrices.log_determinants()
        n, m = len(self.equations.accelerated), len(self.equations.deviations)
        names = ["mass", "jacobian", *([] if self.equations.ideal else ["reactions"])]
        found = self.tables.known(rows, names)
        jacobian = found["jacobian"].reshape(len(rows), m, n)
        reactions = jacobian if self.equations.ideal else found["reactions"].reshape(len(rows), m, n)
        whole = augmented_matrices(found["mass"].reshape(len(rows), n, n), jacobian, reactions)
        defined = np.isfinite(whole).all(axis=(1, 2))
        sign, size = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
        sign[defined], size[defined] = np.linalg.slogdet(whole[defined])
        return sign, size

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """Numbers of the constraints on positions, and of those on velocities."""
        level = [d.position is None for d in self.equations.deviations]
        return [k for k, v in enumerate(level) if not v], [k for k, v in enumerate(level) if v]

    @cached_property
    def _gradients(self) -> Function:
        """y = (h, ḣ, f) and its gradients by the states."""
        d, (places, speeds) = self.equations.deviations, self._places
        entries: list[Expression] = [e for k in places if (e := d[k].position) is not None]
        entries += [d[k].velocity for k in (*places, *speeds)]
        tables: dict[str, Table] = {
            "y": entries,
            "slopes": gradients(entries, [se.Symbol(s) for s in self.equations.states]),
        }
        return function(tables, ("t", *self.equations.states), self.equations.system.constants)

    @cached_property
    def _plain(self) -> bool:
        """Is G all that there is of gradients: are the states coordinates and their velocities, and few?"""
        equations, sparse = self.equations, self.tables.sparse
        plain = not equations.quasi and len(equations.states) == 2 * len(equations.accelerated)
        return plain and not ("mass" in sparse and "jacobian" in sparse)

    @cached_property
    def _columns(self) -> tuple[list[int], list[int]]:
        """Numbers of the states that are moved for positions, and of the velocities."""
        names = self.equations.states
        speeds = [names.index(str(v)) for v in self.equations.velocities]
        return [k for k in range(len(names)) if k not in speeds], speeds

    @cached_property
    def _linear_in_velocities(self) -> bool:
        """Are ḣ and f linear in the velocities, so that one step of Newton's method gives these?"""
        entries = [e for row in self.equations.constraint_jacobian for _, e in row_entries(row)]
        return symbols_in(entries).isdisjoint(self.equations.velocities)

    def deviation_gradients(self, rows: Array) -> tuple[Array, Array]:
        """y (k, c) and ∂y/∂x (k, c, n). Where G tells them, ∂ḣ/∂q is left zero: it is not asked for."""
        if not self._plain:
            here = self._gradients(rows)
            return here["y"], here["slopes"]
        places, speeds = self._places
        own, p, names = [*places, *speeds], len(places), self.equations.states
        found = self.tables.known(rows, ("jacobian", "position", "velocity"))
        jacobian = found["jacobian"].reshape(len(rows), len(own), -1)[:, own]
        slopes = np.zeros((len(rows), p + len(own), len(names)))
        slopes[:, :p, [names.index(q) for q in self.equations.accelerated]] = jacobian[:, :p]
        slopes[:, p:, self._columns[1]] = jacobian
        return np.concatenate([found["position"][:, places], found["velocity"][:, own]], axis=1), slopes

    def move_states(self, rows: Array, positions: Array, rates: Array) -> Array:
        """The nearest states along rows at which the constraints have these h (k, m) and ḣ or f (k, m), by Newton's method;
        NaN where it leaves the domain.

        Coordinates are moved first, then velocities, each by the least distance in scaled variables: in which units lengths,
        angles and times are measured does not matter.
        """
        (places, speeds), (coordinates, velocities) = self._places, self._columns
        wanted = np.concatenate([positions[:, places], rates[:, [*places, *speeds]]], axis=1)
        times, states, p = rows[:, 0], rows[:, 1:], len(places)
        sizes = _comparable_steps(self, tuple(rows[0]))
        once = 1 if self._linear_in_velocities else ITERATIONS
        for entries, columns, most in ((slice(0, p), coordinates, ITERATIONS), (slice(p, None), velocities, once)):
            for _ in range(most if wanted[:, entries].shape[1] else 0):
                here = np.column_stack([times, states])
                moves = self._sparse_moves(here, wanted[:, entries], entries, columns, sizes)
                if moves is not None:
                    states = states + moves
                    continue
                y, slopes = self.deviation_gradients(here)
                slopes, missing = slopes[:, entries][:, :, columns] * sizes[columns], wanted[:, entries] - y[:, entries]
                defined = np.isfinite(slopes).all(axis=(1, 2)) & np.isfinite(missing).all(axis=1)
                moved = np.full_like(states, np.nan)
                moved[defined] = states[defined]
                moves = _shortest(slopes[defined], missing[defined]) * sizes[columns]
                moved[np.ix_(np.flatnonzero(defined), np.array(columns))] += moves
                states = moved
                if np.all(np.abs(moves) <= MOVED * np.max(np.abs(moved[defined][:, columns]), axis=0, initial=0.0)):
                    break
        return states

    def _sparse_moves(
        self, rows: Array, wanted: Array, entries: slice, columns: list[int], sizes: Array
    ) -> Array | None:
        """Displacements (k, n) of all states, as ``_shortest`` finds them, where gradients are large and sparse; else None.

        Nothing is moved where the gradients depend on each other.
        """
        if self._plain or "slopes" not in self._gradients.sparse:
            return None
        count = self._gradients.shapes["y"][0]
        whole = self._gradients.entries(rows, "slopes")[0].block(range(count)[entries], columns)
        matrices = bordered(None, whole.scaled(np.ones(whole.shape[0]), sizes[columns]))
        if matrices is None:
            return None
        missing = wanted - self._gradients.known(rows, ("y",))["y"][:, entries]
        found = matrices.solved(np.zeros((len(rows), len(columns))), missing)[0]
        moves = np.zeros((len(rows), rows.shape[1] - 1))
        moves[:, columns] = found * sizes[columns]
        undefined = ~(np.isfinite(whole.values).all(axis=1) & np.isfinite(missing).all(axis=1))
        moves[~np.isfinite(moves).all(axis=1)] = 0.0
        moves[undefined] = np.nan
        return moves


@once_for_each
def symbolic_dynamics(equations: Equations) -> SymbolicDynamics:
    """That of equations as they are written, prepared once."""
    return SymbolicDynamics(equations)


@lru_cache(maxsize=8)
def _comparable_steps(of: SymbolicDynamics, start: tuple[float, ...]) -> Array:
    """Comparable steps of the states: 1/√M_ii; for coordinates of quasi-velocities what balances the gradients.

    Pilot runs begin where the run begins, and more than once.
    """
    equations, row = of.equations, np.array(start)[None, :]
    n, names = len(equations.accelerated), list(equations.states)
    here = of.tables.known(row, ("mass", "jacobian"))
    own = coordinate_scales(here["mass"].reshape(n, n), here["jacobian"].reshape(-1, n))
    scales = np.ones(len(names))
    scales[of._columns[1]] = own
    if not equations.quasi:
        scales[[names.index(q) for q in equations.accelerated]] = own
    elif of._places[0]:
        slopes = of.deviation_gradients(row)[1][0, : len(of._places[0])]
        scales = np.where(slopes.any(axis=0), balanced(slopes)[2], scales)
    return np.where(np.isfinite(scales), scales, 1.0)


def _shortest(slopes: Array, wanted: Array) -> Array:
    """The shortest δ with slopes δ = wanted in every row of states, δ = Sᵀ(S Sᵀ)⁻¹ wanted with S scaled to unit rows."""
    lengths = np.linalg.norm(slopes, axis=2)
    lengths = np.where(lengths > 0, lengths, 1.0)
    unit = slopes / lengths[:, :, None]
    gram = unit @ unit.transpose(0, 2, 1) + RIDGE * np.eye(slopes.shape[1])
    weights = np.linalg.solve(gram, (wanted / lengths)[:, :, None])
    shortest: Array = (unit.transpose(0, 2, 1) @ weights)[:, :, 0]
    return shortest


def augmented_matrices(mass: Array, jacobian: Array, reactions: Array) -> Array:
    """[M Rᵀ; G 0] (k, n + m, n + m) of many states; the reactions R are along G unless controls realise constraints."""
    n, m = mass.shape[1], jacobian.shape[1]
    matrices = np.zeros((len(mass), n + m, n + m))
    matrices[:, :n, :n] = mass
    matrices[:, n:, :n] = jacobian
    matrices[:, :n, n:] = reactions.transpose(0, 2, 1)
    return matrices
