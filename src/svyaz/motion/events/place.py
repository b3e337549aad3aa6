"""What belongs to the position of a collision: how bodies give way there, and which constraints repeat others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import scaled_rows
from svyaz.dynamics import Snapshot, dependencies
from svyaz.matrices import matrix_rank
from svyaz.model import Constraint

FAR = 0.05
"""Constraints are far from repeating each other while no pivot of their scaled G M⁻¹ Gᵀ is below the square of this."""

TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True, eq=False)
class CollisionPlace:
    """What the bodies of a collision give way to, and how their ``constraints`` depend on each other, at one position.

    ``snapshot`` has a row for each constraint; in what follows they are named by the numbers of their rows.
    """

    constraints: tuple[Constraint, ...]
    snapshot: Snapshot
    repeating: dict[tuple[int, ...], bool] = field(default_factory=dict)

    @cached_property
    def rows(self) -> dict[str, int]:
        """The row of each constraint by its name."""
        return {c.name: row for row, c in enumerate(self.constraints)}

    @cached_property
    def _responses(self) -> Array | None:
        """M⁻¹ gᵀ of each row g, (m, n); None where M is nearly singular."""
        return self.snapshot.mobility.responses(self.snapshot.jacobian)

    @cached_property
    def responses(self) -> Array:
        """The same, by least squares there."""
        if self._responses is not None:
            return self._responses
        given = self.snapshot.jacobian
        return np.array([self.snapshot.mobility.pushed(row) for row in given]).reshape(given.shape)

    @cached_property
    def compliance(self) -> Array:
        """G M⁻¹ Gᵀ (m, m), the matrix of E. Delassus."""
        return np.asarray(self.snapshot.jacobian @ self.responses.T)

    @cached_property
    def _units(self) -> Array:
        return 1.0 / np.sqrt(np.maximum(np.diag(self.compliance), TINY))

    @cached_property
    def eases(self) -> list[float]:
        """√(g M⁻¹ gᵀ) of each row g: how easily a unit impulse moves it."""
        found = self.snapshot.mobility.eases(self.snapshot.jacobian) if self._responses is None else 1.0 / self._units
        return [float(x) for x in found]

    def pushed(self, impulses: Array) -> Array:
        """The jump of the velocities that impulses of all constraints (m,) give."""
        found: Array = impulses @ self.responses
        return found

    def least(self, rows: Sequence[int], wanted: Array) -> tuple[Array, Array]:
        """(δ, Λ) with G δ = wanted for some of the rows and M δ = Gᵀ Λ."""
        chosen = list(rows)
        if self._responses is not None and chosen:
            units, square = self._units[chosen], self.compliance[np.ix_(chosen, chosen)]
            scaled = square * units * units[:, None]
            if _is_regular(scaled):
                impulses = units * np.linalg.solve(scaled, units * wanted)
                return impulses @ self._responses[chosen], impulses
        return self.snapshot.mobility.least(self.snapshot.jacobian[chosen], wanted)

    def independent(self, rows: Sequence[int]) -> bool:
        """Are these constraints far from repeating each other, and M far from being singular?"""
        chosen = list(rows)
        if self._responses is None or not chosen:
            return False
        units = self._units[chosen]
        return _is_regular(self.compliance[np.ix_(chosen, chosen)] * units * units[:, None])

    def free_fall(self, here: Snapshot) -> Array:
        """Accelerations (n,) without contacts at this position, with the velocities of a snapshot."""
        if self._responses is None:
            return here.mobility.accelerated(here.jacobian[:0], here.constraint_bias[:0])
        return self.snapshot.mobility.pushed(-here.bias)

    def accelerated(self, rows: Sequence[int]) -> Array:
        """Accelerations with some of the constraints acting, with the velocities of the snapshot."""
        s, chosen = self.snapshot, list(rows)
        if self._responses is None:
            return s.mobility.accelerated(s.jacobian[chosen], s.constraint_bias[chosen])
        free = self.free_fall(s)
        return free + self.least(chosen, -s.constraint_bias[chosen] - s.jacobian[chosen] @ free)[0] if chosen else free

    def repeats(self, rows: Sequence[int]) -> bool:
        """Do some of these constraints follow from the others?"""
        key = tuple(rows)
        if key not in self.repeating:
            self.repeating[key] = bool(dependencies(self._unit_rows[list(key)]))
        return self.repeating[key]

    def repetitions(self, rows: Sequence[int]) -> int:
        """How many of these constraints follow from others."""
        return len(dependencies(self._unit_rows[list(rows)])) if self.repeats(rows) else 0

    def rank(self, rows: Sequence[int]) -> int:
        """How many of these constraints are independent."""
        return matrix_rank(self._unit_rows[list(rows)], tol=1e-9)

    @cached_property
    def _unit_rows(self) -> Array:
        """Rows of the Jacobian of unit length in scaled coordinates."""
        return scaled_rows(self.snapshot)


def _is_regular(scaled: Array) -> bool:
    """Is a matrix with a unit diagonal far from being singular?"""
    try:
        return bool(np.linalg.cholesky(scaled).diagonal().min() > FAR)
    except np.linalg.LinAlgError:
        return False
