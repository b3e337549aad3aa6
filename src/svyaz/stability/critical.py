"""Stability of equilibria in redundant coordinates: always a critical case, decided by theorems of the special case.

The characteristic polynomial of the full first approximation is λᵐ det(A - λE): each geometric constraint gives a zero
root. Theorem (Krasinskaya, Krasinskii): if all other roots have negative real parts, the equilibrium is asymptotically
stable with respect to perturbations that satisfy the constraints. Off them F is a first integral, and the motion tends
to a neighbouring equilibrium: stability without asymptotics (Lyapunov, Malkin).

The hypotheses of the theorems are examined on the system at hand:

    ż = (B(q) - B(0)) ẋ,     z = y - B(0) x

has no linear terms and vanishes with the velocities, so that the zero roots of the constraints are those of Lyapunov's
special case; perturbations on F = 0 leave z = O(x²), and no other constant than zero is left to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svyaz.expr import ZERO, Expression, ModelError, add_up, differentiate, evaluate, names_in, substitute, velocity
from svyaz.forms import is_nothing
from svyaz.model import System
from svyaz.stability.linearisation import DEGENERATE, FirstApproximation
from svyaz.stability.spectrum import roots, signs, zero_roots
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
    residual, steady = _examined(approximation)
    count = f"{m} zero root{'s' if m > 1 else ''}"
    met = f"completed to |F| = {residual:.1g}" if np.isfinite(residual) else "could not be completed"
    return (
        Hypothesis(
            f"det ∂F/∂s ≠ 0 at the equilibrium: its least singular value is {split:.2g} of the largest of ∂F/∂q",
            split > DEGENERATE,
        ),
        Hypothesis(f"the rates of z = y - B(0)x have no linear terms: B(q) tends to B(0), {count}", steady),
        Hypothesis("the constraints do not contain the time: the rates of z vanish with the velocities", still),
        Hypothesis(
            f"perturbations satisfy the constraints: small ones of each independent coordinate were {met}",
            residual <= CONSISTENT,
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


ASYMPTOTIC, STABLE, UNSTABLE, UNDECIDED = "asymptotic", "stable", "unstable", "undecided"

SPECIAL_CASE = "Krasinskaya and Krasinskii, special case of m zero roots (Lyapunov, Malkin)"
FIRST_APPROXIMATION = "Lyapunov, first approximation"
LAGRANGE_DIRICHLET = "Lagrange and Dirichlet (Routh, for redundant coordinates)"
NO_THEOREM = "the first approximation does not decide: a critical case beyond the zero roots of the constraints"


@dataclass(frozen=True)
class StabilityVerdict:
    """What is known of the stability of an equilibrium, and why.

    ``roots`` are those of the full first approximation, ``zero_roots`` of them are zero; the constraints account for
    ``constraint_roots``.
    """

    word: str
    theorem: str
    hypotheses: tuple[Hypothesis, ...]
    roots: NDArray[np.complex128]
    zero_roots: int
    constraint_roots: int
    notes: tuple[str, ...] = ()


def stability(approximation: FirstApproximation) -> StabilityVerdict:
    """The verdict on an equilibrium with its inputs held constant."""
    system, matrix = approximation.system, approximation.A
    m = len(approximation.dependent)
    negative, neutral, positive = signs(matrix)
    zeros = m + zero_roots(matrix)
    special = special_case(approximation)
    which = f"the other {len(matrix)}" if m else f"all {len(matrix)}"
    others = Hypothesis(f"{which} roots have negative real parts", negative == len(matrix))
    found = np.concatenate([np.asarray(roots(matrix)), np.zeros(m, dtype=complex)])
    notes = _notes(approximation, zeros, neutral)
    if positive:
        reason = Hypothesis(f"{positive} root{'s have' if positive > 1 else ' has'} a positive real part", True)
        return StabilityVerdict(UNSTABLE, FIRST_APPROXIMATION, (reason,), found, zeros, m, notes)
    if others.holds:
        theorem = SPECIAL_CASE if m else FIRST_APPROXIMATION
        return StabilityVerdict(ASYMPTOTIC, theorem, (*special, others), found, zeros, m, notes)
    conservative = _conservative(system, approximation)
    if all(h.holds for h in conservative):
        return StabilityVerdict(STABLE, LAGRANGE_DIRICHLET, conservative, found, zeros, m, notes)
    return StabilityVerdict(UNDECIDED, NO_THEOREM, (*special, others, *conservative), found, zeros, m, notes)


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
    _, values, rows = np.linalg.svd(approximation.A / np.maximum(sizes, 1e-9 * sizes.max(initial=0.0)))
    null = np.abs(rows[values < 1e-9 * max(values.max(initial=0.0), 1e-300)])
    parts = null.max(axis=0, initial=0.0)
    return tuple(name for name, part in zip(approximation.variables, parts, strict=True) if part > 1e-6)


def _conservative(system: System, approximation: FirstApproximation) -> tuple[Hypothesis, ...]:
    """The conditions of the theorem of Lagrange and Dirichlet on the surface of the constraints."""
    stiffness = approximation.stiffness
    symmetric = 0.5 * (stiffness + stiffness.T)
    sizes = np.sqrt(np.maximum(np.diag(approximation.inertia), 1e-300))
    least = float(np.linalg.eigvalsh(symmetric / np.outer(sizes, sizes)).min(initial=np.inf))
    largest = float(np.abs(symmetric / np.outer(sizes, sizes)).max(initial=0.0))
    return (
        Hypothesis(
            "the forces have a potential, or give no power (gyroscopic, dissipative; examined at random states)",
            has_potential(system),
        ),
        Hypothesis("no further states take part", not system.rates),
        Hypothesis("the potential energy on the constraints has a strict minimum", least > 1e-10 * largest),
    )


def has_potential(system: System) -> bool:
    """Do the given forces consist of a part with symmetric derivatives by position, and a rest that gives no power?

    The rest Q(q, q̇) - Q(q, 0) and the Rayleigh function are examined at random states: their power must not be positive.
    """
    still = {velocity(q): ZERO for q in system.coordinates}
    given = {q: system.forces.get(q, ZERO) for q in system.coordinates}
    held = {q: substitute(force, still) for q, force in given.items()}
    power = add_up((given[q] - held[q]) * velocity(q) for q in system.coordinates)
    if not _never_positive(power, system) or not _never_positive(-system.dissipation, system):
        return False
    names = system.coordinates
    return all(_equal_slopes(held[a], b, held[b], a) for i, a in enumerate(names) for b in names[i + 1 :])


def _never_positive(expression: Expression, system: System) -> bool:
    """By its values at random states, apart from rounding."""
    if expression == ZERO or is_nothing(expression):
        return True
    random = np.random.default_rng(3)
    names = sorted(names_in(expression) - set(system.constants))
    values = []
    for row in random.normal(size=(24, len(names))):
        point = {**system.constants, **{n: float(x) for n, x in zip(names, row, strict=True)}}
        values.append(evaluate(expression, point))
    return bool(np.nanmax(values) <= 1e-12 * np.nanmax(np.abs(values)))


def _equal_slopes(first: Expression, by_second: str, second: Expression, by_first: str) -> bool:
    import symengine as se

    difference = differentiate(first, se.Symbol(by_second)) - differentiate(second, se.Symbol(by_first))
    return bool(difference == ZERO) or is_nothing(difference)
