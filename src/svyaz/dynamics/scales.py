"""The own scale of a constraint: how large its residual would be if its terms did not cancel.

The scale of h = Σ terms is the sum of the magnitudes of its terms, taken through sums, products and powers:

    |a + b|, |max(a, b)|, |min(a, b)| → |a| + |b|,    |a b| → |a| |b|,    |aⁿ| → |a|ⁿ,    |sin a|, |cos a| → 1,

and |f(a)| for any other f.

It multiplies with the equation, and it does not see in which units a coordinate, the time or an angle is measured,
because each term stays what it is. Where all terms vanish (a system at rest) the gradient times typical sizes takes
over, as far as it goes: with E = Σ M_jj q_j² the typical size of q_i is √(E / M_ii), which again has the unit of q_i.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import numpy as np
import symengine as se
from numpy.typing import NDArray
from symengine.lib.symengine_wrapper import Abs, Cos, Max, Min, Sin

from svyaz.arrays import Array
from svyaz.expr import ONE, Expression, from_leaves
from svyaz.matrices import (
    LEAST,
    MOST,
    combination,
    eigvalsh,
    extreme_singular_values,
    is_large,
    lstsq,
    shortest,
    singular_values,
)

SMALL = 1e-7
"""Singular values of a matrix with balanced rows and columns that may be zero are below this."""


def balanced(a: Array, rounds: int = 8) -> tuple[Array, Array, Array]:
    """(R A C, R, C) with rows and columns of length near one (D. Ruiz, 2001); rows and columns of zeros stay."""
    rows, columns = np.ones(a.shape[0]), np.ones(a.shape[1])
    b = np.array(a, dtype=float)
    for _ in range(rounds if b.size else 0):
        r = inverse_roots(row_lengths(b))
        c = inverse_roots(row_lengths(b.T))
        b = b * r[:, None] * c[None, :]
        rows, columns = rows * r, columns * c
    return b, rows, columns


def row_lengths(a: Array) -> Array:
    """Euclidean lengths of the rows, also where squares would be too large or too small for numbers."""
    if a.ndim == 1 and a.size:
        size = float(np.abs(a).max())
        if LEAST < size < MOST:
            return np.sqrt(a @ a)
    largest = np.max(np.abs(a), axis=-1, initial=0.0)
    unit = np.where((largest > 0.0) & np.isfinite(largest), largest, 1.0)
    found: Array = unit * np.linalg.norm(a / unit[..., None], axis=-1)
    return found


def inverse_roots(lengths: Array) -> Array:
    """1/√a of positive numbers, 1 for others: 1/√M_ii scales coordinates to one unit."""
    present = lengths > 0.0
    return np.where(present, 1.0 / np.sqrt(np.where(present, lengths, 1.0)), 1.0)


def pivots(a: Array, tolerance: float = 1e-9) -> tuple[list[int], list[int]]:
    """(rows, columns) of the pivots of complete elimination of the balanced matrix; as many as its rank."""
    b, _, _ = balanced(a)
    rows: list[int] = []
    columns: list[int] = []
    for _ in range(min(b.shape)):
        i, j = np.unravel_index(int(np.argmax(np.abs(b))), b.shape)
        if abs(b[i, j]) <= tolerance:
            break
        rows.append(int(i))
        columns.append(int(j))
        b = b - np.outer(b[:, j], b[i] / b[i, j])
        b[i] = 0.0
        b[:, j] = 0.0
    order = np.argsort(rows)
    return [rows[k] for k in order], [columns[k] for k in order]


def numerical_rank(singular: NDArray[np.floating]) -> int:
    """Rank from singular values in falling order: the widest gap above a value that may be zero decides.

    A value above SMALL of the largest is never zero; below 1e-13 it always is; between them the largest ratio of
    neighbours is where the cut lies.
    """
    if not len(singular) or singular[0] == 0.0:
        return 0
    relative = np.maximum(singular / singular[0], 1e-17)
    if relative[-1] > SMALL:
        return len(relative)
    candidates = [k for k in range(1, len(relative)) if relative[k] <= SMALL]
    ratios = [relative[k - 1] / max(relative[k], 1e-15) for k in candidates]
    return candidates[int(np.argmax(ratios))]


def independent_rows(a: Array) -> int:
    """The rank of a matrix, its rows and columns balanced first."""
    if not a.size:
        return 0
    b, _, _ = balanced(a)
    return numerical_rank(singular_values(b))


def coordinate_scales(mass: Array, jacobian: Array) -> Array:
    """1/√|M_ii|, so that the scaled coordinates have one unit; for a coordinate without inertia, what balances G."""
    diagonal = np.abs(np.diag(mass))
    heavy, scales = diagonal > 0.0, inverse_roots(diagonal)
    if heavy.all() or not jacobian.size:
        return scales
    g = jacobian * scales
    for _ in range(8):
        rows = row_lengths(g)
        g = g / np.where(rows > 0.0, rows, 1.0)[:, None]
        columns = np.where(heavy, 1.0, row_lengths(g.T))
        columns = np.where(columns > 0.0, columns, 1.0)
        g, scales = g / columns, scales / columns
    return scales


def scaled_mass(mass: Array, scales: Array) -> Array:
    """D M D; the products of scales alone may be no numbers."""
    return (mass * scales[:, None]) * scales


def unit_rows(a: Array, least: Array) -> Array:
    """Rows of length one; a row not longer than ``least`` (one number a row) becomes a row of zeros."""
    lengths = row_lengths(a)
    present = (lengths > least) & (lengths > 0.0)
    return np.where(present[:, None], a / np.where(present, lengths, 1.0)[:, None], 0.0)


def dependencies(rows: Array) -> list[tuple[int, dict[int, float]]]:
    """(row, {earlier row: coefficient}) for each unit row that combines earlier ones; no others for a row of zeros."""
    if _plainly_independent(rows):
        return []
    independent: list[int] = []
    found: list[tuple[int, dict[int, float]]] = []
    r = 0
    while r < len(rows):
        ahead = _independent_ahead(rows, independent, r) if len(rows) > FEW_ROWS else 0
        if ahead:
            independent.extend(range(r, r + ahead))
            r += ahead
            continue
        if not rows[r].any():
            found.append((r, {}))
        elif are_independent(rows[[*independent, r]]):
            independent.append(r)
        else:
            c = combination(rows[independent], rows[r])
            found.append((r, {k: float(x) for k, x in zip(independent, c, strict=True) if abs(x) > 1e-6}))
        r += 1
    return found


FEW_ROWS = 60
"""Of more rows than this many are asked about at once."""


def _plainly_independent(rows: Array) -> bool:
    """Are the rows far from being dependent, those of a large sparse matrix further still? Then so are all parts of them."""
    return are_independent(rows, 10.0 * SMALL if is_large(rows) else SMALL)


def are_independent(rows: Array, least: float = SMALL) -> bool:
    """Is no singular value of the rows below this part of the largest? Then their number is what ``numerical_rank`` says."""
    if len(rows) > rows.shape[1] or not rows.any(axis=1).all():
        return False
    singular = extreme_singular_values(rows) if len(rows) else (1.0, 1.0)
    return singular[1] > least * singular[0]


def rank_of(rows: Array) -> int:
    """The rank of scaled rows."""
    if is_large(rows):
        return len(rows) - len(dependencies(rows))
    return numerical_rank(singular_values(rows))


def _independent_ahead(rows: Array, independent: list[int], r: int) -> int:
    """How many rows from the r-th on are independent of all before, none of them near to being dependent; by halving.

    The least singular value of some rows is not below that of more, so that a search finds where it falls.
    """
    low, high = 0, len(rows) - r
    while low < high:
        middle = (low + high + 1) // 2
        some = rows[[*independent, *range(r, r + middle)]]
        if are_independent(some):
            low = middle
        else:
            high = middle - 1
    return low


ZERO_RELATIVE = 1e-9
"""A residual below this part of the scale of its constraint is taken for zero."""

FLOOR = 1e-4
"""The least scale, as a part of the gradient times typical sizes."""


def magnitude(expression: Expression) -> Expression:
    """The sum of the magnitudes of the terms of an expression, as an expression."""
    return magnitudes([expression])[0]


def magnitudes(expressions: Iterable[Expression]) -> list[Expression]:
    """The sums of the magnitudes of the terms of several expressions; what they share is looked at once."""
    wanted = list(expressions)
    known: dict[Expression, Expression] = {}
    for e, arguments in from_leaves(wanted):
        known[e] = _magnitude(e, arguments, known)
    return [known[e] for e in wanted]


def _magnitude(e: Expression, arguments: tuple[Expression, ...], of: Mapping[Expression, Expression]) -> Expression:
    if e.is_Add or isinstance(e, Abs | Max | Min):
        return se.Add(*[of[a] for a in arguments])
    if e.is_Mul:
        return se.Mul(*[of[a] for a in arguments])
    if e.is_Pow:
        base, power = arguments
        return of[base] ** power if power.is_Integer and int(power) > 0 else Abs(e)
    return ONE if isinstance(e, Sin | Cos) else Abs(e)


def typical_sizes(mass: Array, q: Array) -> Array:
    """√(Σ_j M_jj q_j² / M_ii) for each coordinate with inertia, |q_i| for one without; of one state or of many."""
    root, _ = _roots(mass)
    return _alone(root, row_lengths(root * q), q)


def typical_speeds(mass: Array, bias: Array, q: Array, v: Array) -> Array:
    """√(E / M_ii) with E = Σ M_jj v_j² + Σ |bias_j| size_j: of the motion, or what the forces would give."""
    root, largest = _roots(mass)
    work = np.sum(np.abs(bias) / largest * typical_sizes(mass, q), axis=-1)
    return _alone(root, np.hypot(row_lengths(root * v), np.sqrt(work)), v)


def typical_accelerations(mass: Array, bias: Array) -> Array:
    """√(Σ_j bias_j² / M_jj / M_ii): what all forces together would give each coordinate."""
    root, largest = _roots(mass)
    forces = np.where(root > 0.0, bias / np.where(root > 0.0, root, 1.0), 0.0) / largest
    return _alone(root, row_lengths(forces), np.zeros_like(bias))


def _roots(mass: Array) -> tuple[Array, Array]:
    """√M_jj over the largest of them, zero for what has no inertia; and the largest M_jj, one if there is none."""
    if mass.ndim == 2:
        return _roots_of_one(np.diagonal(mass).tobytes())
    diagonal = np.maximum(np.diagonal(mass, axis1=-2, axis2=-1), 0.0)
    largest = np.max(diagonal, axis=-1, keepdims=True, initial=0.0)
    largest = np.where(largest > 0.0, largest, 1.0)
    return np.sqrt(diagonal / largest), largest


@lru_cache(maxsize=8)
def _roots_of_one(diagonal: bytes) -> tuple[Array, Array]:
    """The same of one state: at an event all sizes ask for it."""
    entries = np.maximum(np.frombuffer(diagonal), 0.0)
    largest = entries.max(keepdims=True, initial=0.0)
    largest = np.where(largest > 0.0, largest, 1.0)
    return np.sqrt(entries / largest), largest


def _alone(root: Array, whole: Array, own: Array) -> Array:
    """What each would be if it had the energy of all."""
    return np.where(root > 0.0, whole[..., None] / np.where(root > 0.0, root, 1.0), np.abs(own))


def with_floor(terms: Array, gradient: Array, sizes: Array) -> Array:
    """max(sum of terms, FLOOR · Σ_i |gradient_i| size_i) for each row of the gradient."""
    return np.maximum(terms, FLOOR * (np.abs(gradient) @ sizes[..., None])[..., 0])


def is_met(residual: Array | float, scale: Array | float, tolerance: float = ZERO_RELATIVE) -> NDArray[np.bool_]:
    """Is the residual zero, measured by the scale of its constraint?"""
    return np.abs(np.asarray(residual)) <= tolerance * np.asarray(scale)


def least_correction(mass: Array, jacobian: Array, wanted: Array) -> Array:
    """δ with G δ = wanted (in the sense of least squares) and the least ½ δᵀ M δ; independent of units."""
    n = len(mass)
    d = coordinate_scales(mass, jacobian)
    largest = np.max(d, initial=0.0)
    g = jacobian * (d / largest)
    lengths = row_lengths(g)
    r = np.where(lengths > 0.0, 1.0 / np.where(lengths > 0.0, lengths, 1.0), 0.0)
    g, r = g * r[:, None], r / largest
    quick = shortest(scaled_mass(mass, d), g, wanted * r) if is_large(g) else None
    if quick is not None:
        return d * quick
    weight = scaled_mass(mass, d) + g.T @ g
    values = eigvalsh(weight)
    if values[0] < 1e-10 * max(values[-1], 1e-300):
        weight = weight + (1e-3 * max(values[-1], 1.0) - min(values[0], 0.0)) * np.eye(n)
    root = np.linalg.cholesky(weight)
    reduced = np.linalg.solve(root, g.T).T
    y = lstsq(reduced, wanted * r, rcond=1e-9)
    return d * np.linalg.solve(root.T, y)
