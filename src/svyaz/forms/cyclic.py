"""Coordinates that the Lagrangian and the constraints do not contain.

A coordinate β is **pseudo-cyclic** (L. K. Gavrilov, definition 2.1.2 of the work on redundant coordinates) when L and the
constraints contain neither β nor, for the constraints, β': then d/dt ∂L/∂β' = Q_β whatever else moves. It is **cyclic** when
no force acts on it and none knows it: p_β = ∂L/∂β' is a first integral.
"""

from __future__ import annotations

from dataclasses import dataclass

from svyaz.expr import names_in
from svyaz.forms.stated import lagrangian
from svyaz.model import Mechanical, System
from svyaz.program import remembered


@dataclass(frozen=True)
class Cyclic:
    """A coordinate that L and the constraints do not contain; ``driven`` by these inputs, ``forced`` by other forces.

    Where bodies roll the constraints may contain its velocity: it is ``tied``, and its momentum is that of nothing conserved.
    """

    name: str
    driven: tuple[str, ...]
    forced: bool
    tied: bool = False

    @property
    def conserved(self) -> bool:
        """Is its momentum a first integral?"""
        return not (self.driven or self.forced or self.tied)


@remembered
def pseudo_cyclic(system: System) -> tuple[Cyclic, ...]:
    """The cyclic and pseudo-cyclic coordinates, in the order of the model; none of a system that is not mechanical, or
    is kept by controls.
    """
    if not isinstance(system.law, Mechanical) or any(c.servo for c in system.constraints):
        return ()
    whole = names_in(lagrangian(system))
    tied = set().union(*(names_in(c.expression) for c in system.constraints))
    forces = set().union(*map(names_in, (*system.forces.values(), system.dissipation, *system.rates.values())))
    found = []
    for q in system.coordinates:
        if q in whole or f"{q}'" not in whole or tied & {q, f"{q}'"} or q in forces:
            continue
        acting = names_in(system.forces[q]) if q in system.forces else set()
        driven = tuple(name for name in system.inputs if name in acting)
        forced = bool(acting - set(driven)) or f"{q}'" in names_in(system.dissipation)
        found.append(Cyclic(q, driven, forced))
    return tuple(found)
