"""Families of equilibria: solutions of the equations of rest that are not isolated, recognised from random starts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import Advice, ModelError, Problem
from svyaz.stability.boxes import all_zeros, newton
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
