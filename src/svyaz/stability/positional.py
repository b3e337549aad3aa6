"""Stability with respect to the positional variables: cyclic coordinates are ignored, and their momenta stay as they are.

The system with Routh's function for its Lagrangian has the very motions of the given one, in the other coordinates. Its verdict
on an equilibrium or a steady motion speaks of positions and their velocities at fixed momenta. A cyclic coordinate with a
conserved momentum drifts away when the momentum is perturbed, however stable the positions are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from svyaz.expr import ModelError
from svyaz.forms import Cyclic, Ignored, momentum_of, pseudo_cyclic
from svyaz.model import System
from svyaz.program import remembered
from svyaz.stability.critical import (
    ASYMPTOTIC,
    FIRST_APPROXIMATION,
    LAGRANGE_DIRICHLET,
    SPECIAL_CASE,
    STABLE,
    UNDECIDED,
    StabilityVerdict,
    stability,
)
from svyaz.stability.families import rounded
from svyaz.stability.hypotheses import Hypothesis
from svyaz.stability.ignoring import routhian_system, uniform
from svyaz.stability.linearisation import FirstApproximation, first_approximation, formal_approximation
from svyaz.stability.rest_curves import EXACT

UNCHANGED_MOMENTA = "Theorem 2.6.1 (Krasinskii): stable; asymptotically where the momenta are not perturbed"
ROUTH = "Routh, with Lyapunov's addition for perturbed momenta"
PERSISTENT = "Malkin, persistent disturbances: asymptotic at unperturbed momenta, and stable when they are perturbed"
ONLY_AT_FIXED_MOMENTA = "what is known at unperturbed momenta says nothing about perturbed ones"

POTENTIAL, REDUCED = "the potential energy", "the reduced (amended) potential energy"
"""What has the minimum of a theorem: of a system without its cyclic coordinates, Routh's potential."""


def judge(
    system: System,
    state: Mapping[str, float],
    inputs: Mapping[str, float],
    dependent: Sequence[str] | None,
    parameters: Mapping[str, float] | None = None,
    inexact: Mapping[str, float] | None = None,
) -> tuple[FirstApproximation, StabilityVerdict]:
    """The first approximation at an equilibrium whose position is known to ``inexact``, and the verdict on it.

    What is formed once for a system serves all values of its ``parameters``.
    """
    # the balance of forces that all but vanish says nothing at a position that is not exact
    form = formal_approximation if inexact else first_approximation
    found = form(system, state, inputs, dependent, parameters)
    if parameters:
        found = replace(found, system=replace(system, parameters=dict(parameters)))
    if inexact:
        found = rounded(found, inexact)
    return found, stability(found, 10 * max((inexact or {}).values(), default=0.0) or EXACT)


@remembered
def without_cyclic(system: System) -> tuple[Ignored, tuple[Cyclic, ...]]:
    """The system without its cyclic coordinates while its inputs are constant, and these coordinates.

    A coordinate on which nothing but constant inputs acts keeps its momentum in an equilibrium, where they balance.
    """
    found = pseudo_cyclic(system)
    ignored = tuple(c if c.forced else replace(c, driven=()) for c in found)
    return routhian_system(system, ignored), ignored


def positional_verdict(
    system: System,
    parameters: Mapping[str, float],
    verdict: StabilityVerdict,
    state: Mapping[str, float],
    inputs: Mapping[str, float],
    dependent: Sequence[str] | None,
    inexact: Mapping[str, float] | None = None,
) -> tuple[StabilityVerdict, tuple[str, ...]]:
    """The verdict on an equilibrium with respect to its positional variables, and the cyclic coordinates that drift.

    ``verdict`` is that with respect to all coordinates: it stays where there is no other.
    """
    cyclic = [c.name for c in pseudo_cyclic(system)]
    drift = tuple(c.name for c in pseudo_cyclic(system) if not c.forced)
    if not cyclic or len(cyclic) == len(system.coordinates):
        return verdict, drift
    try:
        found, ignored = without_cyclic(system)
        whole, known = found.system, {**system.constants, **parameters, **state, **inputs, "t": 0.0}
        momenta = dict.fromkeys(map(momentum_of, cyclic), 0.0)
        if whole.unreduced is whole:  # else bodies at rest have none
            momenta = uniform(system, system, cyclic, {**known, **dict.fromkeys(system.velocities, 0.0)})[1]
        held = {momentum_of(c.name): momenta[momentum_of(c.name)] for c in ignored if c.conserved}
        position = {name: x for name, x in {**state, **momenta}.items() if name not in cyclic and name not in held}
        reach = {name: x for name, x in (inexact or {}).items() if name in position}
        here = judge(whole, position, inputs, dependent, {**whole.parameters, **parameters, **held}, reach)[1]
    except ModelError:
        return verdict, drift
    there = with_momenta(here, len(held))[0]
    return replace(verdict, word=there.word, theorem=there.theorem, hypotheses=there.hypotheses), drift


def with_momenta(here: StabilityVerdict, conserved: int) -> tuple[StabilityVerdict, str]:
    """The verdict at fixed momenta with a zero root for each conserved one, and the word when these are perturbed too."""
    here = replace(
        here,
        theorem=here.theorem.replace(POTENTIAL, REDUCED),
        hypotheses=tuple(replace(h, text=h.text.replace(POTENTIAL, REDUCED)) for h in here.hypotheses),
    )
    if not conserved:
        return here, here.word
    told = f"{conserved} conserved moment{'a give a zero root each' if conserved > 1 else 'um gives a zero root'}"
    structure = Hypothesis(f"{told}: no force acts on the cyclic coordinate{'s' if conserved > 1 else ''}", True)
    word, theorem, notes = here.word, here.theorem, here.notes
    if here.word == ASYMPTOTIC:
        word, theorem = STABLE, UNCHANGED_MOMENTA if theorem in (SPECIAL_CASE, FIRST_APPROXIMATION) else PERSISTENT
    elif here.word == STABLE and theorem == LAGRANGE_DIRICHLET:
        theorem = ROUTH
    elif here.word == STABLE:
        word, notes = UNDECIDED, (*notes, ONLY_AT_FIXED_MOMENTA)
    zeros = np.zeros(conserved, dtype=complex)
    found = replace(
        here,
        theorem=theorem,
        hypotheses=(*here.hypotheses, structure),
        roots=np.concatenate([here.roots, zeros]),
        zero_roots=here.zero_roots + conserved,
        notes=notes,
    )
    return found, word
