"""Motions of long trees: forward dynamics by articulated bodies in one native loop, no equations are written out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from svyaz import forms
from svyaz.arrays import Array
from svyaz.forms import Equations, TurningBodies, may_jump
from svyaz.holding import BRACKET, Decision, Options, Refusal, decay_rate, held_integrals
from svyaz.integrate import Flow, Status
from svyaz.model import Bodies, Constraint, System, tree_of
from svyaz.motion.phases import START, Beginning, Chapter, Phase
from svyaz.motion.timed import Timed, intervals
from svyaz.motion.tree_words import FORM, moving_tree, tree_words
from svyaz.program import remembered

if TYPE_CHECKING:
    from svyaz.motion.closed_trees import ClosedTree
    from svyaz.motion.closing_numbers import TreeNumbers

LONGEST_WRITTEN = 16
"""Beyond so many bodies the loop is faster than equations with a full mass matrix."""


def _many_bodies(system: System) -> bool:
    """Is it a tree with so many bodies that it is better left to the loop?"""
    return isinstance(system.law, Bodies) and len(tree_of(system).bodies) > LONGEST_WRITTEN


def _unknown_to_loop(system: System) -> str:
    """What the loop does not know, in words; nothing where it can run the system."""
    if not isinstance(system.law, Bodies):
        return "systems that are no trees of bodies"
    bodies = system.law.tree.bodies
    reasons = (
        ("masses that change", any(body.varies(system.parameters) for body in bodies)),
        ("constraints that events switch", any(c.switched for c in system.constraints)),
        ("friction and servo-constraints", not all(c.ideal for c in system.constraints)),
    )
    return ", ".join(words for words, met in reasons if met)


def by_recursions(system: System) -> bool:
    """Is it a tree of many bodies at whose rest recursions tell all: one that they know, without further states and jumps?

    One of which cyclic coordinates are ignored is no other: its further states are their momenta or speeds.
    """
    known = _many_bodies(system) and not _unknown_to_loop(system) and not (system.rates or may_jump(system))
    return known or isinstance(system.law, TurningBodies)


def constraint_tables(system: System) -> TreeNumbers:
    """Residuals and ∂F/∂q of the constraints of such a tree, along rows of states."""
    return _closed_tree(system).tables


@remembered
def _closed_tree(system: System) -> ClosedTree:
    from svyaz.motion.closed_trees import ClosedTree
    from svyaz.motion.closing_rows import rows_of

    return ClosedTree(rows_of(system, system.constraints))


def long_flow(system: System) -> Flow:
    """The rates of a long tree, without its constraints, as a native function with its constants."""
    from svyaz.motion.long_tree_code import step_function

    words, kept = tree_words(system)
    function = step_function()
    return Flow(function.address, words.view(np.float64), len(system.states), (function, kept))


@dataclass(frozen=True)
class Articulated(Timed):
    """The phases of a tree that is run by the loop: its equations are named, not written out."""

    def settle(self, beginning: Beginning, before: Sequence[Chapter], *, force: bool) -> Decision | Refusal:
        loose = _loose(self.system, beginning.state)
        if loose is not None:
            reason = f"the inertia matrix is singular there: '{loose}' meets no inertia"
            return Refusal(Status.SINGULAR, reason)
        return super().settle(beginning, before, force=force)


def articulated(system: System | Equations, form: str | None, options: Options) -> Articulated | None:
    """A tree as the loop runs it: one that is long, or for which it was asked; None where other equations are needed."""
    if isinstance(system, Equations) or not (form == FORM or (form is None and _many_bodies(system))):
        return None
    unknown = _unknown_to_loop(system) or _unknown_holding(system, options)
    if unknown:
        if isinstance(system.law, Bodies):
            told = f"recursions over the bodies do not know {unknown}, and "
            forms.refuse_to_write(system, told, "leave these out")
        return None
    return Articulated(system, FORM, options, tuple(_phases(system, options.until)))


def written_though_long(system: System | Equations, form: str | None, options: Options) -> tuple[str, ...]:
    """Words for a tree whose equations are written out although it is long, or recursions were asked for: why."""
    if isinstance(system, Equations) or not (form == FORM or (form is None and _many_bodies(system))):
        return ()
    unknown = _unknown_to_loop(system) or _unknown_holding(system, options)
    count = len(tree_of(system).bodies) if isinstance(system.law, Bodies) else 0
    told = f"the equations of {count} bodies were written out: recursions over them do not know {unknown}"
    return (told,) if unknown else ()


def _unknown_holding(system: System, options: Options) -> str:
    """What of the integrals that are held the loop does not know, in words: gradients of constraints that leave them alone."""
    start = np.array(system.initial_state())
    if not held_integrals(system, start, START, decay_rate(options.stabilize)):
        return ""
    if system.constraints:
        return "integrals that are held beside constraints"
    return "brackets of integrals" if options.hold == BRACKET else ""


def _phases(system: System, until: float) -> Iterator[Phase]:
    """The phases that times divide, with equations that are named."""
    from svyaz.motion.closed_trees import closed_equations

    before: tuple[Constraint, ...] = ()
    for begin, end, active in intervals(system, until):
        yield Phase(begin, end, active, tuple(c for c in active if c not in before), closed_equations(system, active))
        before = active


def _loose(system: System, state: Array) -> str | None:
    """The coordinate of a joint that meets no inertia in a position."""
    tree = moving_tree(system)
    place = dict(zip(system.coordinates, state[: len(system.coordinates)].tolist(), strict=True))
    found = forms.loose_joint(forms.placed(tree, place, forms.FLOATS))
    return None if found is None else tree.bodies[found].coordinates[0]
