"""Native code of equations: what it offers to loops, and what a run adds to the equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from svyaz.arrays import Array
from svyaz.expr import Expression
from svyaz.forms import Equations, Rates

Columns = dict[str, dict[str, Array]]
"""Columns (k,) along rows of states, by kind and name."""


class RateCode(Protocol):
    """Native code: a function of rows [t, y…] at an address for loops, with constants made of values by name."""

    @property
    def address(self) -> int: ...

    def constants(self, values: Mapping[str, float]) -> Array: ...

    def evaluate(self, rows: Array, constants: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class Enforcement:
    """What enforces constraints and integrals: the ``correction`` of the rows of the constraints, with values of its ``gains``.

    ``own``: the gains are those of each constraint for itself (``own_gains``). ``adjust`` changes the rates that result, by
    constants with ``values``.
    """

    correction: Sequence[Expression]
    gains: Mapping[str, float] = field(default_factory=dict)
    own: bool = True
    adjust: Callable[[Rates], Rates] | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    @property
    def constants(self) -> dict[str, float]:
        """The values of all constants that it adds."""
        return {**self.gains, **self.values}


class CompiledRates(Protocol):
    """The rates of a motion as native code, with their constants; ``values`` are those of the constants of the system."""

    @property
    def equations(self) -> Equations: ...

    @property
    def enforcement(self) -> Enforcement: ...

    @property
    def values(self) -> Mapping[str, float]: ...

    @property
    def code(self) -> RateCode: ...

    @property
    def constants(self) -> Array: ...


def known_values(run: CompiledRates) -> dict[str, float]:
    """The values of all constants of a run."""
    return {**run.values, **run.enforcement.constants}


class ConditionCode(Protocol):
    """Conditions g along rows [t, states] as native code, with the values of its parameters bound."""

    @property
    def shapes(self) -> Mapping[str, tuple[int, ...]]: ...

    @property
    def address(self) -> int: ...

    @property
    def constants(self) -> Array: ...

    def with_values(self, values: Mapping[str, float]) -> ConditionCode: ...

    def __call__(self, x: Array, /) -> dict[str, Array]: ...


Response = Callable[[Array, Mapping[str, float]], dict[str, Array]]
"""From [t, states…] and values of constants, sides among them, to tables."""

Sizes = Callable[[CompiledRates, Mapping[str, float], Array], Array]
"""From a run, the values of all constants and [t, states…] to the sums of the magnitudes of the terms of g (m,)."""
