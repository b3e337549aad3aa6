"""The augmented matrix [M Rᵀ; G 0] at states: its determinant, and the least corrections that it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from svyaz.arrays import Array
from svyaz.program import Tabulated, bordered

if TYPE_CHECKING:
    from svyaz.dynamics.measure import Measure


def augmented_matrix(mass: Array, jacobian: Array, reactions: Array) -> Array:
    """[M Rᵀ; G 0] (…, n + m, n + m) of one state or of many; R is G unless controls realise constraints."""
    n, m = mass.shape[-1], jacobian.shape[-2]
    matrix = np.zeros((*mass.shape[:-2], n + m, n + m))
    matrix[..., :n, :n] = mass
    matrix[..., n:, :n] = jacobian
    matrix[..., :n, n:] = np.swapaxes(reactions, -1, -2)
    return matrix


def log_determinants(tables: Tabulated, count: int, rows: Array, *, ideal: bool) -> tuple[Array, Array]:
    """(sign, log |det [M Rᵀ; G 0]|) along rows, for so many constraints; NaN where the matrix is not defined."""
    if ideal and "mass" in tables.sparse and "jacobian" in tables.sparse:
        matrices = bordered(*tables.entries(rows, "mass", "jacobian"))
        if matrices is not None:
            return matrices.log_determinants()
    found, n = tables.known(rows, ["mass", "jacobian", *([] if ideal else ["reactions"])]), tables.shapes["mass"][0]
    jacobian = found["jacobian"].reshape(len(rows), count, n)
    reactions = jacobian if ideal else found["reactions"].reshape(len(rows), count, n)
    whole = augmented_matrix(found["mass"].reshape(len(rows), n, n), jacobian, reactions)
    defined = np.isfinite(whole).all(axis=(1, 2))
    sign, size = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    sign[defined], size[defined] = np.linalg.slogdet(whole[defined])
    return sign, size


def correct_once(measure: Measure, times: Array, states: Array) -> Array:
    """States (k, n) after one correction of Newton's method in positions and one in velocities, the least in the norm of M."""
    found = states.copy()
    for places, rows in ((list(measure.coordinates), "position"), (list(measure.speeds), "velocity")):
        if measure.large:
            matrices = bordered(*measure.matrices(times, found))
            if matrices is not None:
                off = measure.function.known(np.column_stack([times, found]), (rows,))[rows]
                found[:, places] -= matrices.solved(np.zeros((len(times), matrices.n)), off)[0]
                continue
        numbers = measure.along(times, found)
        n, matrix = numbers.mass.shape[1], augmented_matrix(numbers.mass, numbers.jacobian, numbers.jacobian)
        side = np.zeros((*matrix.shape[:2], 1))
        side[:, n:, 0] = numbers.position if rows == "position" else numbers.velocity
        try:
            found[:, places] -= np.linalg.solve(matrix, side)[:, :n, 0]
        except np.linalg.LinAlgError:
            found[:] = np.nan
    return found
