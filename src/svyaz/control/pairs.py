"""Controllability and observability of pairs (A, B), (A, C), decided on scaled matrices.

The Kalman matrix [B AB A²B …] of a pair with roots -1700 and -0.3 has the numerical rank 2 although the pair of order 5
is controllable; so the decision is made by the test of Popov, Belevitch and Hautus, rank [A - λ, B] = n for every root
λ of A, after a diagonal change of variables and units of time that makes rows and columns comparable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import matrix_balance, solve_continuous_lyapunov

Matrix = NDArray[np.float64]

NEGLIGIBLE = 1e-9
"""A singular value below this part of the norm counts as zero in the scaled test."""


@dataclass(frozen=True)
class PairReport:
    """The verdict on a pair: the roots that cannot be moved (or seen), and how far the pair is from losing them.

    ``distance`` is the least singular value of [A - λ, B] over the roots, relative to the norm, in scaled variables.
    ``minimal`` is the least number of inputs (measurements) with which the matrix A can be controlled (observed): the
    number of its nontrivial invariant polynomials.
    """

    complete: bool
    fixed_roots: tuple[complex, ...]
    distance: float
    minimal: int
    naive_rank: int


def controllability(a: ArrayLike, b: ArrayLike) -> PairReport:
    """Can every root of A be moved by feedback through B?"""
    matrix, inputs = np.array(a, dtype=float), _columns(b)
    scaled, moved, _ = scaled_pair(matrix, inputs)
    roots = np.linalg.eigvals(scaled)
    n = len(scaled)
    distances = []
    fixed = []
    for root, original in zip(roots, np.linalg.eigvals(matrix), strict=True):
        # each root in its own unit of time: a slow root must not drown in the norm of a fast one
        test = np.hstack([scaled - root * np.eye(n), moved])
        values = np.linalg.svd(_unit_rows(test), compute_uv=False)
        distances.append(float(values[-1] / max(values[0], 1e-300)))
        if distances[-1] < NEGLIGIBLE:
            fixed.append(complex(original))
    return PairReport(
        complete=not fixed,
        fixed_roots=tuple(fixed),
        distance=min(distances, default=1.0),
        minimal=least_number_of_inputs(matrix),
        naive_rank=int(np.linalg.matrix_rank(kalman_matrix(matrix, inputs))),
    )


def observability(a: ArrayLike, c: ArrayLike) -> PairReport:
    """Can every motion of ẋ = A x be told apart by the measurement C x? By duality with (Aᵀ, Cᵀ)."""
    return controllability(np.array(a, dtype=float).T, np.atleast_2d(np.array(c, dtype=float)).T)


def kalman_matrix(a: ArrayLike, b: ArrayLike) -> Matrix:
    """[B AB … Aⁿ⁻¹B]."""
    matrix, column = np.array(a, dtype=float), _columns(b)
    blocks = []
    for _ in range(len(matrix)):
        blocks.append(column)
        column = matrix @ column
    return np.hstack(blocks)


def scaled_pair(a: Matrix, b: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """(D⁻¹AD, D⁻¹B with unit columns, diagonal of D): balanced by powers of two."""
    balanced, (scale, _) = matrix_balance(a, permute=False, separate=True)
    moved = b / scale[:, None]
    lengths = np.linalg.norm(moved, axis=0)
    moved = moved / np.where(lengths > 0, lengths, 1.0) * max(float(np.linalg.norm(balanced, 2)), 1.0)
    return np.asarray(balanced), np.asarray(moved), np.asarray(scale)


def _unit_rows(matrix: NDArray[np.complex128] | Matrix) -> NDArray[np.complex128] | Matrix:
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(lengths > 0, lengths, 1.0)


def least_number_of_inputs(a: ArrayLike) -> int:
    """The largest geometric multiplicity of a root of A."""
    matrix = np.array(a, dtype=float)
    if not len(matrix):
        return 0
    balanced = np.asarray(matrix_balance(matrix, permute=False)[0])
    size = max(float(np.linalg.norm(balanced, 2)), 1e-300)
    counts = []
    for root in np.linalg.eigvals(balanced):
        values = np.linalg.svd(balanced - root * np.eye(len(balanced)), compute_uv=False)
        counts.append(int(np.count_nonzero(values < 1e-7 * size)))
    return max(1, *counts)


def controllability_gramian(a: ArrayLike, b: ArrayLike) -> Matrix:
    """W with A W + W Aᵀ + B Bᵀ = 0, for a stable A: its small eigenvalues are directions that are hard to reach."""
    matrix, inputs = np.array(a, dtype=float), _columns(b)
    if np.max(np.linalg.eigvals(matrix).real) >= 0:
        raise ValueError("the Gramian over an infinite time belongs to a stable matrix")
    return np.asarray(solve_continuous_lyapunov(matrix, -inputs @ inputs.T))


def _columns(b: ArrayLike) -> Matrix:
    inputs = np.array(b, dtype=float)
    return inputs[:, None] if inputs.ndim == 1 else inputs
