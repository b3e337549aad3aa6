"""Verdicts on rest and steady motions where velocities are constrained.

- all roots to the left: asymptotic stability by the first approximation;
- as many zero roots as the manifold of steady motions has dimensions, all others to the left: Lyapunov's special case, stable,
  and each motion nearby tends to a steady one (Lyapunov, Malkin; Neimark and Fufaev);
- one imaginary pair beside such zero roots, and a motion that runs backwards when the velocity of the one other coordinate is
  reversed: each motion nearby passes twice through states without that velocity, so that it is periodic (R. L. Devaney 1976).

The verdicts concern the coordinates that the equations need and all velocities; perturbations satisfy the constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from svyaz.expr import ModelError
from svyaz.model import System
from svyaz.stability.constraint_surface import ConstraintSurface
from svyaz.stability.critical import (
    ASYMPTOTIC,
    FIRST_APPROXIMATION,
    NO_THEOREM,
    STABLE,
    UNDECIDED,
    UNSTABLE,
    StabilityVerdict,
)
from svyaz.stability.hypotheses import Hypothesis
from svyaz.stability.nonholonomic import NonholonomicLinearisation
from svyaz.stability.spectrum import spectrum

MANIFOLD = "Lyapunov and Malkin, special case: a manifold of steady motions (Neimark and Fufaev)"
REVERSIBLE = "Devaney: a reversible system, in which each motion nearby is periodic"

NEARBY, TRIALS, EQUAL = 0.1, 6, 1e-9


def nonholonomic_stability(
    approximation: NonholonomicLinearisation, state: Mapping[str, float], values: Mapping[str, float]
) -> StabilityVerdict:
    """The verdict on the motion with this state, inputs and parameters held constant."""
    matrix = approximation.A
    computed, zeros, (negative, neutral, positive) = spectrum(matrix)
    order, found = len(matrix), np.concatenate([computed, np.zeros(approximation.geometric, dtype=complex)])
    notes = _notes(approximation, zeros, neutral)
    geometric = approximation.geometric
    verdict = StabilityVerdict(UNDECIDED, NO_THEOREM, (), found, zeros + geometric, geometric, notes)
    verdict = replace(verdict, manifold=approximation.manifold)

    def told(word: str, theorem: str, *hypotheses: Hypothesis) -> StabilityVerdict:
        return replace(verdict, word=word, theorem=theorem, hypotheses=hypotheses)

    if positive:
        text = f"{positive} root{'s have' if positive > 1 else ' has'} a positive real part"
        return told(UNSTABLE, FIRST_APPROXIMATION, Hypothesis(text, True))
    surface = Hypothesis("perturbations satisfy the constraints, which the motion then does not leave", True)
    if negative == order:
        return told(
            ASYMPTOTIC, FIRST_APPROXIMATION, surface, Hypothesis(f"all {order} roots have negative real parts", True)
        )
    manifold = _manifold(approximation, zeros)
    if negative == order - zeros:
        others = (
            "other root has a negative real part"
            if negative == 1
            else f"other {negative} roots have negative real parts"
        )
        left = [Hypothesis(f"the {others}", True)] if negative else []
        word, theorem = (STABLE, MANIFOLD) if manifold.holds else (UNDECIDED, NO_THEOREM)
        return told(word, theorem, surface, manifold, *left)
    pair = neutral == zeros + 2 and negative == 0 and order == zeros + 2
    hypotheses = [surface, manifold, Hypothesis("the other roots are one imaginary pair", pair or None)]
    if pair and manifold.holds:
        back = is_reversible(approximation.system, state, values)
        text = "with the velocity of the one other coordinate reversed the motion runs back (examined at random states nearby)"
        hypotheses.append(Hypothesis(text, back or None))
        if back:
            return told(STABLE, REVERSIBLE, *hypotheses)
    return told(UNDECIDED, NO_THEOREM, *hypotheses)


def _manifold(approximation: NonholonomicLinearisation, zeros: int) -> Hypothesis:
    size = approximation.manifold
    text = (
        f"{zeros} root{'s are' if zeros != 1 else ' is'} zero, and steady motions go on from here in {size} "
        f"direction{'s' if size != 1 else ''} (followed numerically)"
    )
    return Hypothesis(text, True if size == zeros else None)


def _notes(approximation: NonholonomicLinearisation, zeros: int, neutral: int) -> tuple[str, ...]:
    notes = []
    geometric, manifold = approximation.geometric, approximation.manifold
    total = zeros + geometric
    if zeros:
        family = f"{manifold} of the manifold of steady motions"
        other = f", {zeros - manifold} of a degenerate case" if zeros > manifold else ""
        notes.append(f"{total} zero root{'s' if total > 1 else ''}: {geometric} of constraints, {family}{other}")
    if neutral > zeros:
        count = neutral - zeros
        notes.append(f"{count} root{'s lie' if count > 1 else ' lies'} on the imaginary axis")
    if names := approximation.ignorable.names:
        notes.append(f"stability is that of the velocities and of the coordinates other than {', '.join(names)}")
    return tuple(notes)


def is_reversible(system: System, state: Mapping[str, float], values: Mapping[str, float]) -> bool:
    """Is ẋ(R x) = -R ẋ(x) on the surface, R reversing the velocity of the one coordinate that is not ignorable?"""
    surface = ConstraintSurface(system, values)
    if len(surface.left) != 1 or system.rates:
        return False
    k, centre, random = 1, surface.vector(state), np.random.default_rng(7)
    flip = np.ones(len(centre))
    flip[k + surface.left[0]] = -1.0
    for _ in range(TRIALS):
        x = centre + NEARBY * (1 + np.abs(centre)) * random.normal(size=len(centre))
        try:
            x = surface.reached(x, range(len(x)), 1e-15)[0]
            ahead, back = surface.at(x), surface.at(flip * x)
        except ModelError:
            return False
        rates, mirrored = surface.rates(x, ahead), surface.rates(flip * x, back)
        size = 1 + float(np.abs(rates).max())
        if np.abs(mirrored + flip * rates).max() > EQUAL * size or np.abs(back.speeds).max() > EQUAL * size:
            return False
    return True
