"""Numbers at a position of rest: the inertia, the forces, the constraints and their derivatives.

    L = ½ q̇ᵀ A(q) q̇ + a(q)ᵀ q̇ - W(q),   Q(q, q̇, w, u),   F(q) = 0,   ẇ = g(q, q̇, w, u)

w are the further states (currents of motors), u the inputs. Everything is taken at q̇ = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import (
    ZERO,
    Expression,
    ModelError,
    Problem,
    at_points,
    differentiate,
    gradient,
    names_in,
    quadratic,
    substitute,
    velocity,
)
from svyaz.forms import applied_forces, lagrangian, only_constant_masses, only_ideal
from svyaz.model import Bodies, Mechanical, System, nearest, tree_of
from svyaz.motion import by_recursions
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
class _Expressions:
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
    """Q (n,) at rest, and its slopes by q, q̇, w, u."""

    force: Array
    slopes: Mapping[str, Array]


def force_tables(system: System, values: Mapping[str, float]) -> ForceTables:
    """The applied forces alone, at coordinates, inputs and parameters among the values."""
    known = {**values, **dict.fromkeys(system.velocities, 0.0), "t": 0.0}
    tables, _ = _formed_forces(system).at(known)
    n, sizes = len(system.coordinates), _sizes(system)
    return ForceTables(
        tables["force"], {key: tables[f"force by {key}"].reshape(n, size) for key, size in sizes.items()}
    )


def _sizes(system: System) -> dict[str, int]:
    n = len(system.coordinates)
    return {"q": n, "v": n, "w": len(system.rates), "u": len(system.inputs)}


def at_rest(system: System, values: Mapping[str, float]) -> AtRest:
    """All numbers of a system at rest; ``values`` gives coordinates, further states, inputs and parameters."""
    refuse_unfit(system)
    if by_recursions(system):
        from svyaz.stability.tree_rest import resting_tree

        return resting_tree(system, values).at_rest()
    known = {**values, **dict.fromkeys(system.velocities, 0.0), "t": 0.0}
    expressions = _formed(system)
    (tables, bent), n = expressions.at(known), len(system.coordinates)

    def table(name: str, columns: int) -> Array:
        return tables[name].reshape(len(expressions.tables[name]), columns)

    def slopes(name: str) -> dict[str, Array]:
        return {key: table(f"{name} by {key}", size) for key, size in _sizes(system).items()}

    return AtRest(
        inertia=table("inertia", n),
        linear=table("linear", 1)[:, 0],
        linear_slope=table("linear by q", n),
        pull=-table("still by q", n)[0],
        stiffness=-table("still by q by q", n),
        pull_by_further=-table("still by q by w", len(system.rates)),
        force=table("force", 1)[:, 0],
        force_slopes=slopes("force"),
        constraint=table("constraint", 1)[:, 0],
        jacobian=table("constraint by q", n),
        curvature=bent.reshape(len(system.constraints), n, n),
        rate=table("rate", 1)[:, 0],
        rate_slopes=slopes("rate"),
    )


@remembered
def _formed(system: System) -> _Expressions:
    """Formed once: a system may have many equilibria."""
    variables = _variables(system)
    q, v, w = (variables[key] for key in "qvw")
    inertia, linear, still = _parts(system, v)
    constraints = [c.expression for c in system.constraints]
    rates = list(system.rates.values())
    pull = gradient(still, q)
    tables = {
        "inertia": inertia,
        "linear": [[e] for e in linear],
        "linear by q": [gradient(e, q) for e in linear],
        "still by q": [pull],
        "still by q by q": [gradient(e, q) for e in pull],
        "still by q by w": [gradient(e, w) for e in pull],
        **_formed_forces(system).tables,
        "constraint": [[e] for e in constraints],
        "constraint by q": [gradient(e, q) for e in constraints],
        "rate": [[e] for e in rates],
    }
    tables |= {f"rate by {key}": [gradient(e, by) for e in rates] for key, by in variables.items()}
    curvature = [[gradient(slope, q) for slope in gradient(e, q)] for e in constraints]
    return _Expressions(tables, curvature, _names(system))


@remembered
def _formed_forces(system: System) -> _Expressions:
    """Q and its slopes alone."""
    forces = [-e for e in applied_forces(system)]
    slopes = {f"force by {key}": [gradient(e, by) for e in forces] for key, by in _variables(system).items()}
    return _Expressions({"force": [[e] for e in forces], **slopes}, [], _names(system))


def _variables(system: System) -> dict[str, list[se.Symbol]]:
    names = {"q": system.coordinates, "w": tuple(system.rates), "u": tuple(system.inputs)}
    found = {key: [se.Symbol(name) for name in of] for key, of in names.items()}
    return {"q": found["q"], "v": [velocity(name) for name in system.coordinates], "w": found["w"], "u": found["u"]}


def _names(system: System) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*system.states, *system.inputs, *system.constants, "t")))


def _parts(system: System, v: Sequence[se.Symbol]) -> tuple[list[list[Expression]], list[Expression], Expression]:
    """(A, a, -W) of L; of a Lagrangian that is not quadratic, its derivatives at q̇ = 0."""
    n = len(v)
    terms = quadratic(lagrangian(system), v)
    if terms is None:
        rest = dict.fromkeys(v, ZERO)
        momenta = [differentiate(lagrangian(system), s) for s in v]
        inertia = [[substitute(e, rest) for e in gradient(p, v)] for p in momenta]
        return inertia, [substitute(p, rest) for p in momenta], substitute(lagrangian(system), rest)
    inertia = [[terms.get((min(i, j), max(i, j)), ZERO) for j in range(n)] for i in range(n)]
    return inertia, [terms.get((i,), ZERO) for i in range(n)], terms.get((), ZERO)


def refuse_unfit(system: System) -> None:
    """Equilibria and first approximations are those of mechanical systems with geometric constraints that do not move."""
    if not isinstance(system.law, Mechanical):
        raise ModelError([Problem("equilibria are examined for mechanical systems: coordinates with energies")])
    if system.velocities != tuple(f"{q}'" for q in system.coordinates):
        message = "equilibria are examined where velocities are rates of coordinates: a free joint has others"
        raise ModelError(
            [Problem(message, hint="describe the free body by coordinates of its own: prismatic, revolute")]
        )
    only_ideal(system, "equilibria are found")
    only_constant_masses(system, "equilibria are found")
    for c in system.constraints:
        if c.order == 1:
            message = f"'{c.name}' contains velocities: this needs geometric constraints, F(q) = 0"
            raise ModelError([Problem(message, c.place)])
        if c.switched:
            message = f"events switch the constraint '{c.name}': equilibria are those of constraints that always act"
            raise ModelError([Problem(message, c.place)])
        if "t" in names_in(c.expression) or c.varying:
            raise ModelError(
                [Problem(f"the constraint '{c.name}' changes with time: there is no equilibrium", c.place)]
            )
    energies = tree_of(system).gravity if isinstance(system.law, Bodies) else [lagrangian(system)]
    moving = [*energies, system.dissipation, *system.forces.values(), *system.rates.values()]
    if any("t" in names_in(e) for e in moving):
        raise ModelError([Problem("the energies or forces change with time: there is no equilibrium")])


def may_be_steady(system: System) -> bool:
    """Are masses and constraints the same all the time, and nothing known of the time, as steady motions need it?"""
    try:
        only_constant_masses(system, "steady motions are found")
    except ModelError:
        return False
    stated = [lagrangian(system), system.dissipation, *system.forces.values(), *system.rates.values()]
    stated += [c.expression for c in system.constraints]
    return not any(c.switched or c.varying for c in system.constraints) and not any("t" in names_in(e) for e in stated)


def check_redundant(system: System, dependent: Sequence[str] | None) -> None:
    """Refuse names that are no coordinates, and more or fewer of them than constraints; none is a free choice."""
    if not dependent:
        return
    for q in dependent:
        if q not in system.coordinates:
            hint = nearest(q, system.coordinates)
            raise ModelError([Problem(f"'{q}' cannot be redundant: it is no coordinate of the model", hint=hint)])
    count = len(system.constraints)
    if len(set(dependent)) != count or len(dependent) != count:
        names = ", ".join(f"'{q}'" for q in dependent)
        told = f"{count} constraint{'' if count == 1 else 's'}"
        message = f"there is one redundant coordinate for each constraint: {names} and {told} do not fit"
        raise ModelError([Problem(message)])
