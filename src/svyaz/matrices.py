"""Singular values, eigenvalues and least squares, of matrices that are finite.

The iterations of LAPACK fail, or never end, on numbers that are none. Such matrices are refused here in words, and all packages
come here for what iterates. Matrices may be stacked, as in NumPy, whose names these are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem

if TYPE_CHECKING:
    from scipy.sparse import csc_array

LARGE, SPARSE = 120, 0.2
"""Matrices with more rows and columns than this, and entries in less than this part of their places, are large and sparse."""

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


def symmetric_values(matrix: ArrayLike) -> Array:
    """Singular values of a symmetric matrix, in decreasing order: the sizes of its roots, in a tenth of the time."""
    return np.sort(np.abs(np.linalg.eigvalsh(finite(matrix, "singular values"))))[::-1]


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


def eigh(matrix: ArrayLike) -> tuple[Array, Array]:
    """Eigenvalues of a symmetric matrix in ascending order, and orthonormal eigenvectors as columns."""
    values, vectors = np.linalg.eigh(finite(matrix, "eigenvalues"))
    return values, vectors


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


STEPS = 24
"""Of Lanczos' method, at most."""
SETTLED = 1e-9
"""An extreme value that changes by less than this part of itself is found."""


def largest_values(apply: Callable[[Array], Array], count: int, size: int, steps: int = STEPS) -> Array:
    """The size (k,) of the largest root of each of many symmetric operators on rows (k, n), by C. Lanczos' method.

    The inverse of what is singular but for rounding has a root that is huge and of either sign. Vectors are kept orthogonal
    to all before; not a number, or infinite, where an operator does not give numbers.
    """
    start = np.random.default_rng(5).normal(size=size)
    vectors = [np.broadcast_to(start / np.linalg.norm(start), (count, size)).copy()]
    diagonal: list[Array] = []
    beside: list[Array] = []
    found = np.full(count, np.nan)
    with np.errstate(all="ignore"):
        for step in range(min(steps, size)):
            image = apply(vectors[-1])
            diagonal.append(np.einsum("ki,ki->k", vectors[-1], image))
            for _ in range(2):
                for other in vectors:
                    image = image - np.einsum("ki,ki->k", other, image)[:, None] * other
            before, found = found, _largest_root(diagonal, beside)
            length = np.linalg.norm(image, axis=1)
            if step > 2 and not np.any(np.abs(found - before) > SETTLED * np.abs(found)):
                break
            beside.append(length)
            vectors.append(np.where(length[:, None] > 0.0, image / np.where(length > 0.0, length, 1.0)[:, None], 0.0))
    return found


def _largest_root(diagonal: Sequence[Array], beside: Sequence[Array]) -> Array:
    """By size, of symmetric tridiagonal matrices, (k,)."""
    k, n = len(diagonal[0]), len(diagonal)
    matrices = np.zeros((k, n, n))
    places = np.arange(n)
    matrices[:, places, places] = np.array(diagonal).T
    if n > 1:
        matrices[:, places[1:], places[:-1]] = matrices[:, places[:-1], places[1:]] = np.array(beside).T
    found = np.full(k, np.inf)
    good = np.isfinite(matrices).all(axis=(1, 2))
    roots = np.linalg.eigvalsh(matrices[good])
    found[good] = np.maximum(-roots[:, 0], roots[:, -1])
    return found


def is_large(matrix: Array) -> bool:
    """Is a matrix large, with few entries, so that it is better taken apart by these?"""
    return sum(matrix.shape) > LARGE and bool(np.count_nonzero(matrix) < SPARSE * matrix.size)


def extreme_singular_values(matrix: Array) -> tuple[float, float]:
    """(largest, least) singular value of a matrix with as many rows as columns, or fewer; by iteration if large and sparse."""
    if not is_large(matrix):
        values = singular_values(matrix)
        return float(values[0]), float(values[-1])
    from scipy.sparse import block_array, csc_array, eye_array

    a = csc_array(finite(matrix, "singular values"))
    m, n = a.shape
    most = largest_values(lambda y: (a.T @ (a @ y[0]))[None, :], 1, n)[0]
    if m == n:
        back, forth = _solver(a), _solver(a.T.tocsc())
        if back is None or forth is None:
            return float(np.sqrt(most)), 0.0
        least = largest_values(lambda y: forth(back(y[0]))[None, :], 1, m)[0]  # A⁻ᵀ A⁻¹
    else:
        solve = _solver(block_array([[eye_array(n), a.T], [a, None]], format="csc"))
        if solve is None:
            return float(np.sqrt(most)), 0.0
        # [1 Aᵀ; A 0] (x, -z) = (0, y) gives A Aᵀ z = y
        least = largest_values(lambda y: -solve(np.concatenate([np.zeros(n), y[0]]))[None, n:], 1, m)[0]
    return float(np.sqrt(most)), float(1.0 / np.sqrt(least)) if 0.0 < least < np.inf else 0.0


RIDGE, TINY = 1e-13, 1e-18
"""What is added to the squares of singular values, of rows of length one, so that a system is regular: of a solution, and of a
direction alone."""


def weakest_combination(matrix: Array) -> Array:
    """The unit vector y for which yᵀA is shortest: the last of the left singular vectors; by inverse iteration if large."""
    if not is_large(matrix):
        return svd(matrix)[0][:, -1]
    from scipy.sparse import block_array, csc_array, eye_array

    a = csc_array(finite(matrix, "singular values"))
    m, n = a.shape
    solve = _solver(block_array([[eye_array(n), a.T], [a, -TINY * eye_array(m)]], format="csc"))
    if solve is None:
        return svd(matrix)[0][:, -1]
    y = np.random.default_rng(5).normal(size=m)
    for _ in range(4 * STEPS):
        before, y = y, -solve(np.concatenate([np.zeros(n), y]))[n:]
        y = y / np.linalg.norm(y)
        if not np.isfinite(y).all():
            return svd(matrix)[0][:, -1]
        if abs(y @ before) > 1.0 - SETTLED:
            break
    return y


def combination(rows: Array, wanted: Array) -> Array:
    """c for which ‖cᵀA - b‖ is least, of independent rows A (m, n) and b (n,)."""
    if is_large(rows):
        from scipy.sparse import block_array, csc_array, eye_array

        a = csc_array(finite(rows, "least squares"))
        m, n = a.shape
        # r + Aᵀ c = b, A r = 0
        solve = _solver(block_array([[eye_array(n), a.T], [a, None]], format="csc"))
        found = None if solve is None else solve(np.concatenate([wanted, np.zeros(m)]))[n:]
        if found is not None and np.isfinite(found).all():
            return found
    return lstsq(rows.T, wanted)


def shortest(weight: Array, rows: Array, wanted: Array) -> Array | None:
    """δ with A δ = b and the least ½ δᵀ W δ, of large sparse matrices; unit rows of A may be nearly dependent.

    [W + AᵀA, Aᵀ; A, -ε] is regular where W is definite on what the rows leave, and what they cannot satisfy together they
    miss in the sense of least squares.
    """
    from scipy.sparse import block_array, csc_array, eye_array

    m, n = rows.shape
    w, a = csc_array(finite(weight, "least squares")), csc_array(finite(rows, "least squares"))
    solve = _solver(block_array([[w + a.T @ a, a.T], [a, -RIDGE * eye_array(m)]], format="csc"))
    found = None if solve is None else solve(np.concatenate([np.zeros(n), wanted]))[:n]
    return found if found is not None and np.isfinite(found).all() else None


FEW = 40
"""Directions that are looked for one by one."""


def directions_without(matrix: Array, y: Array) -> Array:
    """Orthonormal rows: the directions that all rows of a matrix (m, n) but the heaviest one in a combination y leave.

    Where yᵀA vanishes and the rows are independent otherwise, these are the directions that all rows leave.
    """
    from scipy.sparse import block_array, csc_array, eye_array

    others = np.delete(finite(matrix, "null space"), int(np.argmax(np.abs(y))), axis=0)
    n, count = others.shape[1], others.shape[1] - len(others)
    b = csc_array(others)
    solve = _solver(block_array([[eye_array(n), b.T], [b, None]], format="csc")) if count <= FEW else None
    if solve is None:
        whole: Array = np.linalg.qr(others.T, mode="complete")[0][:, len(others) :].T
        return whole
    tried = np.random.default_rng(5).normal(size=(n, count))
    free: Array = np.linalg.qr(solve(np.concatenate([tried, np.zeros((len(others), count))]))[:n])[0].T
    return free


def log_determinant(matrix: Array) -> tuple[float, float]:
    """(sign, log |det|) of a large sparse matrix."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    try:
        found = splu(csc_array(finite(matrix, "determinant")))
    except RuntimeError:  # singular
        return 0.0, -np.inf
    pivots = found.U.diagonal()
    turned = _is_odd(found.perm_r) != _is_odd(found.perm_c)
    return float(np.prod(np.sign(pivots))) * (-1.0 if turned else 1.0), float(np.sum(np.log(np.abs(pivots))))


def _is_odd(order: NDArray[np.intp]) -> bool:
    """Does an order come about by an odd number of exchanges?"""
    left, cycles = np.ones(len(order), dtype=bool), 0
    for start in range(len(order)):
        place, cycles = start, cycles + int(left[start])
        while left[place]:
            left[place] = False
            place = int(order[place])
    return bool((len(order) - cycles) % 2)


def _solver(matrix: csc_array) -> Callable[[Array], Array] | None:
    """A solver of a sparse linear system; None where it is singular."""
    from scipy.sparse.linalg import splu

    try:
        solve: Callable[[Array], Array] = splu(matrix).solve
    except RuntimeError:
        return None
    return solve


def separate_blocks(matrix: Array) -> list[tuple[Array, list[NDArray[np.intp]]]]:
    """What a square matrix falls apart into: each distinct block with the places of its rows, wherever it occurs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, labels = connected_components(csr_array(matrix), directed=False)
    order = np.argsort(labels, kind="stable")
    found: dict[tuple[int, bytes], tuple[Array, list[NDArray[np.intp]]]] = {}
    for places in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        block = matrix[np.ix_(places, places)]
        found.setdefault((len(places), block.tobytes()), (block, []))[1].append(places)
    return list(found.values())
