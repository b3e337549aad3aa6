"""Constraints of a tree by points of its bodies: f(P₁, P₂, …, q, t), with ∂f/∂P as formulas and ∂P/∂q left to others.

For a constraint on positions h the row of G is Σ ∂h/∂P · ∂P/∂q + ∂h/∂q, and

    ḣ = Σ ∂h/∂P · Ṗ + ∂h/∂q · q̇ + ∂h/∂t,        ḧ = total derivative of ḣ with P̈, q̈;

for one on velocities f the row is that of ∂f/∂Ṗ, ∂f/∂q̇, which for ḣ are ∂h/∂P, ∂h/∂q. All are short formulas however long
the tree is. The velocities of a free joint, which are no rates of coordinates, stand for its q̇.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import symengine as se

from svyaz.expr import (
    ONE,
    TIME,
    ZERO,
    Expression,
    add_up,
    gradient,
    substitute,
    symbols_in,
    total_derivative,
    velocity,
)
from svyaz.model import MANY_COORDINATES, Constraint, GroundPlaces, System, tree_of
from svyaz.program import remembered

AXES = "xyz"


@dataclass(frozen=True)
class PointRow:
    """One constraint: its deviation (None on velocities), rate and second derivative, with its gradients by points (their
    numbers) and by freedoms.
    """

    constraint: Constraint
    position: Expression | None
    rate: Expression
    second: Expression
    by_points: Mapping[int, tuple[Expression, Expression, Expression]]
    by_freedoms: Mapping[int, Expression]


def points_named(system: System, constraints: Sequence[Constraint], further: Sequence[Expression] = ()) -> list[str]:
    """The points that constraints name, and ``further`` expressions."""
    known = {str(s) for s in symbols_in([*(c.stated for c in constraints), *further])}
    return [
        name for name in system.points if any(f"{name}_{axis}{dots}" in known for axis in AXES for dots in ("", "'"))
    ]


def point_rows(system: System, constraints: Sequence[Constraint], points: Sequence[str]) -> tuple[PointRow, ...]:
    """The constraints of a tree by points and velocities of joints."""
    flow: dict[se.Symbol, Expression] = {TIME: ONE}
    flow |= {se.Symbol(q): rate for q, rate in system.coordinate_rates.items()}
    flow |= {se.Symbol(v): se.Symbol(f"{v}'") for v in system.velocities}
    for name in (f"{name}_{axis}" for name in points for axis in AXES):
        flow |= {se.Symbol(name): velocity(name), velocity(name): se.Symbol(f"{name}''")}
    speeds = [[velocity(f"{name}_{axis}") for axis in AXES] for name in points]
    freedoms = list(map(se.Symbol, system.velocities))
    return tuple(_row(c, speeds, freedoms, flow) for c in constraints)


def _row(
    constraint: Constraint,
    speeds: Sequence[Sequence[se.Symbol]],
    freedoms: Sequence[se.Symbol],
    flow: Mapping[se.Symbol, Expression],
) -> PointRow:
    """``speeds`` are the symbols of velocities of points, ``freedoms`` those of the system."""
    stated = constraint.stated
    position = None if constraint.order else stated
    rate = stated if position is None else total_derivative(stated, flow)
    present = rate.free_symbols
    by_points = {}
    for k, own in enumerate(speeds):
        if not present.isdisjoint(own):
            x, y, z = gradient(rate, own)
            by_points[k] = (x, y, z)
    entered = [k for k, v in enumerate(freedoms) if v in present]
    slopes = zip(entered, gradient(rate, [freedoms[k] for k in entered]), strict=True)
    by_freedoms = {k: e for k, e in slopes if e != ZERO}
    return PointRow(constraint, position, rate, total_derivative(rate, flow), by_points, by_freedoms)


Vector = tuple[Expression, Expression, Expression]


_Moving = tuple[Sequence[str], Mapping[se.Symbol, Expression], Sequence[Mapping[str, Vector]]]
"""Points of a long tree: their coordinates with two derivatives (q̈ = 0) by their symbols, and ∂P/∂q of each."""


@dataclass(frozen=True)
class WrittenRows:
    """Of constraints in the coordinates: h (None on velocities), its rate, the row of G, what ḧ has without q̈."""

    positions: list[Expression | None]
    rates: list[Expression]
    jacobian: list[list[Expression]]
    bias: list[Expression]


def written_rows(system: System, constraints: Sequence[Constraint]) -> WrittenRows | None:
    """The rows of constraints of a long tree by how its points move; None where they are found otherwise."""
    moving = _moving(system, constraints)
    if moving is None:
        return None
    points, known, moves = moving
    rows = point_rows(system, constraints, points)
    return WrittenRows(
        [None if c.order else c.expression for c in constraints],
        [substitute(row.rate, known) for row in rows],
        [_gradient(system, row, known, moves, lambda e: e) for row in rows],
        [substitute(row.second, known) for row in rows],
    )


def written_sizes(
    system: System, constraints: Sequence[Constraint], size: Callable[[Expression], Expression]
) -> WrittenRows | None:
    """``size`` of their terms, in which places and velocities of points count as they are, not by the turns they come from."""
    moving = _moving(system, constraints)
    if moving is None:
        return None
    points, known, moves = moving
    rows = point_rows(system, constraints, points)
    return WrittenRows(
        [None if row.position is None else substitute(size(row.position), known) for row in rows],
        [substitute(size(row.rate), known) for row in rows],
        [_gradient(system, row, known, moves, se.Abs) for row in rows],
        [],
    )


def _gradient(
    system: System,
    row: PointRow,
    known: Mapping[se.Symbol, Expression],
    moves: Sequence[Mapping[str, Vector]],
    taken: Callable[[Expression], Expression],
) -> list[Expression]:
    """Σ ∂h/∂P · ∂P/∂q + ∂h/∂q for each coordinate, with factors ``taken`` as they are or by magnitude."""
    own = {q: [ZERO] for q in system.freedoms}
    for k, e in row.by_freedoms.items():
        own[system.freedoms[k]].append(taken(substitute(e, known)))
    for k, slopes in row.by_points.items():
        forces = [taken(substitute(e, known)) for e in slopes]
        for q, moved in moves[k].items():
            own[q] += [f * taken(m) for f, m in zip(forces, moved, strict=True)]
    return [add_up(own[q]) for q in system.freedoms]


def _moving(system: System, constraints: Sequence[Constraint]) -> _Moving | None:
    if not (system.bodies and system.points and len(system.coordinates) > MANY_COORDINATES):
        return None
    points, places = points_named(system, constraints), _ground_places(system)
    if not points:
        return None
    known: dict[se.Symbol, Expression] = {se.Symbol(f"{v}'"): ZERO for v in system.velocities}
    moves = []
    for name in points:
        point = system.points[name]
        place = places.place(point.body, point.at)
        rates = (places.velocity(point.body, point.at), places.acceleration(point.body, point.at))
        for axis, *entries in zip(AXES, place, *rates, strict=True):
            known |= {se.Symbol(f"{name}_{axis}{dots}"): e for dots, e in zip(("", "'", "''"), entries, strict=True)}
        moves.append(places.moves(point.body, place))
    return points, known, moves


@remembered
def _ground_places(system: System) -> GroundPlaces:
    return GroundPlaces(tree_of(system))
