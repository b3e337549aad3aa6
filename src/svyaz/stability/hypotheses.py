"""Conditions of theorems, as they stand here, and the structure that zero roots of constraints have.

    ż = (B(q) - B(0)) ẋ,     z = y - B(0) x

has no linear terms and vanishes with the velocities, so that the zero roots of the constraints are those of Lyapunov's
special case; perturbations on F = 0 leave z = O(x²), and no other constant than zero is left to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svyaz.expr import ModelError, names_in
from svyaz.stability.admissible import is_symbolic
from svyaz.stability.linearisation import DEGENERATE, FirstApproximation
from svyaz.stability.starts import ConstraintNumbers, consistent_start

SMALL = 1e-4
"""The size of the perturbations with which the structure is examined, beside 1 and the coordinate."""

QUARTERS = 6
"""So often a perturbation is quartered until its effect on B is nearly linear: close to a fold it takes a while."""

CONSISTENT = 1e-9
"""|F| over the size of ∂F/∂q that counts as zero."""


@dataclass(frozen=True)
class Hypothesis:
    """A condition of a theorem, and whether it holds here: None where neither that nor the contrary is shown.

    ``about`` says what it concerns where others ask for that.
    """

    text: str
    holds: bool | None
    about: str = ""


def special_case(approximation: FirstApproximation) -> tuple[Hypothesis, ...]:
    """The structure that the theorems need; nothing for a system without constraints."""
    m, system = len(approximation.dependent), approximation.system
    if not m:
        return ()
    split = approximation.conditioning
    still = not any("t" in names_in(c.expression) for c in system.constraints)
    count = f"{m} zero root{'s' if m > 1 else ''}"
    solved = Hypothesis(
        f"det ∂F/∂s ≠ 0 at the equilibrium: its least singular value is {split:.2g} of the largest of ∂F/∂q",
        split > DEGENERATE,
    )
    timeless = Hypothesis("the constraints do not contain the time: the rates of z vanish with the velocities", still)
    if not is_symbolic(system):
        # smooth functions of the places of points: B is continuous where ∂F/∂s has an inverse
        return solved, timeless
    residual, steady = _examined(approximation)
    met = f"were completed to |F| = {residual:.1g}" if np.isfinite(residual) else "could not be completed"
    return (
        solved,
        Hypothesis(f"the rates of z = y - B(0)x have no linear terms: B(q) tends to B(0), {count}", steady or None),
        timeless,
        Hypothesis(
            f"perturbations satisfy the constraints: small ones of each independent coordinate {met}",
            residual <= CONSISTENT or None,
        ),
    )


def _examined(approximation: FirstApproximation) -> tuple[float, bool]:
    """The largest |F| over |∂F/∂q| of small consistent perturbations, and whether B(q) - B(0) falls with their size."""
    system, rest, dependent = approximation.system, approximation.state, approximation.dependent
    numbers = ConstraintNumbers(system, dependent)
    size, slope = max(numbers.size(rest), 1e-300), numbers.slope(rest)
    rounding = 1e-9 * (1 + float(np.abs(slope).max(initial=0.0)))
    largest, steady = 0.0, True
    for q in approximation.independent:
        reach, before, falls = SMALL * (1 + abs(rest[q])), None, False
        for _ in range(QUARTERS):
            try:
                start = consistent_start(system, rest, dependent, {q: reach})
            except ModelError:
                return float("inf"), False
            largest = max(largest, float(np.abs(numbers.values(start.state)).max()) / size)
            change = float(np.abs(numbers.slope(start.state) - slope).max(initial=0.0))
            falls = change <= rounding or (before is not None and change <= 0.5 * before)
            if falls:
                break
            reach, before = start.deviations[q] / 4, change  # a start that could not be reached was halved
        steady &= falls
    return largest, steady
