"""What a search of a box left: zeros told once each, and equilibria in parts that could not be decided."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import numpy as np
from numpy.typing import NDArray

from svyaz.arrays import Array
from svyaz.stability.box_problem import newton
from svyaz.stability.boxes import LEAST_WIDTH, Zeros
from svyaz.stability.families import with_free
from svyaz.stability.rest import RestEquations, what_fails

MOST_DOUBTS = 2000
"""So many undecided parts are told apart."""

TOUCHING = 1e-3
"""Undecided parts nearer to each other than this, relative to the box, belong to one position."""

UNDECIDED_NEAR = 1e-5
"""A multiple equilibrium lies as near as this to an undecided part, relative to the box."""

SAME = 1e-7
"""Positions that Newton's method reached are one when they agree to this part of their sizes."""


def distinct_points(rest: RestEquations, zeros: Sequence[Array], apart: Sequence[Array] | float) -> list[Array]:
    """Zeros in the box, angles in (-π, π], none twice; in the order of their coordinates.

    Two are one when they differ by turns, to ``apart`` (that of each, or a part of their sizes).
    """
    found: list[tuple[Array, Array]] = []
    unit = np.broadcast_to(rest.problem.unit, len(rest.unknowns))
    for k, zero in enumerate(zeros):
        if not rest.inside(zero, 1e-9):
            continue
        point = zero.copy()
        for i, name in enumerate(rest.bounded):
            if name in rest.angles and point[i] <= -pi + 1e-9:
                point[i] += 2 * pi
        size = unit + np.abs(point)
        room = apart * size if isinstance(apart, float) else apart[k] + 1e-15 * size
        if not any(np.all(np.abs(point - other) <= room + own) for other, own in found):
            found.append((point, room))
    return [x for x, _ in sorted(found, key=lambda one: tuple(np.round((one[0] / unit)[: len(rest.bounded)], 7)))]


def inexactness(rest: RestEquations, zeros: Zeros, point: Array) -> dict[str, float]:
    """How far the equilibrium may be from the point: the reach of the undecided parts around it, by unknowns."""
    if not zeros.undecided:
        return {}
    low, high = (np.array(side) for side in zip(*zeros.undecided, strict=True))
    d = len(rest.bounded)
    near = _around(rest, zeros, point[:d], TOUCHING)
    reach = np.maximum(np.abs(high[near] - point), np.abs(low[near] - point)).max(axis=0, initial=0.0)
    reach[:d] = np.maximum(reach[:d], LEAST_WIDTH * rest.width)
    return {
        name: float(r)
        for name, r in zip(rest.unknowns, reach, strict=True)
        if np.isfinite(r) and not name.startswith("multiplier of ")
    }


def _around(rest: RestEquations, zeros: Zeros, q: Array, slack: float) -> NDArray[np.bool_]:
    """Which undecided parts a position lies in, to this part of the box."""
    d, room = len(rest.bounded), slack * rest.width
    low, high = (np.array([part[k][:d] for part in zeros.undecided]) for k in (0, 1))
    return np.asarray(np.all((low <= q + room) & (high >= q - room), axis=1))


def undecided_places(rest: RestEquations, zeros: Zeros) -> tuple[list[Array], tuple[str, ...]]:
    """Positions in parts of the box that could not be decided, joined where they touch, and words for them."""
    if not zeros.undecided:
        return [], ()
    d = len(rest.bounded)
    centres = np.array([0.5 * (lo[:d] + hi[:d]) for lo, hi in zeros.undecided[:MOST_DOUBTS]])
    places: list[Array] = []
    slack, seen = TOUCHING * rest.width, np.empty_like(centres)
    for c in centres:
        if not np.any(np.all(np.abs(seen[: len(places)] - c) <= slack, axis=1)):
            seen[len(places)] = c
            places.append(c)
    told = [", ".join(f"{name} = {x:.5g}" for name, x in zip(rest.bounded, p, strict=True)) for p in places[:5]]
    more = "" if len(places) <= 5 else f" and {len(places) - 5} more places"
    failing = [text for text in (what_fails(rest, p) for p in places[:5]) if text]
    why = "; ".join(dict.fromkeys(failing)) or "a multiple or degenerate equilibrium, or a singular position"
    return places, (f"not decided near {'; '.join(told)}{more}: {why}",)


def multiple_equilibria(rest: RestEquations, places: Sequence[Array], zeros: Zeros) -> list[Array]:
    """Equilibria in parts that could not be decided: Newton's method goes there too, if slowly.

    What lies in the box of a proved zero is that zero, and what lies outside of the undecided parts is none. Close to a
    position where the constraints lose their rank, huge multipliers balance any force to within the accuracy of the
    constraints: where nothing balances it at the position itself there is no equilibrium.
    """
    if not places:
        return []
    starts, _ = with_free(rest, np.array(places))
    found = []
    for place, zero in zip(places, newton(rest.problem, starts, 200), strict=True):
        q = zero[: len(place)]
        near = np.all(np.abs(q - place) <= TOUCHING * rest.width)
        if (
            near
            and not _is_known(zero, zeros)
            and _around(rest, zeros, q, UNDECIDED_NEAR).any()
            and not what_fails(rest, q)
        ):
            found.append(zero)
    return distinct_points(rest, found, SAME)


def unproved_points(rest: RestEquations, met: Array, zeros: Zeros) -> list[Array]:
    """Those of the solutions that were met which no search proved: they lie in the box, and no proved one is near."""
    found = [x for x in newton(rest.problem, met[~np.isnan(met).any(axis=1)], 200) if not np.isnan(x).any()]
    return distinct_points(rest, [x for x in found if not _is_known(x, zeros)], SAME)


def _is_known(zero: Array, zeros: Zeros) -> bool:
    """Does the box of a proved zero hold it?"""
    return any(np.all((zero >= one.low) & (zero <= one.high)) for one in zeros.zeros)
