"""Conditions for a constant inertia matrix from numbers alone: what differs between random positions must vanish.

For trees whose axes are nearly, but not quite, parallel or perpendicular, rounding hides which coefficients of the expansion
vanish; the rank of the differences of the matrix between positions shows it all the same, as a gap in singular values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from svyaz.arrays import Array
from svyaz.forms import LinearForm, arrays, inverse_dynamics, value_of
from svyaz.matrices import svd
from svyaz.model import Tree
from svyaz.synthesis.balancing.constant_inertia import Balance, claiming_order
from svyaz.synthesis.balancing.proof import bodies_with, entries_at, random_poses, unit_scales
from svyaz.synthesis.balancing.quantities import LinearConditions

SMALL = 1e-9
"""Singular values below this part of the largest are rounding; and so are parts of what is left under conditions."""

ROUNDING = 1e-12
"""Coefficients of conditions below this are."""

LARGEST = 1e5
"""Coefficients beyond this show that unknowns were claimed by rows that hardly feel them."""

POSES = 40


def sample_balance(named: Tree, tree: Tree) -> Balance:
    """The conditions for the numbers of ``tree``, whose bodies are those of ``named``."""
    poses = random_poses(tree, np.random.default_rng(11), POSES)
    scale = np.tile(unit_scales(tree), len(tree.bodies))
    entries = np.array([entries_at(tree, unit, poses) for unit in np.diag(scale)])
    differences = (entries[:, :, 1:] - entries[:, :, :1]).reshape(len(scale), -1).T
    order = claiming_order(len(tree.bodies))
    conditions = _conditions(differences, order, scale)
    size = len(tree.velocities)
    matrix: list[list[LinearForm]] = [[{} for _ in range(size)] for _ in range(size)]
    rows, columns = np.tril_indices(size)
    for number, (i, j) in enumerate(zip(rows, columns, strict=True)):
        form = conditions.reduced(_form(entries[:, number, 0] / scale))
        matrix[i][j] = matrix[j][i] = _without_rounding(form, scale)
    forces = np.array([_weights(tree, unit, poses) for unit in np.diag(scale)]).reshape(len(scale), -1).T
    left = [_dense(conditions.reduced(_form(row / scale)), scale) for row in _spanning(forces)]
    weightless = _conditions(np.array(left).reshape(-1, len(scale)), order, scale)
    return Balance(named, conditions, tuple(tuple(row) for row in matrix), weightless)


def _weights(tree: Tree, values: Array, poses: Array) -> Array:
    forces = inverse_dynamics(bodies_with(tree, values, poses), tree.gravity, None, None, arrays())
    return np.array([np.broadcast_to(np.asarray(f, dtype=float), (len(poses),)) for f in forces])


def _spanning(rows: Array) -> Array:
    """An orthonormal basis of the row space."""
    if not rows.size or not np.abs(rows).max() > 0:
        return np.zeros((0, rows.shape[1]))
    _, singular, basis = svd(np.linalg.qr(rows, mode="r"))
    return basis[: int((singular > SMALL * singular[0]).sum())]


def _conditions(rows: Array, order: Sequence[int], scale: Array) -> LinearConditions:
    """The reduced echelon form of the rows; unknowns are claimed in this order unless that is badly conditioned."""
    basis = _spanning(rows)
    reduced, pivots = _in_order(basis, order)
    if len(pivots) < len(basis) or (len(basis) and np.abs(reduced).max() > LARGEST):
        reduced, pivots = _best_conditioned(basis)
    found = LinearConditions(order=order)
    places = {place: number for number, place in enumerate(order)}
    for pivot, row in sorted(zip(pivots, reduced, strict=True), key=lambda pair: places[pair[0]]):
        kept = {int(k): float(row[k] * scale[pivot] / scale[k]) for k in np.flatnonzero(np.abs(row) > ROUNDING)}
        found.rows[pivot] = {**kept, pivot: 1}
    return found


def _best_conditioned(basis: Array) -> tuple[Array, list[int]]:
    """The echelon form whose unknowns a QR factorisation with exchanges of columns chooses."""
    from scipy.linalg import qr, solve_triangular

    count = len(basis)
    _, upper, places = qr(basis, mode="economic", pivoting=True)
    reduced = np.zeros_like(basis)
    reduced[:, places] = solve_triangular(upper[:, :count], upper)
    return reduced, [int(place) for place in places[:count]]


def _in_order(basis: Array, order: Sequence[int]) -> tuple[Array, list[int]]:
    basis = basis.copy()
    pivots: list[int] = []
    for place in order:
        done = len(pivots)
        if done == len(basis):
            break
        best = done + int(np.argmax(np.abs(basis[done:, place])))
        if abs(basis[best, place]) < 1e-6:
            continue
        basis[[done, best]] = basis[[best, done]]
        basis[done] /= basis[done, place]
        others = [k for k in range(len(basis)) if k != done]
        basis[others] -= np.outer(basis[others, place], basis[done])
        pivots.append(place)
    return basis, pivots


def _form(row: Array) -> LinearForm:
    return {int(place): float(row[place]) for place in np.flatnonzero(row)}


def _dense(form: LinearForm, scale: Array) -> Array:
    row = np.zeros(len(scale))
    for place, coefficient in form.items():
        row[place] = float(value_of(coefficient)) * scale[place]
    return np.where(np.abs(row) > SMALL, row, 0.0)


def _without_rounding(form: LinearForm, scale: Array) -> LinearForm:
    size = {place: abs(float(value_of(coefficient))) * scale[place] for place, coefficient in form.items()}
    largest = max(size.values(), default=0.0)
    return {place: float(value_of(c)) for place, c in form.items() if size[place] > SMALL * max(largest, 1e-6)}
