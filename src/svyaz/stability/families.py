"""Families of equilibria: solutions of the equations of rest that are not isolated, recognised from random starts.

First approximations at equilibria that are not proved to be simple: what their inexact position leaves of them.

A position known to δ gives the matrix of ẋ₂, ẋ₃ by x₁, x₃ only to

    |ΔS| ≤ Σ_k max |S(q ± δ_k e_k) - S(q)|,

and a singular value σ = uᵀ S v is known to |u|ᵀ |ΔS| |v|: below that it cannot be told from zero, and neither its root
nor a minimum of the energy may be claimed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Advice, ModelError, Problem
from svyaz.matrices import pinv, svd
from svyaz.stability.box_problem import zeros_beside
from svyaz.stability.boxes import all_zeros
from svyaz.stability.linearisation import FirstApproximation, formal_approximation
from svyaz.stability.rest import RestEquations

SAMPLES = 60
"""Starts of Newton's method from which a family is recognised."""

FEW_PARTS = 20_000
"""So many parts are looked at to prove that a box is empty where equilibria would form a family."""

DEPENDENT = 1e-8
"""A singular value below this part of the largest means that the equations depend on each other."""


@dataclass(frozen=True)
class EquilibriumFamily:
    """Its dimension, the names that may be prescribed, members (q, y), and solutions that are ``alone`` beside it."""

    dimension: int
    free: tuple[str, ...]
    members: tuple[Array, ...] = ()
    alone: tuple[Array, ...] = ()


def sampled_zeros(rest: RestEquations, seed: int) -> Array:
    """Solutions (number, unknowns) near the initial position, first, and near random ones; NaN for none."""
    random = np.random.default_rng(seed)
    positions = random.uniform(rest.low, rest.high, (SAMPLES, len(rest.bounded)))
    starts, _ = with_free(rest, np.vstack([initial_position(rest), positions]))
    return zeros_beside(rest.problem, starts, rest.width)


def initial_position(rest: RestEquations) -> Array:
    """The bounded unknowns in the model's initial state; the middle of the box for those without a value there."""
    system = rest.system
    known = {**{name: given.value for name, given in system.inputs.items()}, **system.parameters, **system.initial}
    middle = {name: 0.5 * sum(rest.box[name]) for name in rest.bounded}
    known |= {q: 0.0 for q in system.coordinates if q not in system.initial}
    return np.array([float(known.get(name, middle[name])) for name in rest.bounded])


def family_of(rest: RestEquations, zeros: Array) -> EquilibriumFamily | None:
    """The family when solutions, of which these were met, are not isolated; none otherwise."""
    excess = len(rest.unknowns) - rest.problem.equations
    found = family_among(rest, zeros)
    if found is None and excess > 0 and not _empty(rest):
        return EquilibriumFamily(excess, tuple(n for n in rest.unknowns if not n.startswith("multiplier of ")))
    return found


def family_among(rest: RestEquations, zeros: Iterable[Array]) -> EquilibriumFamily | None:
    """The family to which some of these solutions belong; none if each is alone or lies outside the box."""
    inside = [zero for zero in zeros if not np.isnan(zero).any() and rest.inside(zero, 1e-6)]
    tangents, isolated = going_on(rest, inside)
    members = [zero for zero, tangent in zip(inside, tangents, strict=True) if tangent.shape[1]]
    directions = [tangent for tangent in tangents if tangent.shape[1]]
    alone = [zero for zero, only in zip(inside, isolated, strict=True) if only]
    if not members:
        return None
    dimension = min(null.shape[1] for null in directions)
    size = np.max([np.abs(null).max(axis=1) for null in directions], axis=0)
    named = [(name, s) for name, s in zip(rest.unknowns, size, strict=True) if not name.startswith("multiplier of ")]
    free = tuple(name for name, s in named if s > 1e-6)
    if not free:
        _refuse_repetition(rest, size)
    return EquilibriumFamily(dimension, free, tuple(members), tuple(alone))


class Repetition(ModelError):
    """Some constraints follow from others, so that what each carries is not determined."""


def _refuse_repetition(rest: RestEquations, size: Array) -> None:
    """Multipliers alone are not determined: some constraints follow from others."""
    moving = [name for name, s in zip(rest.unknowns, size, strict=True) if s > 1e-6]
    names = ", ".join(f"'{name.removeprefix('multiplier of ')}'" for name in moving)
    message = f"the constraints {names} depend on each other at the equilibria: what each carries is not determined"
    raise Repetition([Problem(message, hint=Advice("leave out those that repeat others", "repetition"))])


def with_free(rest: RestEquations, positions: Array) -> tuple[Array, Array]:
    """(q, y) with the best y for each q, and scales in which moving y costs little beside moving q."""
    free = np.zeros((len(positions), len(rest.free)))
    value, slope = rest.problem.value_and_slope(np.hstack([positions, free]))
    linear = slope[:, :, len(rest.bounded) :]
    usable = np.isfinite(value).all(axis=1) & np.isfinite(linear).all(axis=(1, 2))
    free[usable] = -np.einsum("nij,nj->ni", pinv(linear[usable], rcond=1e-10), value[usable])
    sizes = np.median(np.abs(free[usable]), axis=0) if usable.any() else np.zeros(len(rest.free))
    unit = np.broadcast_to(rest.problem.unit, len(rest.unknowns))[len(rest.bounded) :]
    return np.hstack([positions, free]), np.concatenate([rest.width, 1e3 * (unit + sizes)])


def null_space(rest: RestEquations, zero: Array) -> Array:
    """Directions in which the equations do not change, columns scaled by the sizes of the unknowns' effects."""
    return null_spaces(rest, zero[None, :])[0]


def null_spaces(rest: RestEquations, zeros: Array) -> list[Array]:
    """The same at many solutions (number, unknowns)."""
    slopes = rest.problem.value_and_slope(zeros)[1]
    columns = np.linalg.norm(slopes, axis=1)
    scales = np.where(columns > 0, columns, 1.0)
    _, values, rows = svd(slopes / scales[:, None, :])
    ranks = np.count_nonzero(values > DEPENDENT * values.max(axis=1, initial=0.0, keepdims=True), axis=1)
    return [_unit(right[rank:].T / scale[:, None]) for right, rank, scale in zip(rows, ranks, scales, strict=True)]


def _unit(columns: Array) -> Array:
    lengths = np.linalg.norm(columns, axis=0)
    return np.asarray(columns / np.where(lengths > 0, lengths, 1.0))


def is_multiple(rest: RestEquations, zero: Array) -> bool:
    """Is the solution multiple: neither alone to first order, nor one of a family?"""
    (tangent,), (alone,) = going_on(rest, [zero])
    return not alone and not tangent.shape[1]


STEP = 1e-3
"""So far, beside 1 and the solution, it is followed to see whether it goes on."""


def going_on(rest: RestEquations, zeros: Sequence[Array]) -> tuple[list[Array], list[bool]]:
    """The directions (unknowns, number) in which each solution goes on, and which of them are alone to first order.

    With more unknowns than equations these are all that the equations leave. Otherwise a step along each is tried: a
    solution that is multiple leads back to itself.
    """
    spaces = null_spaces(rest, np.array(zeros)) if len(zeros) else []
    alone = [space.shape[1] == 0 for space in spaces]
    if len(rest.unknowns) > rest.problem.equations:
        return spaces, alone
    moves: list[list[Array]] = [[] for _ in zeros]
    for k in range(max((space.shape[1] for space in spaces), default=0)):
        rows = [i for i, space in enumerate(spaces) if space.shape[1] > k]
        steps = [_step(rest, zeros[i], spaces[i][:, k]) for i in rows]
        starts = np.array([zeros[i] + step * spaces[i][:, k] for i, step in zip(rows, steps, strict=True)])
        ends = zeros_beside(rest.problem, starts, rest.width)
        went = [
            (i, near)
            for i, step, near in zip(rows, steps, ends, strict=True)
            if np.abs(near - zeros[i]).max() >= 0.3 * step * np.abs(spaces[i][:, k]).max()
        ]
        there = null_spaces(rest, np.array([near for _, near in went])) if went else []
        for (i, near), space in zip(went, there, strict=True):
            if space.size:
                moves[i].append((near - zeros[i]) / np.linalg.norm(near - zeros[i]))
    return [_span(found, len(rest.unknowns)) for found in moves], alone


def _step(rest: RestEquations, zero: Array, direction: Array) -> float:
    """How far a solution is followed in a direction."""
    unit = rest.problem.unit
    measure = float(np.abs(direction / unit).max() / np.abs(direction).max())
    return STEP * (1 + float(np.abs(zero / unit).max(initial=0.0))) / measure


def _span(moves: Sequence[Array], size: int) -> Array:
    """An orthonormal basis of the directions that were found."""
    if not moves:
        return np.zeros((size, 0))
    columns, values, _ = svd(np.array(moves).T, full_matrices=False)
    return np.asarray(columns[:, values > 0.1])


def _empty(rest: RestEquations) -> bool:
    """Is it proved, with little work, that nothing in the box is at rest?"""
    zeros = all_zeros(rest.problem, rest.low, rest.high, FEW_PARTS)
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
    left, values, right = svd(static)
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
