"""Families of equilibria: solutions of the equations of rest that are not isolated, recognised from random starts.

First approximations at equilibria that are not proved to be simple: what their inexact position leaves of them.

A position known to δ gives the matrix of ẋ₂, ẋ₃ by x₁, x₃ only to

    |ΔS| ≤ Σ_k max |S(q ± δ_k e_k) - S(q)|,

and a singular value σ = uᵀ S v is known to |u|ᵀ |ΔS| |v|: below that it cannot be told from zero, and neither its root
nor a minimum of the energy may be claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Advice, ModelError, Problem
from svyaz.stability.boxes import all_zeros, newton
from svyaz.stability.linearisation import FirstApproximation, formal_approximation
from svyaz.stability.rest import RestEquations

SAMPLES = 60
"""Starts of Newton's method from which a family is recognised."""

SHOWN = 3
"""So many members of a family are given as examples."""

FEW_PARTS = 20_000
FEW_SECONDS = 10.0
"""So many parts are looked at, and so long, to prove that a box is empty where equilibria would form a family."""

DEPENDENT = 1e-8
"""A singular value below this part of the largest means that the equations depend on each other."""


@dataclass(frozen=True)
class EquilibriumFamily:
    """Its dimension, the names that may be prescribed, members (q, y), and solutions that are ``alone`` beside it."""

    dimension: int
    free: tuple[str, ...]
    members: tuple[Array, ...] = ()
    alone: tuple[Array, ...] = ()


def family_of(rest: RestEquations, seed: int) -> EquilibriumFamily | None:
    """The family when solutions are not isolated; none otherwise."""
    random = np.random.default_rng(seed)
    excess = len(rest.unknowns) - rest.problem.equations
    positions = random.uniform(rest.low, rest.high, (SAMPLES, len(rest.bounded)))
    starts, scale = with_free(rest, positions)
    found = family_among(rest, newton(rest.problem, starts, scale=scale))
    if found is None and excess > 0 and not _empty(rest):
        return EquilibriumFamily(excess, tuple(n for n in rest.unknowns if not n.startswith("multiplier of ")))
    return found


def family_among(rest: RestEquations, zeros: Iterable[Array]) -> EquilibriumFamily | None:
    """The family to which some of these solutions belong; none if each is alone or lies outside the box."""
    excess = len(rest.unknowns) - rest.problem.equations
    members: list[Array] = []
    alone: list[Array] = []
    directions: list[Array] = []
    for zero in zeros:
        if np.isnan(zero).any() or not rest.inside(zero, 1e-6):
            continue
        null = _null_space(rest, zero)
        tangent = null if excess > 0 else _goes_on(rest, zero, null)
        if tangent.shape[1]:
            members.append(zero)
            directions.append(tangent)
        elif not null.shape[1]:
            alone.append(zero)
    if not members:
        return None
    dimension = min(null.shape[1] for null in directions)
    size = np.max([np.abs(null).max(axis=1) for null in directions], axis=0)
    named = [(name, s) for name, s in zip(rest.unknowns, size, strict=True) if not name.startswith("multiplier of ")]
    free = tuple(name for name, s in named if s > 1e-6)
    if not free:
        _refuse_repetition(rest, size)
    return EquilibriumFamily(dimension, free, tuple(members[:SHOWN]), tuple(alone))


def _refuse_repetition(rest: RestEquations, size: Array) -> None:
    """Multipliers alone are not determined: some constraints follow from others."""
    moving = [name for name, s in zip(rest.unknowns, size, strict=True) if s > 1e-6]
    names = ", ".join(f"'{name.removeprefix('multiplier of ')}'" for name in moving)
    message = f"the constraints {names} depend on each other at the equilibria: what each carries is not determined"
    raise ModelError([Problem(message, hint=Advice("leave out those that repeat others", "repetition"))])


def with_free(rest: RestEquations, positions: Array) -> tuple[Array, Array]:
    """(q, y) with the best y for each q, and scales in which moving y costs little beside moving q."""
    free = np.zeros((len(positions), len(rest.free)))
    value, slope = rest.problem.value_and_slope(np.hstack([positions, free]))
    linear = slope[:, :, len(rest.bounded) :]
    usable = np.isfinite(value).all(axis=1) & np.isfinite(linear).all(axis=(1, 2))
    free[usable] = -np.einsum("nij,nj->ni", np.linalg.pinv(linear[usable], rcond=1e-10), value[usable])
    sizes = np.median(np.abs(free[usable]), axis=0) if usable.any() else np.zeros(len(rest.free))
    return np.hstack([positions, free]), np.concatenate([rest.width, 1e3 * (1 + sizes)])


def _null_space(rest: RestEquations, zero: Array) -> Array:
    """Directions in which the equations do not change, columns scaled by the sizes of the unknowns' effects."""
    slope = rest.problem.value_and_slope(zero[None, :])[1][0]
    columns = np.linalg.norm(slope, axis=0)
    scale = np.where(columns > 0, columns, 1.0)
    _, values, rows = np.linalg.svd(slope / scale)
    rank = int(np.count_nonzero(values > DEPENDENT * values.max(initial=0.0)))
    null = rows[rank:].T / scale[:, None]
    lengths = np.linalg.norm(null, axis=0)
    return np.asarray(null / np.where(lengths > 0, lengths, 1.0))


def is_multiple(rest: RestEquations, zero: Array) -> bool:
    """Is the solution multiple: neither alone to first order, nor one of a family?"""
    null = _null_space(rest, zero)
    excess = len(rest.unknowns) - rest.problem.equations
    return excess <= 0 and null.shape[1] > 0 and not _goes_on(rest, zero, null).shape[1]


def _goes_on(rest: RestEquations, zero: Array, null: Array) -> Array:
    """Directions in which the solution continues, of those in which it may; a multiple solution has none."""
    step = 1e-3 * (1 + float(np.abs(zero).max(initial=0.0)))
    moves = []
    for k in range(null.shape[1]):
        near = newton(rest.problem, (zero + step * null[:, k])[None, :])[0]
        move = near - zero
        if float(np.abs(move).max()) >= 0.3 * step * float(np.abs(null[:, k]).max()) and _null_space(rest, near).size:
            moves.append(move / np.linalg.norm(move))
    if not moves:
        return np.zeros((len(zero), 0))
    columns, values, _ = np.linalg.svd(np.array(moves).T, full_matrices=False)
    return np.asarray(columns[:, values > 0.1])


def _empty(rest: RestEquations) -> bool:
    """Is it proved, with little work, that nothing in the box is at rest?"""
    zeros = all_zeros(rest.problem, rest.low, rest.high, FEW_PARTS, FEW_SECONDS)
    return zeros.complete and not zeros.points


SURE = 4.0
"""A singular value must exceed its inexactness by this factor to count."""

ROUNDING = 1e-15
"""Of the largest entry."""


def rounded(approximation: FirstApproximation, inexact: Mapping[str, float]) -> FirstApproximation:
    """The approximation without the stiffness that a position known to ``inexact`` cannot tell from zero."""
    n, k = len(approximation.independent), len(approximation.further)
    size = np.concatenate([np.sqrt(np.abs(np.diag(approximation.inertia))), np.ones(k)])
    unit = size[:, None] / size
    static = _static(approximation.A, n) * unit
    doubt = SURE * _doubt(approximation, inexact) * unit
    left, values, right = np.linalg.svd(static)
    small = values <= np.einsum("ik,ij,kj->k", np.abs(left), doubt, np.abs(right))
    if not small.any():
        return approximation
    kept = static - (left[:, small] * values[small]) @ right[small]
    noise = ROUNDING * float(np.abs(static).max(initial=0.0))
    kept = np.where(np.abs(kept) <= np.where(np.abs(static) <= doubt, doubt, noise), 0.0, kept) / unit
    matrix = approximation.A.copy()
    matrix[n:, :n], matrix[n:, 2 * n :] = kept[:, :n], kept[:, n:]
    stiffness = -approximation.inertia @ kept[:n, :n]
    return replace(approximation, A=matrix, stiffness=stiffness)


def _static(matrix: Array, n: int) -> Array:
    """Rows of the accelerations and further rates, columns of the coordinates and further states."""
    return np.hstack([matrix[n:, :n], matrix[n:, 2 * n :]])


def _doubt(approximation: FirstApproximation, inexact: Mapping[str, float]) -> Array:
    """|ΔS| of the static matrix."""
    n = len(approximation.independent)
    here = _static(approximation.A, n)
    total = np.zeros_like(here)
    for name, reach in inexact.items():
        most = np.zeros_like(here)
        for way in (-reach, reach):
            most = np.fmax(most, np.abs(_static(_displaced(approximation, name, way), n) - here))
        total += most
    return np.asarray(total)


def _displaced(approximation: FirstApproximation, name: str, by: float) -> Array:
    """A by its formulas, beside the equilibrium; where they have no value there, the one of the equilibrium."""
    known = {**approximation.system.constants, **approximation.state, **approximation.inputs}
    moved = {name: known[name] + by}
    try:
        return formal_approximation(
            approximation.system,
            {**approximation.state, **moved},
            {**approximation.inputs, **moved},
            approximation.dependent,
            moved,
        ).A
    except ModelError:
        return approximation.A
