"""Stability of equilibria in redundant coordinates: always a critical case, decided by theorems of the special case.

The characteristic polynomial of the full first approximation is λᵐ det(A - λE): each geometric constraint gives a zero
root. Theorem (Krasinskaya, Krasinskii): if all other roots have negative real parts, the equilibrium is asymptotically
stable with respect to perturbations that satisfy the constraints. Off them F is a first integral, and the motion tends
to a neighbouring equilibrium: stability without asymptotics (Lyapunov, Malkin).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svyaz.expr.calculus import ZERO, Expression, differentiate, names_in, velocity
from svyaz.forms.reduction import is_nothing
from svyaz.model import System
from svyaz.stability.linearisation import FirstApproximation
from svyaz.stability.roots import roots, signs, zero_roots

ASYMPTOTIC, STABLE, UNSTABLE, UNDECIDED = "asymptotic", "stable", "unstable", "undecided"

SPECIAL_CASE = "Krasinskaya and Krasinskii, special case of m zero roots (Lyapunov, Malkin)"
FIRST_APPROXIMATION = "Lyapunov, first approximation"
LAGRANGE_DIRICHLET = "Lagrange and Dirichlet (Routh, for redundant coordinates)"
NO_THEOREM = "the first approximation does not decide: a critical case beyond the zero roots of the constraints"


@dataclass(frozen=True)
class Hypothesis:
    """A condition of a theorem, and whether it holds here."""

    text: str
    holds: bool


@dataclass(frozen=True)
class Verdict:
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


def stability(approximation: FirstApproximation) -> Verdict:
    """The verdict on an equilibrium with its inputs held constant."""
    system, matrix = approximation.system, approximation.A
    m = len(approximation.dependent)
    negative, neutral, positive = signs(matrix)
    zeros = m + zero_roots(matrix)
    special = special_case(approximation)
    others = Hypothesis(f"the other {len(matrix)} roots have negative real parts", negative == len(matrix))
    found = np.concatenate([np.asarray(roots(matrix)), np.zeros(m, dtype=complex)])
    notes = _notes(zeros, m, neutral)
    if positive:
        reason = Hypothesis(f"{positive} root{'s have' if positive > 1 else ' has'} a positive real part", True)
        return Verdict(UNSTABLE, FIRST_APPROXIMATION, (reason,), found, zeros, m, notes)
    if others.holds:
        theorem = SPECIAL_CASE if m else FIRST_APPROXIMATION
        return Verdict(ASYMPTOTIC, theorem, (*special, others), found, zeros, m, notes)
    conservative = _conservative(system, approximation)
    if all(h.holds for h in conservative):
        return Verdict(STABLE, LAGRANGE_DIRICHLET, conservative, found, zeros, m, notes)
    return Verdict(UNDECIDED, NO_THEOREM, (*special, others, *conservative), found, zeros, m, notes)


def special_case(approximation: FirstApproximation) -> tuple[Hypothesis, ...]:
    """The structure that the theorem needs, verified on the system: z' has no linear terms, rest satisfies the equations."""
    m = len(approximation.dependent)
    if not m:
        return ()
    tail = approximation.full_matrix[-m:]
    return (
        Hypothesis("det ∂F/∂s ≠ 0 at the equilibrium", bool(np.isfinite(approximation.slope).all())),
        Hypothesis(
            f"the variables z = y - B(0)x have no linear terms in their rates: {m} zero root{'s' if m > 1 else ''}",
            not tail.any(),
        ),
        Hypothesis(
            "the rates of z vanish with the velocities, so that neighbouring positions of rest form a surface", True
        ),
        Hypothesis("perturbations satisfy the constraints", True),
    )


def _notes(zeros: int, m: int, neutral: int) -> tuple[str, ...]:
    notes = []
    if zeros > m:
        notes.append(
            f"{zeros} zero roots, {m} from constraints: the equilibrium is not isolated, or a coordinate is free to drift"
        )
    if neutral > zeros - m:
        notes.append(f"{neutral - zeros + m} roots lie on the imaginary axis")
    return tuple(notes)


def _conservative(system: System, approximation: FirstApproximation) -> tuple[Hypothesis, ...]:
    """The conditions of the theorem of Lagrange and Dirichlet on the surface of the constraints."""
    stiffness = approximation.stiffness
    symmetric = 0.5 * (stiffness + stiffness.T)
    sizes = np.sqrt(np.maximum(np.diag(approximation.inertia), 1e-300))
    least = float(np.linalg.eigvalsh(symmetric / np.outer(sizes, sizes)).min(initial=np.inf))
    largest = float(np.abs(symmetric / np.outer(sizes, sizes)).max(initial=0.0))
    return (
        Hypothesis("the forces have a potential, or are gyroscopic or dissipative", has_potential(system)),
        Hypothesis("no further states take part", not system.rates),
        Hypothesis("the potential energy on the constraints has a strict minimum", least > 1e-10 * largest),
    )


def has_potential(system: System) -> bool:
    """Are the given forces functions of the position with symmetric derivatives, apart from a Rayleigh function D ≥ 0?

    Damping -b q̇ with a number b ≥ 0 on single coordinates is admitted as well.
    """
    coordinates = system.coordinates
    at_rest = {}
    for q in coordinates:
        force = system.forces.get(q, ZERO)
        rest = _without_damping(force, q, system)
        if rest is None or names_in(rest) & set(system.velocities):
            return False
        at_rest[q] = rest
    if not _dissipates(system):
        return False
    return all(
        _equal_slopes(at_rest[a], b, at_rest[b], a) for i, a in enumerate(coordinates) for b in coordinates[i + 1 :]
    )


def _without_damping(force: Expression, q: str, system: System) -> Expression | None:
    """The force without a term -b q̇, b ≥ 0 a constant; None when b is negative."""
    from svyaz.expr.calculus import evaluate

    slope = differentiate(force, velocity(q))
    if slope == ZERO:
        return force
    if names_in(slope) <= set(system.constants):
        return force - slope * velocity(q) if evaluate(slope, system.constants) <= 0 else None
    return force


def _dissipates(system: System) -> bool:
    """Is the Rayleigh function a positive semidefinite quadratic form, by its values at random velocities?"""
    from svyaz.expr.calculus import evaluate

    if system.dissipation == ZERO:
        return True
    random = np.random.default_rng(3)
    names = names_in(system.dissipation) - set(system.constants)
    points = [
        {**system.constants, **{n: float(x) for n, x in zip(sorted(names), row, strict=True)}}
        for row in random.normal(size=(24, len(names)))
    ]
    return all(evaluate(system.dissipation, point) >= 0 for point in points)


def _equal_slopes(first: Expression, by_second: str, second: Expression, by_first: str) -> bool:
    import symengine as se

    difference = differentiate(first, se.Symbol(by_second)) - differentiate(second, se.Symbol(by_first))
    return bool(difference == ZERO) or is_nothing(difference)


def words_for(hypotheses: Sequence[Hypothesis]) -> list[dict[str, object]]:
    """As the contract writes them."""
    return [{"text": h.text, "holds": bool(h.holds)} for h in hypotheses]
