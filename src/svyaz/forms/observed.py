"""What is observed along every motion: deviations from the constraints, energies, and first integrals."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import symengine as se

from svyaz.expr import (
    Expression,
    add_up,
    differentiate,
    expanded,
    gradient,
    is_quadratic_form,
    is_zero,
    names_in,
    quadratic,
    symbols_in,
    velocities_of,
    velocity,
)
from svyaz.forms.equations import Equations
from svyaz.forms.power import keeps_energy
from svyaz.forms.stated import kinetic_and_potential, lagrangian, stated_as_difference
from svyaz.model import Attracting, Canonical, Mechanical, System
from svyaz.program import once_for_each, row_entries

Quantities = dict[str, dict[str, Expression]]
"""Expressions by kind and name."""


@once_for_each
def observed_quantities(equations: Equations) -> Quantities:
    """Of the state alone: ``residuals`` (h, or f), ``hidden`` (ḣ), ``through`` (R q̇, the velocities against which multipliers
    do work), ``energies`` (kinetic, potential, and the whole energy) and ``integrals``.
    """
    system = equations.system
    total = energy(system)
    found: Quantities = {
        "residuals": _residuals(equations),
        "hidden": {d.name: d.velocity for d in equations.deviations if d.position is not None},
        "through": _through(equations),
        "energies": {},
        "integrals": _first_integrals(system, total, ()),
    }
    if isinstance(system.law, Mechanical):
        found["energies"] = dict(zip(("kinetic", "potential"), kinetic_and_potential(system), strict=True))
    if total is not None:
        found["energies"]["energy"] = total
    if not equations.observed:
        return found
    return {kind: {name: equations.in_states(e) for name, e in table.items()} for kind, table in found.items()}


def _residuals(equations: Equations) -> dict[str, Expression]:
    """Of the constraints as they are held, as they were written where that differs, of a field, of those eliminated."""
    system = equations.system
    held = (*equations.deviations, *equations.spare)
    found = {d.name: d.velocity if d.position is None else d.position for d in held}
    written = {c.name: c.expression for c in system.constraints}
    for d in equations.deviations:
        if d.name in written and d.constraint.expression != written[d.name]:
            found[f"{d.name}, as written"] = written[d.name]
    if isinstance(system.law, Attracting):
        for q, v in system.law.field.items():
            found[f"{q}' of the field"] = velocity(q) - v
    for c in equations.eliminated:
        found.setdefault(c.name, c.expression)
    return found


def _through(equations: Equations) -> dict[str, Expression]:
    velocities = equations.velocities
    rows = zip(equations.deviations, equations.reactions, strict=True)
    return {d.name: add_up([g * velocities[k] for k, g in row_entries(row)]) for d, row in rows}


def energy(system: System) -> Expression | None:
    """The energy q̇·∂L/∂q̇ - L (T + P when T is quadratic in the velocities), or the Hamiltonian."""
    if isinstance(system.law, Canonical):
        return system.law.hamiltonian
    if not isinstance(system.law, Mechanical):
        return None
    kinetic, potential = kinetic_and_potential(system)
    v = velocities_of(system.coordinates)
    if system.bodies or (stated_as_difference(system) and _is_quadratic(kinetic, v)):
        return kinetic + potential
    whole = lagrangian(system)
    return add_up(p * s for p, s in zip(gradient(whole, v), v, strict=True)) - whole


def _is_quadratic(kinetic: Expression, velocities: Sequence[se.Symbol]) -> bool:
    """Is T homogeneous of degree two in the velocities, as far as that shows? Where it does not, nothing is lost."""
    if is_quadratic_form(kinetic, velocities):
        return True
    terms = quadratic(kinetic, velocities)
    return terms is not None and all(len(monomial) == 2 for monomial in terms)


def first_integrals(system: System, varied: Collection[str] = ()) -> dict[str, Expression]:
    """The energy where nothing changes it, the momenta of cyclic coordinates, and the integrals that the model declares.

    An energy that the model declares under a name of its own is not listed again. ``varied`` are parameters that may have
    other values than the model gives them.
    """
    return _first_integrals(system, energy(system), varied)


def _first_integrals(system: System, total: Expression | None, varied: Collection[str]) -> dict[str, Expression]:
    found: dict[str, Expression] = {}
    declared = {i.name: i.expression for i in system.integrals}
    kept = total is not None and keeps_energy(system, varied)
    if kept and not any(is_zero(expanded(total - g)) for g in declared.values()):
        found["energy"] = total
    if isinstance(system.law, Mechanical):
        for q in cyclic_coordinates(system):
            found.setdefault(f"momentum of {q}", differentiate(lagrangian(system), velocity(q)))
    found.update(declared)
    if "energy" in found:
        found = {"energy": found.pop("energy"), **found}
    return found


def cyclic_coordinates(system: System) -> list[str]:
    """Coordinates that neither the Lagrangian nor any force or constraint knows, and on which no force acts."""
    everything = [
        lagrangian(system),
        system.dissipation,
        *system.forces.values(),
        *(c.expression for c in system.constraints),
        *(e for c in system.constraints for e in c.direction),
    ]
    tying = [*(c.expression for c in system.constraints), system.dissipation]
    known, tied = (set(map(str, found)) for found in [symbols_in(everything), symbols_in(tying)])
    driven = {
        q for c in system.constraints for q, e in zip(system.freedoms, c.direction, strict=False) if not is_zero(e)
    }
    return [
        q
        for q in system.coordinates
        if q not in known and f"{q}'" not in tied and q not in {*system.forces, *driven} and not _absent(system, q)
    ]


def _absent(system: System, q: str) -> bool:
    return f"{q}'" not in names_in(lagrangian(system))
