"""Motions of long trees: forward dynamics by articulated bodies in one native loop, no equations are written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from svyaz import forms
from svyaz.dynamics import FORM, Dynamics, dynamics_of
from svyaz.forms import Equations, may_jump
from svyaz.model import Constraint, System
from svyaz.motion.phases import START, Beginning, Chapter, Phase, Structure, is_switched
from svyaz.motion.starts import refuse_weightless
from svyaz.motion.timed import Timed, intervals
from svyaz.program import Tabulated, remembered
from svyaz.stabilise import BRACKET, Decision, Options, Refusal, held_integrals

LONGEST_WRITTEN = 16
"""Beyond so many bodies the loop is faster than equations with a full mass matrix."""

MOST_SEARCHED = 4
"""A box of so many positions is searched to its end in about 2 s; each one more takes about ten times as long (``chain:N``)."""


def _many_bodies(system: System) -> bool:
    """Is it a tree with so many bodies that it is better left to the loop?"""
    return len(system.bodies) > LONGEST_WRITTEN


def _unknown_to_loop(system: System) -> str:
    """What the loop does not know, in words; nothing where it can run the system."""
    reasons = (
        ("systems that are no trees of bodies", not system.bodies),
        ("masses that change", any(body.varies(system.parameters) for body in system.bodies)),
        ("friction and servo-constraints", not all(c.ideal for c in system.constraints)),
        ("rules applied after each step", system.step_rule is not None),
    )
    return ", ".join(words for words, met in reasons if met)


def by_recursions(system: System) -> bool:
    """Are equilibria and linearisations of this tree computed by recursions, because symbolic equations cost more?

    Recursions take trees that they know, without further states and jumps, and with constraints that always act. A tree
    without its cyclic coordinates is one of them: its further states are their momenta or speeds.
    """
    if only_by_recursions(system):
        return True
    return _fits_recursions(system) and len(system.coordinates) - len(forms.pseudo_cyclic(system)) > MOST_SEARCHED


def only_by_recursions(system: System) -> bool:
    """Is a tree so long that nothing about its equilibria is written out: no box, no series, no perturbation? Or does a body
    turn freely, so that there is no box of attitudes?
    """
    alone = system.unreduced is not system or system.turns_freely
    return alone or (_many_bodies(system) and _fits_recursions(system))


def _fits_recursions(system: System) -> bool:
    """Do recursions know the tree, without further states and jumps, and with constraints of positions that always act?"""
    more = bool(system.rates) or may_jump(system) or is_switched(system) or any(c.order for c in system.constraints)
    return not more and not _unknown_to_loop(system)


def searches_box(system: System, box: Sized = (), seconds: float = inf) -> bool:
    """Is a box searched for the one equilibrium, or the steady motion, that is asked for? By default where that is fast; where
    ``box`` or ``seconds`` ask for it, also where the equations can be written out.
    """
    asked = bool(len(box)) or seconds < inf
    return not by_recursions(system) or (asked and not only_by_recursions(system))


def constraint_tables(system: System) -> Tabulated:
    """Residuals and ∂F/∂q of the constraints of such a tree, along rows of states."""
    return _closed_tree(system).tables


@remembered
def _closed_tree(system: System) -> Dynamics:
    from svyaz.dynamics import closed_equations

    return dynamics_of(closed_equations(system, system.constraints))


@dataclass(frozen=True)
class Articulated(Timed):
    """The phases of a tree that is run by the loop: its equations are named, not written out."""

    def settle(self, beginning: Beginning, before: Sequence[Chapter], *, force: bool) -> Decision | Refusal:
        refused = refuse_weightless(self.system, beginning.state)
        return super().settle(beginning, before, force=force) if refused is None else refused


def articulated(system: System | Equations, form: str | None, options: Options) -> Structure | None:
    """A tree as the loop runs it: one that is long, or for which it was asked; None where other equations are needed."""
    if isinstance(system, Equations) or not (form == FORM or (form is None and _many_bodies(system))):
        return None
    unknown = _unknown_to_loop(system) or _unknown_holding(system, options)
    if unknown:
        if system.bodies:
            told = f"recursions over the bodies do not know {unknown}, and "
            forms.refuse_to_write(system, told, "leave these out")
        return None
    if is_switched(system):
        from svyaz.dynamics import closed_equations
        from svyaz.motion.events.switching import Switched

        return Switched(closed_equations(system, ()), options)
    return Articulated(system, FORM, options, tuple(_phases(system, options.until)))


def phases_by_recursions(system: System, form: str | None, options: Options) -> tuple[Phase, ...]:
    """The phases of a tree that the loop runs, none where other equations are needed. Where events decide which they are, it
    is one in which all constraints act, as any of them may.
    """
    structure = articulated(system, form, options)
    if structure is None or isinstance(structure, Articulated):
        return () if structure is None else structure.phases
    from svyaz.dynamics import closed_equations

    first = structure.begin(np.array(system.initial_state())).phase
    return (replace(first, equations=closed_equations(system, system.constraints)),)


def written_though_long(system: System | Equations, form: str | None, options: Options) -> tuple[str, ...]:
    """Words for a tree whose equations are written out although it is long, or recursions were asked for: why."""
    if isinstance(system, Equations) or not (form == FORM or (form is None and _many_bodies(system))):
        return ()
    unknown = _unknown_to_loop(system) or _unknown_holding(system, options)
    told = f"the equations of {len(system.bodies)} bodies were written out: recursions over them do not know {unknown}"
    return (told,) if unknown else ()


def _unknown_holding(system: System, options: Options) -> str:
    """What of the integrals that are held the loop does not know, in words: gradients of constraints that leave them alone."""
    start = np.array(system.initial_state())
    if not held_integrals(system, start, START, options.stabilize.decay_rate):
        return ""
    if system.constraints:
        return "integrals that are held beside constraints"
    return "brackets of integrals" if options.hold == BRACKET else ""


def _phases(system: System, until: float) -> Iterator[Phase]:
    """The phases that times divide, with equations that are named."""
    from svyaz.dynamics import closed_equations

    before: tuple[Constraint, ...] = ()
    for begin, end, active in intervals(system, until):
        yield Phase(begin, end, active, tuple(c for c in active if c not in before), closed_equations(system, active))
        before = active
