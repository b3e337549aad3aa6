"""Numbers at a position of rest: the inertia, the forces, the constraints and their derivatives.

    L = ½ q̇ᵀ A(q) q̇ + a(q)ᵀ q̇ - W(q),   Q(q, q̇, w, u),   F(q) = 0,   ẇ = g(q, q̇, w, u)

w are the further states (currents of motors), u the inputs. Everything is taken at q̇ = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import symengine as se

from svyaz.arrays import Array
from svyaz.expr import (
    ZERO,
    Expression,
    ModelError,
    Problem,
    differentiate,
    gradient,
    names_in,
    quadratic,
    substitute,
)
from svyaz.forms import lagrangian, only_constant_masses, only_ideal
from svyaz.model import Mechanical, System, nearest, tree_of
from svyaz.motion import by_recursions
from svyaz.program import remembered
from svyaz.stability.rest_tables import AtRest, RestExpressions, formed_forces, names_of, sizes_of, variables_of
from svyaz.stability.turning_tree import tree_at


def at_rest(system: System, values: Mapping[str, float]) -> AtRest:
    """All numbers of a system at rest; ``values`` gives coordinates, further states, inputs and parameters."""
    refuse_unfit(system)
    if by_recursions(system):
        return tree_at(system, values).at_rest()
    known = {**values, **dict.fromkeys(system.velocities, 0.0), "t": 0.0}
    expressions = _formed(system)
    (tables, bent), n = expressions.at(known), len(system.coordinates)

    def table(name: str, columns: int) -> Array:
        return tables[name].reshape(len(expressions.tables[name]), columns)

    def slopes(name: str) -> dict[str, Array]:
        return {key: table(f"{name} by {key}", size) for key, size in sizes_of(system).items()}

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
def _formed(system: System) -> RestExpressions:
    """Formed once: a system may have many equilibria."""
    variables = variables_of(system)
    q, v, w = (variables[key] for key in "qvw")
    inertia, linear, still = _parts(system, v)
    constraints = [c.expression for c in system.constraints]
    pull = gradient(still, q)
    tables = {
        "inertia": inertia,
        "linear": [[e] for e in linear],
        "linear by q": [gradient(e, q) for e in linear],
        "still by q": [pull],
        "still by q by q": [gradient(e, q) for e in pull],
        "still by q by w": [gradient(e, w) for e in pull],
        **formed_forces(system).tables,
        "constraint": [[e] for e in constraints],
        "constraint by q": [gradient(e, q) for e in constraints],
    }
    curvature = [[gradient(slope, q) for slope in gradient(e, q)] for e in constraints]
    return RestExpressions(tables, curvature, names_of(system))


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
    system = system.unreduced
    if not isinstance(system.law, Mechanical):
        raise ModelError([Problem("equilibria are examined for mechanical systems: coordinates with energies")])
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
    energies = tree_of(system).gravity if system.bodies else [lagrangian(system)]
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
