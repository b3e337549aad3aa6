"""Orders of elimination for the linear systems of a program, chosen once at a sample state.

An order is a promise about speed alone: native code watches its pivots and pivots anew where they are bad.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.program.interpret import Values, node_values, system_matrix
from svyaz.program.sparse_order import sparse_order
from svyaz.program.tape import LinearSystem, Program, SingularSystem, Sparse

LARGEST_DEFINITE = 1_000
"""Products of an unrolled symmetric elimination beyond which a loop is as fast and much quicker to compile."""
LARGEST_GENERAL = 700
"""The same without symmetry, where accepting the result costs more."""
LARGEST_OFTEN = 20_000
"""The same for programs that are evaluated so often that the time to compile them does not matter."""
DENSER = 12
"""A sparse elimination must take so many times less products than n³, or a loop over the whole matrix is faster."""
THRESHOLD = 0.1
"""A pivot must be at least this part of the largest entry left in its column (of the matrix scaled by rows)."""

Order = tuple[tuple[int, ...], tuple[int, ...]]


def choose_orders(
    program: Program,
    parameters: Values,
    inputs: Values,
    *,
    often: bool = False,
) -> Program:
    """The program with an order for each linear system that is regular at the sample state and short when unrolled.

    Where it is evaluated ``often``, longer ones are unrolled too if they are symmetric and definite.
    """
    if not program.systems:
        return program
    try:
        values = node_values(program, parameters, inputs)
    except SingularSystem:
        return replace(program, systems=tuple(replace(system, order=None) for system in program.systems))
    systems = tuple(
        replace(system, order=_order_at(program, system, values, often=often)) for system in program.systems
    )
    return replace(program, systems=systems)


def _order_at(program: Program, system: LinearSystem, values: Sequence[float], *, often: bool) -> Order | None:
    """An order for a system at the values of the nodes."""
    if not isinstance(system.matrix, Sparse):
        return choose_order(system, system_matrix(system, values), structure(program, system), often=often)
    entries = {
        (row, column): values[node]
        for row, column, node in system.matrix.entries
        if program.nodes[node] != ("const", 0.0)
    }
    if not all(map(isfinite, entries.values())):
        return None
    found = sparse_order(system.size, entries, symmetric=system.symmetric)
    return found[0] if found is not None and found[1] < system.size**3 / DENSER else None


def structure(program: Program, system: LinearSystem) -> NDArray[np.bool_]:
    """Which entries of the matrix (size, size) are not zero for ever."""
    entries = [program.nodes[node] != ("const", 0.0) for node in system.matrix]
    return np.array(entries, dtype=bool).reshape(system.size, system.size)


def choose_order(
    system: LinearSystem, matrix: Array, present: NDArray[np.bool_], *, often: bool = False
) -> Order | None:
    """An order for a matrix known at one state and by its structure; None when no unrolled elimination is worth it."""
    if not np.all(np.isfinite(matrix)):
        return None
    if system.symmetric and present.diagonal().all():
        return _definite_order(matrix, present, LARGEST_OFTEN if often else LARGEST_DEFINITE)
    if system.symmetric:
        order = _pivot_order(matrix, present, diagonal=True)
        if order is not None and products(present, order, symmetric=True) <= LARGEST_GENERAL:
            return order
    order = _pivot_order(matrix, present, diagonal=False)
    if order is None or products(present, order, symmetric=False) > LARGEST_GENERAL:
        return None
    return order


def _definite_order(matrix: Array, present: NDArray[np.bool_], largest: int) -> Order | None:
    """The diagonal order with the least fill (minimum degree), for a positive definite matrix.

    Every entry beside the diagonal takes a product at least, whatever the order.
    """
    if np.count_nonzero(present) - len(present) > 2 * largest:
        return None
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None
    filled = present.copy()
    left = list(range(len(matrix)))
    chosen = []
    while left:
        pivot = min(left, key=lambda k: filled[k, left].sum())
        left.remove(pivot)
        chosen.append(pivot)
        neighbours = [k for k in left if filled[pivot, k]]
        filled[np.ix_(neighbours, neighbours)] = True
    order = (tuple(chosen), tuple(chosen))
    return order if products(present, order, symmetric=True) <= largest else None


def _pivot_order(matrix: Array, present: NDArray[np.bool_], *, diagonal: bool) -> Order | None:
    """Pivots by H. M. Markowitz (1957): least fill among the entries that are large enough.

    A candidate must reach THRESHOLD of the largest entry left in its column and in its row; its price is
    (entries in the row - 1) · (entries in the column - 1), the larger entry wins a tie.
    """
    work = _scaled(matrix)
    filled = present.copy()
    rows, columns = list(range(len(work))), list(range(len(work)))
    order: tuple[list[int], list[int]] = ([], [])
    while rows:
        left = np.abs(work[np.ix_(rows, columns)])
        largest = np.maximum(left.max(axis=1)[:, None], left.max(axis=0)[None, :])
        allowed = (left >= THRESHOLD * largest) & (left > 1e-9) & filled[np.ix_(rows, columns)]
        if diagonal:
            allowed &= np.array(rows)[:, None] == np.array(columns)[None, :]
        if not allowed.any():
            return None
        entries = filled[np.ix_(rows, columns)]
        price = (entries.sum(axis=1) - 1)[:, None] * (entries.sum(axis=0) - 1)[None, :]
        # Among equal prices the larger entry; a difference of price is at least 1.
        best = np.where(allowed, price - left / (1.0 + left.max()), np.inf)
        i, j = np.unravel_index(int(best.argmin()), best.shape)
        row, column = rows.pop(int(i)), columns.pop(int(j))
        order[0].append(row)
        order[1].append(column)
        work[rows] -= np.outer(work[rows, column] / work[row, column], work[row])
        filled[np.ix_([k for k in rows if filled[k, column]], [k for k in columns if filled[row, k]])] = True
    return tuple(order[0]), tuple(order[1])


def _scaled(matrix: Array) -> Array:
    """Rows, then columns scaled to a largest entry of 1."""
    rows = np.abs(matrix).max(axis=1, keepdims=True)
    scaled = matrix / np.where(rows > 0, rows, 1.0)
    columns = np.abs(scaled).max(axis=0, keepdims=True)
    return scaled / np.where(columns > 0, columns, 1.0)


def products(present: NDArray[np.bool_], order: Order, *, symmetric: bool) -> int:
    """Products of the unrolled elimination in this order, without the sides."""
    filled = present.copy()
    count = 0
    for step, (row, column) in enumerate(zip(*order, strict=True)):
        below = [k for k in order[0][step + 1 :] if filled[k, column]]
        right = [k for k in order[1][step + 1 :] if filled[row, k]]
        filled[np.ix_(below, right)] = True
        count += len(below) + (len(below) * (len(below) + 1) // 2 if symmetric else len(below) * len(right))
    return count
