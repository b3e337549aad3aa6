"""Of which systems equilibria and steady motions are asked, from what their numbers come, and what may be redundant.

Numbers come from expressions, or by recursions over the bodies of a tree; trees of a few bodies have both. Here alone the road
is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

from svyaz.expr import ModelError, Problem, names_in
from svyaz.forms import lagrangian, only_constant_masses, only_ideal
from svyaz.model import Mechanical, System, nearest, tree_of
from svyaz.motion import by_recursions, only_by_recursions
from svyaz.program import remembered


@remembered
def refuse_unfit(system: System) -> None:
    """Raise unless the system is mechanical, with geometric constraints that always act and do not contain the time."""
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


@remembered
def is_symbolic(system: System) -> bool:
    """Are there expressions, of which boxes are searched and series are taken?"""
    return not only_by_recursions(system)


@remembered
def is_recursive(system: System) -> bool:
    """Do recursions give the numbers?"""
    return by_recursions(system)


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
        constraints = f"{count} constraint{'' if count == 1 else 's'}"
        message = f"there is one redundant coordinate for each constraint: {names} and {constraints} do not fit"
        raise ModelError([Problem(message)])
