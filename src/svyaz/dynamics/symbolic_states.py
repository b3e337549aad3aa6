"""States of symbolic equations moved so that the deviations from the constraints have given values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.dynamics.scales import balanced, coordinate_scales
from svyaz.expr import Expression, gradients, symbols_in
from svyaz.forms import Equations
from svyaz.program import Function, Table, Tabulated, bordered, function, row_entries

RIDGE = 1e-13
"""Beside 1: keeps least corrections finite where rows depend on each other."""

MOVED = 1e-14
"""Newton's method ends where no state is moved by more than this part of the largest along the rows."""

ITERATIONS = 3
"""Steps of Newton's method from states that are near."""


@dataclass(frozen=True, eq=False)
class StateCorrections:
    """Corrections of states along rows [t, states]; ``tables`` are those of the equations."""

    equations: Equations
    tables: Tabulated

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


@lru_cache(maxsize=8)
def _comparable_steps(of: StateCorrections, start: tuple[float, ...]) -> Array:
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
