"""What belongs to the position of a collision: how bodies give way there, and which constraints repeat others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from svyaz.arrays import Array
from svyaz.constraints import scaled_rows
from svyaz.dynamics import Mobility, Snapshot, dependencies


@dataclass(frozen=True, eq=False)
class CollisionPlace:
    """What the bodies of a collision give way to, and how their constraints depend on each other, at one position."""

    snapshot: Snapshot
    names: tuple[str, ...]
    repeating: dict[tuple[str, ...], bool] = field(default_factory=dict)

    @cached_property
    def compliance(self) -> Mobility:
        return self.snapshot.mobility

    def ease(self, name: str) -> float:
        """√(g M⁻¹ gᵀ) of a row g of the Jacobian: how easily a unit impulse moves it."""
        return self._eases[name]

    @cached_property
    def _eases(self) -> dict[str, float]:
        return dict(zip(self.names, self.compliance.eases(self.snapshot.jacobian).tolist(), strict=True))

    def repeats(self, names: Sequence[str]) -> bool:
        """Do some of these constraints follow from the others?"""
        key = tuple(names)
        if key not in self.repeating:
            self.repeating[key] = bool(dependencies(self.unit_rows(names)))
        return self.repeating[key]

    def unit_rows(self, names: Sequence[str]) -> Array:
        """Rows of the Jacobian of unit length in scaled coordinates."""
        return self._unit_rows[[self._numbers[name] for name in names]]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names)}

    @cached_property
    def _unit_rows(self) -> Array:
        return scaled_rows(self.snapshot)
