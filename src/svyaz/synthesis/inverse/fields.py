"""All velocity fields that satisfy given constraints, and the one that chosen functions pick out.

The fields that satisfy a(q) q̇ = a₀(q) are v = N μ + n, where the columns of N span what the constraints allow, a N = 0,
and μ(q) are free functions (Kaspirovich 3.1: μ₁ and μ₂ of the knife edge).
"""

from __future__ import annotations

from dataclasses import dataclass

import symengine as se

from svyaz.expr import HALF, Expression, ModelError, Problem, add_up, gradient, substitute, to_text, velocity
from svyaz.forms import basis, is_nothing, velocity_rows, with_multipliers
from svyaz.model import System, WantedField, nearest, system_of


@dataclass(frozen=True)
class FieldFamily:
    """v of every coordinate with the free functions under ``names``."""

    system: System
    names: tuple[str, ...]
    fields: dict[str, Expression]

    @property
    def deviation(self) -> list[Expression]:
        """h = q̇ - v."""
        return [velocity(q) - v for q, v in self.fields.items()]

    @property
    def lagrangian(self) -> Expression:
        """½ |h|²."""
        return HALF * add_up(e**2 for e in self.deviation)

    @property
    def rayleigh(self) -> Expression:
        """½ hᵀ d h."""
        law, h = self.system.law, self.deviation
        assert isinstance(law, WantedField), "a family belongs to a field that is wanted"
        bent = [d * a * b for row, a in zip(law.rayleigh, h, strict=True) for d, b in zip(row, h, strict=True)]
        return HALF * add_up(bent)


def is_family(system: System) -> bool:
    """Are there constraints that leave the choice of the field open?"""
    return isinstance(system.law, WantedField) and not system.law.free and bool(family(system).names)


def family(system: System) -> FieldFamily:
    """The fields that satisfy the constraints of the model."""
    words = {key: value for key, value in system.words.items() if key not in ("free", "rayleigh", "run", "source")}
    kinetic = " + ".join(f"{q}'^2/2" for q in system.coordinates)
    origin = with_multipliers(system_of({**words, "kinetic": kinetic}))
    v = [velocity(q) for q in system.coordinates]
    bent = next((c for c in system.constraints if not _linear_in(c.expression, v)), None)
    if bent is not None:
        message = f"fields are found for constraints that are linear in the velocities, and '{bent.name}' is not"
        raise ModelError([Problem(message, bent.place, "give the field itself in [field]")])
    rows = velocity_rows("invert", system.constraints, system.coordinates)
    if len(rows.constraints) < len(system.constraints):
        held = next(c for c in system.constraints if c.order == 0)
        message = f"'{held.name}' is a constraint on positions; the field satisfies constraints on velocities"
        raise ModelError([Problem(message, held.place, "write its time derivative")])
    chosen = basis("invert", origin, rows, None)
    names = tuple(f"mu{k + 1}" for k in range(len(chosen.names)))
    kinematics = chosen.kinematics(system.coordinates)
    symbols = {u: se.Symbol(name) for u, name in zip(kinematics.velocities, names, strict=True)}
    return FieldFamily(system, names, {q: substitute(rate, symbols) for q, rate in kinematics.rates.items()})


def _linear_in(expression: Expression, v: list[se.Symbol]) -> bool:
    """Is the expression linear in these variables?"""
    return all(is_nothing(e) for slope in gradient(expression, v) for e in gradient(slope, v))


def field_system(system: System) -> System:
    """The model with the field that its constraints and its free functions, taken by their names, determine."""
    law = system.law
    if not isinstance(law, WantedField):
        raise ModelError([Problem("the inverse problem needs a [field], or constraints with free functions in [free]")])
    found = family(system)
    if set(law.free) != set(found.names):
        told = "; ".join(f"{q}' = {to_text(v)}" for q, v in found.fields.items())
        given = ", ".join(f"'{name}'" for name in law.free) or "none"
        message = (
            f"the constraints leave the family {told} with {len(found.names)} free functions, [free] gives {given}"
        )
        strange = next((name for name in law.free if name not in found.names), None)
        hint = None if strange is None else nearest(strange, found.names)
        hint = hint or f"give {', '.join(found.names)} in [free] as functions of the coordinates"
        raise ModelError([Problem(message, None, hint)])
    chosen = {se.Symbol(name): function for name, function in law.free.items()}
    words = {key: value for key, value in system.words.items() if key not in ("constraint", "free")}
    words["field"] = {q: to_text(substitute(v, chosen)) for q, v in found.fields.items()}
    return system_of(words, system.file)
