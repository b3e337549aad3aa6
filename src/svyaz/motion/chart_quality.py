"""How good the chart of a reduced form is along a run, and where it degenerates.

The quality of a chart is |det α_D| / √det(α αᵀ) (see ``forms.reduction_choice``), that of a basis of quasi-velocities
√det(NᵀN) for N with columns of length one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.constraints import model_states
from svyaz.dynamics import inverse_roots
from svyaz.expr import ZERO, Expression, gradient, substitute, velocity
from svyaz.forms import Equations
from svyaz.integrate import Path
from svyaz.program import Function, function, once_for_each

LEAST = 0.01
"""A chart whose condition number exceeds 1/LEAST is singular."""


@dataclass(frozen=True)
class Watch:
    """The rows of a path at which the state is finite: scaled α, quality of the chart, and where its sign turned."""

    alpha: Array
    quality: Array
    turned: NDArray[np.bool_]

    def first_below(self, limit: float, first: int = 0) -> int | None:
        """The first row, from ``first`` on, at which the quality is below the limit or the determinant has changed its sign."""
        found = np.flatnonzero((self.quality[first:] < limit) | self.turned[first:])
        return first + int(found[0]) if len(found) else None


def watched(equations: Equations, path: Path) -> Watch | None:
    if not equations.charted:
        return None
    states = model_states(equations, path.times, path.states)
    good = np.isfinite(states).all(axis=1)
    count = len(path.times) if good.all() else int(np.argmin(good))
    if count == 0:
        return None
    alpha = _scaled_rows(equations, path.times[:count], states[:count])
    return Watch(alpha, *_qualities(equations, alpha, path, count))


def _qualities(equations: Equations, alpha: Array, path: Path, count: int) -> tuple[Array, NDArray[np.bool_]]:
    """The quality at each row, and whether the determinant has changed its sign since the row before.

    A basis of our own has no denominators and is judged by itself; its drift has those of the chart.
    """
    times, states = path.times[:count], path.states[:count]
    turned = np.zeros(count, dtype=bool)
    if equations.named_basis:
        block = np.linalg.det(np.concatenate([alpha, _quasi_rows(equations, times, states)], axis=1))
    elif equations.quasi and not _drifts(equations):
        return _basis_quality(equations, times, states), turned
    else:
        coordinates = equations.system.coordinates
        block = np.linalg.det(alpha[:, :, [coordinates.index(q) for q in equations.dependent]])
    turned[1:] = block[1:] * block[:-1] < 0.0
    return np.abs(block) / whole_of(alpha), turned


def _drifts(equations: Equations) -> bool:
    """Do the coordinates move when all quasi-velocities are zero?"""
    still = dict.fromkeys(equations.velocities, ZERO)
    return any(substitute(equations.explicit[q], still) != 0 for q in equations.system.coordinates)


def whole_of(alpha: Array) -> Array:
    """√det(α αᵀ) along the rows."""
    return np.sqrt(np.maximum(np.linalg.det(alpha @ alpha.transpose(0, 2, 1)), 1e-300))


def _scaled_rows(equations: Equations, times: Array, states: Array) -> Array:
    """α (k, m, n) along rows of states of the model."""
    return _scaled(_eliminated_rows(equations), times, states)


@once_for_each
def _eliminated_rows(equations: Equations) -> Function:
    origin = equations.origin
    assert origin is not None, "a reduced form has an origin"
    names = {c.name for c in equations.eliminated}
    rows = [row for d, row in zip(origin.deviations, origin.constraint_jacobian, strict=True) if d.name in names]
    return _with_inertia(origin, rows)


def _quasi_rows(equations: Equations, times: Array, states: Array) -> Array:
    """∂u/∂q̇ (k, n - m, n) of the model's quasi-velocities along rows of states of the form."""
    return _scaled(_named_rows(equations), times, model_states(equations, times, states))


@once_for_each
def _named_rows(equations: Equations) -> Function:
    origin = equations.origin
    assert origin is not None, "a reduced form has an origin"
    v = [velocity(q) for q in equations.system.coordinates]
    return _with_inertia(origin, [gradient(u, v) for u in equations.system.quasi.values()])


def _with_inertia(origin: Equations, rows: Sequence[Sequence[Expression]]) -> Function:
    """Rows of coefficients of the velocities, and the diagonal of M."""
    diagonal = [row[k] for k, row in enumerate(origin.mass_matrix)]
    return function({"rows": rows, "inertia": diagonal}, ("t", *origin.states), origin.system.constants)


def _scaled(numbers: Function, times: Array, states: Array) -> Array:
    """Rows of coefficients of the velocities in numbers, columns scaled by 1/√M_ii, rows of length one."""
    found = numbers(np.column_stack([times, states]))
    alpha = found["rows"] * inverse_roots(found["inertia"])[:, None, :]
    lengths = np.linalg.norm(alpha, axis=2, keepdims=True)
    scaled: Array = alpha / np.where(lengths > 0.0, lengths, 1.0)
    return scaled


def _basis_quality(equations: Equations, times: Array, states: Array) -> Array:
    """√det(NᵀN) along rows of states of the form, N with columns of length one; zero where a column vanishes."""
    basis = _basis(equations)(np.column_stack([times, states]))["basis"]
    lengths = np.linalg.norm(basis, axis=1, keepdims=True)
    unit = basis / np.where(lengths > 0.0, lengths, 1.0)
    quality: Array = np.sqrt(np.maximum(np.linalg.det(unit.transpose(0, 2, 1) @ unit), 0.0))
    short = lengths.min(axis=(1, 2)) < LEAST * lengths.max(axis=(0, 2)).min()
    return np.where(short, 0.0, quality)


@once_for_each
def _basis(equations: Equations) -> Function:
    tables = {"basis": list(equations.directions.values())}
    return function(tables, ("t", *equations.states), equations.system.constants)
