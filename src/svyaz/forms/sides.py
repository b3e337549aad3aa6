"""Equations whose rates jump, on given sides of the surfaces where they do; and those that hold while a motion slides.

With the side σ of a surface s(x, t) = 0 as a number the equations are smooth. Where the rates of both sides lead to the
surface, the motion stays on it (A. F. Filippov, Differential Equations with Discontinuous Righthand Sides, 1988, §4): the
rates are those with the σ in [-1, 1] for which

    ṡ = ∂s/∂t + Σ ∂s/∂x ẋ(σ) = 0,

one more row and one more unknown of the linear system for accelerations and multipliers. Friction is then whatever holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import symengine as se
from symengine.lib.symengine_wrapper import Abs, Max, Min, sign

from svyaz.expr import Expression, Surface, jumping_parts, split, substitute
from svyaz.forms.equations import Equations
from svyaz.model import System


def may_jump(system: System) -> bool:
    """Does what was stated jump, as far as one sees: a sign(), |a| in a denominator, or a corner of an energy?"""
    stated = list[object](vars(system.law).values())
    return bool(jumping_parts([*system.forces.values(), *system.rates.values()])) or _cornered(stated)


def _cornered(entries: Sequence[object]) -> bool:
    """Is there a sign(), |a|, min or max in the expressions of a law?"""
    for entry in entries:
        inner = list(entry.values()) if isinstance(entry, Mapping) else entry
        if isinstance(entry, se.Basic) and entry.atoms(sign, Abs, Max, Min):
            return True
        if isinstance(inner, list | tuple) and _cornered(inner):
            return True
    return False


def sided(equations: Equations) -> tuple[Equations, tuple[Surface, ...]]:
    """The equations in terms of the sides of the surfaces at which their forces and explicit rates jump."""
    entries = [*equations.explicit.values(), *equations.bias]
    if not jumping_parts(entries):
        return equations, ()
    found, surfaces = split(entries, {"t", *equations.states})
    count = len(equations.explicit)
    explicit = dict(zip(equations.explicit, found[:count], strict=True))
    return replace(equations, explicit=explicit, bias=tuple(found[count:])), surfaces


def jumps(equations: Equations) -> bool:
    """Do forces or explicit rates jump at some surface?"""
    return may_jump(equations.system) and bool(sided(equations)[1])


def on_sides(
    equations: Equations, surfaces: Sequence[Surface], sides: Sequence[float], sliding: Sequence[int]
) -> Equations:
    """The equations in terms of sides with their numbers put in; those of surfaces that are slid along are unknowns."""
    unknown: dict[se.Symbol, Expression] = {surfaces[k].side: se.Symbol(f"sliding {surfaces[k].side}") for k in sliding}
    numbers = {str(s.side): float(x) for k, (s, x) in enumerate(zip(surfaces, sides, strict=True)) if k not in sliding}
    system = replace(equations.system.plain(), parameters={**equations.system.parameters, **numbers})
    return replace(
        equations,
        system=system,
        explicit={name: substitute(e, unknown) for name, e in equations.explicit.items()},
        bias=tuple(substitute(e, unknown) for e in equations.bias),
        sides=tuple(Surface(unknown.get(s.side, s.side), s.expression) for s in surfaces),
        sliding=tuple(Surface(unknown[surfaces[k].side], surfaces[k].expression) for k in sliding),
    )
