"""What happens where constraints on positions become dependent at single positions.

Let Σ c_k ∇h_k = 0 there, and K be the directions that all gradients leave. Motions through the position have, to second order,

    vᵀ (Σ c_k ∇²h_k) v = 0,    v in K.

Where this form has both signs on K, two or more branches of positions cross: the mechanism itself branches, in whatever
coordinates. Where it is definite, the position stands alone. Otherwise higher orders decide.

Where several combinations c vanish at once (all windows of a chain stretch together) each gives such a form Q_c, and v is a
common zero of all. A velocity with which the position is passed is one; if the gradients become independent along it,
linearly in the way from the position, the forms Q_c v are independent: v is a simple zero. Those that are not real come in
pairs, and 2^p is even: another branch crosses.
"""

from __future__ import annotations

from enum import Enum

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.dynamics import Measure, Snapshot, typical_sizes
from svyaz.matrices import directions_without, eigvalsh, extreme_singular_values, svd, weakest_combination

DISPLACEMENT = 1e-4
"""Part of the size of a coordinate by which it is moved for second derivatives."""

PLAIN = 0.02
"""A curvature below this part of the largest one is not taken for one: the state is only near the singular position."""

WEAK = 0.1
"""Gradients are nearly dependent when their smallest singular value is below this part of what they are nearby."""


WAYS = (0.02, 0.005, 0.001, 0.0002)
"""Gradients are looked at so far from the position, and twice as far, along the velocity; parts of the sizes of coordinates."""

LINEAR = (1.5, 2.5)
"""Twice as far, what grows linearly is larger by a factor within these bounds."""

RISEN = 2.0
"""Least singular values of gradients that are so many times what they are at the position have risen."""


class Crossing(Enum):
    """What positions there are about one at which constraints are dependent."""

    BRANCHES = "branches"
    ALONE = "alone"
    UNDECIDED = "undecided"


def crossing(measure: Measure, s: Snapshot, sizes: Array) -> Crossing | None:
    """What the constraints on positions do near a state; None where they are independent, or coordinates are not states.

    ``sizes`` are those that the coordinates have elsewhere.
    """
    if measure.equations.quasi or not s.holonomic.any():
        return None
    sizes = np.maximum(sizes, typical_sizes(s.mass, sizes))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    if _rises_along(measure, s, sizes):
        return Crossing.BRANCHES
    if measure.large:
        return _crossing_of_entries(measure, s, sizes)
    gradients, curvatures = _derivatives(measure, s, sizes)
    if not (np.isfinite(gradients).all() and np.isfinite(curvatures).all()):
        return None
    # what a row would be some way off: the scale in which it may vanish here
    lengths = np.linalg.norm(gradients, axis=1) + np.linalg.norm(curvatures, axis=(1, 2))
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    left, singular, right = svd(gradients / lengths[:, None])
    if len(singular) < len(gradients) or singular[-1] > WEAK:
        return None if len(singular) == len(gradients) else Crossing.UNDECIDED
    kept = right[len(gradients) - 1 :]
    form = np.tensordot(left[:, -1] / lengths, curvatures, axes=1)
    return _decided(form, kept)


def _rises_along(measure: Measure, s: Snapshot, sizes: Array) -> bool:
    """Do the gradients become independent, linearly in the way, on both sides of the position along its velocity?"""
    pace = float(np.max(np.abs(s.v) / sizes, initial=0.0))
    if not (pace > 0.0 and np.isfinite(pace)) or np.count_nonzero(s.holonomic) > len(s.q):
        return False
    here = _least(measure, s, sizes, 0.0)
    for way in WAYS:
        near = [_least(measure, s, sizes, side * way / pace) for side in (-1, 1)]
        if not min(near) > RISEN * here:
            continue
        far = [_least(measure, s, sizes, 2 * side * way / pace) for side in (-1, 1)]
        if all(LINEAR[0] * close < wide < LINEAR[1] * close for wide, close in zip(far, near, strict=True)):
            return True
    return False


def _least(measure: Measure, s: Snapshot, sizes: Array, way: float) -> float:
    """The least singular value of the gradients, as rows of length one, so far along the velocity; NaN where there is none."""
    state = measure.moved(s.state, q=s.q + way * s.v)
    rows = measure.gradients(np.array([s.time]), state[None, :]).whole()[0][s.holonomic] * sizes
    lengths = np.linalg.norm(rows, axis=1)
    if not np.isfinite(rows).all() or not (lengths > 0.0).all():
        return np.nan
    return extreme_singular_values(rows / lengths[:, None])[1]


def _decided(form: Array, kept: Array) -> Crossing:
    """By the signs of the form on the span of the rows of ``kept``."""
    values = eigvalsh(kept @ (0.5 * (form + form.T)) @ kept.T)
    plain = PLAIN * float(np.max(np.abs(form), initial=0.0))
    if values[0] < -plain and values[-1] > plain:
        return Crossing.BRANCHES
    if np.all(values > plain) or np.all(values < -plain):
        return Crossing.ALONE
    return Crossing.UNDECIDED


def _crossing_of_entries(measure: Measure, s: Snapshot, sizes: Array) -> Crossing | None:
    """The same of many constraints, each of which knows few coordinates."""
    here = measure.gradients(np.array([s.time]), s.state[None, :])
    apart = coloured(here.rows, here.columns, len(sizes))
    shifts = DISPLACEMENT * sizes * np.array([apart == colour for colour in range(apart.max(initial=-1) + 1)])
    around = np.array([measure.moved(s.state, q=s.q + sign * shift) for shift in shifts for sign in (1.0, -1.0)])
    plain = measure.gradients(np.full(len(around), s.time), around)
    own = s.holonomic[plain.rows]
    values, rows, columns = plain.values[:, own] * sizes[plain.columns[own]], plain.rows[own], plain.columns[own]
    slopes = (values[0::2] - values[1::2]) / (2 * DISPLACEMENT)
    gradients = s.jacobian * sizes
    if not (np.isfinite(gradients).all() and np.isfinite(slopes).all()):
        return None
    bends = np.sqrt(np.bincount(rows, weights=np.sum(slopes**2, axis=0), minlength=len(gradients)))
    lengths = (np.linalg.norm(gradients, axis=1) + bends)[s.holonomic]
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    unit = gradients[s.holonomic] / lengths[:, None]
    if len(unit) > len(sizes):
        return Crossing.UNDECIDED
    y = weakest_combination(unit)
    along = y @ unit
    if np.linalg.norm(along) > WEAK:
        return None
    weights = np.zeros(len(gradients))
    weights[s.holonomic] = y / lengths
    form = np.zeros((len(sizes), len(sizes)))
    moved = np.full((len(shifts), len(gradients)), -1)  # which coordinate of a row each displacement moves
    moved[apart[columns], rows] = columns
    for colour, slope in enumerate(slopes):
        by = moved[colour, rows]
        np.add.at(form, (by[by >= 0], columns[by >= 0]), (slope * weights[rows])[by >= 0])
    return _decided(form, directions_without(unit, y))


def coloured(rows: NDArray[np.intp], columns: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Colours of columns (count,), such that no row has entries in two of one colour: what depends on them may be
    differentiated by all of one colour at once (A. R. Curtis, M. J. D. Powell and J. K. Reid, 1974).
    """
    of_row: dict[int, list[int]] = {}
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        of_row.setdefault(row, []).append(column)
    near: list[set[int]] = [set() for _ in range(count)]
    for together in of_row.values():
        for column in together:
            near[column].update(together)
    found = np.full(count, -1)
    for column in range(count):
        taken = {int(found[other]) for other in near[column]}
        found[column] = next(colour for colour in range(len(taken) + 1) if colour not in taken)
    return found


def _around(measure: Measure, s: Snapshot, sizes: Array) -> Array:
    shifts = DISPLACEMENT * np.diag(sizes)
    return np.array([measure.moved(s.state, q=s.q + sign * shift) for shift in shifts for sign in (1.0, -1.0)])


def _derivatives(measure: Measure, s: Snapshot, sizes: Array) -> tuple[Array, Array]:
    """∇h (m, n) and ∇²h (m, n, n) in coordinates divided by their sizes, by central differences of the gradients."""
    n = len(s.q)
    around = _around(measure, s, sizes)
    jacobians = measure.along(np.full(len(around), s.time), around).jacobian[:, s.holonomic] * sizes
    slopes = (jacobians[0::2] - jacobians[1::2]) / (2 * DISPLACEMENT)
    return s.jacobian[s.holonomic] * sizes, slopes.transpose(1, 0, 2).reshape(-1, n, n)
