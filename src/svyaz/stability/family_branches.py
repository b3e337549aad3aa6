"""Branches of families with the verdicts on their members."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from svyaz.arrays import Array
from svyaz.expr import ModelError
from svyaz.stability.connected_families import ConnectedFamily, nearest_member
from svyaz.stability.linearisation import formal_approximation
from svyaz.stability.rest import RestEquations
from svyaz.stability.resting import Equilibrium, equilibrium_at
from svyaz.stability.spectrum import signs

LOOKED = 40
"""At so many points of a branch the signs of the roots are looked at."""

OFTEN = 0.1
"""A name is free along a branch when it changes at more than this part of its points: at a crossing others do."""

SHOWN = 3
"""So many members of a family are given as examples."""


@dataclass(frozen=True)
class FamilyBranch:
    """A branch of a family, or the part of it with one verdict: its dimension, the names any of which may be prescribed,
    members as examples, and the verdict on them.
    """

    dimension: int
    free: tuple[str, ...]
    members: tuple[Equilibrium, ...]
    verdict: str


def with_verdicts(
    rest: RestEquations, branch: ConnectedFamily, dependent: Sequence[str] | None, free: tuple[str, ...]
) -> list[FamilyBranch]:
    """A branch, divided where the signs of the roots change, with examples of each verdict.

    The first example is the member nearest to the initial position of the model.
    """
    initial = rest.system.initial
    place = np.array([initial.get(name, 0.0 if name in rest.system.coordinates else x) for name, x in _middle(rest)])
    place = np.clip(place, rest.low, rest.high)
    nearest = nearest_member(rest, branch, place)
    every = max(1, len(branch.points) // LOOKED)
    order = sorted(branch.points[::every], key=lambda x: float(np.linalg.norm((x[: len(place)] - place) / rest.width)))
    groups: dict[object, list[Array]] = {}
    for point in (nearest, *order):
        groups.setdefault(_signature(rest, point, dependent), []).append(point)
    by_word: dict[str, list[Equilibrium]] = {}
    for points in groups.values():
        shown = [points[0], *([points[len(points) // 2], points[-1]] if len(points) > SHOWN else [])]
        for e in (equilibrium_at(rest, point, dependent) for point in shown):
            by_word.setdefault(e.word, []).append(e)
    moving = np.mean([np.abs(t).max(axis=1, initial=0.0) > 1e-6 for t in branch.tangents], axis=0)
    names = tuple(n for n, x in zip(rest.unknowns, moving, strict=True) if x > OFTEN and n in free) or free
    return [FamilyBranch(branch.dimension, names, tuple(members), word) for word, members in by_word.items()]


def _middle(rest: RestEquations) -> list[tuple[str, float]]:
    return [(name, 0.5 * sum(rest.box[name])) for name in rest.bounded]


def _signature(rest: RestEquations, point: Array, dependent: Sequence[str] | None) -> object:
    """Numbers of roots to the left, on the axis and to the right; nothing where there is no first approximation."""
    system, values = rest.system, rest.named(point)
    inputs = {name: values.get(name, system.inputs[name].value) for name in system.inputs}
    parameters = {name: values[name] for name in system.parameters if name in rest.bounded}
    try:
        return signs(formal_approximation(system, values, inputs, dependent, parameters).A)
    except ModelError:
        return None
