"""The systems in which cyclic coordinates are ignored, and the numbers of what turns: written out, or by recursions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import Expression, add_up, evaluate, gradient, velocity
from svyaz.forms import Cyclic, Ignored, TurningBodies, at_momenta, at_speeds, momenta, momentum_of, turning_system
from svyaz.model import System
from svyaz.motion import by_recursions
from svyaz.stability.turning_poles import told_pole
from svyaz.stability.turning_tree import turning_tree

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
    if not isinstance(routhian.system.law, TurningBodies):
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


def uniform(
    searched: System, model: System, cyclic: Sequence[str], known: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]]:
    """γ' and p = a γ' + d, one of which is known for each cyclic coordinate."""
    if isinstance(searched.law, TurningBodies):
        here = turning_tree(searched, known)
        speeds, found = here.speeds, here.momenta
    else:
        speeds, found = _uniform(model, cyclic, known)
    return (
        dict(zip((f"{q}'" for q in cyclic), speeds.tolist(), strict=True)),
        dict(zip(map(momentum_of, cyclic), found.tolist(), strict=True)),
    )


def _uniform(model: System, cyclic: Sequence[str], known: Mapping[str, float]) -> tuple[Array, Array]:
    """The same of energies that are written out."""
    v = [velocity(q) for q in cyclic]
    slopes = list(momenta(model, cyclic).values())
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


def pole_at(searched: System, model: System, cyclic: Sequence[str], known: Mapping[str, float]) -> str:
    """Words for a position at which the inertia of the cyclic coordinates vanishes, and not nearby; or none."""
    resting = [q for q in model.coordinates if q not in cyclic]
    steps = [(k, way * NEARBY * (1 + abs(known[q]))) for k, q in enumerate(resting) for way in (-1, 1)]
    places = np.array([[known[q] for q in resting]] * (1 + len(steps)), dtype=float).reshape(1 + len(steps), -1)
    for row, (k, step) in enumerate(steps):
        places[1 + row, k] += step
    if isinstance(searched.law, TurningBodies):
        found = turning_tree(searched, known).inertia_of_cyclic(places)
    else:
        found = _inertias(model, cyclic, known, resting, places)
    return told_pole(cyclic, found[0], found[1:])


def _inertias(
    model: System, cyclic: Sequence[str], known: Mapping[str, float], resting: Sequence[str], places: Array
) -> Array:
    """a (k, m, m) at k positions, of energies that are written out."""
    speeds = [velocity(q) for q in cyclic]
    entries = [gradient(p, speeds) for p in momenta(model, cyclic).values()]
    still = {**known, **dict.fromkeys(map(str, speeds), 0.0)}
    moved = ({**still, **dict(zip(resting, place, strict=True))} for place in places.tolist())
    return np.array([[[evaluate(e, values) for e in row] for row in entries] for values in moved], dtype=float)
