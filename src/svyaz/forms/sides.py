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

from svyaz.expr import (
    ZERO,
    Expression,
    ModelError,
    Problem,
    Surface,
    has_corners,
    interpolate,
    is_zero,
    jumping_parts,
    put_in,
    split,
    to_text,
)
from svyaz.forms.equations import LEAST, Equations, Pull, plane_pairs
from svyaz.model import System


def may_jump(system: System) -> bool:
    """Does what was stated jump, as far as one sees: a sign(), |a| in a denominator, or a corner of an energy?"""
    stated = list[object](vars(system.law).values())
    rubbing = any(c.frictions or any(d.absolute for d in c.drags) for c in system.constraints)
    return rubbing or bool(jumping_parts([*system.forces.values(), *system.rates.values()])) or _cornered(stated)


def _cornered(entries: Sequence[object]) -> bool:
    """Is there a sign(), |a|, min or max in the expressions of a law?"""
    for entry in entries:
        inner = list(entry.values()) if isinstance(entry, Mapping) else entry
        if isinstance(entry, se.Basic) and has_corners(entry):
            return True
        if isinstance(inner, list | tuple) and _cornered(inner):
            return True
    return False


def sided(equations: Equations) -> tuple[Equations, tuple[Surface, ...]]:
    """The equations in terms of the sides of the surfaces at which their forces and explicit rates jump.

    The slips of frictions are surfaces as well; the signs of multipliers whose sizes act become symbols (``loads``).
    """
    entries = [*equations.explicit.values(), *equations.bias]
    found, surfaces = entries, tuple[Surface, ...]()
    if jumping_parts(entries):
        found, surfaces = split(entries, {"t", *equations.states})
    count = len(equations.explicit)
    explicit = dict(zip(equations.explicit, found[:count], strict=True))
    given = tuple(str(surface.side) for surface in surfaces)
    plain = replace(equations, bias=tuple(found[count:]), explicit=explicit, given=given)
    return _rubbing(plain, surfaces) if not equations.ideal else (plain, surfaces)


def _rubbing(equations: Equations, surfaces: tuple[Surface, ...]) -> tuple[Equations, tuple[Surface, ...]]:
    """The equations with a side, and what holds there, for each friction; and all surfaces."""
    loads = {
        d.name: se.Symbol(f"load of {d.name}")
        for d in equations.deviations
        if d.constraint.pushes == 0 and (d.constraint.frictions or any(x.absolute for x in d.constraint.drags))
    }
    pulls, known = [], list(surfaces)
    for p in equations.pulls:
        side, slip = se.Symbol(f"side {len(known) + 1}"), equations.in_states(p.friction.slip)
        if any(is_zero(se.expand(slip - other.expression)) for other in known):
            told = f"two frictions, or a friction and a sign(), jump where {to_text(slip)} = 0: make one of them"
            raise ModelError([Problem(told, equations.deviations[p.number].constraint.place)])
        known.append(Surface(side, slip))
        name = equations.deviations[p.number].name
        pulls.append(replace(p, load=loads.get(name, p.load), side=side, holding=se.Symbol(f"held {side}")))
    return replace(equations, pulls=tuple(pulls), loads=loads), tuple(known)


def jumps(equations: Equations) -> bool:
    """Do forces or explicit rates jump at some surface?"""
    return may_jump(equations.system) and bool(sided(equations)[1])


def _turned(equations: Equations, surfaces: Sequence[Surface], numbers: Mapping[str, float]) -> list[Pull]:
    """The frictions, those of planes along s/|s| = σ (1, r)/√(1 + r²): the slip that leads has the side σ, r s the other one.

    So written they go on smoothly where a motion along a line comes to rest.
    """
    pulls, slips = list(equations.pulls), {s.side: s.expression for s in surfaces}
    for pair in plane_pairs([p.friction for p in pulls]):
        for lead, other in (pair, pair[::-1]):
            side = pulls[lead].side
            if not numbers.get(str(side)):
                continue
            slip, across = slips[side], slips[pulls[other].side]
            ratio = across * slip / (slip**2 + LEAST)
            size = side / se.sqrt(1 + ratio**2)
            pulls[lead], pulls[other] = replace(pulls[lead], side=size), replace(pulls[other], side=size * ratio)
            break
    return pulls


def on_sides(
    equations: Equations,
    surfaces: Sequence[Surface],
    sides: Sequence[float],
    sliding: Sequence[int],
    loads: Mapping[str, float] | None = None,
) -> Equations:
    """The equations in terms of sides with their numbers put in; those of surfaces that are slid along are unknowns.

    For a friction that holds, the unknown is the force itself. ``loads`` are the signs of multipliers. Of the two sides of a
    friction in a plane that slips one is zero: the other slip leads.
    """
    unknown: dict[se.Symbol, Expression] = {surfaces[k].side: se.Symbol(f"sliding {surfaces[k].side}") for k in sliding}
    numbers = {str(s.side): float(x) for k, (s, x) in enumerate(zip(surfaces, sides, strict=True)) if k not in sliding}
    numbers |= {str(symbol): (loads or {}).get(name, 1.0) for name, symbol in equations.loads.items()}
    system = replace(equations.system.plain(), parameters={**equations.system.parameters, **numbers})
    pulls = [
        replace(p, side=ZERO, holding=unknown[p.side]) if p.side in unknown else replace(p, holding=ZERO)
        for p in _turned(equations, surfaces, numbers)
    ]

    def on_surfaces(e: Expression) -> Expression:
        for k, surface in enumerate(surfaces):
            if k in sliding or sides[k] == 0.0:
                e = interpolate(e, surface.side)
        return put_in(e, unknown)

    explicit = {name: on_surfaces(e) for name, e in equations.explicit.items()}
    slid = tuple(Surface(unknown[surfaces[k].side], surfaces[k].expression) for k in sliding)
    return replace(
        equations,
        bias=tuple(map(on_surfaces, equations.bias)),
        explicit=explicit,
        given=(),
        sliding=slid,
        system=system,
        sides=tuple(Surface(unknown.get(s.side, s.side), s.expression) for s in surfaces),
        pulls=tuple(pulls),
    )
