"""Which way a motion goes on at surfaces where its rates jump: see ``sides``."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.matrices import eigvals

SLACK = 1e-9
"""A motion that is held is let go when its side passes 1 by this much, so that it does not return at once."""

MOST_TRIED = 7
"""For so many surfaces at once all ways to go on are tried; for more they are found by iteration."""

MOST_ITERATIONS = 20_000

REPEATED = 1e-10
"""Below this determinant of their effects, in units of their own, surfaces repeat each other."""

MOST_WORDS = 3**9
"""Ways to go on that are tried at most, where the bounds depend on all forces."""


@dataclass(frozen=True)
class Bounds:
    """Up to which size what is found on a surface may go, ``bound`` + ``slope`` f (n,), and the ``ratio`` by which it may be
    larger while the motion is held; f are the numbers on all surfaces.
    """

    bound: Array
    slope: Array
    ratio: Array

    def at(self, forces: Array) -> Array:
        return self.bound + self.slope @ forces

    def of(self, rows: NDArray[np.intp]) -> Bounds:
        return Bounds(self.bound[rows], self.slope[np.ix_(rows, rows)], self.ratio[rows])


def way_on(
    drift: Array, effect: Array, before: Array, bounds: Bounds | None = None
) -> tuple[Array, tuple[int, ...]] | None:
    """Sides σ (n,) with ṡ = drift + effect f, f = σ bound, as the module says, and the surfaces that are slid along; None if
    there are none.

    Where both sides lead away from a surface, the side before is kept; where it is 0, the upper one is taken.
    """
    n = len(drift)
    bounds = bounds or Bounds(np.ones(n), np.zeros((n, n)), np.ones(n))
    idle = (drift == 0.0) & (effect == 0.0).all(axis=1)
    if idle.any():
        moved = np.flatnonzero(~idle)
        nothing: tuple[Array, tuple[int, ...]] = (np.zeros(0), ())
        part = drift[moved], effect[np.ix_(moved, moved)], before[moved], bounds.of(moved)
        rest = way_on(*part) if len(moved) else nothing
        if rest is None:
            return None
        sides = np.zeros(n)
        sides[moved] = rest[0]
        return sides, tuple(int(moved[k]) for k in rest[1])
    if n > MOST_TRIED and not bounds.slope.any():
        return _iterated(drift, effect, bounds)
    choices = [(0.0, -1.0, 1.0) if side < 0 else (0.0, 1.0, -1.0) for side in before]
    for word in islice(product(*choices), MOST_WORDS):
        found = _fitting(drift, effect, np.array(word), bounds)
        if found is not None:
            return found
    return None


def chosen_forces(sides: Array, slid: Collection[int], drift: Array, effect: Array, bounds: Bounds) -> Array:
    """The numbers f on all surfaces: ṡ = drift + effect f = 0 on those that are slid along, f = σ bound on the others."""
    matrix = np.eye(len(sides)) - sides[:, None] * bounds.slope
    side = sides * bounds.bound
    rows = list(slid)
    matrix[rows], side[rows] = effect[rows], -drift[rows]
    found: Array = np.asarray(np.linalg.solve(matrix, side), dtype=np.float64)
    return found


def _fitting(drift: Array, effect: Array, word: Array, bounds: Bounds) -> tuple[Array, tuple[int, ...]] | None:
    """The sides for a word of 1, -1 and 0 (slid along), if all conditions hold."""
    gone = np.flatnonzero(word != 0.0)
    slid = _independent(effect, np.flatnonzero(word == 0.0))
    idle = np.setdiff1d(np.flatnonzero(word == 0.0), slid)
    if len(slid) and not attracts(effect[np.ix_(slid, slid)]):
        return None
    try:
        forces = chosen_forces(word, slid.tolist(), drift, effect, bounds)
    except np.linalg.LinAlgError:
        return None
    most = bounds.at(forces)
    if (most < -1e-12 * (np.abs(bounds.bound) + np.abs(bounds.slope) @ np.abs(forces))).any():
        return None
    if (np.abs(forces[slid]) > (bounds.ratio * most)[slid] * (1.0 + 0.5 * SLACK)).any():
        return None
    speeds = drift + effect @ forces
    allowed = 1e-12 * (np.abs(drift) + np.abs(effect) @ np.maximum(np.abs(forces), np.abs(bounds.bound)))
    if (speeds[gone] * word[gone] < -allowed[gone]).any() or (np.abs(speeds) > 1e3 * allowed)[idle].any():
        return None
    sides = word.copy()
    sides[slid] = forces[slid] / np.where(most[slid] > 0.0, most[slid], 1.0)
    return sides, tuple(slid.tolist())


def _independent(effect: Array, slid: NDArray[np.intp]) -> NDArray[np.intp]:
    """Surfaces that hold a motion on all of these: of frictions that hold the same body, one is enough."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(effect)), np.finfo(float).tiny))
    unit = effect / np.outer(scale, scale)
    chosen: list[int] = []
    for k in slid.tolist():
        rows = [*chosen, k]
        if abs(np.linalg.det(unit[np.ix_(rows, rows)])) > REPEATED:
            chosen = rows
    return np.array(chosen, dtype=np.intp)


def attracts(block: Array) -> bool:
    """Does a small deviation from surfaces that are slid along die out?"""
    return bool((eigvals(block).real < 0.0).all())


def _iterated(drift: Array, effect: Array, bounds: Bounds) -> tuple[Array, tuple[int, ...]] | None:
    """By projected Gauss-Seidel iteration, for dry friction of many contacts; what it finds is checked."""
    diagonal = np.diag(effect)
    if (diagonal >= 0.0).any():
        return None
    sides = np.zeros(len(drift))
    for _ in range(MOST_ITERATIONS):
        before = sides.copy()
        for k in range(len(drift)):
            sides[k] = np.clip(sides[k] - (drift[k] + effect[k] @ sides) / diagonal[k], -1.0, 1.0)
        if np.abs(sides - before).max() <= 1e-14:
            break
    word: NDArray[np.float64] = np.where(np.abs(sides) < 1.0, 0.0, sides)
    return _fitting(drift, effect, word, bounds)
