"""What is known in numbers at a position of rest, and the applied forces among it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import Expression, at_points, gradient, velocity
from svyaz.forms import applied_forces
from svyaz.model import System
from svyaz.program import remembered


@dataclass(frozen=True)
class AtRest:
    """Values and derivatives at q̇ = 0; a slope of a vector by k variables has the shape (size, k).

    ``inertia`` A (n, n), ``linear`` a (n,), ``linear_slope`` ∂a/∂q; ``pull`` ∂W/∂q (n,), ``stiffness`` ∂²W/∂q²,
    ``pull_by_further`` ∂²W/∂q∂w (of momenta, on which a Routhian depends);
    ``force`` Q with its slopes by q, q̇, w, u; ``constraint`` F (m,), ``jacobian`` ∂F/∂q, ``curvature`` ∂²F/∂q² (m, n, n);
    ``rate`` g with its slopes.
    """

    inertia: Array
    linear: Array
    linear_slope: Array
    pull: Array
    stiffness: Array
    pull_by_further: Array
    force: Array
    force_slopes: Mapping[str, Array]
    constraint: Array
    jacobian: Array
    curvature: Array
    rate: Array
    rate_slopes: Mapping[str, Array]


@dataclass(frozen=True)
class RestExpressions:
    """The expressions whose numbers are taken, formed once for a system; a table is a list of rows."""

    tables: Mapping[str, list[list[Expression]]]
    curvature: list[list[list[Expression]]]
    names: tuple[str, ...]

    @cached_property
    def _numbers(self) -> Callable[[Array], Array]:
        """All entries in a row by the names."""
        flat = [e for rows in (*self.tables.values(), *self.curvature) for row in rows for e in row]
        return at_points(flat, self.names)

    def at(self, known: Mapping[str, float]) -> tuple[dict[str, Array], Array]:
        """The tables, and the curvature, as flat rows of numbers."""
        values = self._numbers(np.array([[known[name] for name in self.names]], dtype=float))[0]
        ends = np.cumsum([sum(map(len, rows)) for rows in self.tables.values()])
        *parts, bent = np.split(values, ends)
        return dict(zip(self.tables, parts, strict=True)), bent


@dataclass(frozen=True)
class ForceTables:
    """Q (n,) and the rates g (k,) of further states, with their slopes by q, q̇, w, u."""

    force: Array
    slopes: Mapping[str, Array]
    rate: Array
    rate_slopes: Mapping[str, Array]


def force_tables(
    system: System, values: Mapping[str, float], velocities: Mapping[str, float] | None = None
) -> ForceTables:
    """The applied forces alone, at coordinates, inputs and parameters among the values; at rest unless velocities are given."""
    known = {**values, **dict.fromkeys(system.velocities, 0.0), **(velocities or {}), "t": 0.0}
    tables, _ = formed_forces(system).at(known)

    def slopes(name: str, rows: int) -> dict[str, Array]:
        return {key: tables[f"{name} by {key}"].reshape(rows, size) for key, size in sizes_of(system).items()}

    forces, rates = slopes("force", len(system.coordinates)), slopes("rate", len(system.rates))
    return ForceTables(tables["force"], forces, tables["rate"], rates)


def sizes_of(system: System) -> dict[str, int]:
    """How many of each kind of variable there are."""
    n = len(system.coordinates)
    return {"q": n, "v": n, "w": len(system.rates), "u": len(system.inputs)}


@remembered
def formed_forces(system: System) -> RestExpressions:
    """Q and g with their slopes alone."""
    found: dict[str, list[list[Expression]]] = {}
    for name, own in (("force", [-e for e in applied_forces(system)]), ("rate", list(system.rates.values()))):
        found[name] = [[e] for e in own]
        found |= {f"{name} by {key}": [gradient(e, by) for e in own] for key, by in variables_of(system).items()}
    return RestExpressions(found, [], names_of(system))


def variables_of(system: System) -> dict[str, list[se.Symbol]]:
    """q, q̇, w, u."""
    names = {"q": system.coordinates, "w": tuple(system.rates), "u": tuple(system.inputs)}
    found = {key: [se.Symbol(name) for name in of] for key, of in names.items()}
    return {"q": found["q"], "v": [velocity(name) for name in system.coordinates], "w": found["w"], "u": found["u"]}


def names_of(system: System) -> tuple[str, ...]:
    """All names that the expressions may contain."""
    return tuple(dict.fromkeys((*system.states, *system.inputs, *system.constants, "t")))
