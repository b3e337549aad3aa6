"""Stability of equilibria in redundant coordinates: always a critical case, decided by theorems of the special case.

The characteristic polynomial of the full first approximation is λᵐ det(A - λE): each geometric constraint gives a zero
root. Theorem (Krasinskaya, Krasinskii): if all other roots have negative real parts, the equilibrium is asymptotically
stable with respect to perturbations that satisfy the constraints. Off them F is a first integral, and the motion tends
to a neighbouring equilibrium: stability without asymptotics (Lyapunov, Malkin).

What the other roots leave open is decided where a theorem does it: one further zero root by the first power of the reduced
force, a pair of imaginary roots by Lyapunov's first coefficient, conservative systems by the energy, displacements that
change nothing by the family they make. Each theorem is told with its hypotheses, examined on the system at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from svyaz.matrices import svd
from svyaz.stability.admissible import is_symbolic
from svyaz.stability.energy import Conservative, all_motions_are_damped, conservative, without_minimum
from svyaz.stability.hypotheses import Hypothesis, special_case
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.oscillation import first_coefficient
from svyaz.stability.reduction import ReducedForce, reduced_force
from svyaz.stability.rest_curves import EXACT
from svyaz.stability.spectrum import spectrum
from svyaz.stability.symmetry import changes_nothing, is_not_pushed

ASYMPTOTIC, STABLE, UNSTABLE, UNDECIDED = "asymptotic", "stable", "unstable", "undecided"

SPECIAL_CASE = "Krasinskaya and Krasinskii, special case of m zero roots (Lyapunov, Malkin)"
FIRST_APPROXIMATION = "Lyapunov, first approximation"
LAGRANGE_DIRICHLET = "Lagrange and Dirichlet (Routh, for redundant coordinates)"
ONE_ZERO_ROOT = "Lyapunov, one zero root: the first power of the reduced force that does not vanish"
FAMILY = "Lyapunov and Malkin, special case: a family of equilibria"
IMAGINARY_PAIR = "Lyapunov, a pair of imaginary roots: the first coefficient"
DAMPED_MINIMUM = "Barbashin and Krasovskii: a strict minimum of the potential energy, and damping of every motion"
NO_MINIMUM = "Koiter: no minimum of the potential energy"
NO_MINIMUM_OF_A_FORM = "Palamodov, Kozlov: the first form of the potential energy has no minimum"
NO_MINIMUM_IN_ONE_DEGREE = "the integral of energy, one degree of freedom: no minimum of the potential energy"
DRIFT = "the integral of momentum: a small velocity along a displacement that changes nothing stays for ever"
NO_THEOREM = "the first approximation does not decide: a critical case beyond the zero roots of the constraints"


@dataclass(frozen=True)
class StabilityVerdict:
    """What is known of the stability of an equilibrium, and why.

    ``roots`` are those of the full first approximation, ``zero_roots`` of them are zero; the constraints account for
    ``constraint_roots``. ``reduced`` is the force along the one direction in which the first approximation has none;
    ``manifold`` is the dimension of that of the steady motions, where it was followed.
    """

    word: str
    theorem: str
    hypotheses: tuple[Hypothesis, ...]
    roots: NDArray[np.complex128]
    zero_roots: int
    constraint_roots: int
    notes: tuple[str, ...] = ()
    reduced: ReducedForce | None = None
    manifold: int | None = None


@dataclass(frozen=True)
class _Case:
    """What the decisions need: numbers of roots of A with negative and zero real parts, zeros among them."""

    approximation: FirstApproximation
    special: tuple[Hypothesis, ...]
    negative: int
    neutral: int
    zeros: int
    reduced: ReducedForce | None
    energy: Conservative

    @property
    def order(self) -> int:
        return len(self.approximation.A)

    @property
    def others(self) -> str:
        beside = " but those of constraints" if self.approximation.dependent else ""
        return f", all others{beside} have negative real parts" if self.negative else ""


Decision = tuple[str, str, tuple[Hypothesis, ...]]
"""The word, the theorem, its hypotheses."""


def stability(approximation: FirstApproximation, reach: float = EXACT) -> StabilityVerdict:
    """The verdict on an equilibrium with its inputs held constant; its position is known to ``reach``."""
    matrix, m = approximation.A, len(approximation.dependent)
    computed, further, (negative, neutral, positive) = spectrum(matrix)
    found = np.concatenate([computed, np.zeros(m, dtype=complex)])
    notes = _notes(approximation, m + further, neutral)
    verdict = StabilityVerdict(UNDECIDED, NO_THEOREM, (), found, m + further, m, notes)
    if positive:
        reason = Hypothesis(f"{positive} root{'s have' if positive > 1 else ' has'} a positive real part", True)
        return replace(verdict, word=UNSTABLE, theorem=FIRST_APPROXIMATION, hypotheses=(reason,))
    special = special_case(approximation)
    which = f"the other {len(matrix)}" if m else f"all {len(matrix)}"
    others = Hypothesis(f"{which} roots have negative real parts", True if negative == len(matrix) else None)
    if others.holds:
        theorem = SPECIAL_CASE if m else FIRST_APPROXIMATION
        return replace(verdict, word=ASYMPTOTIC, theorem=theorem, hypotheses=(*special, others))
    reduced = reduced_force(approximation, reach) if further and is_symbolic(approximation.system) else None
    energy = conservative(approximation, reduced, reach)
    case = _Case(approximation, special, negative, neutral, further, reduced, energy)
    verdict = replace(verdict, reduced=reduced)
    for decide in (_one_zero_root, _imaginary_pair, _minimum, _no_minimum, _symmetry):
        if (decision := decide(case)) is not None:
            word, theorem, hypotheses = decision
            return replace(verdict, word=word, theorem=theorem, hypotheses=hypotheses)
    return replace(verdict, hypotheses=(*special, others, *energy.hypotheses))


def _one_zero_root(case: _Case) -> Decision | None:
    """ẋ = g x^p + …: asymptotically stable if p is odd and g < 0, else unstable."""
    found = case.reduced
    if found is None or not found.power or found.rate is None:
        return None
    if (case.zeros, case.negative) != (1, case.order - 1):
        return None
    returns = found.power % 2 == 1 and found.rate < 0
    hypotheses = (
        Hypothesis(f"one root is zero{case.others}", True),
        Hypothesis(
            f"the reduced force begins with the power {found.power}, with the rate {found.rate:.4g}: "
            f"lower ones vanish to rounding ({found.scatter:.1g})",
            True,
        ),
    )
    return (
        (ASYMPTOTIC, ONE_ZERO_ROOT, (*case.special, *hypotheses)) if returns else (UNSTABLE, ONE_ZERO_ROOT, hypotheses)
    )


def _imaginary_pair(case: _Case) -> Decision | None:
    """By the sign of the first coefficient, where it is surely not zero; a potential alone makes it zero."""
    system = case.approximation.system
    if (case.zeros, case.neutral, case.negative) != (0, 2, case.order - 2):
        return None
    if system.unreduced is not system or not (system.forces or system.rates or system.dissipation != 0):
        return None
    found = first_coefficient(case.approximation)
    if found is None or not found.sure:
        return None
    hypotheses = (
        Hypothesis(f"two roots are ±{found.frequency:.6g}i to rounding{case.others}", True),
        Hypothesis(f"the first coefficient is {found.value:.4g}, to {found.scatter:.1g}", True),
    )
    if found.value < 0:
        return ASYMPTOTIC, IMAGINARY_PAIR, (*case.special, *hypotheses)
    return UNSTABLE, IMAGINARY_PAIR, hypotheses


def _minimum(case: _Case) -> Decision | None:
    """Stable; asymptotically where power is taken from every motion, for then none but rest is left nearby."""
    hypotheses = case.energy.hypotheses
    if not all(h.holds for h in hypotheses):
        return None
    damped = all_motions_are_damped(case.approximation)
    if damped.holds:
        return ASYMPTOTIC, DAMPED_MINIMUM, (*case.special, *hypotheses, damped)
    return STABLE, LAGRANGE_DIRICHLET, hypotheses


def _no_minimum(case: _Case) -> Decision | None:
    """Where the second differential is positive but for soft directions, and the energy falls along them."""
    energy = case.energy
    if not all(h.holds for h in energy.forces) or energy.minimum.holds is not False or not energy.soft:
        return None
    reason = without_minimum(case.approximation)
    if reason is None:
        return None
    lower = Hypothesis(energy.minimum.text.replace("has a strict minimum", "has no minimum"), True)
    theorem = NO_MINIMUM if energy.soft == 1 else NO_MINIMUM_OF_A_FORM
    if len(case.approximation.independent) == 1:
        theorem = NO_MINIMUM_IN_ONE_DEGREE
    return UNSTABLE, theorem, (*energy.forces, reason, lower)


def _symmetry(case: _Case) -> Decision | None:
    """A displacement that changes nothing: stable with one zero root, left for ever with two."""
    found, approximation = case.reduced, case.approximation
    if found is None or not found.vanishes:
        return None
    along = _displacement(approximation)
    system, inputs = approximation.system, approximation.inputs
    if not along or not changes_nothing(system, along, inputs):
        return None
    told = " + ".join(q if w == 1 else f"{w:g}*{q}" for q, w in along.items()).replace("+ -", "- ")
    same = Hypothesis(f"a displacement of {told} changes nothing: the equilibria form a family", True)
    if (case.zeros, case.negative) == (1, case.order - 1):
        rest = Hypothesis(f"one root is zero{case.others}", True)
        return STABLE, FAMILY, (*case.special, same, rest)
    if case.zeros == 2 and is_not_pushed(system, along, inputs):
        return UNSTABLE, DRIFT, (same, Hypothesis(f"no force pushes along {told}, whatever the velocities", True))
    return None


def _displacement(approximation: FirstApproximation) -> dict[str, float]:
    """The null vector of A in all coordinates, its largest entry 1; nothing if further states take part."""
    n = len(approximation.independent)
    null = svd(approximation.A)[2][-1]
    moves = dict(zip(approximation.independent, null[:n], strict=True))
    moves |= dict(zip(approximation.dependent, approximation.slope @ null[:n], strict=True))
    largest = max(moves.values(), key=abs)
    if np.abs(null[n:]).max(initial=0.0) > 1e-9 * abs(largest):
        return {}
    rounded = {q: round(float(x / largest), 9) + 0.0 for q, x in moves.items()}
    return {q: rounded[q] for q in approximation.system.coordinates if rounded[q] != 0}


def _notes(approximation: FirstApproximation, zeros: int, neutral: int) -> tuple[str, ...]:
    """What is not as it is in general: zero roots beyond those of the constraints, roots on the imaginary axis."""
    notes, m = [], len(approximation.dependent)
    if zeros > m:
        names = ", ".join(free_to_drift(approximation))
        notes.append(
            f"{zeros} zero root{'s' if zeros > 1 else ''}: {m} of constraints, {zeros - m} because {names} may be moved "
            "without any force (a cyclic coordinate, a family of equilibria, or a degenerate one)"
        )
    if neutral > zeros - m:
        count = neutral - zeros + m
        notes.append(f"{count} root{'s lie' if count > 1 else ' lies'} on the imaginary axis")
    return tuple(notes)


def free_to_drift(approximation: FirstApproximation) -> tuple[str, ...]:
    """Variables that take part in the vectors A ξ = 0."""
    sizes = np.linalg.norm(approximation.A, axis=1, keepdims=True)
    _, values, rows = svd(approximation.A / np.maximum(sizes, 1e-9 * sizes.max(initial=0.0)))
    null = np.abs(rows[values < 1e-9 * max(values.max(initial=0.0), 1e-300)])
    parts = null.max(axis=0, initial=0.0)
    return tuple(name for name, part in zip(approximation.variables, parts, strict=True) if part > 1e-6)
