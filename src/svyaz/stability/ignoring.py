"""The systems in which cyclic coordinates are ignored, and the numbers of what turns: written out, or by recursions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import symengine as se

from svyaz.arrays import Array
from svyaz.expr import Expression, add_up, velocity
from svyaz.forms import Cyclic, Ignored, at_momenta, at_speeds, momenta, momentum_of, pseudo_cyclic, turning_system
from svyaz.matrices import eigvalsh
from svyaz.model import System
from svyaz.program import remembered
from svyaz.stability.admissible import is_recursive
from svyaz.stability.tables import CompiledTables, compile_tables, slopes_table
from svyaz.stability.tree_tables import RotatingTreeTables, tree_tables

VANISHING = 1e-12
"""The part of the inertia nearby that counts as none: rounding (sin π = 1.2e-16) must not hide a pole of the coordinates."""

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
    return Ignored(turning_system(model, ignored, ()), {}) if is_recursive(model) else at_momenta(model, ignored)


def speeds_near(routhian: Ignored, known: Mapping[str, float]) -> Mapping[str, Expression]:
    """γ' in terms of the system at momenta; of a tree of many bodies to first order about the motion that is known."""
    if routhian.system.unreduced is routhian.system:
        return routhian.speeds
    here, resting = tree_tables(routhian.system, known), routhian.system.coordinates
    assert isinstance(here, RotatingTreeTables), "of the whole tree the speeds are expressions"
    names = tuple(map(momentum_of, here.ignored))
    away = [se.Symbol(q) - x for q, x in zip(resting, here.q.tolist(), strict=True)]
    away += [velocity(q) for q in resting]
    away += [se.Symbol(name) - x for name, x in zip(names, here.momenta.tolist(), strict=True)]
    slopes = np.hstack([here.speed_by_position, here.speed_by_velocity, here.speed_by(names)])
    return {
        q: add_up([se.RealDouble(c), *(se.RealDouble(k) * e for k, e in zip(row, away, strict=True) if k != 0)])
        for q, c, row in zip(here.ignored, here.speeds.tolist(), slopes.tolist(), strict=True)
    }


@remembered
def _compiled_momenta(model: System) -> CompiledTables:
    """p of the cyclic coordinates and ∂p/∂γ'."""
    cyclic = [c.name for c in pseudo_cyclic(model)]
    entries = list(momenta(model, cyclic).values())
    by_speed = slopes_table(entries, [velocity(q) for q in cyclic])
    return compile_tables({"momenta": ((len(cyclic),), entries), "inertia": by_speed})


@dataclass(frozen=True)
class _SymbolicCyclic:
    """Numbers of the cyclic coordinates γ of a system with symbolic energies: the same as ``RotatingTreeTables`` has."""

    model: System
    cyclic: Sequence[str]
    known: Mapping[str, float]

    @cached_property
    def _still(self) -> dict[str, float]:
        """The values with γ' = 0."""
        return {**self.known, **{f"{q}'": 0.0 for q in self.cyclic}}

    @cached_property
    def _uniform(self) -> tuple[Array, Array]:
        """γ' and p = a γ' + d, one of which is known for each cyclic coordinate."""
        cyclic, known, tables = self.cyclic, self.known, _compiled_momenta(self.model)
        mass = tables.at({**self._still, **known})["inertia"]
        rest = tables.at(self._still)["momenta"]
        speeds = np.array([known.get(f"{q}'", 0.0) for q in cyclic])
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
        resting = [q for q in self.model.coordinates if q not in self.cyclic]
        moved = [{**self._still, **dict(zip(resting, place, strict=True))} for place in places.tolist()]
        return _compiled_momenta(self.model).at_each(moved)["inertia"]


def _cyclic_numbers(
    searched: System, model: System, cyclic: Sequence[str], known: Mapping[str, float]
) -> RotatingTreeTables | _SymbolicCyclic:
    """Speeds, momenta and inertia of the cyclic coordinates of ``model``, whose steady motions ``searched`` has."""
    here = None if searched.unreduced is searched else tree_tables(searched, known)
    return here if isinstance(here, RotatingTreeTables) else _SymbolicCyclic(model, cyclic, known)


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
    return _describe_pole(cyclic, found[0], found[1:])


def _describe_pole(cyclic: Sequence[str], here: Array, nearby: Array) -> str:
    """Words where the inertia ``here`` (m, m) of the cyclic coordinates vanishes, and not ``nearby`` (k, m, m); or none."""
    around = [m for m in nearby if np.isfinite(m).all()]
    if not around or not np.isfinite(here).all():
        return ""
    sizes = np.sqrt(np.max([np.abs(np.diag(m)) for m in around], axis=0))
    unit = np.outer(np.where(sizes > 0.0, sizes, 1.0), np.where(sizes > 0.0, sizes, 1.0))
    usual = max(float(eigvalsh(m / unit)[0]) for m in around)
    if float(eigvalsh(here / unit)[0]) > VANISHING * usual:
        return ""
    return (
        f"no verdict: the inertia of {', '.join(cyclic)} vanishes at this position, a pole of the coordinates, and speeds do "
        "not follow from momenta there"
    )
