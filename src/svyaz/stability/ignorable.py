"""Coordinates that no equation needs: those that do not occur, and headings that turn with two of them.

A body that rolls on a plane has the same motion wherever it starts and whichever way it heads: x and y are in no equation, and
the heading ψ is in none that is written in axes turned by ψ. With (ẋ, ẏ) + d = R(ψ) (u₁, u₂), where d is the velocity of the
axes themselves (that of a bicycle described from axes that run along), the accelerations

    u̇ = R(-ψ) (ẍ, ÿ) - ψ̇ J u,       J u = (-u₂, u₁),

depend on what is left: on the other coordinates, the velocities and u. In steady motions all of these are constant.
(S. A. Chaplygin 1897; Yu. I. Neimark and N. A. Fufaev 1967.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError, names_in
from svyaz.matrices import lstsq, pinv
from svyaz.model import System
from svyaz.stability.headings import Heading, Ignorable
from svyaz.stability.moving import MovingSystem

STATES = 3
"""So many random states decide whether a heading may be turned."""

TURN = 0.83
"""By this angle it is turned, an arbitrary one."""

EQUAL = 1e-8


def ignorable(moving: MovingSystem) -> Ignorable:
    """The coordinates that the motion does not depend on."""
    system, absent = moving.system, absent_coordinates(moving)
    headings: list[Heading] = []
    states = list(_random_states(moving))
    for psi in system.coordinates:
        if psi in absent or any(psi in names_in(c.expression) for c in system.constraints if c.order == 0):
            continue
        taken = {q for h in headings for q in h.plane or ()}
        planes = [None, *permutations([q for q in absent if q not in taken], 2)]
        found = next((h for h in (_heading(moving, psi, plane, states) for plane in planes) if h is not None), None)
        if found is not None:
            headings.append(found)
    return Ignorable(absent, tuple(headings))


def absent_coordinates(moving: MovingSystem) -> tuple[str, ...]:
    """Coordinates, not their velocities, that occur in no equation of motion and in no constraint."""
    equations = moving.equations
    everything = [
        *(e for row in equations.mass_matrix for e in row),
        *equations.bias,
        *(e for row in equations.constraint_jacobian for e in row),
        *equations.constraint_bias,
        *(d.velocity for d in equations.deviations),
        *(d.position for d in equations.deviations if d.position is not None),
        *moving.system.rates.values(),
    ]
    used = set().union(*map(names_in, everything))
    return tuple(q for q in moving.system.coordinates if q not in used)


@dataclass(frozen=True)
class _State:
    """A state whose velocities satisfy the constraints, and its accelerations and further rates."""

    q: Array
    v: Array
    w: Array
    accelerations: Array
    rates: Array


def _random_states(moving: MovingSystem) -> Iterator[_State]:
    system, random = moving.system, np.random.default_rng(5)
    n, found = len(system.coordinates), 0
    for _ in range(10 * STATES):
        q = np.array([_placed(system, name, random) for name in system.coordinates])
        v, w = random.normal(size=n), random.normal(size=len(system.rates))
        try:
            for _ in range(20):  # f(q, v) = 0 by the shortest steps; one is enough where f is linear
                here = moving.at(q, v, w)
                if np.abs(here.speeds).max(initial=0.0) <= 1e-13 * (1 + np.abs(v).max()):
                    break
                v = v - pinv(here.rows) @ here.speeds
            here = moving.at(q, v, w)
        except ModelError:
            continue
        if np.abs(here.speeds).max(initial=0.0) <= 1e-10 * (1 + np.abs(v).max()):
            yield _State(q, v, w, here.accelerations, here.rates)
            found += 1
        if found == STATES:
            return


def _placed(system: System, name: str, random: np.random.Generator) -> float:
    if name in system.box:
        return float(random.uniform(*system.box[name]))
    return float(system.initial.get(name, 0.0) + 0.4 * random.normal())


def _heading(moving: MovingSystem, psi: str, plane: tuple[str, str] | None, states: list[_State]) -> Heading | None:
    """Is ψ a heading with this plane: are the states turned by an angle states again, with accelerations turned?"""
    if len(states) < STATES:
        return None
    names = list(moving.system.coordinates)
    k = names.index(psi)
    place = [] if plane is None else [names.index(q) for q in plane]
    drift = _drift(moving, k, place, states) if place else np.zeros(2)
    rotation = np.array([[np.cos(TURN), -np.sin(TURN)], [np.sin(TURN), np.cos(TURN)]])
    for state in states:
        q, v, a = _turned(state, k, place, drift, rotation)
        try:
            here = moving.at(q, v, state.w)
        except ModelError:
            return None
        speed = 1 + float(np.abs(v).max())
        size = 1 + float(np.abs(a).max())
        if np.abs(here.speeds).max(initial=0.0) > EQUAL * speed * (1 + float(np.abs(here.rows).max(initial=0.0))):
            return None
        if np.abs(here.accelerations - a).max() > EQUAL * size:
            return None
        if np.abs(here.rates - state.rates).max(initial=0.0) > EQUAL * (1 + np.abs(here.rates).max(initial=0.0)):
            return None
    return Heading(psi, plane, (float(drift[0]), float(drift[1])))


def _turned(state: _State, k: int, place: list[int], drift: Array, rotation: Array) -> tuple[Array, Array, Array]:
    q, v, a = state.q.copy(), state.v.copy(), state.accelerations.copy()
    q[k] += TURN
    if place:
        v[place] = rotation @ (v[place] + drift) - drift
        a[place] = rotation @ a[place]
    return q, v, a


def _drift(moving: MovingSystem, k: int, place: list[int], states: list[_State]) -> Array:
    """d for which turned velocities satisfy the constraints, by least squares: they are linear in it; rounding is zero."""
    rotation = np.array([[np.cos(TURN), -np.sin(TURN)], [np.sin(TURN), np.cos(TURN)]])
    left, right = [], []
    for state in states:
        q, v, _ = _turned(state, k, place, np.zeros(2), rotation)
        try:
            here = moving.at(q, v, state.w)
        except ModelError:
            return np.zeros(2)
        left.append(here.rows[:, place] @ (rotation - np.eye(2)))
        right.append(-here.speeds)
    found = lstsq(np.vstack(left), np.concatenate(right), rcond=1e-10)
    return np.where(np.abs(found) > 1e-11 * (1 + np.abs(found).max(initial=0.0)), found, 0.0)
