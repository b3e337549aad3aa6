"""Trees with constraints between points of their bodies: named equations, with numbers and native code by recursions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import finalize

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics.mobility import ByRecursion, Mobility
from svyaz.dynamics.recursions.closing_layout import CLOSING, MULTIPLIERS, ROW, ROW_NUMBERS, SHARE_ROW, numbers_at
from svyaz.dynamics.recursions.closing_numbers import TreeNumbers
from svyaz.dynamics.recursions.closing_rows import ClosingRows, deviation_symbol, rate_symbol, rows_of
from svyaz.dynamics.recursions.closing_words import closing_words
from svyaz.dynamics.recursions.long_tree_code import BODY_WORDS, HEAD, RECORD, ROOM, SHARE
from svyaz.dynamics.recursions.tree_words import (
    FORM,
    Drive,
    drive_of,
    energies_of_tree,
    observed_of_tree,
    pose_addresses,
    sliced_tree,
    tree_words,
    velocity_columns,
)
from svyaz.expr import ZERO, Expression, Surface, put_in, symbols_in
from svyaz.forms import Deviation, Equations, RateCode
from svyaz.integrate import Callback, Flow, along
from svyaz.model import Constraint, System, multiplier_symbol
from svyaz.program import Native

if TYPE_CHECKING:
    from svyaz.dynamics.recursions.closing_watch import TreeWatch
    from svyaz.dynamics.recursions.sliding_code import SlidingCode, SlidingWatch
    from svyaz.dynamics.recursions.tree_giving import WeightlessTree


@dataclass(frozen=True)
class ClosedTree:
    """The recursions of a tree with the constraints of ``rows``; free joints are six bodies with one freedom each.

    ``drive`` is what acts on it where that is not what was stated; the motion is held on surfaces that are ``sliding``, by
    what the drive is given in the names of their sides.
    """

    rows: ClosingRows
    drive: Drive | None = None
    sliding: tuple[Surface, ...] = ()

    @property
    def forces(self) -> tuple[Expression, ...]:
        """What acts on the joints."""
        return (self.drive or drive_of(self.rows.system)).forces

    def driven(
        self,
        forces: Sequence[Expression],
        rates: Mapping[str, Expression],
        values: Mapping[str, float],
        given: Sequence[str] = (),
        sliding: Sequence[Surface] = (),
    ) -> ClosedTree:
        """With other forces and rates of further states, in which there are further constants and numbers that are given."""
        further = [rates[name] for name in self.rows.system.states if name in self.rows.system.rates]
        names = (*given, *(str(surface.side) for surface in sliding))
        return replace(self, drive=Drive(tuple(forces), tuple(further), names, values), sliding=tuple(sliding))

    @property
    def description(self) -> str:
        """Recursions, with constraints or without."""
        return "recursions over bodies with constraints" if self.rows.rows else "recursions over bodies"

    @cached_property
    def tables(self) -> TreeNumbers:
        """M, bias, G, residuals and their terms along rows of states."""
        from svyaz.dynamics.recursions.closing_code import closed_look_function

        native = self.rows.native([ZERO] * len(self.rows.rows), ())
        looking = ClosedCode(self._without_given(), native, closed_look_function(), everywhere=True)
        return TreeNumbers(self.rows, self.rows.system.constants, looking)

    def _without_given(self) -> ClosedTree:
        """The same with zero for what is given."""
        drive = self.drive
        if drive is None or not drive.given:
            return self
        zero = {se.Symbol(name): ZERO for name in drive.given}
        forces, rates = (tuple(put_in(e, zero) for e in entries) for entries in (drive.forces, drive.rates))
        return replace(self, drive=replace(drive, forces=forces, rates=rates, given=()), sliding=())

    def of_rows(self, kept: Sequence[int]) -> ClosedTree:
        """With some of the constraints."""
        return replace(self, rows=replace(self.rows, rows=tuple(self.rows.rows[k] for k in kept)))

    def tables_of(self, constraints: Sequence[Constraint]) -> TreeNumbers:
        """Those of the same bodies with these constraints."""
        return self.with_rows(constraints).tables

    def with_constraints(self, constraints: Sequence[Constraint]) -> Equations:
        """The equations of the same bodies with these constraints, named and not written out."""
        return _equations(self.with_rows(constraints))

    def energies(self, rows: Array) -> dict[str, Array]:
        """T and T + V, by sums over the bodies."""
        return energies_of_tree(self.rows.system, rows)

    def rate_code(self, correction: Sequence[Expression], gains: Sequence[str]) -> ClosedCode | SlidingCode:
        """The rates, with what is added to the rows of the constraints."""
        inner = self._plain_code(correction, gains)
        if not self.sliding:
            return inner
        from svyaz.dynamics.recursions.sliding_code import sliding_code

        return sliding_code(inner, self.sliding)

    def _plain_code(self, correction: Sequence[Expression], gains: Sequence[str]) -> ClosedCode:
        """The rates with the sides that are given."""
        from svyaz.dynamics.recursions.closing_code import closed_step_function
        from svyaz.dynamics.recursions.long_tree_code import step_function

        loop = closed_step_function() if self.rows.rows else step_function()
        return ClosedCode(self, self.rows.native(correction, gains), loop)

    def projection(self, code: RateCode) -> ClosedCode:
        """What moves a state onto the constraints after a step; its constants are those of the rates."""
        from svyaz.dynamics.recursions.closing_code import closed_projection_function
        from svyaz.dynamics.recursions.sliding_code import SlidingCode

        assert isinstance(code, ClosedCode | SlidingCode), "the code is that of this tree"
        inner = code.inner if isinstance(code, SlidingCode) else code
        return replace(inner, function=closed_projection_function())

    def watching(
        self,
        correction: Sequence[Expression],
        gains: Sequence[str],
        conditions: Sequence[Expression],
        values: Mapping[str, float],
    ) -> TreeWatch | SlidingWatch:
        """Conditions along the motion, in the points that they name, in multipliers and in the sides that hold it."""
        from svyaz.dynamics.recursions.closing_code import watched_places_function, watched_reactions_function
        from svyaz.dynamics.recursions.closing_watch import tree_watch
        from svyaz.dynamics.recursions.sliding_code import SlidingWatch, sliding_code

        acting = [row.constraint for row in self.rows.rows]
        reactions, law = [str(multiplier_symbol(c.name)) for c in acting], correction
        if {str(s) for s in symbols_in(conditions)}.isdisjoint(reactions):
            acting, reactions, law = [], [], ()
        seen = replace(self, rows=rows_of(self.rows.system, acting, conditions))
        loop = watched_reactions_function() if reactions else watched_places_function()
        code, given = (
            ClosedCode(seen, seen.rows.native(law, gains), loop),
            () if self.drive is None else self.drive.given,
        )
        watch = tree_watch(code, seen.rows.inputs, (*reactions, *given), conditions, values)
        return (
            SlidingWatch(sliding_code(self._plain_code(correction, gains), self.sliding), watch)
            if self.sliding
            else watch
        )

    @cached_property
    def _weightless(self) -> WeightlessTree:
        from svyaz.dynamics.recursions.tree_giving import WeightlessTree

        return WeightlessTree(self.rows.system)

    @property
    def observed_names(self) -> Mapping[str, tuple[str, ...]]:
        """Tables of recursions observe nothing: ``observed`` does."""
        return {}

    def mobility(self, row: Array, mass: Array, bias: Array) -> Mobility:
        """M⁻¹ at a row by recursions; few digits of it are left where the mass matrix of a long tree is solved for."""
        from svyaz.dynamics.recursions.tree_giving import TreeGiving

        return ByRecursion(TreeGiving(self._weightless, self.tables, row))

    def with_rows(self, constraints: Sequence[Constraint]) -> ClosedTree:
        """The same bodies with other constraints."""
        return replace(self, rows=rows_of(self.rows.system, constraints))

    def observed(
        self, code: RateCode, known: Mapping[str, float], gains: Sequence[str], times: Array, states: Array
    ) -> dict[str, dict[str, Array]]:
        """What is observed along rows, by kind and name; with gains also the power of what only stabilises."""
        from svyaz.dynamics.recursions.sliding_code import SlidingCode

        assert isinstance(code, ClosedCode | SlidingCode), "the code is that of this tree"
        rows, names = np.column_stack([times, states]), [row.constraint.name for row in self.rows.rows]
        constants = code.constants(known)
        if not names:
            accelerations = code.evaluate(rows, constants)[:, velocity_columns(self.rows.system)]
            return observed_of_tree(self.rows.system, accelerations, rows)
        rates, multipliers = code.solved(rows, constants)
        found = observed_of_tree(self.rows.system, rates[:, velocity_columns(self.rows.system)], rows)
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

    @cached_property
    def _stepping(self) -> tuple[ClosedCode, Array]:
        """The rates without gains, with their constants."""
        from svyaz.dynamics.recursions.closing_code import closed_step_function

        plain = self.tables.looking
        assert isinstance(plain, ClosedCode), "tables are those of this tree"
        code = replace(plain, function=closed_step_function(), everywhere=False)
        return code, code.constants(self.rows.system.constants)

    def move_states(self, rows: Array, positions: Array, rates: Array) -> Array:
        """The nearest states (k, n) in the metric of M at which all rows have these h and rates (k, m); NaN where the
        constraints depend on each other. A row on velocities has no h: zero is wanted.
        """
        from svyaz.dynamics.recursions.closing_code import closed_reach_function

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
            rows[:, 1:][:, velocity_columns(self.rows.system)] = 0.0
        for k, row in enumerate(rows):
            if np.isfinite(row).all() and np.isfinite(code.evaluate(row, constants)).all():
                sizes[k] = -sum(np.log(shares).sum() for shares in code.shares(constants))
        return np.where(np.isfinite(sizes), (-1.0) ** len(self.rows.rows), np.nan), sizes


@dataclass(frozen=True)
class ClosedCode:
    """The loop over bodies and rows as native code; each set of constants has a workspace of its own.

    ``everywhere``: all bodies are looked at, not only those on ways from points to the ground.
    """

    tree: ClosedTree
    native: Native
    function: Callback
    everywhere: bool = False

    @property
    def address(self) -> int:
        return self.function.address

    def constants(self, values: Mapping[str, float], *alive: object) -> Array:
        """What the loop takes as ``c``; what it points to besides stays ``alive`` as long."""
        system = self.tree.rows.system
        words, kept = tree_words(system, self.tree.drive)
        addresses, programs = pose_addresses(system)
        known = {**dict.fromkeys(self.native.program.parameters, 0.0), **values}
        own = self.native.constants(known)
        tree = sliced_tree(system)
        code, sides = (self.native.address, own), len(self.tree.drive.given) if self.tree.drive is not None else 0
        closing, room = closing_words(self.tree.rows, tree, addresses, code, sides, everywhere=self.everywhere)
        found = np.concatenate([words, closing])
        finalize(found, _release, (kept, own, room, programs, self.native, alive))
        return found.view(np.float64)

    def evaluate(self, rows: Array, constants: Array) -> Array:
        """Rates (k, n) along rows [t, y…], or (n,) at one."""
        found = along(self._flow(constants), np.atleast_2d(rows))
        return found if rows.ndim > 1 else found[0]

    def solved(self, rows: Array, constants: Array) -> tuple[Array, Array]:
        """Rates (k, n) and multipliers (k, m)."""
        count = len(self.tree.rows.rows)
        address = self.multipliers(constants)
        rates, multipliers = np.empty((len(rows), rows.shape[1] - 1)), np.empty((len(rows), count))
        for k, row in enumerate(rows):
            rates[k] = along(self._flow(constants), row[None, :])[0]
            multipliers[k] = numbers_at(address, count) if np.isfinite(rates[k]).all() else np.nan
        return rates, multipliers

    def multipliers(self, constants: Array) -> int:
        """Where the multipliers are."""
        return int(constants.view(np.int64)[MULTIPLIERS - CLOSING])

    def shares(self, constants: Array) -> tuple[Array, Array]:
        """1/D of all joints and 1/d of all rows at the state that was evaluated last (see ``closing_elimination``)."""
        words = constants.view(np.int64)
        bodies, rows = int(words[0]), len(self.tree.rows.rows)
        records = words[HEAD + RECORD : HEAD + BODY_WORDS * bodies : BODY_WORDS]
        first = int(records.min()) - 8 * ROOM
        workspace = numbers_at(first, int(records.max() - first) // 8)
        numbers = numbers_at(int(words[ROW_NUMBERS - CLOSING]), ROW * rows)
        return workspace[(records - first) // 8 - ROOM + SHARE], numbers[SHARE_ROW::ROW]

    def _flow(self, constants: Array) -> Flow:
        return Flow(self.address, constants, len(self.tree.rows.system.states), self)


def _release(_kept: object) -> None:
    """What a workspace needs lives as long as its words."""


def closed_equations(system: System, constraints: Sequence[Constraint]) -> Equations:
    """The equations of a tree with constraints, named and not written out; velocities of free joints are quasi-velocities."""
    return _equations(ClosedTree(rows_of(system, constraints)))


def _equations(tree: ClosedTree) -> Equations:
    rows, system = tree.rows, tree.rows.system
    quasi = system.freedoms != system.coordinates
    deviations = tuple(
        Deviation(
            row.constraint,
            None if row.position is None else deviation_symbol(row.constraint.name),
            rate_symbol(row.constraint.name),
        )
        for row in rows.rows
    )
    return Equations(
        FORM,
        system,
        system.states,
        {**system.coordinate_rates, **system.rates},
        accelerated=system.velocities if quasi else system.coordinates,
        bias=tree.forces,
        deviations=deviations,
        quasi=quasi,
        recursion=tree,
    )
