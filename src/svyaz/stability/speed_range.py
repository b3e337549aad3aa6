"""Sides for speeds that nobody bounded: every solution lies between them, on the whole line.

With u = U s / (1 - s²) an unknown u goes through all numbers while s goes from -1 to 1. Equations of the degree d in u are
multiplied by (1 - s²)ᵈ and stay finite at the ends: what vanishes there is at infinity, and no steady motion. The search over s
finds all solutions as any other does, and so bounds u.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import symengine as se

from svyaz.expr import ZERO, Expression, add_up, differentiate, names_in, substitute
from svyaz.forms import is_nothing
from svyaz.model import System
from svyaz.stability.boxes import all_zeros
from svyaz.stability.rest import RestEquations, box_problem

HIGHEST = 6
"""Equations of a higher degree in a speed count as no polynomials."""

MOST_PARTS = 6000
"""So many parts of the line, and of the box of the other unknowns, are looked at."""

INFINITE = 1e-9
"""Solutions nearer than this to the ends of s are at infinity."""

ROOM = 0.25
"""So much of their range and size is left beside the outermost solutions."""


@dataclass(frozen=True)
class SpeedRange:
    """Sides for speeds, and whether it is proved that there are no solutions beyond them."""

    sides: Mapping[str, tuple[float, float]]
    proved: bool

    @property
    def notes(self) -> tuple[str, ...]:
        """What was searched, by speed."""
        return tuple(
            f"{name} has no side in the box: {'all its values were' if self.proved else f'only {low:.6g} to {high:.6g} was'} "
            "searched"
            for name, (low, high) in self.sides.items()
        )


def speed_range(rest: RestEquations, names: Sequence[str], initial: Mapping[str, float]) -> SpeedRange:
    """Sides for those of the unknowns of the equations that may have any value; initial ones are the scale of the search."""
    scales = {name: max(1.0, abs(initial.get(name, 0.0))) for name in names if name in rest.bounded}
    if not scales:
        return SpeedRange({}, proved=True)
    rows = list(rest.expressions)
    for name, scale in scales.items():
        rows = [_on_the_line(row, name, scale) for row in rows]
    box = {**rest.box, **dict.fromkeys(scales, (-1.0, 1.0))}
    problem = box_problem(rest.system, rows, rest.bounded, rest.free, rest.fixed, box)
    low, high = (np.array([box[name][k] for name in rest.bounded], dtype=float) for k in (0, 1))
    zeros = all_zeros(problem, low, high, MOST_PARTS)
    sides = {}
    for name, scale in scales.items():
        k = rest.bounded.index(name)
        at = [s for s in (float(point[k]) for point in zeros.points) if abs(s) < 1 - INFINITE]
        sides[name] = _around([scale * s / (1 - s * s) for s in at], scale)
    return SpeedRange(sides, zeros.complete and not zeros.unbounded)


def initial_speeds(system: System, free: Sequence[str], missing: int) -> dict[str, float]:
    """Those of the free speeds that have their initial values: as many as values are missing to single out motions.

    Faster ones before others, and those with a side in the model's box last: the spin of a top rather than its precession.
    """
    known = {name: float(system.initial.get(name, 0.0)) for name in free}
    order = sorted(free, key=lambda name: (name in system.box, -abs(known[name])))
    return {name: known[name] for name in free if name in order[: max(missing, 0)]}


def _around(values: Sequence[float], scale: float) -> tuple[float, float]:
    if not values:
        return -scale, scale
    low, high = min(values), max(values)
    room = ROOM * (high - low + max(abs(low), abs(high))) or scale
    return low - room, high + room


def _on_the_line(row: Expression, name: str, scale: float) -> Expression:
    """The equation in s, which takes the name of u; without the factor where it is no polynomial of u."""
    u, s = se.Symbol(name), se.Symbol(name)
    if name not in names_in(row):
        return row
    short = 1 - s * s
    powers = _powers(row, u)
    if powers is None:
        return substitute(row, {u: scale * s / short})
    degree = len(powers) - 1
    return add_up(c * (scale * s) ** k * short ** (degree - k) for k, c in enumerate(powers))


def _powers(row: Expression, u: se.Symbol) -> list[Expression] | None:
    """The coefficients of the powers of u; none where it is no polynomial of u."""
    found: list[Expression] = []
    slope, factor = row, 1
    for k in range(HIGHEST + 1):
        found.append(substitute(slope, {u: ZERO}) / factor)
        slope, factor = differentiate(slope, u), factor * (k + 1)
        if str(u) not in names_in(slope) and (slope == ZERO or is_nothing(slope)):
            break
    whole = add_up(c * u**k for k, c in enumerate(found))
    return found if is_nothing(row - whole) else None
