"""A bound on the trajectory error of Euler's method, for what it is worth.

    ‖x̃(t) - x_n‖ ≤ ‖Δ₀‖ e^{L t} + ℶ (e^{L t} - 1)/L,      ℶ = max (τ/2 ‖ẍ̃‖ + ‖S‖),

in the norm of the largest entry, with L the largest row sum of |∂X̃/∂x| along the run, X̃ the rates without gains and S
what the gains add to them. Kaspirovich (2.2.13) in the corrected form: the norm is the induced one (row sums, not single
entries), and 1 + τL ≤ e^{τL} is used for numbers, not for matrices. L and ℶ are taken along the computed motion. The
bound grows exponentially, so that only for short runs it says anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, inf

import numpy as np

from svyaz.arrays import Array
from svyaz.holding.segment import Segment
from svyaz.integrate import Path

SAMPLES = 1000
"""Rows of the run at which the Jacobian is looked at."""

DISPLACEMENT = 1e-6
"""Part of the size of a state by which it is moved to find a derivative by central differences."""


@dataclass(frozen=True)
class ErrorBound:
    """The bound for the largest error of any state, each in its own unit, with L and ℶ."""

    value: float
    growth: float
    defect: float


def euler_bound(segment: Segment, path: Path, step: float, before: float = 0.0) -> ErrorBound:
    """The bound at the end of one phase; ``before`` is the bound on the error of its first state."""
    free = _without_gains(segment)
    rates = _rates(free, path.times, path.states)
    # ẍ̃ from the change of the rates between neighbouring rows of the motion
    width = np.diff(path.times)[:, None]
    bend = np.max(np.abs(np.diff(rates, axis=0) / np.where(width > 0, width, 1.0)), axis=1, initial=0.0)
    pull = np.max(np.abs(_rates(segment, path.times, path.states) - rates), axis=1, initial=0.0)
    defect = float(np.max(0.5 * step * bend + pull[:-1], initial=0.0))
    stride = -(-len(path.times) // SAMPLES)
    growth = _largest_row_sum(free, path.times[::stride], path.states[::stride])
    duration = float(path.times[-1] - path.times[0])
    return ErrorBound(_grown(before, growth, defect, duration), growth, defect)


def _grown(before: float, growth: float, defect: float, duration: float) -> float:
    """Δ₀ e^{LT} + ℶ (e^{LT} - 1)/L."""
    if growth * duration > 700.0:
        return inf if before > 0.0 or defect > 0.0 else 0.0
    factor = exp(growth * duration)
    return before * factor + defect * ((factor - 1.0) / growth if growth > 0.0 else duration)


def _without_gains(segment: Segment) -> Segment:
    law = segment.perturbation
    return segment.regained(replace(law, gains=dict.fromkeys(law.gains, 0.0)))


def _rates(segment: Segment, times: Array, states: Array) -> Array:
    return segment.code.evaluate(np.column_stack([times, states]), segment.constants)


def _largest_row_sum(segment: Segment, times: Array, states: Array) -> float:
    """max ‖∂X/∂x‖ along the rows, by central differences."""
    sizes = np.max(np.abs(states), axis=0)
    sizes = DISPLACEMENT * np.where(sizes > 0, sizes, 1.0)
    sums = np.zeros((len(times), states.shape[1]))
    for j, width in enumerate(sizes):
        shift = np.zeros(states.shape[1])
        shift[j] = width
        above, below = (_rates(segment, times, states + s) for s in (shift, -shift))
        sums += np.abs(above - below) / (2 * width)
    return float(np.max(sums, initial=0.0))
