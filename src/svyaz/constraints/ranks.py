"""Do the constraints fit together at a state: rank, repeated and contradictory rows, and the augmented matrix.

Coordinates are scaled by 1/√M_ii and rows to length one before any rank is decided, so that units do not matter. A
row that depends on others is looked at again at states nearby (on the position constraints): if it depends on them
there too, it is redundant by construction; if not, the state is a singular one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints.nearest import on_positions, position_rows, reach
from svyaz.constraints.scales import (
    ZERO_RELATIVE,
    coordinate_scales,
    dependencies,
    numerical_rank,
    row_lengths,
    scaled_mass,
    typical_sizes,
    unit_rows,
)
from svyaz.constraints.snapshot import Measure, Snapshot, State, measure_of, state_vector
from svyaz.constraints.states import listed
from svyaz.forms import Equations

NEARBY = 4
SINGULAR = 1e-12
"""The augmented matrix is called singular when its smallest singular value is below this part of its largest."""


@dataclass(frozen=True)
class Dependency:
    """``name`` = Σ coefficient · other row at the state, in unit rows; without others its gradient vanishes.

    ``structural``: it does so at the states nearby as well. ``contradictory``: the equations cannot hold together.
    """

    name: str
    others: dict[str, float]
    structural: bool
    contradictory: bool


@dataclass(frozen=True)
class RankReport:
    """What was found at one state.

    ``redundant`` names every constraint that takes part in a dependency: each of them could be left out without loss
    of rank (or its gradient vanishes). ``contradictory`` names those that cannot hold together. ``weightless`` names
    the coordinates that can move without inertia, ``unrealised`` the servo-constraints whose directions do not suffice.
    Determinants are of the matrices as they stand, the condition is that of the scaled augmented matrix.
    """

    rank: int
    constraints: int
    freedoms: int
    redundant: tuple[str, ...]
    contradictory: tuple[str, ...]
    weightless: tuple[str, ...]
    dependencies: tuple[Dependency, ...]
    messages: tuple[str, ...]
    augmented_condition: float
    augmented_determinant: float
    mass_determinant: float
    unrealised: tuple[str, ...] = ()

    @property
    def full(self) -> bool:
        """Are all constraints independent?"""
        return self.rank == self.constraints

    @property
    def singular(self) -> bool:
        """Has the augmented matrix no inverse?"""
        return not self.augmented_condition < 1.0 / SINGULAR


def examine(equations: Equations, state: State | None = None, time: float = 0.0) -> RankReport:
    """Rank of G and of the augmented matrix at a state (the initial one unless another is given)."""
    measure = measure_of(equations)
    s = measure.at(state_vector(equations, state), time)
    if not (s.finite and np.isfinite(s.mass).all()):
        return _undefined(equations, "are not defined", time)
    if not np.isfinite(scaled_mass(s.mass, coordinate_scales(s.mass, s.jacobian))).all():
        return _undefined(equations, "have numbers that differ too much to be computed with", time)
    names = equations.multiplier_names
    rows = scaled_rows(s)
    found = dependencies(rows)
    told = _dependencies(measure, s, found, names)
    rank = len(rows) - len(found)
    condition, weightless = _augmented(s, rank, equations.accelerated)
    unrealised: tuple[str, ...] = ()
    if equations.servo and condition < 1.0 / SINGULAR:
        condition, unrealised = _controlled(equations, s)
    members = {name for d in told for name in (d.name, *d.others)}
    opposed = {name for d in told if d.contradictory for name in (d.name, *d.others)}
    report = RankReport(
        rank=rank,
        constraints=len(names),
        freedoms=len(equations.accelerated),
        redundant=tuple(name for name in names if name in members),
        contradictory=tuple(name for name in names if name in opposed),
        weightless=weightless,
        dependencies=told,
        messages=(),
        augmented_condition=condition,
        augmented_determinant=abs(_determinant(augmented_matrix(s.mass, s.jacobian, s.reactions))),
        mass_determinant=_determinant(s.mass),
        unrealised=unrealised,
    )
    return _with_messages(report, s, _told_of_directions(measure, s, unrealised))


def _determinant(a: Array) -> float:
    """Infinite where it is too large for a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.linalg.det(a))


def augmented_matrix(mass: Array, jacobian: Array, reactions: Array) -> Array:
    """[M Rᵀ; G 0]."""
    m = len(jacobian)
    return np.block([[mass, reactions.T], [jacobian, np.zeros((m, m))]])


def scaled_rows(s: Snapshot) -> Array:
    """G with scaled coordinates and unit rows; a row that is nothing but rounding is zero."""
    d = coordinate_scales(s.mass, s.jacobian)
    d = d / np.max(d, initial=0.0) if len(d) else d
    return unit_rows(s.jacobian * d, ZERO_RELATIVE * row_lengths(s.jacobian_terms * d))


def _augmented(s: Snapshot, rank: int, coordinates: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
    """(condition of the scaled augmented matrix, coordinates of motions without inertia)."""
    d = coordinate_scales(s.mass, s.jacobian)
    rows = scaled_rows(s)
    scaled = augmented_matrix(scaled_mass(s.mass, d), rows, rows)
    if not scaled.size:
        return 1.0, ()
    _, singular, right = np.linalg.svd(scaled)
    with np.errstate(over="ignore"):
        condition = float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float("inf")
    missing = int(np.sum(singular <= SINGULAR * singular[0])) - (len(s.jacobian) - rank)
    if missing <= 0:
        return condition, ()
    n = len(d)
    null = right[singular <= SINGULAR * singular[0]][:, :n]
    sizes = np.linalg.norm(null, axis=0)
    return condition, tuple(q for q, size in zip(coordinates, sizes, strict=True) if size > 1e-6)


def _controlled(equations: Equations, s: Snapshot) -> tuple[float, tuple[str, ...]]:
    """(condition of the scaled [M Rᵀ; G 0], servo-constraints whose directions do not suffice).

    Where it is singular, some combination yᵀ G q̈ of constraints is not changed by any of the multipliers:
    M x + Gᵀ y = 0 with R x = 0. The servo-constraints in it are named.
    """
    d = coordinate_scales(s.mass, s.jacobian)
    directions = unit_rows(s.reactions * (d / np.max(d, initial=0.0)), np.zeros(len(s.reactions)))
    scaled = augmented_matrix(scaled_mass(s.mass, d), scaled_rows(s), directions)
    left, singular, _ = np.linalg.svd(scaled)
    if singular[-1] > SINGULAR * singular[0]:
        return float(singular[0] / singular[-1]), ()
    missed = np.abs(left[len(d) :, singular <= SINGULAR * singular[0]]).max(axis=1)
    pairs = zip(equations.deviations, missed, strict=True)
    return float("inf"), tuple(dev.name for dev, part in pairs if dev.constraint.servo and part > 1e-6)


def _told_of_directions(measure: Measure, s: Snapshot, unrealised: tuple[str, ...]) -> list[str]:
    """Words for servo-constraints whose directions do not suffice, each with its place in the file."""
    if not unrealised:
        return []
    equations, named = measure.equations, listed(unrealised, range(len(unrealised)))
    always = all(_controlled(equations, near)[1] for near in _states_nearby(measure, s))
    where = "and at the states nearby" if always else "(nearby they do)"
    known = [c.name for c in equations.system.constraints]
    places = [equations.system.place("constraint", known.index(name), "direction") for name in unrealised]
    found = "".join(f"{place}: " for place in places[:1] if place is not None)
    what = "direction of" if len(unrealised) == 1 else "directions of"
    verb = "does" if len(unrealised) == 1 else "do"
    told = f"the control {what} {named} {verb} not suffice at t = {s.time:g} {where}"
    return [f"{found}{told}: G M⁻¹ B is singular, no force along them changes what is to be kept"]


def _dependencies(
    measure: Measure, s: Snapshot, found: list[tuple[int, dict[int, float]]], names: tuple[str, ...]
) -> tuple[Dependency, ...]:
    if not found:
        return ()
    around = [scaled_rows(near) for near in _states_nearby(measure, s)]
    best = _best_state(measure, s)
    told = []
    for row, others in found:
        group = [*others, row]
        structural = all(_dependent(rows[group]) for rows in around) if around else True
        told.append(
            Dependency(
                names[row],
                {names[k]: c for k, c in others.items()},
                structural,
                bool(others) and _contradict(best, group),
            )
        )
    return tuple(told)


def _dependent(rows: Array) -> bool:
    return numerical_rank(np.linalg.svd(rows, compute_uv=False)) < len(rows)


def _states_nearby(measure: Measure, s: Snapshot) -> list[Snapshot]:
    """Some states a few per cent away, brought onto the position constraints."""
    rng = np.random.default_rng(7)
    sizes = np.maximum(np.abs(s.q), typical_sizes(s.mass, s.q))
    sizes = np.where(sizes > 0.0, sizes, 1.0)
    found = []
    for _ in range(NEARBY):
        q = s.q + 0.03 * sizes * rng.uniform(-1.0, 1.0, len(s.q))
        v = s.v + 0.03 * np.where(s.v != 0.0, np.abs(s.v), sizes) * rng.uniform(-1.0, 1.0, len(s.v))
        start = measure.moved(s.state, q=q, v=v)
        rows_at = position_rows(measure, start, s.time)
        if rows_at(q) is None:
            continue
        near = measure.at(measure.moved(start, q=reach(rows_at, s.mass, q, 25).z), s.time)
        if near.finite:
            found.append(near)
    return found


def _best_state(measure: Measure, s: Snapshot) -> Snapshot:
    """The state itself, or with the positions that satisfy the position constraints best."""
    if np.all(np.abs(s.position) <= ZERO_RELATIVE * s.position_scale):
        return s
    return measure.at(measure.moved(s.state, q=on_positions(measure, s.state, s.time, s).z), s.time)


def _contradict(s: Snapshot, group: list[int]) -> bool:
    """Do dependent equations ask for different things, in position or in velocity?"""
    rows = scaled_rows(s)[group]
    if not _dependent(rows):
        return False
    c = np.linalg.svd(rows)[0][:, -1]
    d = coordinate_scales(s.mass, s.jacobian)
    lengths = row_lengths(s.jacobian[group] * (d / np.max(d, initial=0.0)))
    c = np.where(np.abs(c) > 1e-6, c, 0.0) / np.where(lengths > 0.0, lengths, 1.0)
    if s.holonomic[[k for k, x in zip(group, c, strict=True) if x]].all() and _differs(
        c, s.position[group], s.position_scale[group]
    ):
        return True
    return _differs(c, s.velocity[group], s.velocity_scale[group])


def _differs(c: Array, residual: Array, scale: Array) -> bool:
    return bool(abs(float(c @ residual)) > 10.0 * ZERO_RELATIVE * float(np.abs(c) @ scale))


def _with_messages(report: RankReport, s: Snapshot, directions: list[str]) -> RankReport:
    when = f"at t = {s.time:g}"
    told = [*directions, *(_dependency_message(d, when) for d in report.dependencies)]
    if report.constraints > report.freedoms:
        told.append(
            f"there are {report.constraints} constraints for {report.freedoms} coordinates: "
            "they cannot all be independent"
        )
    if report.rank == report.freedoms and report.freedoms:
        told.append(f"the constraints leave no freedom {when}: the motion is prescribed completely")
    if report.weightless:
        names = ", ".join(f"'{q}'" for q in report.weightless)
        told.append(
            f"a motion of {names} {when} is held by no constraint and has no inertia: "
            "its acceleration is not determined"
        )
    elif report.full and _mass_singular(s.mass):
        told.append(f"the mass matrix is singular {when}; the augmented matrix, which is the one solved, is regular")
    if report.full and not (report.weightless or report.unrealised) and report.augmented_condition > 1e8:
        told.append(f"the constraints are nearly dependent {when}: condition {report.augmented_condition:.1e}")
    return replace(report, messages=tuple(told))


def _mass_singular(mass: Array) -> bool:
    d = coordinate_scales(mass, np.zeros((0, len(mass))))
    singular = np.linalg.svd(scaled_mass(mass, d), compute_uv=False)
    return bool(len(singular)) and bool(singular[-1] <= SINGULAR * singular[0])


def _dependency_message(d: Dependency, when: str) -> str:
    if not d.others:
        where = "and at the states nearby" if d.structural else "but not nearby: start elsewhere"
        return f"the gradient of constraint '{d.name}' vanishes {when}, {where}"
    others = list(d.others)
    named = listed(others, range(len(others)))
    if d.contradictory:
        pair = listed([*others, d.name], range(1 + len(others)))
        return f"constraints {pair} contradict each other {when}: they restrict the same motion in different ways"
    verb = "repeats" if len(others) == 1 else "follows from"
    where = "and at the states nearby" if d.structural else "(a singular state: nearby they are independent)"
    return f"constraint '{d.name}' {verb} {named} {when} {where}"


def _undefined(equations: Equations, what: str, time: float) -> RankReport:
    nothing = float("nan")
    known = "the constraints, the directions of controls" if equations.servo else "the constraints"
    message = f"{known} or the mass matrix {what} at the state at t = {time:g}"
    return RankReport(
        rank=0,
        constraints=len(equations.deviations),
        freedoms=len(equations.accelerated),
        redundant=(),
        contradictory=(),
        weightless=(),
        dependencies=(),
        messages=(message,),
        augmented_condition=float("inf"),
        augmented_determinant=nothing,
        mass_determinant=nothing,
    )
