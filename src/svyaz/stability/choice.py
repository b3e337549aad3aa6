"""The equilibrium nearest to a position, also where equilibria form a family."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi
from time import monotonic

import numpy as np

from svyaz.expr import ModelError, Problem
from svyaz.model import System, nearest
from svyaz.stability.boxes import zeros_near
from svyaz.stability.derivatives import refuse_unfit
from svyaz.stability.equilibrium_search import SECONDS, Equilibria, Equilibrium, equilibria, equilibrium_at
from svyaz.stability.families import with_free
from svyaz.stability.rest import is_angle, rest_equations

REACH = 2.0
"""Coordinates without a side in the box are looked for within this distance of the position, and more if it is large."""


class NoEquilibrium(Exception):
    """There is none to be chosen; the arguments say why."""

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

    Of a family those members are taken whose free coordinates have the values of this position, the coordinates that
    ``near`` names before others; where only inputs are free, they have the values that the model gives them. A search
    that is not finished after ``seconds`` is completed by Newton's method from the position, and a note says so.
    """
    refuse_unfit(system)
    _check_near(system, near or {}, fix or {})
    position = {q: float(system.initial.get(q, 0.0)) for q in system.coordinates} | dict(near or {})
    fixed, notes = dict(fix or {}), []
    position |= {q: x for q, x in fixed.items() if q in position}
    order = sorted(system.coordinates, key=lambda q: q not in (near or {}))
    sides = _sides(system, position, dict(box or {}))
    end = monotonic() + seconds

    def searched() -> Equilibria:
        left = max(end - monotonic(), 0.0)
        return equilibria(system, fixed, sides, dependent=dependent, seconds=left, progress=progress)

    found = searched()
    while found.family:
        name = next((x for x in (*order, *system.inputs) if x in found.free and x not in fixed), None)
        if name is None:
            raise NoEquilibrium(found.reason())
        fixed[name] = position[name] if name in position else system.inputs[name].value
        notes.append(f"the equilibria form a family: {name} = {fixed[name]:.6g} is taken")
        found = searched()
    for q in found.box:
        if q in system.coordinates and q not in (box or {}) and q not in system.box and q not in found.angles:
            low, high = found.box[q]
            notes.append(f"'{q}' has no side in the box: it is looked for in [{low:.4g}, {high:.4g}]")
    if found.left:
        found = _completed(found, system, position, sides, dependent)
        notes.append("the box was not searched to its end: another equilibrium may be nearer")
    if not found.equilibria:
        raise NoEquilibrium(*(("there is no equilibrium in the box",) if found.complete else found.notes))
    return Chosen(_nearest(found, position), fixed, (*notes, *found.notes))


def _completed(
    found: Equilibria,
    system: System,
    position: Mapping[str, float],
    sides: Mapping[str, tuple[float, float]],
    dependent: Sequence[str] | None,
) -> Equilibria:
    """With the equilibrium to which Newton's method leads from the position, if it leads to one."""
    rest = rest_equations(system, found.fixed, sides)
    middle = {name: 0.5 * (low + high) for name, (low, high) in rest.box.items()}
    start = np.array([[position.get(name, middle[name]) for name in rest.bounded]])
    zeros = zeros_near(rest.problem, with_free(rest, start)[0])
    more = tuple(equilibrium_at(rest, zero, dependent) for zero in zeros.points)
    reason = () if more or found.equilibria else (found.reason(),)
    return replace(found, equilibria=(*found.equilibria, *more), notes=(*found.notes, *reason))


def _check_near(system: System, near: Mapping[str, float], fix: Mapping[str, float]) -> None:
    for name in near:
        if name not in system.coordinates:
            message = f"the equilibrium is chosen by its position, and '{name}' is no coordinate of the model"
            raise ModelError([Problem(message, hint=nearest(name, system.coordinates))])
        if name in fix:
            raise ModelError([Problem(f"'{name}' is prescribed; it cannot be near another value as well")])


def _sides(
    system: System, position: Mapping[str, float], box: dict[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Sides for coordinates that have none and are no angles."""
    for q in system.coordinates:
        if q not in box and q not in system.box and not is_angle(system, q):
            reach = REACH * (1 + abs(position[q]))
            box[q] = (position[q] - reach, position[q] + reach)
    return box


def _nearest(found: Equilibria, position: Mapping[str, float]) -> Equilibrium:
    """The nearest of those found, unless something that could not be decided is nearer."""
    angles = {q for q in found.system.coordinates if is_angle(found.system, q)}

    def distance(state: Mapping[str, float]) -> float:
        gaps = []
        for q in found.system.coordinates:
            gap = state[q] - position[q]
            gaps.append((gap + pi) % (2 * pi) - pi if q in angles else gap)
        return float(np.linalg.norm(gaps))

    best = min(found.equilibria, key=lambda e: distance(e.state))
    nearer = [p for p in found.doubtful if distance(p) < 0.99 * distance(best.state) - 1e-6]
    if nearer:
        raise NoEquilibrium(*found.notes)
    if best.approximation is None:
        raise NoEquilibrium(*best.notes)
    return best
