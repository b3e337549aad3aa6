"""Do the constraints fit together at a state: rank, repeated and contradictory rows, and the augmented matrix.

Coordinates are scaled by 1/√M_ii and rows to length one before any rank is decided, so that units do not matter. A
row that depends on others is looked at again at states nearby (on the position constraints): if it depends on them
there too, it is redundant by construction; if not, the state is a singular one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints.dependence import (
    Dependency,
    best_state,
    name_dependencies,
    scaled_rows,
    states_nearby,
)
from svyaz.constraints.states import listed
from svyaz.dynamics import (
    Measure,
    Snapshot,
    State,
    augmented_matrix,
    balanced,
    coordinate_scales,
    dependencies,
    is_met,
    measure_of,
    rank_of,
    scaled_mass,
    state_vector,
    unit_rows,
)
from svyaz.forms import Equations
from svyaz.matrices import (
    extreme_singular_values,
    is_large,
    log_determinant,
    singular_values,
    svd,
    symmetric_values,
    weakest_combination,
)

TURNS = 100.0
"""Unit rows turn by less than so many times the part by which the constraints are missed."""

OPEN = 0.1
"""So much of a unit vector belongs to the coordinates where one of them moves without inertia."""

SINGULAR = 1e-12
"""The augmented matrix is called singular when its smallest singular value is below this part of its largest."""


@dataclass(frozen=True)
class RankReport:
    """What was found at one state.

    ``redundant`` names every constraint that takes part in a dependency: each of them could be left out without loss
    of rank (or its gradient vanishes). ``contradictory`` names those that cannot hold together. ``weightless`` names
    the coordinates that can move without inertia, ``unrealised`` the servo-constraints whose directions do not suffice.
    Determinants are of the matrices as they stand, the condition is that of the scaled augmented matrix.
    ``rank_nearby`` is the largest rank at some states nearby.
    """

    rank: int
    rank_nearby: int
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
    def repetitive(self) -> bool:
        """Do some constraints only say what others say, here and nearby, without contradicting them?"""
        return (
            bool(self.dependencies) and not self.weightless and self.rank == self.rank_nearby and not self.contradictory
        )

    @property
    def singular(self) -> bool:
        """Has the augmented matrix no inverse?"""
        return not self.augmented_condition < 1.0 / SINGULAR


def examine(equations: Equations, state: State | None = None, time: float = 0.0) -> RankReport:
    """Rank of G and of the augmented matrix at a state (the initial one unless another is given)."""
    return _examine(equations, tuple(state_vector(equations, state).tolist()), time)


@lru_cache(maxsize=8)
def _examine(equations: Equations, state: tuple[float, ...], time: float) -> RankReport:
    """``examine``; a start is examined before the constraints that act are chosen, and when it is entered."""
    measure = measure_of(equations)
    s = measure.at(np.array(state), time)
    if not (s.finite and np.isfinite(s.mass).all()):
        return _undefined(equations, "are not defined", time)
    if not np.isfinite(scaled_mass(s.mass, coordinate_scales(s.mass, s.jacobian))).all():
        return _undefined(equations, "have numbers that differ too much to be computed with", time)
    names = equations.multiplier_names
    rows = scaled_rows(s)
    found = dependencies(rows)
    if not found and not is_met(s.position, s.position_scale).all() and _may_repeat(rows, s):
        # rows that repeat others on the constraints alone do not where these do not hold
        best = best_state(measure, s)
        met = best.finite and is_met(best.position, best.position_scale).all()
        if met and dependencies(scaled_rows(best)):
            s, rows = best, scaled_rows(best)
            found = dependencies(rows)
    rank = len(rows) - len(found)
    around = [scaled_rows(near) for near in states_nearby(measure, s)] if found else []
    told = name_dependencies(measure, s, found, names, around)
    condition, weightless = _augmented(s, rank, equations.accelerated)
    unrealised: tuple[str, ...] = ()
    if equations.servo and condition < 1.0 / SINGULAR:
        condition, unrealised = _controlled(equations, s)
    members = {name for d in told for name in (d.name, *d.others)}
    opposed = {name for d in told if d.contradictory for name in (d.name, *d.others)}
    report = RankReport(
        rank=rank,
        rank_nearby=max(map(rank_of, around), default=rank),
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
    return _with_messages(report, s, _describe_directions(measure, s, unrealised))


def _may_repeat(rows: Array, s: Snapshot) -> bool:
    """Could rows that are independent here not be so on the constraints? Not near them, as a run that drifts is."""
    off = np.abs(s.position) / np.where(s.position_scale > 0.0, s.position_scale, 1.0)
    return bool(extreme_singular_values(rows)[1] <= TURNS * np.nanmax(off, initial=0.0))


def _determinant(a: Array) -> float:
    """Infinite where it is too large for a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        if is_large(a):
            sign, size = log_determinant(a)
            return sign * float(np.exp(size))
        return float(np.linalg.det(a))


def _augmented(s: Snapshot, rank: int, coordinates: tuple[str, ...]) -> tuple[float, tuple[str, ...]]:
    """(condition of the scaled augmented matrix, coordinates of motions without inertia)."""
    d = coordinate_scales(s.mass, s.jacobian)
    rows = scaled_rows(s)
    scaled = augmented_matrix(scaled_mass(s.mass, d), rows, rows)
    if not scaled.size:
        return 1.0, ()
    if is_large(scaled):
        largest, least = extreme_singular_values(scaled)
        if least > SINGULAR * largest:
            return largest / least, ()
        return (largest / least if least > 0.0 else float("inf")), _idle(scaled, coordinates)
    singular = symmetric_values(scaled)
    with np.errstate(over="ignore"):
        condition = float(singular[0] / singular[-1]) if singular[-1] > 0.0 else float("inf")
    if not condition < 1.0 / SINGULAR and rank == len(s.jacobian):
        condition = min(condition, _separate_condition(scaled[: len(d), : len(d)], s.jacobian))
    missing = int(np.sum(singular <= SINGULAR * singular[0])) - (len(s.jacobian) - rank)
    if missing <= 0 or condition < 1.0 / SINGULAR:
        return condition, ()
    n = len(d)
    _, singular, right = svd(scaled)
    null = right[singular <= SINGULAR * singular[0]][:, :n]
    sizes = np.linalg.norm(null, axis=0)
    return condition, tuple(q for q, size in zip(coordinates, sizes, strict=True) if size > 1e-6)


def _separate_condition(mass: Array, jacobian: Array) -> float:
    """cond M · (cond G)², the matrices balanced each for itself: a heavy body on a light one makes the rows of G nearly
    parallel in the metric of M, though the accelerations follow from G q̈ = wanted, and then λ from Gᵀ λ = M q̈ + bias.
    """
    values, gradients = singular_values(mass), singular_values(balanced(jacobian)[0])
    if not len(gradients) or values[-1] <= SINGULAR * values[0] or gradients[-1] <= SINGULAR * gradients[0]:
        return float("inf")
    return float(values[0] / values[-1] * (gradients[0] / gradients[-1]) ** 2)


def _idle(scaled: Array, coordinates: tuple[str, ...]) -> tuple[str, ...]:
    """Coordinates that a large singular augmented matrix leaves open: none where only multipliers are."""
    null = np.abs(weakest_combination(scaled)[: len(coordinates)])
    if np.linalg.norm(null) < OPEN:
        return ()
    return tuple(q for q, size in zip(coordinates, null, strict=True) if size > 1e-3 * null.max())


def _controlled(equations: Equations, s: Snapshot) -> tuple[float, tuple[str, ...]]:
    """(condition of the scaled [M Rᵀ; G 0], servo-constraints whose directions do not suffice).

    Where it is singular, some combination yᵀ G q̈ of constraints is not changed by any of the multipliers:
    M x + Gᵀ y = 0 with R x = 0. The servo-constraints in it are named.
    """
    d = coordinate_scales(s.mass, s.jacobian)
    directions = unit_rows(s.reactions * (d / np.max(d, initial=0.0)), np.zeros(len(s.reactions)))
    scaled = augmented_matrix(scaled_mass(s.mass, d), scaled_rows(s), directions)
    left, singular, _ = svd(scaled)
    if singular[-1] > SINGULAR * singular[0]:
        return float(singular[0] / singular[-1]), ()
    missed = np.abs(left[len(d) :, singular <= SINGULAR * singular[0]]).max(axis=1)
    pairs = zip(equations.deviations, missed, strict=True)
    return float("inf"), tuple(dev.name for dev, part in pairs if dev.constraint.servo and part > 1e-6)


def _describe_directions(measure: Measure, s: Snapshot, unrealised: tuple[str, ...]) -> list[str]:
    """Words for servo-constraints whose directions do not suffice, each with its place in the file."""
    if not unrealised:
        return []
    equations, named = measure.equations, listed(unrealised, range(len(unrealised)))
    always = all(_controlled(equations, near)[1] for near in states_nearby(measure, s))
    where = "and at the states nearby" if always else "(nearby they do)"
    known = [c.name for c in equations.system.constraints]
    places = [equations.system.place("constraint", known.index(name), "direction") for name in unrealised]
    found = "".join(f"{place}: " for place in places[:1] if place is not None)
    what = "direction of" if len(unrealised) == 1 else "directions of"
    verb = "does" if len(unrealised) == 1 else "do"
    told = f"the control {what} {named} {verb} not suffice at t = {s.time:g} {where}"
    return [f"{found}{told}: G M⁻¹ B is singular, no force along them changes what is to be kept"]


def _with_messages(report: RankReport, s: Snapshot, directions: list[str]) -> RankReport:
    when = f"at t = {s.time:g}"
    told = [*directions, *(_dependency_message(d, when, report.repetitive) for d in report.dependencies)]
    if report.constraints > report.freedoms:
        told.append(
            f"there are {report.constraints} constraints for {report.freedoms} coordinates: "
            "they cannot all be independent"
        )
    if report.rank == report.freedoms and report.freedoms:
        told.append(f"the constraints leave no freedom {when}: the motion is prescribed completely")
    if report.weightless:
        names = listed(report.weightless, range(len(report.weightless)), ", ")
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
    scaled = scaled_mass(mass, d)
    if not scaled.size:
        return False
    if is_large(scaled):
        largest, least = extreme_singular_values(scaled)
        return least <= SINGULAR * largest
    values = symmetric_values(scaled)
    return bool(values[-1] <= SINGULAR * values[0])


def _dependency_message(d: Dependency, when: str, repetitive: bool) -> str:
    if not d.others:
        where = "and at the states nearby" if d.structural else "but not nearby: start elsewhere"
        if repetitive and not d.structural:
            where = "and nearby it follows from others"
        return f"the gradient of constraint '{d.name}' vanishes {when}, {where}"
    others = list(d.others)
    named = listed(others, range(len(others)))
    if d.contradictory:
        pair = listed([*others, d.name], range(1 + len(others)))
        return f"constraints {pair} contradict each other {when}: they restrict the same motion in different ways"
    verb = "repeats" if len(others) == 1 else "follows from"
    elsewhere = "(nearby it follows from others)" if repetitive else "(a singular state: nearby they are independent)"
    where = "and at the states nearby" if d.structural else elsewhere
    return f"constraint '{d.name}' {verb} {named} {when} {where}"


def _undefined(equations: Equations, what: str, time: float) -> RankReport:
    nothing = float("nan")
    known = "the constraints, the directions of controls" if equations.servo else "the constraints"
    message = f"{known} or the mass matrix {what} at the state at t = {time:g}"
    return RankReport(
        rank=0,
        rank_nearby=0,
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
