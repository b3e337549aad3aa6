"""Roots of first approximations: how many are zero, and how many zeros the constraints account for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import matrix_balance

NEGLIGIBLE = 1e-11
"""A singular value below this part of the norm of the balanced matrix counts as zero."""

SMALL = 1e-9
"""A real part below this part of its own root, or of the rounding of the matrix, counts as zero."""


def roots(matrix: ArrayLike) -> NDArray[np.complex128]:
    """The roots of a matrix, found after balancing; those with the largest real part first."""
    a = np.array(matrix, dtype=float)
    if not len(a):
        return np.zeros(0, dtype=complex)
    found = np.linalg.eigvals(np.asarray(matrix_balance(a, permute=False)[0])).astype(complex)
    order = np.lexsort((-found.imag, -found.real))
    return np.asarray(found[order])


def zero_roots(matrix: ArrayLike) -> int:
    """How often zero is a root.

    The null space is split off again and again: with QᵀAQ = [0 X; 0 A₂] the zeros of A are those of the null space and
    those of A₂. Roots themselves would not do: a double zero is computed as ±10⁻⁸ or so.
    """
    left = np.array(matrix, dtype=float)
    if len(left):
        left = np.asarray(matrix_balance(left, permute=False)[0])
    size = max(float(np.linalg.norm(left, 2)) if left.size else 0.0, 1e-300)
    count = 0
    while len(left):
        _, values, rows = np.linalg.svd(left)
        nullity = int(np.count_nonzero(values < NEGLIGIBLE * size))
        if nullity == 0:
            break
        count += nullity
        across = rows[: len(left) - nullity]
        left = across @ left @ across.T
    return count


def signs(matrix: ArrayLike) -> tuple[int, int, int]:
    """Numbers of roots with negative, zero and positive real part."""
    found = roots(matrix)
    zeros = zero_roots(matrix)
    nonzero = sorted(found, key=abs)[zeros:]
    rounding = 1e-13 * float(np.linalg.norm(np.array(matrix, dtype=float))) if len(found) else 0.0
    real = np.array([root.real if abs(root.real) > SMALL * abs(root) + rounding else 0.0 for root in nonzero])
    negative, positive = int(np.count_nonzero(real < 0)), int(np.count_nonzero(real > 0))
    return negative, len(found) - negative - positive, positive
