"""Mass distributions that satisfy linear conditions and that bodies can have.

A body of mass m, first moment h and second moments S_ij = ∫ x_i x_j dm can be made if, and only if, its pseudo-inertia

    [S  h ]
    [hᵀ m ]

is positive definite (P. M. Wensing, S. Kim, J.-J. E. Slotine, 2018); this holds the triangle inequality. S is linear in the
inertia, so the question is a linear matrix inequality, answered by a barrier method (S. Boyd, L. Vandenberghe, Convex
Optimization, 2004, chapter 11): first the largest margin, then the point nearest to the body as it is. The masses
themselves are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import EACH, FIRST, MASS, SECOND
from svyaz.matrices import eigvalsh, lstsq, svd

ENOUGH = 1e-6
"""Least margin, in units of mass and length of each body, of what counts as a body."""

MARGIN = 0.01
"""Margin that is left where there is room for it."""

BOUND = 1e3
"""Largest moments that are considered, in the same units."""

PAIRS = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class PseudoInertia:
    """A matrix that must be positive definite: Σ entries[c] · (c-th value of the body) - ``fixed``, (10, s, s) and (s, s).

    All values are in units of the body's own mass and length.
    """

    entries: Array
    fixed: Array


def whole_body(rest: Array) -> PseudoInertia:
    """All moments count; ``rest`` are the ten values of what is fixed to the body and stays as it is."""
    entries = np.zeros((EACH, 4, 4))
    entries[MASS, 3, 3] = 1.0
    for c in range(3):
        entries[FIRST + c, c, 3] = entries[FIRST + c, 3, c] = 1.0
        for i in range(3):
            entries[SECOND + c, i, i] = -0.5 if i == c else 0.5
    for number, (i, j) in enumerate(PAIRS):
        entries[SECOND + 3 + number, i, j] = entries[SECOND + 3 + number, j, i] = 1.0
    return PseudoInertia(entries, np.einsum("c,cij->ij", rest, entries))


def flat_body(rest: Array, axis: int) -> PseudoInertia:
    """Of a body of a planar tree only the moment about the axis is known: it is at least that of the mass in its centre."""
    entries = np.zeros((EACH, 3, 3))
    entries[SECOND + axis, 0, 0] = 1.0
    entries[MASS, 1, 1] = entries[MASS, 2, 2] = 1.0
    for number, c in enumerate(c for c in range(3) if c != axis):
        entries[FIRST + c, 0, number + 1] = entries[FIRST + c, number + 1, 0] = 1.0
    return PseudoInertia(entries, np.einsum("c,cij->ij", rest, entries))


def nearest_admissible(
    bodies: Sequence[PseudoInertia | None], present: Array, conditions: Array, scale: Array
) -> Array | None:
    """Values (bodies, 10) with conditions · values = 0, admissible and near to ``present``; None when there are none.

    Masses are kept, and so are all values of bodies that are None. ``conditions`` is (rows, 10 · bodies),
    ``scale`` (bodies, 10) are the units of the bodies.
    """
    start = (present / scale).reshape(-1)
    rows = conditions * scale.reshape(-1)
    rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300) if len(rows) else rows
    free = np.array(
        [k * EACH + c for k, body in enumerate(bodies) if body is not None for c in range(1, EACH)], dtype=int
    )
    matrix, side = rows[:, free], -rows @ start
    step, directions = _solutions(matrix, side)
    if len(rows) and np.abs(matrix @ step - side).max() > 1e-9:
        return None
    first = start.copy()
    first[free] += step
    blocks = [_block(body, k, first, free, directions) for k, body in enumerate(bodies) if body is not None]
    if not blocks or min(float(eigvalsh(constant)[0]) for constant, _ in blocks) > MARGIN:
        return first.reshape(-1, EACH) * scale
    margin, point = _largest_margin(blocks, directions.shape[1])
    if margin < ENOUGH:
        return None
    wanted = directions.T @ (start - first)[free]
    found = first.copy()
    found[free] += directions @ _nearest(blocks, point, wanted, min(MARGIN, 0.5 * margin))
    return found.reshape(-1, EACH) * scale


def _solutions(matrix: Array, side: Array) -> tuple[Array, Array]:
    """The smallest solution of matrix · x = side, and an orthonormal basis of what may be added to it."""
    if not len(matrix):
        return np.zeros(matrix.shape[1]), np.eye(matrix.shape[1])
    u, s, vt = svd(matrix)
    rank = int((s > 1e-10 * s[0]).sum()) if len(s) else 0
    smallest = vt[:rank].T @ ((u.T @ side)[:rank] / s[:rank])
    return smallest, vt[rank:].T


Block = tuple[Array, Array]
"""G(y) = constant (s, s) + Σ slopes[i] y_i, slopes (p, s, s)."""


def _block(body: PseudoInertia, k: int, first: Array, free: Array, directions: Array) -> Block:
    constant = np.einsum("c,cij->ij", first[k * EACH : (k + 1) * EACH], body.entries) - body.fixed
    own = [number for number, place in enumerate(free) if place // EACH == k]
    slopes = np.einsum("np,nij->pij", directions[own], body.entries[free[own] % EACH])
    return constant, slopes


def _largest_margin(blocks: Sequence[Block], size: int) -> tuple[float, Array]:
    """max t with G - t 1 positive definite for all blocks, moments bounded; and where."""
    t = min(float(eigvalsh(constant)[0]) for constant, _ in blocks) - 1.0
    extended = [(constant, np.concatenate([slopes, -np.eye(len(constant))[None]])) for constant, slopes in blocks]
    z = np.append(np.zeros(size), t)
    bounded = [_bound(constant, slopes) for constant, slopes in blocks]
    for sharpness in (1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7):
        gradient = np.zeros(size + 1)
        gradient[-1] = -sharpness
        z = _newton(extended, bounded, z, lambda x, g=gradient: (g @ x, g, 0.0))  # type: ignore[misc]
        if z[-1] > 2 * MARGIN:
            break
    return float(z[-1]), z[:size]


def _bound(constant: Array, slopes: Array) -> Block:
    """limit - trace G as a block of size 1."""
    limit = BOUND + 2 * abs(float(np.trace(constant)))
    slope = np.append(-np.einsum("ijj->i", slopes), 0.0)
    return np.array([[limit - float(np.trace(constant))]]), slope[:, None, None]


def _nearest(blocks: Sequence[Block], y: Array, wanted: Array, margin: float) -> Array:
    """The point nearest to ``wanted`` with G - margin · 1 positive definite, from a point inside."""
    inside = [(constant - margin * np.eye(len(constant)), slopes) for constant, slopes in blocks]
    for weight in (1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7):
        y = _newton(
            inside,
            [],
            y,
            lambda x, w=weight: (0.5 * w * float((x - wanted) @ (x - wanted)), w * (x - wanted), w),  # type: ignore[misc]
        )
    return y


def _newton(
    blocks: Sequence[Block], bounds: Sequence[Block], z: Array, objective: Callable[[Array], tuple[float, Array, float]]
) -> Array:
    """Minimise objective - Σ log det by damped Newton steps; the objective gives value, gradient and a multiple of 1."""
    everything = [*blocks, *bounds]
    value = _barrier(everything, z) + objective(z)[0]
    for _ in range(60):
        _, gradient, curvature = objective(z)
        gradient = gradient.copy()
        hessian = np.eye(len(z)) * (curvature + 1e-12)
        for constant, slopes in everything:
            inverse = np.linalg.inv(constant + np.tensordot(z, slopes, 1))
            pressed = slopes @ inverse
            gradient -= np.einsum("ijj->i", pressed)
            flat = pressed.reshape(len(z), -1)
            hessian += flat @ np.swapaxes(pressed, 1, 2).reshape(len(z), -1).T
        step = -lstsq(hessian, gradient, rcond=1e-14)
        decrease = -float(gradient @ step)
        if decrease < 1e-10:
            break
        length = 1.0
        while length > 1e-12:
            tried = z + length * step
            there = _barrier(everything, tried) + objective(tried)[0]
            if there < value - 0.1 * length * decrease:
                z, value = tried, there
                break
            length *= 0.5
        else:
            break
    return z


def _barrier(blocks: Sequence[Block], z: Array) -> float:
    total = 0.0
    for constant, slopes in blocks:
        try:
            factor = np.linalg.cholesky(constant + np.tensordot(z, slopes, 1))
        except np.linalg.LinAlgError:
            return float("inf")
        total -= 2.0 * float(np.log(np.diag(factor)).sum())
    return total
