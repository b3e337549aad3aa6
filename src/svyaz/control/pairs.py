"""Controllability and observability of pairs (A, B), (A, C), decided on scaled matrices.

The Kalman matrix [B AB A²B …] of a pair with roots -1700 and -0.3 has the numerical rank 2 although the pair of order 5
is controllable; so the decision is made by the test of Popov, Belevitch and Hautus, rank [A - λ, B] = n for every root
λ of A, after a diagonal change of variables and units of time that makes rows and columns comparable. Gramians tell
how hard a direction is to reach.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_continuous_lyapunov

from svyaz.arrays import Array
from svyaz.matrices import balance, eigvals, eigvalsh, finite, matrix_rank, singular_values, spectral_norm, svd

NEGLIGIBLE = 1e-9
"""A singular value below this part of the norm counts as zero in the scaled test."""

NEIGHBOURS = 4
"""A root of this multiplicity is computed as a cluster; the mean of the cluster is exact to rounding."""


@dataclass(frozen=True)
class PairReport:
    """The verdict on a pair: the roots that cannot be moved (or seen), and how far the pair is from losing them.

    ``fixed`` has these roots with the rows l that satisfy l A = λ l, l B = 0 (for a measurement A v = λ v, C v = 0).
    ``distance`` is the least singular value of [A - λ, B] over the roots, relative to the norm, in scaled variables.
    ``gramian`` is the least eigenvalue of the Gramian with unit diagonal: zero when a combination of variables cannot
    be reached. ``minimal`` is the least number of inputs (measurements) with which the matrix A can be controlled
    (observed): the number of its nontrivial invariant polynomials.
    """

    complete: bool
    fixed_roots: tuple[complex, ...]
    distance: float
    gramian: float
    minimal: int
    naive_rank: int
    fixed: tuple[tuple[complex, NDArray[np.inexact]], ...] = ()


def controllability(a: ArrayLike, b: ArrayLike) -> PairReport:
    """Can every root of A be moved by feedback through B?"""
    matrix, inputs = np.array(a, dtype=float), _columns(b)
    scaled, moved, scale = scaled_pair(matrix, inputs)
    n = len(scaled)
    near = 1e-6 * max(spectral_norm(scaled), 1e-300) if n else 0.0
    least = 1.0
    fixed: list[tuple[complex, NDArray[np.inexact]]] = []
    for root in _centres(eigvals(scaled), near):
        # each root in its own unit of time: a slow root must not drown in the norm of a fast one
        sizes = _row_sizes(scaled, root, moved)
        left, values, _ = svd(np.hstack([scaled - root * np.eye(n), moved]) / sizes, full_matrices=False)
        least = min(least, float(values[-1]))
        known = any(abs(root - other) <= near + 1e-3 * abs(other) for other, _ in fixed)
        lost = values < NEGLIGIBLE
        if lost.any() and not known:
            told = complex(*(x if abs(x) > 1e-6 * near else 0.0 for x in (root.real, root.imag)))  # zeros as such
            fixed.append((told, (left[:, lost].conj() / sizes / scale[:, None]).T))
    return PairReport(
        complete=not fixed,
        fixed_roots=tuple(root for root, rows in fixed for _ in rows),
        distance=least,
        gramian=float(degrees_of_control(scaled, moved).min(initial=1.0)),
        minimal=least_number_of_inputs(matrix),
        naive_rank=matrix_rank(kalman_matrix(matrix, inputs)),
        fixed=tuple(fixed),
    )


def _centres(roots: NDArray[np.inexact], near: float) -> list[complex]:
    """The roots, and for each the means of its nearest neighbours: one of them is a multiple root to rounding.

    At a point that is no root the test passes, so that too many points do no harm. Means go first.
    """
    found: list[complex] = []
    for count in range(min(NEIGHBOURS, len(roots)), 0, -1):
        for root in roots:
            order = np.argsort(np.abs(roots - root), kind="stable")[:count]
            mean = complex(roots[order].mean())
            if abs(mean.imag) <= 1e-12 * near:
                mean = complex(mean.real)
            if abs(mean - root) <= near + 1e-3 * abs(root) and mean not in found:
                found.append(mean)
    return found


def observability(a: ArrayLike, c: ArrayLike) -> PairReport:
    """Can every motion of ẋ = A x be told apart by the measurement C x? By duality with (Aᵀ, Cᵀ)."""
    return controllability(np.array(a, dtype=float).T, np.atleast_2d(np.array(c, dtype=float)).T)


def kalman_matrix(a: ArrayLike, b: ArrayLike) -> Array:
    """[B AB … Aⁿ⁻¹B]; where that runs out of range, A in another unit of time, which leaves the rank as it is."""
    matrix, column = np.array(a, dtype=float), _columns(b)
    blocks = []
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(len(matrix)):
            blocks.append(column)
            column = matrix @ column
    found = np.hstack(blocks)
    size = float(np.abs(matrix).max(initial=0.0))
    if np.isfinite(found).all() or size == 1.0 or not np.isfinite([size, *_columns(b).flat]).all():
        return found
    return kalman_matrix(matrix / size, b)


def scaled_pair(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """(D⁻¹AD, D⁻¹B with unit columns, diagonal of D): balanced by powers of two."""
    balanced, scale = balance(a)
    moved = finite(b, "rank") / scale[:, None]
    lengths = np.linalg.norm(moved, axis=0)
    moved = moved / np.where(lengths > 0, lengths, 1.0) * max(spectral_norm(balanced), 1.0)
    return balanced, np.asarray(moved), scale


def _row_sizes(a: Array, root: complex, b: Array) -> Array:
    """By which the rows of [A - λ, B] are divided; a row that vanishes must not be blown up from its rounding."""
    sizes = np.linalg.norm(a, axis=1) + abs(root) + np.linalg.norm(b, axis=1)
    return np.where(sizes > 0, sizes, 1.0)[:, None]


def least_number_of_inputs(a: ArrayLike) -> int:
    """The largest geometric multiplicity of a root of A."""
    matrix = np.array(a, dtype=float)
    n = len(matrix)
    if not n:
        return 0
    balanced, _ = balance(matrix)
    near = 1e-6 * max(spectral_norm(balanced), 1e-300)
    counts = [1]
    for root in _centres(eigvals(balanced), near):
        test = (balanced - root * np.eye(n)) / _row_sizes(balanced, root, np.zeros((n, 1)))
        counts.append(int(np.count_nonzero(singular_values(test) < NEGLIGIBLE)))
    return max(counts)


def controllability_gramian(a: ArrayLike, b: ArrayLike, discount: float | None = None) -> Array:
    """W = ∫ e^(-2αt) e^(At) B Bᵀ e^(Aᵀt) dt over all times: its small eigenvalues are directions that are hard to reach.

    It solves (A - αE) W + W (A - αE)ᵀ + B Bᵀ = 0. The discount α is 0 for a stable matrix unless given, and beyond the
    largest real part for any other; the directions that cannot be reached at all do not depend on it.
    """
    matrix, inputs = np.array(a, dtype=float), _columns(b)
    balanced, scale = balance(matrix)
    rate = _discount(balanced) if discount is None else discount
    shifted = balanced - rate * np.eye(len(matrix))
    if np.max(eigvals(shifted).real, initial=-np.inf) >= 0:
        raise ValueError(f"the Gramian does not exist with the discount {rate:g}: there are roots beyond it")
    moved = inputs / scale[:, None]
    return np.asarray(solve_continuous_lyapunov(shifted, -moved @ moved.T) * np.outer(scale, scale))


def _discount(matrix: Array) -> float:
    found = eigvals(matrix)
    most = float(found.real.max(initial=-np.inf))
    if most < -1e-9 * float(np.abs(found).max(initial=1.0)):
        return 0.0
    sizes = np.abs(found)
    slow = sizes[sizes > 1e-6 * sizes.max(initial=0.0)]
    return max(most, 0.0) + float(slow.min(initial=np.inf) if len(slow) else 1.0)


def degrees_of_control(a: ArrayLike, b: ArrayLike) -> Array:
    """Eigenvalues of the Gramian scaled to a unit diagonal, ascending; they do not depend on units."""
    gramian = controllability_gramian(a, b)
    sizes = np.sqrt(np.maximum(np.diag(gramian), 0.0))
    scale = np.where(sizes > 0, sizes, 1.0)
    return np.asarray(np.maximum(eigvalsh(gramian / np.outer(scale, scale)), 0.0))


def _columns(b: ArrayLike) -> Array:
    inputs = np.array(b, dtype=float)
    return inputs[:, None] if inputs.ndim == 1 else inputs
