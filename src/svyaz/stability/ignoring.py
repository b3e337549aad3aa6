"""The systems in which cyclic coordinates are ignored, and the numbers of what turns: written out, or by recursions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import Expression, add_up, evaluate, gradient, velocity
from svyaz.forms import Cyclic, Ignored, TurningBodies, at_momenta, at_speeds, momenta, momentum_of, turning_system
from svyaz.model import System
from svyaz.motion import by_recursions
from svyaz.stability.turning_poles import told_pole
from svyaz.stability.turning_tree import TurningTree, turning_tree

NEARBY = 1e-3
"""So far away, beside 1 and the coordinate, inertia is looked at; at a pole it falls with the square of the distance."""


def searched_system(model: System, by_momentum: Sequence[Cyclic], by_speed: Sequence[Cyclic], *, boxed: bool) -> System:
    """The system whose equilibria are the steady motions at given momenta and speeds, looked for in a box or near the start."""
    if not boxed:
        return turning_system(model, by_momentum, by_speed)
    reduced = at_momenta(model, by_momentum).system if by_momentum else model
    return at_speeds(reduced, by_speed) if by_speed else reduced


def routhian_system(model: System, ignored: Sequence[Cyclic]) -> Ignored:
    """The system in the other coordinates that has the very motions of the given one; of many bodies without the speeds."""
    return Ignored(turning_system(model, ignored, ()), {}) if by_recursions(model) else at_momenta(model, ignored)


def speeds_near(routhian: Ignored, known: Mapping[str, float]) -> Mapping[str, Expression]:
    """γ' in terms of the system at momenta; of a tree of many bodies to first order about the motion that is known."""
    if routhian.system.unreduced is routhian.system:
        return routhian.speeds
    here, resting = turning_tree(routhian.system, known), routhian.system.coordinates
    names = tuple(map(momentum_of, here.ignored))
    away = [se.Symbol(q) - x for q, x in zip(resting, here.q.tolist(), strict=True)]
    away += [velocity(q) for q in resting]
    away += [se.Symbol(name) - x for name, x in zip(names, here.momenta.tolist(), strict=True)]
    slopes = np.hstack([here.speed_by_position, here.speed_by_velocity, here.speed_by(names)])
    return {
        q: add_up([se.RealDouble(c), *(se.RealDouble(k) * e for k, e in zip(row, away, strict=True) if k != 0)])
        for q, c, row in zip(here.ignored, here.speeds.tolist(), slopes.tolist(), strict=True)
    }


@dataclass(frozen=True)
class _SymbolicCyclic:
    """Numbers of the cyclic coordinates γ of a system with symbolic energies: the same as a ``TurningTree`` has."""

    model: System
    cyclic: Sequence[str]
    known: Mapping[str, float]

    @cached_property
    def _entries(self) -> list[Expression]:
        """p by γ̇ and the other velocities."""
        return list(momenta(self.model, self.cyclic).values())

    @cached_property
    def _uniform(self) -> tuple[Array, Array]:
        """γ' and p = a γ' + d, one of which is known for each cyclic coordinate."""
        cyclic, known, slopes, v = self.cyclic, self.known, self._entries, [velocity(q) for q in self.cyclic]
        values = {**known, **{str(s): known.get(str(s), 0.0) for s in v}}
        mass = np.array([[evaluate(e, values) for e in gradient(slope, v)] for slope in slopes], dtype=float)
        rest = np.array([evaluate(slope, {**values, **{str(s): 0.0 for s in v}}) for slope in slopes], dtype=float)
        speeds = np.array([values[str(s)] for s in v])
        asked = [k for k, q in enumerate(cyclic) if f"{q}'" not in known]
        if asked:
            wanted = np.array([known[momentum_of(cyclic[k])] for k in asked])
            given = rest[asked] + mass[asked] @ speeds
            speeds[asked] = np.linalg.solve(mass[np.ix_(asked, asked)], wanted - given)
        return speeds, rest + mass @ speeds

    @property
    def speeds(self) -> Array:
        """γ' (m,)."""
        return self._uniform[0]

    @property
    def momenta(self) -> Array:
        """p (m,)."""
        return self._uniform[1]

    def inertia_of_cyclic(self, places: Array) -> Array:
        """a (k, m, m) at k positions of the other coordinates."""
        v = [velocity(q) for q in self.cyclic]
        entries = [gradient(p, v) for p in self._entries]
        still = {**self.known, **dict.fromkeys(map(str, v), 0.0)}
        resting = [q for q in self.model.coordinates if q not in self.cyclic]
        moved = ({**still, **dict(zip(resting, place, strict=True))} for place in places.tolist())
        return np.array([[[evaluate(e, values) for e in row] for row in entries] for values in moved], dtype=float)


def _cyclic_numbers(
    searched: System, model: System, cyclic: Sequence[str], known: Mapping[str, float]
) -> TurningTree | _SymbolicCyclic:
    """Speeds, momenta and inertia of the cyclic coordinates of ``model``, whose steady motions ``searched`` has."""
    turning = isinstance(searched.law, TurningBodies)
    return turning_tree(searched, known) if turning else _SymbolicCyclic(model, cyclic, known)


def uniform(
    searched: System, model: System, cyclic: Sequence[str], known: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """γ' and p = a γ' + d, one of which is known for each cyclic coordinate."""
    here = _cyclic_numbers(searched, model, cyclic, known)
    return (
        dict(zip((f"{q}'" for q in cyclic), here.speeds.tolist(), strict=True)),
        dict(zip(map(momentum_of, cyclic), here.momenta.tolist(), strict=True)),
    )


def pole_at(searched: System, model: System, cyclic: Sequence[str], known: Mapping[str, float]) -> str:
    """Words for a position at which the inertia of the cyclic coordinates vanishes, and not nearby; or none."""
    resting = [q for q in model.coordinates if q not in cyclic]
    steps = [(k, way * NEARBY * (1 + abs(known[q]))) for k, q in enumerate(resting) for way in (-1, 1)]
    places = np.array([[known[q] for q in resting]] * (1 + len(steps)), dtype=float).reshape(1 + len(steps), -1)
    for row, (k, step) in enumerate(steps):
        places[1 + row, k] += step
    found = _cyclic_numbers(searched, model, cyclic, known).inertia_of_cyclic(places)
    return told_pole(cyclic, found[0], found[1:])
