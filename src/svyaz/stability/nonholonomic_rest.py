"""The equations of rest and of steady motions where velocities are constrained, or controls keep constraints.

Coordinates that no equation needs stand at zero, all others rest; the speeds of the former are constant (those of a plane in
axes that turn with the heading ψ, which accelerates them by ψ̇ J (u + d)):

    M q̈ + bias(r, u) = Rᵀλ,    f(r, u) = 0,    F(r) = 0,    ẇ = 0.

f is solved for as many of the speeds as it determines; the others are prescribed or unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import (
    ZERO,
    Expression,
    ModelError,
    Problem,
    add_up,
    evaluate,
    gradient,
    quadratic,
    substitute,
    velocity,
)
from svyaz.forms import is_nothing, only_constant_masses, only_ideal, solve
from svyaz.matrices import matrix_rank
from svyaz.model import Mechanical, System
from svyaz.stability.constraint_surface import ConstraintSurface, independent_columns
from svyaz.stability.rest import RestEquations, is_angle, pose, settled, with_values
from svyaz.stability.speed_range import SpeedRange, initial_speeds, speed_range


def has_velocity_constraints(system: System) -> bool:
    """Is it a mechanical system with constraints on velocities, or kept by controls: one whose reactions have no potential?"""
    return isinstance(system.law, Mechanical) and any(c.order == 1 or c.servo for c in system.constraints)


def refuse_varying(system: System) -> None:
    """Constraints must always act, and velocities be rates of coordinates."""
    if system.velocities != tuple(f"{q}'" for q in system.coordinates):
        message = "equilibria are examined where velocities are rates of coordinates: a free or ball joint has others"
        raise ModelError([Problem(message, hint="describe the body by coordinates of its own")])
    only_ideal(
        replace(system.plain(), constraints=tuple(c for c in system.constraints if not c.servo)), "equilibria are found"
    )
    only_constant_masses(system, "equilibria are found")
    for c in system.constraints:
        if c.varying:
            message = f"the constraint '{c.name}' does not always act: equilibria are those of constraints that do"
            raise ModelError([Problem(message, c.place)])


@dataclass(frozen=True)
class Speeds:
    """Speeds of the ignorable coordinates: ``free`` ones may be prescribed, ``following`` are given in their terms.

    ``rows`` are what the constraints say beside, ``turning`` the velocities that are told in axes turned by a heading;
    ``anywhere`` has the ranges of unknown speeds without a side in the box.
    """

    free: tuple[str, ...]
    following: Mapping[str, Expression]
    rows: tuple[Expression, ...]
    turning: Mapping[str, tuple[str, ...]]
    anywhere: SpeedRange = field(default_factory=lambda: SpeedRange({}, proved=True))


def nonholonomic_rest(
    system: System, fix: Mapping[str, float] | None = None, box: Mapping[str, tuple[float, float]] | None = None
) -> RestEquations:
    """The equations of rest: all velocities are zero."""
    refuse_varying(system)
    system, fixed, sides, following = settled(system, fix, box)
    surface = ConstraintSurface(system, {**system.constants, **fixed})
    none = {velocity(q): ZERO for q in system.coordinates}
    for c in system.constraints:
        if c.order == 1 and all(is_nothing(substitute(e, none)) for e in gradient(c.expression, list(none))):
            message = f"the constraint '{c.name}' gives no direction at rest, where its slopes by all velocities vanish"
            raise ModelError([Problem(message, c.place)])
    values = {
        se.Symbol(name): se.RealDouble(x) for name, x in {**system.constants, **fixed}.items() if name not in sides
    }
    rows = [substitute(c.expression, none) for c in system.constraints if c.order == 1]
    rows = [e for e in rows if not is_nothing(substitute(e, values))]
    return replace(_rest(surface, {}, rows, fixed, sides, following), expressions=())


def steady_rest(
    system: System, fix: Mapping[str, float], box: Mapping[str, tuple[float, float]]
) -> tuple[RestEquations, Speeds, tuple[str, ...]]:
    """The equations of steady motions, the speeds, and those that have the values of the model's initial state.

    As many have them as values are missing to single out motions; the others are unknown.
    """
    refuse_varying(system)
    system, fixed, sides, following = settled(system, fix, box, [f"{q}'" for q in system.coordinates])
    surface = ConstraintSurface(system, {**system.constants, **fixed})
    speeds = [f"{q}'" for q in system.coordinates if q in surface.ignorable.names]
    for q in system.coordinates:
        if f"{q}'" not in speeds and (f"{q}'" in fixed or f"{q}'" in sides):
            raise ModelError([Problem(f"'{q}' rests in a steady motion, for the equations contain it: {q}' is zero")])
    for q in surface.ignorable.names:
        if q in fixed or q in sides:
            message = f"'{q}' is in no equation: of a steady motion its speed is prescribed"
            raise ModelError([Problem(message, hint=f"{q}'")])
    found = determined_speeds(surface, [name for name in speeds if name in fixed or name in sides])
    dimension = len(found.free) + len(system.inputs) + sum(name in system.parameters for name in sides)
    free = [name for name in found.free if name not in fixed and name not in sides]
    taken = initial_speeds(system, free, dimension - sum(name not in system.parameters for name in fixed))
    fixed |= taken
    unbounded = [name for name in free if name not in taken and name not in system.box]
    sides |= {name: system.box.get(name, (-1.0, 1.0)) for name in free if name not in taken}
    extra = [se.Symbol(name) - e for name, e in found.following.items() if name in fixed or name in sides]
    put = {name: found.following.get(name, se.Symbol(name)) for name in speeds}
    rest = _rest(surface, put, [*found.rows, *extra], fixed, sides, following)
    if unbounded:
        found = replace(found, anywhere=speed_range(rest, unbounded, system.initial))
        rest = _rest(surface, put, [*found.rows, *extra], fixed, {**sides, **found.anywhere.sides}, following)
    return replace(rest, expressions=()), found, tuple(taken)


def determined_speeds(surface: ConstraintSurface, prescribed: Sequence[str]) -> Speeds:
    """f(r, u) = 0 at rest of r solved for speeds, plane velocities before others and prescribed ones last."""
    system, ignored = surface.system, surface.ignorable
    names = [f"{q}'" for q in system.coordinates if q in ignored.names]
    u = [se.Symbol(name) for name in names]
    still = _still(surface, {name: se.Symbol(name) for name in names})
    rows, rests = [], []
    for c in system.constraints:
        if c.order == 1:
            terms = quadratic(substitute(c.expression, still), u)
            if terms is None or any(len(key) == 2 for key in terms):
                message = f"'{c.name}' is not linear in the velocities: steady motions are not looked for"
                raise ModelError([Problem(message, c.place)])
            rows.append([terms.get((k,), ZERO) for k in range(len(u))])
            rests.append(terms.get((), ZERO))
    turned = {f"{q}'" for q in ignored.turned}
    matrix = _sampled(surface, rows)
    asked = [k for k, name in enumerate(names) if name in prescribed]
    plane = [k for k, name in enumerate(names) if name in turned and k not in asked]
    other = [k for k in range(len(names)) if k not in (*asked, *plane)]
    columns = independent_columns(matrix, [plane, other, asked])
    lines = independent_columns(matrix[:, columns].T, [list(range(len(rows)))])
    free = [k for k in range(len(names)) if k not in columns]
    sides = [[-add_up([rests[i], *(rows[i][k] * u[k] for k in free)])] for i in lines]
    solution = solve([[rows[i][k] for k in columns] for i in lines], sides) if columns else []
    if solution is None:
        raise ModelError([Problem("the constraints do not determine the speeds: they depend on each other")])
    following = {names[k]: row[0] for k, row in zip(columns, solution, strict=True)}
    put = {se.Symbol(name): e for name, e in following.items()}
    others = [
        substitute(add_up([rests[i], *(rows[i][k] * u[k] for k in range(len(u)))]), put)
        for i in range(len(rows))
        if i not in lines
    ]
    turning = {h.name: tuple(f"{q}'" for q in h.plane) for h in ignored.headings if h.plane}
    rest = tuple(e for e in others if not is_nothing(e))
    return Speeds(tuple(names[k] for k in free), following, rest, turning)


def _sampled(surface: ConstraintSurface, rows: Sequence[Sequence[Expression]]) -> Array:
    """The rows at the model's initial position; elsewhere if their rank is less there than it may be."""
    system, random = surface.system, np.random.default_rng(2)
    start = {q: float(system.initial.get(q, 0.0)) for q in system.coordinates}
    found = []
    for spread in (0.0, 0.1, 0.3):
        known = {**system.constants, **{q: x + spread * random.normal() for q, x in start.items()}}
        values = np.array([[evaluate(e, known) for e in row] for row in rows], dtype=float)
        found.append(values.reshape(len(rows), len(surface.ignorable.names)))
    ranks = [matrix_rank(matrix) if matrix.size and np.isfinite(matrix).all() else 0 for matrix in found]
    return found[int(np.argmax(ranks))]


def _still(surface: ConstraintSurface, speeds: Mapping[str, Expression]) -> dict[se.Symbol, Expression]:
    """What is put in: ignorable coordinates zero, and velocities."""
    system = surface.system
    gone: dict[se.Symbol, Expression] = {se.Symbol(q): ZERO for q in surface.ignorable.names}
    return gone | {velocity(q): speeds.get(f"{q}'", ZERO) for q in system.coordinates}


def _rest(
    surface: ConstraintSurface,
    speeds: Mapping[str, Expression],
    rows: Sequence[Expression],
    fixed: Mapping[str, float],
    sides: Mapping[str, tuple[float, float]],
    following: Mapping[se.Symbol, Expression],
) -> RestEquations:
    system, equations = surface.system, surface.moving.equations
    still = _still(surface, speeds)
    accelerations = _accelerations(surface, speeds, _drifts(surface, [n for n in sides if n in system.parameters]))
    pushes = [se.Symbol(f"multiplier of {d.name}") for d in equations.deviations]
    forces = [
        add_up(
            [
                *(m * accelerations[q] for m, q in zip(line, system.coordinates, strict=True) if q in accelerations),
                bias,
                *(-row[i] * s for row, s in zip(equations.smooth_reactions, pushes, strict=True)),
            ]
        )
        for i, (line, bias) in enumerate(zip(equations.mass_matrix, equations.bias, strict=True))
    ]
    held = [d.position for d in equations.deviations if d.position is not None]
    everything = [*forces, *rows, *held, *system.rates.values()]
    expressions = [substitute(substitute(e, still), following) for e in everything]
    ignored = surface.ignorable.names
    return pose(
        system,
        expressions,
        {**{q: float(system.initial.get(q, 0.0)) for q in ignored}, **fixed},
        sides,
        unknowns=[*(q for q in system.coordinates if q not in ignored), *system.rates, *system.inputs],
        linear=[*map(str, pushes), *system.rates, *system.inputs],
        periodic=lambda q: q in system.coordinates and is_angle(system, q),
        speeds=tuple(speeds),
    )


def _accelerations(
    surface: ConstraintSurface,
    speeds: Mapping[str, Expression],
    drifts: Mapping[str, tuple[Expression, Expression]],
) -> dict[str, Expression]:
    """Of the plane velocities, which turn with the heading; all others are zero."""
    found = {}
    for h in surface.ignorable.headings:
        turn = speeds.get(f"{h.name}'", ZERO)
        if h.plane is not None and turn != ZERO:
            (a, b), (da, db) = h.plane, drifts[h.name]
            found[a] = -turn * (speeds.get(f"{b}'", ZERO) + db)
            found[b] = turn * (speeds.get(f"{a}'", ZERO) + da)
    return found


def _drifts(surface: ConstraintSurface, freed: Sequence[str]) -> dict[str, tuple[Expression, Expression]]:
    """The velocities of the axes as expressions of the parameters that are not prescribed: linear ones, or refused."""
    system, headings = surface.system, surface.ignorable.headings
    if not freed:
        return {h.name: (se.RealDouble(h.drift[0]), se.RealDouble(h.drift[1])) for h in headings}

    def drift_at(moved: Mapping[str, float]) -> Array:
        there = {**surface.moving.numbers.values, **with_values(system, moved).parameters}
        found = {h.name: h.drift for h in ConstraintSurface(system, there).ignorable.headings}
        if set(found) != {h.name for h in headings}:
            raise ModelError(
                [Problem(f"what the equations contain changes with {', '.join(moved)}: take a narrower range")]
            )
        return np.array([found[h.name] for h in headings])

    nominal = {name: float(system.parameters[name]) for name in freed}
    start = np.array([h.drift for h in headings])
    unit = {name: 0.37 * (1 + abs(x)) for name, x in nominal.items()}
    slopes = {name: (drift_at({name: nominal[name] + unit[name]}) - start) / unit[name] for name in freed}
    other = {name: x - 0.53 * unit[name] for name, x in nominal.items()}
    foretold = start + sum((other[name] - nominal[name]) * slopes[name] for name in freed)
    if np.abs(drift_at(other) - foretold).max(initial=0.0) > 1e-8 * (1 + np.abs(foretold).max(initial=0.0)):
        raise ModelError(
            [Problem(f"the velocity of the axes is not linear in {', '.join(freed)}: it cannot be varied")]
        )
    found = {}
    for k, h in enumerate(headings):
        parts = [
            add_up([start[k, i], *(float(slopes[n][k, i]) * (se.Symbol(n) - nominal[n]) for n in freed)])
            for i in (0, 1)
        ]
        found[h.name] = (parts[0], parts[1])
    return found
