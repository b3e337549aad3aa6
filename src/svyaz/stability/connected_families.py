"""Branches of families of equilibria: what hangs together, smoothly, in the box.

The box is divided until what is left is a fine cover: parts that were discarded are proved to hold no equilibrium, so that no
family can hide between the parts that are left. From each of these Newton's method looks for an equilibrium in it. Equilibria
in parts that touch belong to one branch when the directions in which they go on agree; where branches cross, they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.matrices import lstsq, singular_values
from svyaz.stability.adjacency import connected, touching
from svyaz.stability.box_problem import zeros_beside
from svyaz.stability.boxes import cover
from svyaz.stability.families import going_on, null_space, with_free
from svyaz.stability.rest import RestEquations

ALIGNED = 0.7
"""Tangents of neighbours on one branch have at least this cosine."""

LONE = 2
"""So few points beside a branch are scatter of it, where directions are not well determined."""


@dataclass(frozen=True)
class ConnectedFamily:
    """Solutions (q, y) on one branch, with the directions (unknowns, dimension) in which it goes on at each."""

    dimension: int
    points: Array
    tangents: tuple[Array, ...]


@dataclass(frozen=True)
class ConnectedFamilies:
    """All that was found; ``alone`` are solutions that belong to no family, ``width`` the sides of the cover's parts."""

    found: tuple[ConnectedFamily, ...]
    alone: tuple[Array, ...]
    width: float


def connected_families(rest: RestEquations, seconds: float) -> ConnectedFamilies:
    """The branches of all families in the box, in the order of their sizes."""
    d = len(rest.bounded)
    low, high = cover(rest.problem, rest.low, rest.high, seconds=seconds)
    points, scale = with_free(rest, 0.5 * (low[:, :d] + high[:, :d]))
    zeros = zeros_beside(rest.problem, points, rest.width)
    side = (high - low)[:, :d]
    near = np.abs(zeros[:, :d] - points[:, :d]) <= 0.75 * side + 1e-6 * rest.width  # not so where there is none
    kept = np.array([bool(own.all()) and rest.inside(x, 1e-9) for own, x in zip(near, zeros, strict=True)], dtype=bool)
    zeros, low, high = zeros[kept], low[kept][:, :d], high[kept][:, :d]
    tangents, alone = going_on(rest, list(zeros))
    moving = np.array([t.shape[1] > 0 for t in tangents], dtype=bool)
    width = float((side / rest.width).max(initial=0.0))
    units = [np.concatenate([rest.width, part * scale[d:]]) for part in (1e-3, 1.0)]
    found = _joined(rest, zeros[moving], low[moving], high[moving], [t for t in tangents if t.shape[1]], units)
    return ConnectedFamilies(tuple(found), tuple(zeros[np.array(alone, dtype=bool)]), width)


def _joined(
    rest: RestEquations, zeros: Array, low: Array, high: Array, tangents: Sequence[Array], units: Sequence[Array]
) -> list[ConnectedFamily]:
    """Neighbours whose directions agree are one branch; what is left at a crossing is none.

    Directions are compared by all ``units`` of the unknowns: where an input turns back, they change at once by small ones.
    """
    turns = np.array([name in rest.angles for name in rest.bounded], dtype=bool)
    flat = [[np.linalg.qr(t / unit[:, None])[0] for t in tangents] for unit in units]
    sizes = np.array([t.shape[1] for t in tangents])

    def neighbours(k: int) -> NDArray[np.bool_]:
        near = touching(low, high, k, turns) & (sizes == sizes[k])
        for j in np.flatnonzero(near):
            near[j] = any(singular_values(own[k].T @ own[j])[-1] > ALIGNED for own in flat)
        return near

    classes = connected(len(zeros), neighbours)
    found = []
    for together in sorted(classes, key=len, reverse=True):
        if len(together) <= LONE:
            about = np.any([touching(low, high, k, turns) for k in together], axis=0)
            about[together] = False
            if np.any(sizes[about] <= sizes[together[0]]):
                continue
        found.append(ConnectedFamily(int(sizes[together[0]]), zeros[together], tuple(tangents[k] for k in together)))
    return found


def nearest_member(rest: RestEquations, branch: ConnectedFamily, position: Array) -> Array:
    """The solution of the branch nearest to this position (of the bounded unknowns), as far as following it leads."""
    d = len(rest.bounded)
    gaps = np.linalg.norm((branch.points[:, :d] - position) / rest.width, axis=1)
    first = int(np.argmin(gaps))
    best, tangent = branch.points[first], branch.tangents[first]
    for _ in range(8):
        wanted = (position - best[:d]) / rest.width
        share = lstsq(tangent[:d] / rest.width[:, None], wanted, rcond=1e-9)
        trial = zeros_beside(rest.problem, (best + tangent @ share)[None, :], rest.width)[0]
        if np.isnan(trial).any() or not rest.inside(trial, 1e-9):
            break
        closer = np.linalg.norm((trial[:d] - position) / rest.width) < np.linalg.norm(
            (best[:d] - position) / rest.width
        )
        if not closer or null_space(rest, trial).shape[1] != null_space(rest, best).shape[1]:
            break
        best = trial
    return best
