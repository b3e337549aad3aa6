"""Trees with constraints between points of their bodies: named equations, with numbers and native code by recursions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics.adjusted_code import AdjustedCode, adjusted_code
from svyaz.dynamics.code import (
    Columns,
    CompiledRates,
    ConditionCode,
    Enforcement,
    RateCode,
    Response,
    Sizes,
    known_values,
)
from svyaz.dynamics.mobility import ByRecursion, Mobility
from svyaz.dynamics.recursions.closed_code import ClosedCode
from svyaz.dynamics.recursions.closure_memory import shares_in
from svyaz.dynamics.recursions.closure_rows import ClosureRows, constraint_rows, deviation_symbol, rate_symbol, rows_of
from svyaz.dynamics.recursions.closure_tables import TreeNumbers
from svyaz.dynamics.recursions.tree_memory import (
    FORM,
    Drive,
    drive_of,
    energies_of_tree,
    observed_of_tree,
    velocity_columns,
)
from svyaz.expr import ZERO, Expression, put_in, symbols_in
from svyaz.forms import Deviation, Equations, by_coordinates
from svyaz.integrate import Flow, by_differences
from svyaz.model import Constraint, System, multiplier_symbol, tree_of

if TYPE_CHECKING:
    from svyaz.dynamics.recursions.sliding_code import SlidingCode
    from svyaz.dynamics.recursions.tree_response import Weightless


@dataclass(frozen=True, eq=False)
class RecursiveDynamics:
    """The recursions of a tree with the constraints of its equations; free joints are six bodies with one freedom each.

    The motion is held on surfaces that are sliding, by what the drive is given in the names of their sides.
    """

    equations: Equations

    @cached_property
    def rows(self) -> ClosureRows:
        """The constraints."""
        return constraint_rows(self.equations.system, self._acting)

    @cached_property
    def drive(self) -> Drive:
        """What acts on the joints, with the sides that are given, then those that are found."""
        equations, system = self.equations, self.equations.system
        further = tuple(equations.explicit[name] for name in system.states if name in system.rates)
        return Drive(equations.bias, further, (*equations.given, *(str(s.side) for s in equations.sliding)))

    @property
    def description(self) -> str:
        """Recursions, with constraints or without."""
        return "recursions over bodies with constraints" if self.rows.rows else "recursions over bodies"

    @cached_property
    def tables(self) -> TreeNumbers:
        """M, bias, G, residuals and their terms along rows of states."""
        from svyaz.dynamics.recursions.closure_loop import closed_look_function

        native = self.rows.native([ZERO] * len(self.rows.rows), ())
        looking = ClosedCode(self.rows, self._still_drive, native, closed_look_function(), everywhere=True)
        return TreeNumbers(self.rows, self.equations.system.constants, looking)

    @property
    def _still_drive(self) -> Drive:
        """The drive with zero for what is given."""
        zero: dict[se.Symbol, Expression] = {se.Symbol(name): ZERO for name in self.drive.given}
        forces, rates = (tuple(put_in(e, zero) for e in entries) for entries in (self.drive.forces, self.drive.rates))
        return Drive(forces, rates)

    def tables_of(self, constraints: Sequence[Constraint]) -> TreeNumbers:
        """Those of the same bodies with these constraints."""
        return RecursiveDynamics(self.with_constraints(constraints)).tables

    def with_constraints(self, constraints: Sequence[Constraint]) -> Equations:
        """The equations of the same bodies with these constraints, named and not written out."""
        return replace(self.equations, deviations=_named(constraints))

    def with_switches(self, constraints: Sequence[Constraint]) -> None:
        """One loop serves all sets as it is."""

    def energies(self, rows: Array) -> dict[str, Array]:
        """T and T + V, by sums over the bodies."""
        return energies_of_tree(self.equations.system, rows)

    def rate_code(self, enforcement: Enforcement, start: Array | None = None) -> RateCode:
        """The loop over bodies and rows, with what is added to the rows, and what adjusts the rates."""
        plain, system = self._plain_code(enforcement.correction, tuple(enforcement.gains)), self.equations.system
        inner: RateCode = plain
        if self.equations.sliding:
            from svyaz.dynamics.recursions.sliding_code import sliding_code

            inner = sliding_code(plain, self.equations.sliding)
        return adjusted_code(inner, system.states, tuple(system.constants), enforcement)

    def jacobian(self, enforcement: Enforcement, rates: Flow, start: Array) -> Flow:
        """By differences."""
        return by_differences(rates)

    def _plain_code(self, correction: Sequence[Expression], gains: Sequence[str]) -> ClosedCode:
        """The rates with the sides that are given."""
        from svyaz.dynamics.recursions.closure_loop import closed_step_function
        from svyaz.dynamics.recursions.tree_loop import step_function

        if not self.rows.rows:
            return ClosedCode(self.rows, self.drive, None, step_function())
        return ClosedCode(self.rows, self.drive, self.rows.native(correction, gains), closed_step_function())

    def projection(self, code: RateCode, start: Array, *, thorough: bool = False) -> ClosedCode:
        """The loop that makes corrections; its constants are those of the rates."""
        from svyaz.dynamics.recursions.closure_loop import closed_projection_function, thorough_projection_function
        from svyaz.dynamics.recursions.sliding_code import SlidingCode

        inner = self._code_of(code)
        loop = thorough_projection_function() if thorough else closed_projection_function()
        return replace(inner.inner if isinstance(inner, SlidingCode) else inner, function=loop)

    def watch(
        self, run: CompiledRates, conditions: Sequence[Expression], values: Mapping[str, float]
    ) -> tuple[ConditionCode, Sizes]:
        """Conditions along the motion, in the points that they name, in multipliers and in the sides that hold it."""
        from svyaz.dynamics.recursions.closure_loop import watched_places_function, watched_reactions_function
        from svyaz.dynamics.recursions.closure_watch import tree_watch
        from svyaz.dynamics.recursions.sliding_code import SlidingWatch, sliding_code

        enforcement = run.enforcement
        acting, correction, gains = self._acting, enforcement.correction, tuple(enforcement.gains)
        reactions, law = [str(multiplier_symbol(c.name)) for c in acting], correction
        if {str(s) for s in symbols_in(conditions)}.isdisjoint(reactions):
            acting, reactions, law = [], [], ()
        seen, sliding = rows_of(self.equations.system, acting, conditions), self.equations.sliding
        loop = watched_reactions_function() if reactions else watched_places_function()
        code = ClosedCode(seen, self.drive, seen.native(law, gains), loop)
        plain = tree_watch(code, seen.inputs, (*reactions, *self.drive.given), conditions, values)
        inner = self._plain_code(correction, gains) if sliding else None
        watch = plain if inner is None else SlidingWatch(sliding_code(inner, sliding), plain)
        return watch, lambda _, constants, row: watch.with_values(constants).sizes(row)

    def respond(
        self, enforcement: Enforcement, bounds: Sequence[Sequence[Expression]], values: Mapping[str, float]
    ) -> Response:
        """The loop is given the sides behind the states; it knows no friction."""
        code, sides = self.rate_code(enforcement), self.drive.given
        own = code.constants({**self.equations.system.constants, **enforcement.constants})
        return lambda row, constants: {
            "rates": code.evaluate(np.concatenate([row, [constants[name] for name in sides]]), own)
        }

    def choose(self, written: Expression | None, in_points: Expression | None) -> Expression | None:
        """As it was stated in points, whose places the loop knows."""
        return written if in_points is None else in_points

    @property
    def _acting(self) -> list[Constraint]:
        return [d.constraint for d in self.equations.deviations]

    @cached_property
    def _weightless(self) -> Weightless:
        from svyaz.dynamics.recursions.tree_response import weightless_tree

        return weightless_tree(self.equations.system)

    @property
    def observed_names(self) -> Mapping[str, tuple[str, ...]]:
        """Tables of recursions observe nothing: ``observed`` does."""
        return {}

    def mobility(self, row: Array, mass: Array, bias: Array) -> Mobility:
        """M⁻¹ at a row by recursions; few digits of it are left where the mass matrix of a long tree is solved for."""
        from svyaz.dynamics.recursions.tree_response import TreeResponse

        return ByRecursion(TreeResponse(self.rows.system, self._weightless, self.tables, row))

    def observe(self, run: CompiledRates, rows: Array) -> Columns:
        """By the code of the run."""
        code, known, gains = self._code_of(run.code), known_values(run), run.enforcement.gains
        constants, names = code.constants(known), [c.name for c in self._acting]
        if not names:
            accelerations = code.evaluate(rows, constants)[:, velocity_columns(self.equations.system)]
            return observed_of_tree(self.equations.system, accelerations, rows)
        rates, multipliers = code.solved(rows, constants)
        found = observed_of_tree(self.equations.system, rates[:, velocity_columns(self.equations.system)], rows)
        tables = self.tables(rows, ("position", "velocity"))
        through = self.tables.through(rows)
        places = np.array([row.position is not None for row in self.rows.rows])
        found["multipliers"] = dict(zip(names, multipliers.T, strict=True))
        found["residuals"] = dict(zip(names, np.where(places, tables["position"], tables["velocity"]).T, strict=True))
        found["hidden"] = {
            name: column
            for name, column, holonomic in zip(names, tables["velocity"].T, places, strict=True)
            if holonomic
        }
        found["through"] = dict(zip(names, through.T, strict=True))
        if gains:
            _, free = code.solved(rows, code.constants({**known, **dict.fromkeys(gains, 0.0)}))
            found["power"] = {"stabilising power": np.sum((multipliers - free) * through, axis=1)}
        return found

    def observing(self, enforcement: Enforcement) -> TreeNumbers:
        """The tables: they know nothing of enforcement."""
        return self.tables

    def _code_of(self, code: RateCode) -> ClosedCode | SlidingCode:
        """The rates without what adjusts them."""
        from svyaz.dynamics.recursions.sliding_code import SlidingCode

        if isinstance(code, AdjustedCode):
            code = code.inner
        assert isinstance(code, ClosedCode | SlidingCode), "the code is that of this tree"
        return code

    @cached_property
    def _stepping(self) -> tuple[ClosedCode, Array]:
        """The rates without gains, with their constants."""
        from svyaz.dynamics.recursions.closure_loop import closed_step_function

        plain = self.tables.looking
        assert isinstance(plain, ClosedCode), "tables are those of this tree"
        code = replace(plain, function=closed_step_function(), everywhere=False)
        return code, code.constants(self.equations.system.constants)

    def deviation_gradients(self, rows: Array) -> tuple[Array, Array]:
        """By G, that of positions turned into slopes of coordinates."""
        system, level = self.equations.system, np.array([c.order == 1 for c in self._acting], dtype=bool)
        found, speeds = self.tables(rows, ("jacobian", "position", "velocity")), velocity_columns(system)
        places, order = found["jacobian"][:, ~level], [*np.flatnonzero(~level), *np.flatnonzero(level)]
        if self.equations.quasi:
            q = rows[:, 1 : 1 + len(system.coordinates)]
            tree = tree_of(system)
            places = np.array([by_coordinates(tree, g, z) for g, z in zip(places, q, strict=True)])
        slopes = np.zeros((len(rows), places.shape[1] + len(order), rows.shape[1] - 1))
        slopes[:, : places.shape[1], : len(system.coordinates)] = places
        slopes[:, places.shape[1] :, speeds] = found["jacobian"][:, order]
        return np.hstack([found["position"][:, ~level], found["velocity"][:, order]]), slopes

    def move_states(self, rows: Array, positions: Array, rates: Array) -> Array:
        """The nearest states (k, n) in the metric of M at which all rows have these h and rates (k, m); NaN where the
        constraints depend on each other. A row on velocities has no h: zero is wanted.
        """
        from svyaz.dynamics.recursions.closure_loop import closed_reach_function

        code, constants = self._stepping
        return replace(code, function=closed_reach_function()).evaluate(np.hstack([rows, positions, rates]), constants)

    def log_determinants(self, rows: Array) -> tuple[Array, Array]:
        """(sign, log |det [M Gᵀ; G 0]|) along rows, by the pivots of the elimination: D of each joint and -d of each row; NaN
        where there is none.
        """
        code, constants = self._stepping
        sizes = np.full(len(rows), np.nan)
        if all(
            row.position is not None for row in self.rows.rows
        ):  # velocities, which may be beyond numbers, do not matter
            rows = rows.copy()
            rows[:, 1:][:, velocity_columns(self.equations.system)] = 0.0
        for k, row in enumerate(rows):
            if np.isfinite(row).all() and np.isfinite(code.evaluate(row, constants)).all():
                sizes[k] = -sum(np.log(shares).sum() for shares in shares_in(constants))
        return np.where(np.isfinite(sizes), (-1.0) ** len(self.rows.rows), np.nan), sizes


def closed_equations(system: System, constraints: Sequence[Constraint]) -> Equations:
    """The equations of a tree with constraints, named and not written out; velocities of free joints are quasi-velocities."""
    quasi = system.freedoms != system.coordinates
    return Equations(
        FORM,
        system,
        system.states,
        {**system.coordinate_rates, **system.rates},
        accelerated=system.velocities if quasi else system.coordinates,
        bias=drive_of(system).forces,
        deviations=_named(constraints),
        quasi=quasi,
    )


def _named(constraints: Sequence[Constraint]) -> tuple[Deviation, ...]:
    """The deviations from constraints by name: rows of points stand for them."""
    return tuple(Deviation(c, None if c.order else deviation_symbol(c.name), rate_symbol(c.name)) for c in constraints)
