"""Roots of a first approximation, told no better than rounding lets them be known.

A root of a matrix of order n that is known to rounding is itself known to about n ε ‖A‖ / |lᴴr|, l and r its left and right
unit vectors (J. H. Wilkinson 1965). A real or an imaginary part below that is zero as far as can be said, and is told so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eig

from svyaz.arrays import Array
from svyaz.matrices import balance, singular_values, spectral_norm, svd

NEGLIGIBLE = 1e-11
"""A singular value below this part of the norm of the balanced matrix counts as zero."""

NEARLY_ZERO = 1e-9
"""A real part below this part of its own root, or of the rounding of the matrix, counts as zero."""

ROUNDINGS = 4.0
"""So many times n ε ‖A‖ the computed matrix may be off."""


class Spectrum(NamedTuple):
    """The ``roots``, those with the largest real part first; how often zero is one of them; and how many of them have
    negative, zero and positive real parts. Parts that may be rounding are zero.
    """

    roots: NDArray[np.complex128]
    zeros: int
    signs: tuple[int, int, int]


def spectrum(matrix: ArrayLike) -> Spectrum:
    """What is known of the roots of a matrix.

    As many are exactly zero as ``zero_roots`` counts: a double zero is computed as ±10⁻⁸ or so.
    """
    found, errors = _roots_and_errors(matrix)
    zeros = zero_roots(matrix)
    rounding = 1e-13 * float(np.linalg.norm(np.array(matrix, dtype=float))) if len(found) else 0.0
    doubt = np.maximum(errors, NEARLY_ZERO * np.abs(found) + rounding)
    sign = np.where(np.abs(found.real) > doubt, found.real, 0.0)
    least = np.argsort(np.abs(found), kind="stable")[:zeros]
    sign[least], found[least] = 0.0, 0.0
    negative, positive = int(np.count_nonzero(sign < 0)), int(np.count_nonzero(sign > 0))
    real = np.where(np.abs(found.real) <= errors, 0.0, found.real)
    imaginary = np.where(np.abs(found.imag) <= errors, 0.0, found.imag)
    order = np.lexsort((-imaginary, -real))
    ordered = np.asarray((real + 1j * imaginary)[order])
    return Spectrum(ordered, zeros, (negative, len(found) - negative - positive, positive))


def roots(matrix: ArrayLike) -> NDArray[np.complex128]:
    """Those of ``spectrum``."""
    return spectrum(matrix).roots


def signs(matrix: ArrayLike) -> tuple[int, int, int]:
    """Those of ``spectrum``."""
    return spectrum(matrix).signs


def _roots_and_errors(matrix: ArrayLike) -> tuple[NDArray[np.complex128], Array]:
    """The roots of the balanced matrix as computed, and how far they may be off."""
    a = np.array(matrix, dtype=float)
    if not len(a):
        return np.zeros(0, dtype=complex), np.zeros(0)
    balanced, _ = balance(a)
    solved: tuple = eig(balanced, left=True, right=True)
    found, left, right = solved
    angle = np.abs(np.einsum("ij,ij->j", left.conj(), right))
    rounding = ROUNDINGS * len(a) * np.finfo(float).eps * spectral_norm(balanced)
    errors = rounding / np.maximum(angle, 1e-300)
    size = spectral_norm(balanced)
    for k in np.flatnonzero(errors > TOGETHER * size):
        errors[k] = min(errors[k], *_errors_together(found, left, right, int(k), size, rounding), np.inf)
    return np.asarray(found, dtype=complex), errors


TOGETHER, MOST_TOGETHER = 1e-6, 4
"""A root known no better than this part of ‖A‖ is taken together with its neighbours, at most so many."""


def _errors_together(
    found: NDArray[np.complex128],
    left: NDArray[np.complex128],
    right: NDArray[np.complex128],
    k: int,
    size: float,
    rounding: float,
) -> list[float]:
    """How far a root of multiplicity 2, 3, … may be off: E moves it by 2 (‖P‖ ‖E‖ ‖A‖^(m-1))^(1/m), P its projector.

    By itself such a root has one eigenvector, no condition number, and an error that is no bound.
    """
    order, bounds = np.argsort(np.abs(found - found[k]), kind="stable"), []
    for m in range(2, min(MOST_TOGETHER, len(found)) + 1):
        near = order[:m]
        x, y = np.linalg.qr(right[:, near])[0], np.linalg.qr(left[:, near])[0]
        least = float(singular_values(y.conj().T @ x)[-1])
        bound = 2 * (rounding / max(least, 1e-300) * size ** (m - 1)) ** (1 / m)
        if np.abs(found[near] - found[k]).max() <= bound:
            bounds.append(bound)
    return bounds


def zero_roots(matrix: ArrayLike) -> int:
    """How often zero is a root.

    The null space is split off again and again: with QᵀAQ = [0 X; 0 A₂] the zeros of A are those of the null space and
    those of A₂. Roots themselves would not do: a double zero is computed as ±10⁻⁸ or so.
    """
    left = np.array(matrix, dtype=float)
    if len(left):
        left, _ = balance(left)
    size = max(float(spectral_norm(left)) if left.size else 0.0, 1e-300)
    count = 0
    while len(left):
        _, values, rows = svd(left)
        nullity = int(np.count_nonzero(values < NEGLIGIBLE * size))
        if nullity == 0:
            break
        count += nullity
        across = rows[: len(left) - nullity]
        left = across @ left @ across.T
    return count
