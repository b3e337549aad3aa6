"""Numbers of a system in equilibrium: inertia, forces, constraints and their derivatives, by name.

    L = ½ q̇ᵀ A(q) q̇ + a(q)ᵀ q̇ - W(q, w),   Q(q, q̇, w, u),   F(q) = 0,   ẇ = g(q, q̇, w, u)

w are further states (currents of motors, momenta), u the inputs. All is taken at q̇ = 0, where the equations are

    A q̈ + b = ∂F/∂qᵀ λ,     b = ∂W/∂q - Q,     ∂b/∂q̇ = ∂a/∂q - (∂a/∂q)ᵀ - ∂Q/∂q̇.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Protocol

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import ZERO, Expression, at_points, differentiate, gradient, quadratic, substitute, symbols_in, velocity
from svyaz.forms import applied_forces, lagrangian
from svyaz.model import System
from svyaz.program import remembered


class EquilibriumTables(Protocol):
    """A (n, n), b (n,), F (m,) with ∂F/∂q (m, n) and ∂²F/∂q² (m, n, n), and the rates g (k,) of further states.

    Derivatives of b and g are given by q, v (= q̇), w and u, a column for each variable. ``sizes`` are |∂W/∂q| + |Q| and
    |∂²W/∂q²|, beside which a balance is judged.
    """

    @property
    def inertia(self) -> Array: ...

    @property
    def bias(self) -> Array: ...

    @property
    def bias_slopes(self) -> Mapping[str, Array]: ...

    @property
    def sizes(self) -> tuple[float, float]: ...

    @property
    def constraint(self) -> Array: ...

    @property
    def jacobian(self) -> Array: ...

    @property
    def curvature(self) -> Array: ...

    @property
    def rate(self) -> Array: ...

    @property
    def rate_slopes(self) -> Mapping[str, Array]: ...


@dataclass(frozen=True)
class SymbolicTables:
    """The same from expressions, all computed at once."""

    inertia: Array
    bias: Array
    bias_slopes: Mapping[str, Array]
    sizes: tuple[float, float]
    constraint: Array
    jacobian: Array
    curvature: Array
    rate: Array
    rate_slopes: Mapping[str, Array]


Table = tuple[tuple[int, ...], list[Expression]]
"""The shape of a table, and its entries row by row."""


@dataclass(frozen=True)
class CompiledTables:
    """Tables of expressions as one function of the values of their names."""

    tables: Mapping[str, Table]
    names: tuple[str, ...]

    @cached_property
    def _numbers(self) -> Callable[[Array], Array]:
        return at_points([e for _, entries in self.tables.values() for e in entries], self.names)

    def at(self, known: Mapping[str, float]) -> dict[str, Array]:
        """The tables at these values."""
        return {name: rows[0] for name, rows in self.at_each([known]).items()}

    def at_each(self, places: Sequence[Mapping[str, float]]) -> dict[str, Array]:
        """The tables at several places, which are the first axis."""
        values = self._numbers(np.array([[known[name] for name in self.names] for known in places], dtype=float))
        ends = np.cumsum([prod(shape) for shape, _ in self.tables.values()])
        parts = zip(self.tables.items(), np.split(values, ends[:-1], axis=1), strict=True)
        return {name: part.reshape(len(places), *shape) for (name, (shape, _)), part in parts}


def compile_tables(tables: Mapping[str, Table]) -> CompiledTables:
    """The tables as a function of the names that they contain."""
    used = symbols_in([e for _, entries in tables.values() for e in entries])
    return CompiledTables(tables, tuple(sorted(map(str, used))))


def slopes_table(entries: Sequence[Expression], by: Sequence[se.Symbol]) -> Table:
    """∂entries/∂by."""
    return (len(entries), len(by)), [slope for e in entries for slope in gradient(e, by)]


@dataclass(frozen=True)
class ForceTables:
    """Q (n,) and the rates g (k,) of further states, with their derivatives by q, v, w, u."""

    force: Array
    slopes: Mapping[str, Array]
    rate: Array
    rate_slopes: Mapping[str, Array]


def force_tables(
    system: System, values: Mapping[str, float], velocities: Mapping[str, float] | None = None
) -> ForceTables:
    """The applied forces at coordinates, inputs and parameters among the values; at rest unless velocities are given."""
    known = {**values, **dict.fromkeys(system.velocities, 0.0), **(velocities or {}), "t": 0.0}
    return _forces(_compiled_forces(system).at(known))


def _forces(found: Mapping[str, Array]) -> ForceTables:
    force, rate = ({key: found[f"{name} by {key}"] for key in "qvwu"} for name in ("force", "rate"))
    return ForceTables(found["force"], force, found["rate"], rate)


def symbolic_tables(system: System, values: Mapping[str, float]) -> SymbolicTables:
    """All tables of a system with expressions; ``values`` has coordinates, further states, inputs and parameters."""
    known = {**values, **dict.fromkeys(system.velocities, 0.0), "t": 0.0}
    found = _compiled(system).at(known)
    forces, slope, bent = _forces(found), found["momentum by q"], found["potential by q by q"]
    own = {"q": bent, "v": slope - slope.T, "w": found["potential by q by w"]}
    by = {key: own[key] - forces.slopes[key] for key in own} | {"u": -forces.slopes["u"]}
    return SymbolicTables(
        inertia=found["inertia"],
        bias=found["potential by q"] - forces.force,
        bias_slopes=by,
        sizes=sizes_of(found["potential by q"], forces.force, bent),
        constraint=found["constraint"],
        jacobian=found["constraint by q"],
        curvature=found["constraint by q by q"],
        rate=forces.rate,
        rate_slopes=forces.rate_slopes,
    )


def sizes_of(gradient_of_potential: Array, force: Array, hessian: Array) -> tuple[float, float]:
    """|∂W/∂q| + |Q| and |∂²W/∂q²|."""
    return float(np.linalg.norm(gradient_of_potential) + np.linalg.norm(force)), float(np.linalg.norm(hessian))


@remembered
def _compiled(system: System) -> CompiledTables:
    """Prepared once: a system may have many equilibria."""
    variables, n, m = _variables(system), len(system.coordinates), len(system.constraints)
    q, v, w = (variables[key] for key in "qvw")
    inertia, momenta, potential = _parts(system, v)
    pull, constraints = gradient(potential, q), [c.expression for c in system.constraints]
    slopes = slopes_table(constraints, q)
    return compile_tables(
        {
            "inertia": ((n, n), inertia),
            "momentum by q": slopes_table(momenta, q),
            "potential by q": ((n,), pull),
            "potential by q by q": slopes_table(pull, q),
            "potential by q by w": slopes_table(pull, w),
            **_compiled_forces(system).tables,
            "constraint": ((m,), constraints),
            "constraint by q": slopes,
            "constraint by q by q": ((m, n, n), slopes_table(slopes[1], q)[1]),
        }
    )


def _parts(system: System, v: Sequence[se.Symbol]) -> tuple[list[Expression], list[Expression], Expression]:
    """(A row by row, a, W) of L; of a Lagrangian that is not quadratic, its derivatives at q̇ = 0."""
    n = len(v)
    terms = quadratic(lagrangian(system), v)
    if terms is None:
        rest = dict.fromkeys(v, ZERO)
        momenta = [differentiate(lagrangian(system), s) for s in v]
        inertia = [substitute(e, rest) for p in momenta for e in gradient(p, v)]
        return inertia, [substitute(p, rest) for p in momenta], -substitute(lagrangian(system), rest)
    inertia = [terms.get((min(i, j), max(i, j)), ZERO) for i in range(n) for j in range(n)]
    return inertia, [terms.get((i,), ZERO) for i in range(n)], -terms.get((), ZERO)


@remembered
def _compiled_forces(system: System) -> CompiledTables:
    """Q and g with their derivatives alone."""
    found: dict[str, Table] = {}
    for name, own in (("force", [-e for e in applied_forces(system)]), ("rate", list(system.rates.values()))):
        found[name] = (len(own),), own
        found |= {f"{name} by {key}": slopes_table(own, by) for key, by in _variables(system).items()}
    return compile_tables(found)


def _variables(system: System) -> dict[str, list[se.Symbol]]:
    """q, q̇, w, u."""

    def symbols(names: Iterable[str]) -> list[se.Symbol]:
        return [se.Symbol(name) for name in names]

    speeds = [velocity(name) for name in system.coordinates]
    return {"q": symbols(system.coordinates), "v": speeds, "w": symbols(system.rates), "u": symbols(system.inputs)}
