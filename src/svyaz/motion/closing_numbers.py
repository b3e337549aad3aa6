"""M, bias, G and residuals of a tree with constraints between points of its bodies, by recursions on arrays of states.

Everything is in ground axes here: R_k, p_k, ω_k, V_k of each body for all states at once. A point P of a body k moves with the
joint j on its way to the ground by a_j × (P - p_j) where j turns about a_j, by a_j where it slides along it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.forms import FLOATS, NumericTree, welded
from svyaz.model import GROUND, Tree, axis_rotation, numbers, tree_of
from svyaz.motion.closing_rows import Rows
from svyaz.program import Entries


@dataclass(frozen=True)
class _Moving:
    """Bodies at many states: axes of joints (n, k, 3), poles, angular velocities, velocities of the poles, accelerations of
    both without those of the joints; rotations (n, k, 3, 3).
    """

    axes: Array
    poles: Array
    turning: Array
    speeds: Array
    spins: Array
    pulls: Array
    rotations: Array


@dataclass(frozen=True)
class TreeNumbers:
    """Tables by name along rows [t, q, q̇], as a ``Function`` of written equations gives them."""

    rows: Rows
    values: Mapping[str, float]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of all tables."""
        n, m = len(self.rows.system.coordinates), len(self.rows.rows)
        vectors = ("constraint_bias", "position", "velocity", "position_terms", "velocity_terms")
        matrices = ("jacobian", "jacobian_terms")
        return {"mass": (n, n), "bias": (n,), **dict.fromkeys(matrices, (m, n)), **dict.fromkeys(vectors, (m,))}

    @property
    def sparse(self) -> dict[str, NDArray[np.intp]]:
        """None of them is looked at by its entries."""
        return {}

    def with_values(self, values: Mapping[str, float]) -> TreeNumbers:
        """The same with other values of some parameters."""
        return replace(self, values={**self.values, **values})

    def __call__(self, x: Array, only: Sequence[str] | None = None) -> dict[str, Array]:
        """All tables, or some, at one row, or at many."""
        wanted = list(self.shapes) if only is None else only
        if x.ndim == 1:
            return {name: table[0] for name, table in self(x[None, :], wanted).items()}
        n = len(self.rows.system.coordinates)
        q, v = x[:, 1 : 1 + n], x[:, 1 + n : 1 + 2 * n]
        found: dict[str, Array] = {}
        if "mass" in wanted:
            found["mass"] = self._numeric.mass_matrix(q)
        if "bias" in wanted:
            found["bias"] = self._numeric.bias(q, v) - self._applied(x)
        if set(wanted) & (self.shapes.keys() - {"mass", "bias"}):
            found |= self._constraints(x, q, v, wanted)
        return {name: table for name, table in found.items() if name in wanted}

    def known(self, x: Array, only: Sequence[str]) -> dict[str, Array]:
        """The same: no table needs a linear system."""
        return self(x, only)

    def entries(self, x: Array, name: str) -> Entries:
        """All entries of a matrix along rows."""
        table = self(x, (name,))[name]
        rows, columns = np.divmod(np.arange(table[0].size), max(1, table.shape[2]))
        return Entries(table.reshape(len(table), -1), rows, columns, (table.shape[1], table.shape[2]))

    @cached_property
    def tree(self) -> Tree:
        """The bodies that move, with numbers."""
        return welded(numbers(tree_of(self.rows.system), self.values), FLOATS)

    @cached_property
    def _numeric(self) -> NumericTree:
        return NumericTree(tree_of(self.rows.system), self.values)

    def _applied(self, x: Array) -> Array:
        """Q - ∂D/∂v (k, n)."""
        from svyaz.motion.long_trees import applied_forces

        native = applied_forces(self.rows.system)
        return np.zeros((len(x), 1)) if native is None else native.evaluate(x, native.constants(self.values))

    def _constraints(self, x: Array, q: Array, v: Array, wanted: Sequence[str]) -> dict[str, Array]:
        rows, moving = self.rows, self._moving(q, v)
        points = [self._point(moving, k, len(x)) for k in range(len(rows.points))]
        given = np.concatenate([x, np.zeros_like(q), *(part for point in points for part in point)], axis=1)
        tables = rows.tables.with_values(self.values)(given)
        found = {name: tables[name] for name in ("position", "velocity", "position_terms", "velocity_terms")}
        found["constraint_bias"] = tables["second"]
        for name, kind in (("jacobian", np.positive), ("jacobian_terms", np.absolute)):
            if name in wanted:
                found[name] = self._jacobian(moving, points, tables["gradients"], kind)
        return found

    def _moving(self, q: Array, v: Array) -> _Moving:
        count, k = len(self.tree.bodies), len(q)
        axes, poles, turning, speeds, spins, pulls = np.zeros((6, count, k, 3))
        found = _Moving(axes, poles, turning, speeds, spins, pulls, np.zeros((count, k, 3, 3)))
        for j, body in enumerate(self.tree.bodies):
            ground = body.base == GROUND
            under = np.broadcast_to(np.eye(3), (k, 3, 3)) if ground else found.rotations[body.base]
            omega, speed, spin, pull = (
                np.zeros((k, 3)) if ground else table[body.base]
                for table in (found.turning, found.speeds, found.spins, found.pulls)
            )
            axis = under @ np.array(body.axis, dtype=float)
            way = np.broadcast_to(np.array(body.pole, dtype=float), (k, 3))
            own, turn = np.zeros((k, 3)), under
            if body.joint == "prismatic":
                way = way + q[:, [j]] * np.array(body.axis, dtype=float)
                own = axis * v[:, [j]]
            else:
                entries = axis_rotation(body.axis, np.sin(q[:, j]), np.cos(q[:, j]))
                turn = under @ np.stack([np.stack(np.broadcast_arrays(*row), axis=1) for row in entries], axis=1)
            offset = np.einsum("kij,kj->ki", under, way)
            found.axes[j], found.rotations[j] = axis, turn
            found.poles[j] = offset if ground else found.poles[body.base] + offset
            swept = np.cross(omega, offset)
            found.speeds[j] = speed + swept + own
            found.pulls[j] = pull + np.cross(spin, offset) + np.cross(omega, swept) + 2 * np.cross(omega, own)
            turned = axis * v[:, [j]] if body.joint == "revolute" else np.zeros((k, 3))
            found.turning[j], found.spins[j] = omega + turned, spin + np.cross(omega, turned)
        return found

    def _point(self, moving: _Moving, number: int, count: int) -> tuple[Array, Array, Array]:
        """P, Ṗ, and P̈ without accelerations of the joints."""
        body, at = self.rows.bodies[number], self.rows.places[number]
        if body == GROUND:
            return np.tile(at, (count, 1)), np.zeros((count, 3)), np.zeros((count, 3))
        arm, omega = moving.rotations[body] @ at, moving.turning[body]
        swept = np.cross(omega, arm)
        bend = np.cross(moving.spins[body], arm) + np.cross(omega, swept)
        return moving.poles[body] + arm, moving.speeds[body] + swept, moving.pulls[body] + bend

    def _jacobian(
        self, moving: _Moving, points: Sequence[tuple[Array, ...]], gradients: Array, kind: np.ufunc
    ) -> Array:
        rows = self.rows
        found = np.zeros((len(gradients), len(rows.rows), len(rows.system.coordinates)))
        for i, (row, p) in enumerate(rows.pushes):
            force = kind(gradients[:, 3 * i : 3 * i + 3])
            for j in () if rows.bodies[p] == GROUND else self.tree.path(rows.bodies[p]):
                arm = points[p][0] - moving.poles[j]
                turns = self.tree.bodies[j].joint == "revolute"
                move = np.cross(moving.axes[j], arm) if turns else moving.axes[j]
                found[:, row, j] += np.sum(force * kind(move), axis=1)
        first = 3 * len(rows.pushes)
        for i, (row, freedom) in enumerate(rows.pulls):
            found[:, row, freedom] += kind(gradients[:, first + i])
        return found
