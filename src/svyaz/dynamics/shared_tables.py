"""The numbers of equations with some constraints from the program of equations with more, each with a switch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics.tables import added_name, gain_name, numbered
from svyaz.forms import Equations, switch_values
from svyaz.program import Entries, Tabulated

BY_CONSTRAINT = (
    "jacobian",
    "jacobian_terms",
    "reactions",
    "constraint_bias",
    "position",
    "velocity",
    "position_terms",
    "velocity_terms",
)
"""Tables with a row for each constraint."""

AS_WRITTEN = ", as written"
"""How the names of residuals end that are observed beside those of the constraints as they are held."""


@dataclass(frozen=True)
class PartOfTables:
    """Tables of some constraints: ``chosen`` has the places of their rows, or of what is observed, in those of ``whole``;
    ``names`` are those that their parameters have there.
    """

    whole: Tabulated
    chosen: Mapping[str, Sequence[int]]
    names: Mapping[str, str]

    @cached_property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        kept = {name: (len(rows),) for name, rows in self.chosen.items()}
        return {name: (*kept.get(name, shape[:1]), *shape[1:]) for name, shape in self.whole.shapes.items()}

    @property
    def sparse(self) -> Mapping[str, NDArray[np.intp]]:
        return {}

    @cached_property
    def values(self) -> Mapping[str, float]:
        own = {name: self.whole.values[there] for name, there in self.names.items()}
        return {**self.whole.values, **own}

    def with_values(self, values: Mapping[str, float]) -> PartOfTables:
        return replace(
            self, whole=self.whole.with_values({self.names.get(name, name): x for name, x in values.items()})
        )

    def __call__(self, x: Array, only: Sequence[str] | None = None) -> dict[str, Array]:
        return self._of_part(self.whole(x, only), x.ndim - 1)

    def known(self, x: Array, only: Sequence[str]) -> dict[str, Array]:
        return self._of_part(self.whole.known(x, only), x.ndim - 1)

    def entries(self, x: Array, *names: str) -> tuple[Entries, ...]:
        found = zip(names, self.whole.entries(x, *names), strict=True)
        return tuple(e.block(self.chosen[n], range(e.shape[1])) if n in self.chosen else e for n, e in found)

    def _of_part(self, found: dict[str, Array], axis: int) -> dict[str, Array]:
        return {
            name: np.take(table, self.chosen[name], axis=axis) if name in self.chosen else table
            for name, table in found.items()
        }


def part_of_tables(
    part: Equations, whole: Equations, tables: Tabulated, observed: Mapping[str, tuple[str, ...]]
) -> tuple[PartOfTables, dict[str, tuple[str, ...]]]:
    """The tables of a part of the constraints, and the names of what is ``observed`` there, by kind."""
    rows = [whole.multiplier_names.index(name) for name in part.multiplier_names]
    chosen: dict[str, Sequence[int]] = {name: rows for name in BY_CONSTRAINT if name in tables.shapes}
    gone = {*whole.multiplier_names} - {*part.multiplier_names}
    watched = gone - {d.name for d in part.spare}
    names = {}
    for kind, every in observed.items():
        left = watched if kind == "residuals" else gone if kind in ("multipliers", "hidden", "through") else set()
        kept = [k for k, name in enumerate(every) if name.removesuffix(AS_WRITTEN) not in left]
        names[kind] = tuple(every[k] for k in kept)
        if left:
            chosen[kind] = kept
    bound = tables.with_values(switch_values(part, whole))
    return PartOfTables(bound, chosen, shared_names(part, whole)), names


def shared_names(part: Equations, whole: Equations) -> dict[str, str]:
    """The names of gains, and of what laws add, of some constraints among more."""
    found = {}
    numbers = {d.name: (place, k) for k, (place, d) in enumerate(numbered(whole))}
    for own, (place, d) in enumerate(numbered(part)):
        there, number = numbers[d.name]
        found[added_name(own)] = added_name(number)
        for block in ("E",) if d.position is None else ("A", "B"):
            found[gain_name(block, place, place)] = gain_name(block, there, there)
    return found


def shared_values(part: Equations, whole: Equations | None, values: Mapping[str, float]) -> dict[str, float]:
    """The values that the program of more constraints takes for some of them: switches, and gains by their names there.

    Without a ``whole`` the equations have a program of their own.
    """
    if whole is None:
        return dict(values)
    names = shared_names(part, whole)
    return {**switch_values(part, whole), **{names.get(name, name): x for name, x in values.items()}}
