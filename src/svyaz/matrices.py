"""Singular values, eigenvalues and least squares, of matrices that are finite.

The iterations of LAPACK fail, or never end, on numbers that are none. Such matrices are refused here in words, and all rooms
come here for what iterates. Matrices may be stacked, as in NumPy, whose names these are.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem

LEAST, MOST = 1e-150, 1e150
"""Entries of this size can be inverted as they are."""

Roots: TypeAlias = NDArray[np.complex128]


class NotFinite(ModelError, np.linalg.LinAlgError):
    """A matrix that is to be taken apart has entries that are no numbers, or its parts would be none."""

    def __init__(self, what: str) -> None:
        message = f"the numbers run out of range: the {what} of a matrix with entries that are not finite"
        super().__init__([Problem(message, hint="look at the sizes of the parameters, the initial state and the box")])


def finite(matrix: ArrayLike, what: str) -> Array:
    """The matrix, if all its entries are numbers; real or complex."""
    found: Array = np.asarray(matrix)
    if not np.isfinite(found).all():
        raise NotFinite(what)
    return found


def svd(matrix: ArrayLike, full_matrices: bool = True) -> tuple[Array, Array, Array]:
    """U, the singular values in decreasing order, Vᵀ."""
    left, values, right = np.linalg.svd(finite(matrix, "singular values"), full_matrices=full_matrices)
    return left, values, right


def singular_values(matrix: ArrayLike) -> Array:
    """In decreasing order."""
    return np.asarray(np.linalg.svd(finite(matrix, "singular values"), compute_uv=False), dtype=np.float64)


def matrix_rank(matrix: ArrayLike, tol: float | None = None) -> int:
    """How many singular values exceed ``tol``, or rounding."""
    return int(np.linalg.matrix_rank(finite(matrix, "rank"), tol=tol))


def cond(matrix: ArrayLike) -> float:
    """The largest over the least singular value."""
    return float(np.linalg.cond(finite(matrix, "condition number")))


def spectral_norm(matrix: ArrayLike) -> float:
    """The largest singular value."""
    return float(np.linalg.norm(finite(matrix, "norm"), 2))


def pinv(matrix: ArrayLike, rcond: float = 1e-15) -> Array:
    """The inverse of Moore and Penrose; singular values below ``rcond`` of the largest count as zero."""
    a = finite(matrix, "pseudo-inverse")
    size = np.abs(a).max(axis=(-2, -1), initial=0.0, keepdims=True)
    scale = np.where(((size > LEAST) & (size < MOST)) | (size == 0.0), 1.0, size)
    with np.errstate(over="ignore"):
        found: Array = np.linalg.pinv(a / scale, rcond=rcond) / scale
    return found


def lstsq(matrix: ArrayLike, side: ArrayLike, rcond: float | None = None) -> Array:
    """The shortest x for which ‖A x - b‖ is least."""
    a, b = finite(matrix, "least squares"), finite(side, "least squares")
    return np.asarray(np.linalg.lstsq(a, b, rcond=rcond)[0], dtype=np.float64)


def eigvals(matrix: ArrayLike) -> Roots:
    """The roots of det(A - λ) = 0."""
    return np.asarray(np.linalg.eigvals(finite(matrix, "roots")), dtype=np.complex128)


def eigvalsh(matrix: ArrayLike) -> Array:
    """The roots of a symmetric matrix, in increasing order."""
    return np.asarray(np.linalg.eigvalsh(finite(matrix, "roots")), dtype=np.float64)


def eig(matrix: ArrayLike) -> tuple[Roots, Roots]:
    """The roots, and vectors as columns."""
    values, vectors = np.linalg.eig(finite(matrix, "roots"))
    return np.asarray(values, dtype=np.complex128), np.asarray(vectors, dtype=np.complex128)


def balance(matrix: Array) -> tuple[Array, Array]:
    """D⁻¹AD with comparable rows and columns, and the diagonal of D; A itself where it spans too many orders for that."""
    from scipy.linalg import matrix_balance

    with np.errstate(invalid="ignore"):
        balanced, (scale, _) = matrix_balance(finite(matrix, "roots"), permute=False, separate=True)
    if not (np.isfinite(balanced).all() and np.isfinite(scale).all()):
        return matrix, np.ones(len(matrix))
    return np.asarray(balanced), np.asarray(scale)
