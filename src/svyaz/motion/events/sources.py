"""Where the equations of phases by events come from: they are written out, or named and left to recursions over bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from svyaz.arrays import Array
from svyaz.dynamics import FORM, velocity_columns
from svyaz.forms import (
    Equations,
    NumericTree,
    energy,
    free_equations,
    kinetic_and_potential,
    lagrange_terms,
    with_constraints,
)
from svyaz.holding import Refusal
from svyaz.model import Constraint, System, tree_of
from svyaz.motion.starts import refuse_weightless
from svyaz.program import Function, function


class Source(Protocol):
    """The equations of a system with any of its constraints acting."""

    @property
    def system(self) -> System: ...

    @property
    def form(self) -> str: ...

    @property
    def free(self) -> Equations:
        """Those without constraints."""

    def with_constraints(self, active: Sequence[Constraint]) -> Equations:
        """Those with these constraints."""

    def energies(self, rows: Array) -> dict[str, Array]:
        """Energy and kinetic energy along rows [t, states]."""

    def refused(self, state: Array) -> Refusal | None:
        """Why no motion can begin in a state, whatever acts, as far as it is known before."""


@dataclass(frozen=True)
class Written:
    """Equations with multipliers, written out."""

    system: System
    form: str = "multipliers"

    @cached_property
    def free(self) -> Equations:
        return free_equations(self.system, self.form, *lagrange_terms(self.system))

    def with_constraints(self, active: Sequence[Constraint]) -> Equations:
        return with_constraints(self.free, active)

    def energies(self, rows: Array) -> dict[str, Array]:
        return self._energies(rows)

    @cached_property
    def _energies(self) -> Function:
        tables = {"energy": energy(self.system), "kinetic": kinetic_and_potential(self.system)[0]}
        return function(tables, ("t", *self.system.states), self.system.constants)

    def refused(self, _state: Array) -> Refusal | None:
        return None


@dataclass(frozen=True)
class Recursive:
    """Those of a long tree: named, with numbers and native code by recursions."""

    system: System
    form: str = FORM

    @cached_property
    def free(self) -> Equations:
        return self.with_constraints(())

    def with_constraints(self, active: Sequence[Constraint]) -> Equations:
        from svyaz.dynamics import closed_equations

        return closed_equations(self.system, active)

    def energies(self, rows: Array) -> dict[str, Array]:
        q, v = rows[:, 1 : 1 + len(self.system.coordinates)], rows[:, 1:][:, velocity_columns(self.system)]
        kinetic, potential = NumericTree(tree_of(self.system), self.system.parameters).energies(q, v)
        return {"energy": kinetic + potential, "kinetic": kinetic}

    def refused(self, state: Array) -> Refusal | None:
        return refuse_weightless(self.system, state)
