"""The equilibrium nearest to a position, also where equilibria form a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi
from time import monotonic

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError, Problem
from svyaz.model import System, nearest, with_settings
from svyaz.motion import searches_box
from svyaz.stability.admissible import check_redundant, refuse_unfit
from svyaz.stability.box_problem import newton
from svyaz.stability.constraint_surface import ConstraintSurface
from svyaz.stability.descent import gaps_of
from svyaz.stability.equilibrium_search import Equilibria, equilibria, equilibrium_equations, searched_equilibria
from svyaz.stability.families import family_among, is_multiple, with_free
from svyaz.stability.long_rest import equilibria_near
from svyaz.stability.nonholonomic import nonholonomic_plant
from svyaz.stability.nonholonomic_rest import has_velocity_constraints, refuse_varying, steady_rest
from svyaz.stability.options import SECONDS
from svyaz.stability.rest import RestEquations, is_angle, rest_equations, with_values
from svyaz.stability.resting import Equilibrium, equilibrium_at

Fixed = Mapping[str, float]
Sides = Mapping[str, tuple[float, float]]

REACH = 2.0
"""Coordinates without a side in the box are looked for within this distance of the position, and more if it is large."""

HERE = 1e-9
"""A position of rest this near to the one asked for, relative to its size, is that one."""


class NoEquilibrium(Exception):
    """There is none to be chosen; the arguments say why.

    >>> import svyaz
    >>> falling = svyaz.System(coordinates=["x"], kinetic="x'^2/2", potential="x", inputs={"F": 0}, forces={"x": "F"},
    ...                        box={"x": [-1, 1]})
    >>> try:
    ...     falling.regulate(fix={"F": 0.0})
    ... except svyaz.NoEquilibrium:
    ...     print("nothing rests there")
    nothing rests there
    """

    def __str__(self) -> str:
        return "; ".join(self.args)


@dataclass(frozen=True)
class Chosen:
    """An equilibrium, what was prescribed to find it, and words about the choice."""

    equilibrium: Equilibrium
    fixed: Mapping[str, float]
    notes: tuple[str, ...] = ()


def equilibrium_near(
    system: System,
    near: Mapping[str, float] | None = None,
    fix: Mapping[str, float] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    dependent: Sequence[str] | None = None,
    *,
    seconds: float = SECONDS,
    progress: Callable[[float], object] | None = None,
) -> Chosen:
    """The equilibrium nearest to ``near``, which completes the initial position of the model.

    Newton's method goes first: where it leads from the position, if anywhere, nothing farther need be looked for, and a
    position that is one of rest is the answer. Of a family those members are taken whose free coordinates have the values
    of this position, the coordinates that ``near`` names before others; where only inputs are free, they have the values
    that the model gives them. A search that is not finished after ``seconds`` is completed by what Newton's method found, and
    a note says so.
    """
    refuse_unfit(system)

    def searched(fixed: Fixed, within: Sides, left: float) -> Equilibria:
        return equilibria(system, fixed, within, dependent=dependent, seconds=left, progress=progress)

    place = AskedPosition(system, dict(near or {}), dict(fix or {}), dict(box or {}), system.coordinates)
    if not searches_box(system, place.box, seconds):
        return _near_many_bodies(place, dependent, seconds)
    check_redundant(system, dependent)
    chosen = _chosen(place, lambda fixed, sides: rest_equations(system, fixed, sides), searched, dependent, seconds)
    if chosen.equilibrium.approximation is None:
        raise NoEquilibrium(*chosen.equilibrium.notes)
    return chosen


def nonholonomic_near(
    system: System,
    near: Mapping[str, float] | None = None,
    fix: Mapping[str, float] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    *,
    seconds: float = SECONDS,
    progress: Callable[[float], object] | None = None,
) -> Chosen:
    """The same where velocities are constrained: the position of rest, or where ``fix`` has velocities the steady motion."""
    given = {name: x for name, x in (fix or {}).items() if name in system.parameters}
    system = with_settings(system, given) if given else system
    fix = {name: x for name, x in (fix or {}).items() if name not in given}
    refuse_varying(system)
    notes: list[str] = []
    ignored = ConstraintSurface(system, system.constants).ignorable

    def rest_of(fixed: Fixed, sides: Sides) -> RestEquations:
        rest, notes[:] = motion_equations(system, fixed, sides)
        return rest

    def searched(fixed: Fixed, within: Sides, left: float) -> Equilibria:
        return searched_equilibria(rest_of(fixed, within), seconds=left, progress=progress)

    needed = tuple(q for q in system.coordinates if q not in ignored.names)
    place = AskedPosition(system, dict(near or {}), fix, dict(box or {}), needed)
    try:
        chosen = _chosen(place, rest_of, searched, None, seconds)
    except NoEquilibrium as refusal:
        raise NoEquilibrium(*refusal.args, *notes) from refusal
    e, rest = chosen.equilibrium, rest_of(chosen.fixed, place.sides)
    speeds = {name: x for name, x in {**rest.fixed, **e.parameters}.items() if name in rest.speeds}
    freed = {name: x for name, x in e.parameters.items() if name in system.parameters}
    there = with_values(rest.system, freed) if freed else rest.system
    try:
        plant = nonholonomic_plant(there, {**e.state, **speeds}, e.inputs, tuple(speeds))
    except ModelError as error:
        raise NoEquilibrium(str(error)) from error
    return Chosen(replace(e, approximation=plant), chosen.fixed, (*notes, *chosen.notes))


def motion_equations(system: System, fixed: Fixed, sides: Sides) -> tuple[RestEquations, list[str]]:
    """Those of steady motions where velocities are constrained and one is prescribed, else of equilibria; and notes on speeds
    that have their initial values.
    """
    if not has_velocity_constraints(system) or not any(name.endswith("'") for name in fixed):
        return equilibrium_equations(system, fixed, sides), []
    rest, _, initial = steady_rest(system, fixed, sides)
    return rest, [f"{name} = {rest.fixed[name]:.6g} is that of the model's initial state" for name in initial]


@dataclass(frozen=True)
class AskedPosition:
    """A position with what is prescribed; ``needed`` are the coordinates that the equations contain."""

    system: System
    near: Mapping[str, float]
    fix: Mapping[str, float]
    box: Mapping[str, tuple[float, float]]
    needed: tuple[str, ...]

    @property
    def position(self) -> dict[str, float]:
        """The values of ``near`` and ``fix``, else those of the model's initial state."""
        found = {q: float(self.system.initial.get(q, 0.0)) for q in self.system.coordinates} | dict(self.near)
        return found | {q: x for q, x in self.fix.items() if q in found}

    @property
    def sides(self) -> dict[str, tuple[float, float]]:
        """The box, with sides for needed coordinates that have none and are no angles."""
        sides, position = dict(self.box), self.position
        for q in self.needed:
            if q not in sides and q not in self.system.box and not is_angle(self.system, q):
                reach = REACH * (1 + abs(position[q]))
                sides[q] = (position[q] - reach, position[q] + reach)
        return sides


def _near_many_bodies(place: AskedPosition, dependent: Sequence[str] | None, seconds: float) -> Chosen:
    """The nearest of those to which the position of a long tree leads; of a family that with coordinates as here."""
    system, position, end = place.system, place.position, monotonic() + seconds
    _check_near(system, place.near, place.fix)
    fixed = dict(place.fix)
    while True:
        found = equilibria_near(system, position, fixed, place.box, dependent, end - monotonic())
        if not found.dimension:
            break
        name = next(name for name in (*place.near, *found.free) if name in found.free)
        given = system.inputs[name].value if name in system.inputs else float(system.initial.get(name, 0.0))
        fixed[name] = position.get(name, given)
    taken = [f"{name} = {value:.6g}" for name, value in fixed.items() if name not in place.fix]
    notes = (
        [f"the equilibria form a family: {', '.join(taken)} {'is' if len(taken) == 1 else 'are'} taken"]
        if taken
        else []
    )
    turning = system.unreduced is not system  # judged later, at its momenta
    known = [e for e in found.equilibria if turning or e.approximation is not None]
    if not known:
        raise NoEquilibrium(*notes, *(note for e in found.equilibria for note in e.notes), *found.notes)
    best = min(known, key=lambda e: float(np.linalg.norm(gaps_of(system, position, e.state))))
    return Chosen(best, fixed, (*notes, *found.notes))


def _chosen(
    place: AskedPosition,
    rest_of: Callable[[Fixed, Sides], RestEquations],
    searched: Callable[[Fixed, Sides, float], Equilibria],
    dependent: Sequence[str] | None,
    seconds: float,
) -> Chosen:
    system, position, sides = place.system, place.position, place.sides
    _check_near(system, place.near, place.fix)
    fixed, notes = dict(place.fix), list[str]()
    order = (*sorted(system.coordinates, key=lambda q: q not in place.near), *system.inputs)
    end = monotonic() + seconds

    def take(free: Sequence[str], reason: str) -> None:
        """Prescribe the first name that is free in a family."""
        name = next((x for x in order if x in free and x not in fixed), None)
        if name is None:
            raise NoEquilibrium(reason)
        fixed[name] = position[name] if name in position else system.inputs[name].value
        notes.append(f"the equilibria form a family: {name} = {fixed[name]:.6g} is taken")

    while True:
        rest = rest_of(fixed, sides)
        zero = _led_to(rest, position)
        if zero is not None and (family := family_among(rest, [zero])) is not None:
            take(family.free, "the equilibria form a family, and nothing is left to be prescribed")
            continue
        met = [] if zero is None else [equilibrium_at(rest, zero, dependent)]
        reach = _distance(system, position, met[0].state) if met else np.inf
        if met and reach <= HERE * (1 + max(map(abs, position.values()), default=0.0)):
            return Chosen(met[0], fixed, tuple(notes))
        found = searched(fixed, sides if not met else _around(rest, position, reach), max(end - monotonic(), 0.0))
        if not found.family:
            break
        take(found.free, found.reason())
    if not met:
        notes += _wide(found, system, place.box)
    if found.left:
        notes.append("the box was not searched to its end: another equilibrium may be nearer")
    return Chosen(_nearest(found, met, position), fixed, (*notes, *found.notes))


def _led_to(rest: RestEquations, position: Mapping[str, float]) -> Array | None:
    """The solution in the box to which Newton's method leads from the position, unless it is a multiple one."""
    middle = {name: 0.5 * (low + high) for name, (low, high) in rest.box.items()}
    start = np.array([[position.get(name, middle[name]) for name in rest.bounded]])
    starts, scale = with_free(rest, start)
    zero = newton(rest.problem, starts, scale=scale)[0]
    for k, name in enumerate(rest.bounded):
        if name in rest.angles:
            zero[k] = pi - (pi - zero[k]) % (2 * pi)
    if np.isnan(zero).any() or not rest.inside(zero, 1e-9):
        return None
    return None if is_multiple(rest, zero) else zero


def _around(rest: RestEquations, position: Mapping[str, float], reach: float) -> dict[str, tuple[float, float]]:
    """The part of the box that is no farther from the position."""
    reach = reach * (1 + 1e-9) + 1e-12
    sides = {name: rest.box[name] for name in rest.bounded if name not in rest.angles}
    for q in set(rest.bounded) & set(rest.system.coordinates):
        low, high = position[q] - reach, position[q] + reach
        if q not in rest.angles:
            sides[q] = max(low, sides[q][0]), min(high, sides[q][1])
        elif reach < pi:
            sides[q] = low, high
    return sides


def _wide(found: Equilibria, system: System, box: Mapping[str, tuple[float, float]]) -> list[str]:
    """Words for coordinates that were looked for in a box that nobody gave."""
    return [
        f"'{q}' has no side in the box: it is looked for in [{low:.4g}, {high:.4g}]"
        for q, (low, high) in found.box.items()
        if q in system.coordinates and q not in box and q not in system.box and q not in found.angles
    ]


def _check_near(system: System, near: Mapping[str, float], fix: Mapping[str, float]) -> None:
    for name in near:
        if name not in system.coordinates:
            message = f"the equilibrium is chosen by its position, and '{name}' is no coordinate of the model"
            raise ModelError([Problem(message, hint=nearest(name, system.coordinates))])
        if name in fix:
            raise ModelError([Problem(f"'{name}' is prescribed; it cannot be near another value as well")])


def _distance(system: System, position: Mapping[str, float], state: Mapping[str, float]) -> float:
    gaps = [state[q] - position[q] for q in system.coordinates]
    turns = [is_angle(system, q) for q in system.coordinates]
    return float(np.linalg.norm([(gap + pi) % (2 * pi) - pi if t else gap for gap, t in zip(gaps, turns, strict=True)]))


def _nearest(found: Equilibria, met: Sequence[Equilibrium], position: Mapping[str, float]) -> Equilibrium:
    """The nearest of those found, unless something that could not be decided is nearer."""

    def distance(state: Mapping[str, float]) -> float:
        return _distance(found.system, position, state)

    known = (*met, *found.equilibria)
    if not known:
        reason = (*found.notes, found.reason()) if found.left else found.notes
        raise NoEquilibrium(*(("there is no equilibrium in the box",) if found.complete else reason))
    best = min(known, key=lambda e: distance(e.state))
    nearer = [p for p in found.doubtful if distance(p) < 0.99 * distance(best.state) - 1e-6]
    if nearer:
        raise NoEquilibrium(*found.notes)
    return best
