"""Linear complementarity: z ≥ 0 and w = A z + b ≥ 0 with zᵀ w = 0, by Lemke's method with lexicographic pivots.

C. E. Lemke 1965; R. W. Cottle, J.-S. Pang, R. E. Stone, The Linear Complementarity Problem, 1992, ch. 4. For the matrices of
contacts without friction, A = G M⁻¹ Gᵀ, which have no negative eigenvalues, it finds a solution wherever there is one, and
the rows with z > 0 are independent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array

MOST_PIVOTS = 40
"""Pivots are tried up to this number times the number of contacts."""

ZERO_PIVOT = 1e-11
"""Entries of the scaled table below this are no pivots."""


def solve_complementarity(matrix: Array, offset: Array, units: Array | None = None) -> Array | None:
    """z (n,); None where the method ends without a solution. ``units`` (n,) are those of z, and one over them those of w;
    without them they are such that the diagonal of A is one.
    """
    n = len(offset)
    unit = 1.0 / np.sqrt(np.maximum(np.diag(matrix), np.finfo(float).tiny)) if units is None else units
    b = unit * offset
    largest = float(np.abs(b).max(initial=0.0))
    if largest == 0.0 or (b >= 0.0).all():
        return np.zeros(n)
    table = np.hstack([np.eye(n), -matrix * np.outer(unit, unit), -np.ones((n, 1)), b[:, None] / largest])
    basis, row, entering = list(range(n)), int(np.argmin(b)), 2 * n
    for _ in range(MOST_PIVOTS * n):
        table[row] /= table[row, entering]
        others = np.arange(n) != row
        table[others] -= np.outer(table[others, entering], table[row])
        leaving, basis[row] = basis[row], entering
        if leaving == 2 * n:
            found = np.zeros(2 * n + 1)
            found[basis] = np.maximum(table[:, -1], 0.0)
            return found[n : 2 * n] * unit * largest
        entering = leaving + n if leaving < n else leaving - n
        rows = np.flatnonzero(table[:, entering] > ZERO_PIVOT)
        if not len(rows):
            return None
        row = _leaving_row(table, rows, entering, basis)
    return None


def _leaving_row(table: Array, rows: NDArray[np.int64], entering: int, basis: list[int]) -> int:
    """The row with the least ratio; among equal ones that of the artificial variable, then the least in lexicographic order."""
    n = len(basis)
    ratios = table[rows][:, [-1, *range(n)]] / table[rows, entering][:, None]
    least = ratios[:, 0].min()
    equal = np.flatnonzero(ratios[:, 0] <= least + 1e-13 * max(1.0, abs(least)))
    for k in equal:
        if basis[rows[k]] == 2 * n:
            return int(rows[k])
    order = np.lexsort(ratios[equal].T[::-1])
    return int(rows[equal[order[0]]])
