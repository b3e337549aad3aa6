"""Motions that start at a position at which constraints branch.

There accelerations are quotients of quantities that vanish together. But the velocities say along which branch the motion
leaves, and on it the motion is smooth: it is the polynomial of ``passages`` whose first state is the position itself, with
all of Gauss' nodes behind it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from svyaz.arrays import Array
from svyaz.constraints import examine, examined, residuals
from svyaz.dynamics import measure_of, plain_rates
from svyaz.forms import Equations
from svyaz.holding.approaches import least_values
from svyaz.holding.passages import Crossed, Passage, Polynomial, Way

LENGTHS = tuple(0.1 / 2**k for k in range(12))
"""Parts of the time over which the polynomial is looked for."""

DEPENDENT = 1e-8
"""A least singular value of the gradients, the longest of which has the length one, below which they are looked at."""

AGREEMENT = 1e-11
"""So well, as a part of the displacement, the polynomial must agree with that over half its length."""


def departure(
    equations: Equations, state: Array, span: tuple[float, float], step: float | None, grid: Array | None = None
) -> Passage | None:
    """The first part of a motion from a state of the model at which constraints are dependent, and are not nearby; None where
    it does not start so, or where its velocities are along no branch.
    """
    full = examined(equations)
    if not _dependent(full, tuple(state), span[0]):
        return None
    code = plain_rates(full)
    way = Way(equations, full, code, code.constants(full.system.constants), span[0], state, np.zeros(len(state)))
    for part in LENGTHS:
        length = part * (span[1] - span[0])
        if step is not None:
            length = min(step * max(1, round(length / step)), span[1] - span[0])
        curve = _curve(way, length)
        if curve is not None:
            return Crossed(way, curve, span[0]).rows(0, step, grid)
    return None


def _can_depart(full: Equations) -> bool:
    return bool(full.deviations) and not (full.servo or full.pulls or full.quasi or full.system.step_rule)


@lru_cache(maxsize=8)
def _dependent(full: Equations, start: tuple[float, ...], time: float) -> bool:
    """Are there constraints that may be dependent at a state, which they are, but not nearby, and satisfied?

    A start is remembered: rehearsals and pilots begin where the run begins.
    """
    if not _can_depart(full):
        return False
    measure, state = measure_of(full), np.array(start)
    masses, plain = measure.matrices(np.array([time]), state[None, :])
    inertia = masses.diagonals()[0]
    rows = plain.scaled(np.ones(plain.shape[0]), 1.0 / np.sqrt(np.where(inertia > 0.0, inertia, 1.0)))
    longest = float(rows.lengths().max(initial=0.0))
    if not np.isfinite(longest) or least_values(rows, large=measure.large)[0] > DEPENDENT * longest:
        return False
    report = examine(full, state, time)
    return report.rank < report.rank_nearby and all(r.met for r in residuals(full, state, time).values())


def _curve(way: Way, length: float) -> Polynomial | None:
    """The polynomial over this length, if it agrees with that over half of it."""
    names, first = way.equations.states, np.zeros(len(way.state))
    for q, v in zip(way.equations.accelerated, way.equations.velocities, strict=True):
        first[names.index(q)] = way.state[names.index(str(v))]
    if not first.any():
        return None
    whole, half = way.curve(length, 0.0, first), way.curve(length / 2, 0.0, first)
    if whole is None or half is None:
        return None
    gap = np.abs(whole.at(np.array([0.5])) - half.at(np.ones(1)))[0] / way.size(length * first)
    return whole if np.max(gap) <= AGREEMENT else None
