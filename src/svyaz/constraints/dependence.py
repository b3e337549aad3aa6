"""Rows of constraints that depend on others at a state: do they nearby as well, and do they contradict them?

Coordinates are scaled by 1/√M_ii and rows to length one, so that units do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array
from svyaz.dynamics import (
    ZERO_RELATIVE,
    Measure,
    Snapshot,
    are_independent,
    coordinate_scales,
    is_met,
    positions_at,
    row_lengths,
    typical_sizes,
    unit_rows,
)
from svyaz.matrices import weakest_combination

NEARBY = 4


@dataclass(frozen=True)
class Dependency:
    """``name`` = Σ coefficient · other row at the state, in unit rows; without others its gradient vanishes.

    ``structural``: it does so at the states nearby as well. ``contradictory``: the equations cannot hold together.
    """

    name: str
    others: dict[str, float]
    structural: bool
    contradictory: bool


def scaled_rows(s: Snapshot) -> Array:
    """G with scaled coordinates and unit rows; a row that is nothing but rounding is zero."""
    d = coordinate_scales(s.mass, s.jacobian)
    d = d / np.max(d, initial=0.0) if len(d) else d
    return unit_rows(s.jacobian * d, ZERO_RELATIVE * row_lengths(s.jacobian_terms * d))


def name_dependencies(
    measure: Measure,
    s: Snapshot,
    found: list[tuple[int, dict[int, float]]],
    names: tuple[str, ...],
    around: list[Array],
) -> tuple[Dependency, ...]:
    """The dependencies with the names of constraints; ``around`` are the rows at states nearby."""
    if not found:
        return ()
    best = best_state(measure, s)
    named = []
    for row, others in found:
        group = [*others, row]
        structural = not any(are_independent(rows[group]) for rows in around) if around else True
        named.append(
            Dependency(
                names[row],
                {names[k]: c for k, c in others.items()},
                structural,
                _contradict(best, group) if others else structural and not _met(best, row),
            )
        )
    return tuple(named)


def states_nearby(measure: Measure, s: Snapshot) -> list[Snapshot]:
    """Some states a few per cent away, brought onto the position constraints."""
    rng, positions = np.random.default_rng(7), positions_at(measure, s)
    sizes = _sizes(positions.mass, positions.start)
    speeds = np.where(s.v != 0.0, np.abs(s.v), _sizes(s.mass, s.q))
    found = []
    for _ in range(NEARBY):
        q = positions.start + 0.03 * sizes * rng.uniform(-1.0, 1.0, len(sizes))
        v = s.v + 0.03 * speeds * rng.uniform(-1.0, 1.0, len(s.v))
        start = positions_at(measure, s, measure.moved(s.state, v=v))
        if start.rows(q) is None:
            continue
        near = measure.at(start.put(start.reach(q, 25).z), s.time)
        if near.finite:
            found.append(near)
    return found


def _sizes(mass: Array, values: Array) -> Array:
    """How large values are beside each other, 1 where nothing tells it."""
    found = np.maximum(np.abs(values), typical_sizes(mass, values))
    return np.where(found > 0.0, found, 1.0)


def best_state(measure: Measure, s: Snapshot) -> Snapshot:
    """The state itself, or with the positions that satisfy the position constraints best."""
    if np.all(np.abs(s.position) <= ZERO_RELATIVE * s.position_scale):
        return s
    positions = positions_at(measure, s)
    return measure.at(positions.put(positions.reach(positions.start).z), s.time)


def _contradict(s: Snapshot, group: list[int]) -> bool:
    """Do dependent equations ask for different things, in position or in velocity?"""
    rows = scaled_rows(s)[group]
    if are_independent(rows):
        return False
    c = weakest_combination(rows)
    d = coordinate_scales(s.mass, s.jacobian)
    lengths = row_lengths(s.jacobian[group] * (d / np.max(d, initial=0.0)))
    c = np.where(np.abs(c) > 1e-6, c, 0.0) / np.where(lengths > 0.0, lengths, 1.0)
    if s.holonomic[[k for k, x in zip(group, c, strict=True) if x]].all() and _differs(
        c, s.position[group], s.position_scale[group]
    ):
        return True
    return _differs(c, s.velocity[group], s.velocity_scale[group])


def _met(s: Snapshot, row: int) -> bool:
    """Does an equation hold that cannot be moved?"""
    position, velocity = (
        (x[row], scale[row]) for x, scale in ((s.position, s.position_scale), (s.velocity, s.velocity_scale))
    )
    return bool(is_met(*position)) and bool(is_met(*velocity))


def _differs(c: Array, residual: Array, scale: Array) -> bool:
    return bool(abs(float(c @ residual)) > 10.0 * ZERO_RELATIVE * float(np.abs(c) @ scale))
